// A loop over poll with a time limit.
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_loop.h"

static struct pollfd waited[2];

static void open_loop(void) {
  for (int index = 0; index < 2; index++) {
    int ends[2];
    if (pipe(ends) != 0) exit(1);
    waited[index] = (struct pollfd){.fd = ends[0], .events = POLLIN};
  }
}

static void wait_in_loop(long long nanoseconds) {
  poll(waited, 2, nanoseconds == FOREVER ? -1 : (int)((nanoseconds + 999999) / 1000000));
}
