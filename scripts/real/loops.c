// A loop over epoll, poll or select: each line of input makes it sleep, compute or wait for a child for 800 ms.
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static __attribute__((noinline)) void save_document(void) {
  nanosleep(&(struct timespec){.tv_nsec = 800000000}, NULL);
}

static volatile double sum;
static __attribute__((noinline)) void compute_layout(void) {
  for (double end = seconds() + 0.8; seconds() < end;)
    for (int step = 0; step < 10000; step++) sum += step;
}

static __attribute__((noinline)) void convert_picture(void) {
  if (system("sleep 0.8") != 0) exit(1);
}

static void answer(void (*stall)(void)) {
  char line[64];
  if (read(STDIN_FILENO, line, sizeof line) <= 0) exit(0);
  stall();
}

static void loop_over_epoll(void) {
  int set = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, STDIN_FILENO, &event) < 0) exit(1);
  while (epoll_wait(set, &event, 1, -1) > 0) answer(save_document);
}

static void loop_over_poll(void) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  while (poll(&input, 1, -1) > 0) answer(compute_layout);
}

static void loop_over_select(void) {
  fd_set set;
  do {
    FD_ZERO(&set);
    FD_SET(STDIN_FILENO, &set);
    if (select(1, &set, NULL, NULL, NULL) <= 0) return;
    answer(convert_picture);
  } while (1);
}

int main(int count, char **words) {
  puts("ready");
  fflush(stdout);
  if (count > 1 && strcmp(words[1], "epoll") == 0) loop_over_epoll();
  if (count > 1 && strcmp(words[1], "poll") == 0) loop_over_poll();
  if (count > 1 && strcmp(words[1], "select") == 0) loop_over_select();
  return 2;
}
