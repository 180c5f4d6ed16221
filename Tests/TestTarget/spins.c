// Loops that ask for events more often than there are any, each with an epoll of its own.
#define _GNU_SOURCE
#include "target.h"

#include <stdlib.h>
#include <sys/epoll.h>

// polling-loop MILLISECONDS: waits for events with this timeout, again and again; with a second argument it computes for so
// many milliseconds in between.
PROGRAM(polling_loop, "polling-loop") {
  if (count < 1) return 2;
  int timeout = atoi(arguments[0]), work = count > 1 ? atoi(arguments[1]) : 0;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event;
  ready();
  for (;;) {
    epoll_wait(epoll, &event, 1, timeout);
    if (work > 0) spin_for((int64_t)work * 1000000);
  }
}
