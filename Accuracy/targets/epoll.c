// A loop over epoll that waits without a time limit: a timer is one of its descriptors.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "own_loop.h"

static int loop, timer;

static void open_loop(void) {
  struct epoll_event event = {.events = EPOLLIN};
  loop = epoll_create1(EPOLL_CLOEXEC);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (loop < 0 || timer < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, timer, &event) != 0) exit(1);
}

static void wait_in_loop(long long nanoseconds) {
  struct epoll_event event;
  struct itimerspec time = {.it_value = {nanoseconds / 1000000000, nanoseconds % 1000000000}};
  if (nanoseconds <= 0) time = (struct itimerspec){0};
  timerfd_settime(timer, 0, &time, NULL);
  epoll_wait(loop, &event, 1, nanoseconds == 0 ? 0 : -1);
}
