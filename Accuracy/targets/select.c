// A loop over select with a time limit.
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

#include "own_loop.h"

static int ends[2];

static void open_loop(void) {
  if (pipe(ends) != 0) exit(1);
}

static void wait_in_loop(long long nanoseconds) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  struct timeval limit = {nanoseconds / 1000000000, nanoseconds % 1000000000 / 1000};
  select(ends[0] + 1, &set, NULL, NULL, nanoseconds == FOREVER ? NULL : &limit);
}
