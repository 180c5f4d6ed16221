// A loop that stalls in several places, a known share of the time in each.
#define _GNU_SOURCE
#include "target.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static int64_t cpu_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t part_times[2];
static volatile uint64_t result;

// Of CPU time, so that nothing else on the machine changes the shares.
#define COMPUTE(index, milliseconds)                                            \
  int64_t start = cpu_nanoseconds(), end = start + (milliseconds) * 1000000LL;  \
  while (cpu_nanoseconds() < end)                                               \
    for (int i = 0; i < 20000; i++) result = result * 31 + (uint64_t)i;         \
  part_times[index] += cpu_nanoseconds() - start;

__attribute__((noinline)) static void compute_long_part(void) { COMPUTE(0, 20) }
__attribute__((noinline)) static void compute_short_part(void) { COMPUTE(1, 10) }

#define SLEEP(index, milliseconds)      \
  int64_t start = now_nanoseconds();    \
  usleep((milliseconds) * 1000);        \
  part_times[index] += now_nanoseconds() - start;

__attribute__((noinline)) static void sleep_long_part(void) { SLEEP(0, 400) }
__attribute__((noinline)) static void sleep_short_part(void) { SLEEP(1, 200) }

__attribute__((noinline)) static void stall(int sleeps) {
  for (int round = 0; round < (sleeps ? 3 : 50); round++)
    if (sleeps) {
      sleep_long_part();
      sleep_short_part();
    } else {
      compute_long_part();
      compute_short_part();
    }
}

// Each call takes half a kilobyte of the stack.
__attribute__((noinline)) static void stall_below(int depth, int sleeps) {
  volatile char room[480];
  memset((char *)room, depth, sizeof room);
  if (depth > 0) {
    stall_below(depth - 1, sleeps);
  } else {
    stall(sleeps);
  }
  room[0] = room[1];
}

// parts-loop compute|sleep DEPTH: each SIGUSR1 stalls it, below so many calls, for two thirds of the time in one function and
// for one third in another; it prints the nanoseconds that each took. With `busy` it computes without end.
PROGRAM(parts_loop, "parts-loop") {
  if (count < 2) return 2;
  int sleeps = !strcmp(arguments[0], "sleep"), depth = atoi(arguments[1]);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int requests = signalfd(-1, &set, SFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, requests, &event);
  ready();
  if (!strcmp(arguments[0], "busy"))
    for (;;) stall_below(depth, 0);
  for (;;) {
    struct signalfd_siginfo info;
    epoll_wait(epoll, &event, 1, -1);
    if (read(requests, &info, sizeof info) != sizeof info) return 1;
    part_times[0] = part_times[1] = 0;
    stall_below(depth, sleeps);
    printf("%ld %ld\n", (long)part_times[0], (long)part_times[1]);
    fflush(stdout);
  }
}
