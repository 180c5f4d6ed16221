// A loop whose callback, at SIGUSR1, runs a loop of its own, as a dialog does.
#define _GNU_SOURCE
#include "target.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static struct pollfd sources[2];

static int next_event(void) {
  if (poll(sources, 2, -1) < 0) return -1;
  char bytes[sizeof(struct signalfd_siginfo)];
  for (int i = 0; i < 2; i++)
    if (sources[i].revents) return read(sources[i].fd, bytes, sizeof bytes) > 0 ? i : -1;
  return -1;
}

static void print_span(int64_t began) {
  printf("%lld %lld\n", (long long)began, (long long)now_nanoseconds());
  fflush(stdout);
}

// Goes on polling what the outer loop polls, for two seconds, and says when.
static __attribute__((noinline)) void run_dialog(void) {
  volatile char frame[4096];
  frame[0] = 0;
  int64_t began = now_nanoseconds();
  while (now_nanoseconds() - began < 2000000000) next_event();
  print_span(began);
}

// … or polls once more and then blocks for one second without polling.
static __attribute__((noinline)) void run_blocking_dialog(void) {
  volatile char frame[4096];
  frame[0] = 0;
  next_event();
  int64_t began = now_nanoseconds();
  nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  print_span(began);
}

// nested polling|blocking
PROGRAM(nested, "nested") {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct timespec tick = {.tv_nsec = 100000000};
  timerfd_settime(timer, 0, &(struct itimerspec){.it_interval = tick, .it_value = tick}, NULL);
  sources[0] = (struct pollfd){.fd = timer, .events = POLLIN};
  sources[1] = (struct pollfd){.fd = signalfd(-1, &set, 0), .events = POLLIN};
  int blocks = count > 0 && !strcmp(arguments[0], "blocking");
  ready();
  for (;;)
    if (next_event() == 1) (blocks ? run_blocking_dialog : run_dialog)();
}
