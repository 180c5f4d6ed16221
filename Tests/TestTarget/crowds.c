// Programs of many threads or many mappings.
#define _GNU_SOURCE
#include "target.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static pthread_t start_small(void *(*body)(void *), void *argument) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  if (pthread_create(&thread, &attributes, body, argument)) exit(1);
  return thread;
}

enum { most_workers = 64 };
static volatile struct {
  uint64_t failures;
  uint64_t passes[most_workers];
} crowd;

static int wait_in_epoll(int epoll) {
  struct epoll_event event;
  return epoll_wait(epoll, &event, 1, 2);
}

// Fails with EAGAIN when the time is over.
static int wait_for_signal(void) {
  struct timespec time = {.tv_nsec = 2000000};
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  return sigtimedwait(&set, NULL, &time) < 0 && errno == EAGAIN ? 0 : -1;
}

// Waits in one of four ways; anything but the end of the time is a failure.
static void *work_and_wait(void *number) {
  uint64_t index = (uint64_t)number;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (;;) {
    int result = 0;
    switch (index % 4) {
      case 0: result = wait_in_epoll(epoll); break;
      case 1: result = wait_for_signal(); break;
      case 2: result = usleep(2000); break;
      default: spin_for(20000), result = usleep(1980);
    }
    if (result) crowd.failures++;
    crowd.passes[index]++;
  }
}

// crowd COUNT: so many threads that count their waits, and a main loop that is busy every other 20 ms. Prints where the
// number of failed waits is; the threads' counts follow it.
PROGRAM(crowd_program, "crowd") {
  uint64_t total = count > 0 ? strtoul(arguments[0], NULL, 10) : most_workers;
  for (uint64_t i = 0; i < total && i < most_workers; i++) start_small(work_and_wait, (void *)i);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  ready();
  printf("%lu\n", (unsigned long)&crowd);
  for (;;) {
    if (wait_in_epoll(epoll)) crowd.failures++;
    usleep(20000);
  }
}

static void *sleep_for_ever(void *unused) {
  for (;;) pause();
  return unused;
}

// Neighbours with different protection are mappings of their own.
static void map_pages(size_t total) {
  char *pages = mmap(NULL, total * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (size_t i = 0; i < total; i += 2)
    if (mprotect(pages + i * 4096, 4096, PROT_READ | PROT_WRITE)) break;
}

// parked-crowd COUNT [MAPPINGS]: so many threads that never run, and a loop that stalls for 300 ms again and again.
PROGRAM(parked_crowd, "parked-crowd") {
  for (int i = count > 0 ? atoi(arguments[0]) : 1; i > 0; i--) start_small(sleep_for_ever, NULL);
  if (count > 1) map_pages(strtoul(arguments[1], NULL, 10));
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  ready();
  for (;;) {
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, 100);
    usleep(300000);
  }
}

static void *start_successor(void *unused) {
  usleep(1000);
  pthread_detach(start_small(start_successor, unused));
  return unused;
}

// birth-chain COUNT: each of so many threads starts its successor after 1 ms and ends.
PROGRAM(birth_chain, "birth-chain") {
  for (int i = count > 0 ? atoi(arguments[0]) : 1; i > 0; i--) start_successor(NULL);
  ready();
  for (;;) pause();
}

// many-mappings COUNT: so many mappings, or as many as the kernel allows.
PROGRAM(many_mappings, "many-mappings") {
  map_pages(count > 0 ? strtoul(arguments[0], NULL, 10) : 1000);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  ready();
  for (;;) {
    struct epoll_event event;
    epoll_wait(epoll, &event, 1, 100);
    usleep(300000);
  }
}

// maps-when-told: one page more after each SIGUSR1, and a line when it is there.
PROGRAM(maps_when_told, "maps-when-told") {
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  sigprocmask(SIG_BLOCK, &told, NULL);
  ready();
  for (int number; sigwait(&told, &number) == 0;) {
    if (mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 1;
    puts("mapped");
  }
  return 1;
}

static volatile sig_atomic_t ticks;
static void count_tick(int signal __attribute__((unused))) { ticks++; }

// timer-signals: a signal every millisecond, in the middle of work and of sleeps.
PROGRAM(timer_signals, "timer-signals") {
  struct sigaction action = {.sa_handler = count_tick, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};
  struct itimerspec every = {.it_interval.tv_nsec = 1000000, .it_value.tv_nsec = 1000000};
  timer_t timer;
  sigaction(SIGRTMIN, &action, NULL);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &every, NULL)) return 1;
  ready();
  printf("%lu\n", (unsigned long)&ticks);
  for (;;) {
    spin_for(200000);
    usleep(1500);
  }
}
