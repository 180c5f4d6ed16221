// Loops that count what went wrong in their own waits; their counters are read from outside.
#define _GNU_SOURCE
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static volatile struct {
  uint64_t passes;
  uint64_t interrupted;
} counters;

// epoll-loop [abort]: 10 µs of work, then a wait of 1 ms, again and again. Prints where its two counters are.
PROGRAM(epoll_loop, "epoll-loop") {
  int aborts = count > 0 && !strcmp(arguments[0], "abort");
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  ready();
  printf("%lu\n", (unsigned long)&counters);
  for (;;) {
    spin_for(10000);
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, 1) < 0) {
      counters.interrupted++;
      if (aborts) abort();
    }
    counters.passes++;
  }
}

// pattern: waits with 4096 bytes of 0xA5 on its stack, whose address it prints.
PROGRAM(pattern, "pattern") {
  volatile unsigned char bytes[4096];
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = 0xA5;
  ready();
  printf("%lu\n", (unsigned long)bytes);
  for (;;) {
    pause();
    if (bytes[0] != 0xA5) return 1;
  }
}

// jobs BUSY IDLE: BUSY ms of work, then a wait of IDLE ms, again and again.
PROGRAM(jobs, "jobs") {
  if (count < 2) return 2;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  ready();
  for (;;) {
    spin_for(strtoll(arguments[0], NULL, 10) * 1000000);
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, atoi(arguments[1]));
  }
}
