// Event loops that stall when they are asked to, and say from when to when.
#define _GNU_SOURCE
#include "target.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int64_t stall_nanoseconds = 800000000;

static void stall_by_sleeping(void) { usleep(stall_nanoseconds / 1000); }
static void stall_by_computing(void) { spin_for(stall_nanoseconds); }

static int slow_pipe[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *answer_late(void *unused) {
  usleep(stall_nanoseconds / 1000);
  if (write(slow_pipe[1], "x", 1) != 1) abort();
  return unused;
}

static void stall_by_reading(void) {
  pthread_t thread;
  char byte;
  pthread_create(&thread, NULL, answer_late, NULL);
  if (read(slow_pipe[0], &byte, 1) != 1) abort();
  pthread_join(thread, NULL);
}

static void *hold_lock(void *held) {
  pthread_mutex_lock(&lock);
  pthread_barrier_wait(held);
  usleep(stall_nanoseconds / 1000);
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void stall_by_locking(void) {
  pthread_t thread;
  pthread_barrier_t held;
  pthread_barrier_init(&held, NULL, 2);
  pthread_create(&thread, NULL, hold_lock, &held);
  pthread_barrier_wait(&held);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
}

// Computes in the kernel alone, without waiting for anything.
static void stall_by_filling(void) {
  enum { size = 16 << 20 };
  static char zeros[size];
  int64_t end = now_nanoseconds() + stall_nanoseconds;
  int file = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  while (now_nanoseconds() < end)
    if (read(file, zeros, size) != size) abort();
  close(file);
}

static const struct {
  const char *name;
  void (*stall)(void);
} stalls[] = {{"sleep", stall_by_sleeping},
              {"compute", stall_by_computing},
              {"read", stall_by_reading},
              {"lock", stall_by_locking},
              {"fill", stall_by_filling}};

static int64_t handle_request(const char *kind) {
  int64_t start = now_nanoseconds();
  for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++)
    if (!strcmp(stalls[i].name, kind)) stalls[i].stall();
  return start;
}

static int block_request_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

static void wait_in(const char *loop, int descriptor) {
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
  fd_set set;
  if (!strcmp(loop, "poll")) {
    poll(&entry, 1, -1);
  } else if (!strcmp(loop, "select")) {
    FD_ZERO(&set);
    FD_SET(descriptor, &set);
    select(descriptor + 1, &set, NULL, NULL, NULL);
  } else {
    static int epoll = -1;
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll < 0) {
      epoll = epoll_create1(EPOLL_CLOEXEC);
      epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    }
    epoll_wait(epoll, &event, 1, -1);
  }
}

// stalling-loop LOOP KIND [HEXNAME]: idles in epoll, poll or select; each SIGUSR1 stalls it for 800 ms in that way, and
// it prints the nanoseconds of CLOCK_MONOTONIC at which that began and ended. The name is that of its main thread.
PROGRAM(stalling_loop, "stalling-loop") {
  if (count < 2) return 2;
  if (pipe(slow_pipe)) return 1;
  if (count > 2) {
    char name[16] = {0};
    for (int i = 0; i < 15 && arguments[2][2 * i]; i++) {
      unsigned byte;
      sscanf(arguments[2] + 2 * i, "%2x", &byte);
      name[i] = (char)byte;
    }
    prctl(PR_SET_NAME, name);
  }
  int requests = block_request_signal();
  ready();
  for (;;) {
    struct signalfd_siginfo info;
    wait_in(arguments[0], requests);
    if (read(requests, &info, sizeof info) != sizeof info) return 1;
    int64_t start = handle_request(arguments[1]);
    printf("%ld %ld\n", (long)start, (long)now_nanoseconds());
  }
}

__attribute__((noinline)) static void wait_for(int epoll, int milliseconds) {
  struct epoll_event event;
  epoll_wait(epoll, &event, 1, milliseconds);
}

// one-wait-loop: waits for its events, 20 ms each time, and, at each SIGUSR1, 800 ms for another epoll, with the same call.
PROGRAM(one_wait_loop, "one-wait-loop") {
  int home = epoll_create1(EPOLL_CLOEXEC), other = epoll_create1(EPOLL_CLOEXEC), requests = block_request_signal();
  fcntl(requests, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(home, EPOLL_CTL_ADD, requests, &event);
  ready();
  for (;;) {
    struct signalfd_siginfo info;
    wait_for(home, 20);
    if (read(requests, &info, sizeof info) != sizeof info) continue;
    wait_for(other, (int)(stall_nanoseconds / 1000000));
  }
}
