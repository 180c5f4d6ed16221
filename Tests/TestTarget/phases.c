// Programs that take their time to begin, to stop and to end.
#define _GNU_SOURCE
#include "target.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static volatile sig_atomic_t asked;
static int64_t slowness;

static int64_t milliseconds(const char *text) { return strtoll(text, NULL, 10) * 1000000; }

static void ask(int number) { asked = number; }

__attribute__((noinline)) static void launch_slowly(int64_t time) {
  spin_for(time);
  __asm__ volatile("");
}

__attribute__((noinline)) static void react_slowly(void) {
  spin_for(slowness);
  __asm__ volatile("");
}

// Waits for events that never come; `asked` is looked at every 20 ms.
__attribute__((noreturn)) static void run_loop(void) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (;;) {
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, 20);
    if (!asked) continue;
    int number = asked;
    asked = 0;
    react_slowly();
    if (number == SIGTERM) exit(0);
    if (number == SIGTSTP) raise(SIGSTOP);
    puts("went on");
  }
}

// slow-launch MS: computes before its loop begins.
PROGRAM(slow_launch, "slow-launch") {
  ready();
  launch_slowly(milliseconds(arguments[0]));
  puts("launched");
  run_loop();
}

// slow-reaction MS: takes so long to end on SIGTERM, to stop on SIGTSTP, and to go on after SIGINT.
PROGRAM(slow_reaction, "slow-reaction") {
  slowness = milliseconds(arguments[0]);
  signal(SIGTERM, ask);
  signal(SIGTSTP, ask);
  signal(SIGINT, ask);
  ready();
  run_loop();
}
