// Loops whose passes are seen by a breakpoint behind their wait: pass-loop KIND.
#define _GNU_SOURCE
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

extern char pass_loop_returned[];
static volatile unsigned long stack_pointer;
static volatile sig_atomic_t asked;

static void ask(int signal) { asked = signal; }

// The instruction behind the label has the stack pointer that the return address of the wait has.
__attribute__((noinline)) static int wait_for(int epoll, int timeout) {
  struct epoll_event event;
  int found = epoll_wait(epoll, &event, 1, timeout);
  unsigned long pointer;
  __asm__ volatile("pass_loop_returned: mov %%rsp, %0" : "=r"(pointer) : : "memory");
  stack_pointer = pointer;
  return found;
}

static int new_epoll(int always_ready) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  int event = eventfd((unsigned)always_ready, EFD_CLOEXEC);
  struct epoll_event wanted = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
  return epoll;
}

static void *sleep_for_ever(void *unused) {
  for (;;) pause();
  return unused;
}

// Waits from a deeper stack, in the same function, on another epoll.
__attribute__((noinline)) static void nested_loop(int epoll) {
  volatile char deeper[256] = {0};
  for (int first = 1;; first = 0) {
    wait_for(epoll, 0);
    if (first) printf("nested %lu\n", stack_pointer);
    spin_for(1000000 + deeper[0]);
  }
}

// Half a second on another epoll, from a deeper stack: each wait of it is longer than from one look to the next.
__attribute__((noinline)) static void slow_nested_loop(int epoll) {
  volatile char deeper[256] = {0};
  printf("%ld\n", (long)now_nanoseconds());
  for (int round = 0; round < 10; round++) wait_for(epoll, 50 + deeper[0]);
  puts("over");
}

// The same loop, called from further in than where it goes on: as if its callers had become one function.
__attribute__((noinline)) static void learn_further_in(int epoll) {
  volatile char deeper[128] = {0};
  wait_for(epoll, deeper[0]);
}

static void act(const char *kind) {
  asked = 0;
  if (!strcmp(kind, "slow-nested")) slow_nested_loop(new_epoll(0));
  if (!strcmp(kind, "nested")) nested_loop(new_epoll(1));
  if (!strcmp(kind, "exec")) execl("/proc/self/exe", "TestTarget", "idle", "pause", NULL);
  int64_t start = now_nanoseconds();
  spin_for(300000000);
  int64_t end = now_nanoseconds();
  printf("%ld %ld\n", (long)start, (long)end);
}

// quick: parks again and again. slow-nested: parks until the signal. Others never sleep, 2 ms of work a pass. On SIGUSR1
// the callback of its kind.
PROGRAM(pass_loop, "pass-loop") {
  const char *kind = count > 0 ? arguments[0] : "loaded";
  int is_quick = !strcmp(kind, "quick"), is_slow = !strcmp(kind, "slow-nested");
  signal(SIGUSR1, ask);
  pthread_t thread;
  // The C library's wait has other code in a program of several threads.
  if (!strcmp(kind, "threads")) pthread_create(&thread, NULL, sleep_for_ever, NULL);
  int epoll = new_epoll(!is_quick && !is_slow);
  ready();
  for (int first = 1;; first = 0) {
    if (first && !strcmp(kind, "optimized")) learn_further_in(epoll);
    else wait_for(epoll, is_slow && !first ? -1 : is_quick || is_slow);
    if (first) printf("%lu %lu\n", (unsigned long)pass_loop_returned, stack_pointer);
    if (first && is_slow) printf("epoll %d\n", epoll);
    if (!is_quick && !is_slow) spin_for(2000000);
    if (asked) act(kind);
  }
}
