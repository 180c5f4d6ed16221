// Loops that count their rounds in a variable: heart KIND, and what else may bear a name.
#define _GNU_SOURCE
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

// The next round but one overflows.
static volatile uint64_t heart_rounds = UINT64_MAX - 1;
volatile uint32_t heart_rounds_32 = UINT32_MAX - 1;
volatile uint64_t heart_stands_still = 7;
volatile uint16_t heart_too_small = 1;
const volatile uint64_t heart_constant = 1;
__thread volatile uint64_t heart_of_thread = 1;
void heart_function(void) { heart_too_small++; }

// Two of one name, which only their places tell apart.
uint64_t *heart_first_twin(void) {
  static uint64_t heart_twin = 1;
  return &heart_twin;
}
uint64_t *heart_second_twin(void) {
  static uint64_t heart_twin = 2;
  return &heart_twin;
}

static volatile sig_atomic_t asked;
static void ask(int signal) { asked = signal; }

// A counter of somebody else's.
volatile uint64_t heart_of_another;
static void *count_for_ever(void *unused) {
  for (;; usleep(2000)) heart_of_another++;
  return unused;
}

// loaded: never sleeps, 5 ms of work a round. idle: parks for a millisecond. On SIGUSR1 one job of 700 ms, whose start
// (that of its round) and end are printed. With a second argument another thread counts, too. For a loaded loop no look sees a park.
PROGRAM(heart, "heart") {
  int is_idle = count > 0 && !strcmp(arguments[0], "idle");
  signal(SIGUSR1, ask);
  pthread_t thread;
  if (count > 1) pthread_create(&thread, NULL, count_for_ever, NULL);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int event = eventfd(!is_idle, EFD_CLOEXEC);
  struct epoll_event wanted = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
  struct epoll_event found;
  ready();
  for (;;) {
    if (!is_idle) {
      uint64_t value = 0;
      if (read(event, &value, sizeof value) < 0) return 1;
      // Now and then it parks, so that it is known where.
      epoll_wait(epoll, &found, 1, heart_rounds % 200 == 0 ? 300 : 0);
      value = 1;
      if (write(event, &value, sizeof value) < 0) return 1;
    } else {
      epoll_wait(epoll, &found, 1, 20);
    }
    int64_t start = now_nanoseconds();
    heart_rounds++;
    heart_rounds_32++;
    if (!is_idle) spin_for(5000000);
    if (asked) {
      asked = 0;
      spin_for(700000000);
      printf("%ld %ld\n", (long)start, (long)now_nanoseconds());
    }
  }
}

static volatile sig_atomic_t told;
static void tell(int signal) { told = signal; }

// An epoll with one eventfd: wake-up plain|semaphore|raised. Prints their numbers. On SIGUSR1 it empties the eventfd and
// prints what was in it; on SIGUSR2 another one takes its place.
PROGRAM(wake_up, "wake-up") {
  const char *kind = count > 0 ? arguments[0] : "plain";
  int flags = EFD_CLOEXEC | EFD_NONBLOCK | (!strcmp(kind, "semaphore") ? EFD_SEMAPHORE : 0);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int event = eventfd(!strcmp(kind, "raised"), flags);
  struct epoll_event wanted = {.events = EPOLLIN, .data.fd = event};
  epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  signal(SIGUSR1, tell);
  signal(SIGUSR2, tell);
  ready();
  printf("%d %d\n", epoll, event);
  for (;;) {
    sigsuspend(&before);
    uint64_t value = 0;
    if (told == SIGUSR1 && read(event, &value, sizeof value) < 0) value = 0;
    if (told == SIGUSR2) dup2(eventfd(5, flags), event);
    printf("%lu\n", (unsigned long)value);
  }
}
