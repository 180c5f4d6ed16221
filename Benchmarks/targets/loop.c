// An epoll loop that stalls when it is told to: `block MS N` sleeps, `spin MS N` computes, in the function number N.
// When the stall is over it answers the moment at which it began, in nanoseconds of the monotonic clock.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"

// Where the stack is to pass through: defined by the generated program with much debug information.
__attribute__((weak)) void through_units(struct chain *innermost);

static int milliseconds;
static int spins;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void stall(void) {
  long long end = now() + milliseconds * 1000000LL;
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  if (!spins) nanosleep(&rest, NULL);
  while (now() < end) {}
}

// Different functions, since repeated stalls of one place may be reported more seldom.
#define PLACE(number) \
  __attribute__((noinline)) static void place_##number(struct chain *unused) { \
    stall(); \
    __asm__ volatile("" ::"r"(unused)); \
  }
#define EIGHT(digit) \
  PLACE(digit##0) PLACE(digit##1) PLACE(digit##2) PLACE(digit##3) \
  PLACE(digit##4) PLACE(digit##5) PLACE(digit##6) PLACE(digit##7)
EIGHT(0) EIGHT(1) EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6) EIGHT(7)

#define NAMES(digit) \
  place_##digit##0, place_##digit##1, place_##digit##2, place_##digit##3, \
  place_##digit##4, place_##digit##5, place_##digit##6, place_##digit##7
static void (*const places[])(struct chain *) = {
  NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4), NAMES(5), NAMES(6), NAMES(7),
};

static void obey(const char *command, long long start) {
  char how[8];
  unsigned place;
  if (sscanf(command, "%7s %d %u", how, &milliseconds, &place) != 3) exit(1);
  spins = strcmp(how, "spin") == 0;
  struct chain innermost = {places[place % (sizeof places / sizeof *places)], NULL};
  if (through_units) through_units(&innermost);
  else innermost.call(NULL);
  printf("%lld\n", start);
  fflush(stdout);
}

int main(void) {
  int loop = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  if (loop < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) return 1;
  puts("ready");
  fflush(stdout);
  for (;;) {
    if (epoll_wait(loop, &event, 1, -1) != 1) return 1;
    long long start = now();
    char command[64];
    ssize_t count = read(STDIN_FILENO, command, sizeof command - 1);
    if (count <= 0) return 0;
    command[count] = 0;
    obey(command, start);
  }
}
