// Programs with deep stacks, and with stacks that change all the time.
#define _GNU_SOURCE
#include "stacks.h"
#include "target.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// One frame of the recursion with its locals.
enum { frame_bytes = 8192 };

NOT_INLINED static int recurse(int depth, int spins) {
  volatile char bytes[frame_bytes];
  bytes[0] = (char)depth;
  if (depth == 0 && spins) {
    puts("stopping");
    for (;;) bytes[1]++;
  }
  if (depth == 0) innermost();
  return recurse(depth - 1, spins) + bytes[0];
}

static void *recurse_in_thread(void *depth) {
  recurse(*(int *)depth, 0);
  return NULL;
}

// walk-deep BYTES [spin | thread]: a recursion that is so deep, blocked, computing, or blocked in a second thread.
PROGRAM(walk_deep, "walk-deep") {
  int depth = count > 0 ? atoi(arguments[0]) / frame_bytes : 0;
  show_all();
  SHOW(recurse);
  SHOW(recurse_in_thread);
  pthread_t thread;
  if (count > 1 && !strcmp(arguments[1], "thread")) {
    pthread_create(&thread, NULL, recurse_in_thread, &depth);
    pthread_join(thread, NULL);
  }
  return recurse(depth, count > 1);
}

NOT_INLINED static void spin(int count) {
  for (volatile int i = 0; i < count; i++) continue;
}

#define LINK(function, next) \
  NOT_INLINED static void function(int count) { \
    next(count); \
    RETURN_HERE; \
  }

LINK(chain_c, spin)
LINK(chain_b, chain_c)
LINK(chain_a, chain_b)
LINK(other_z, spin)
LINK(other_y, other_z)
LINK(other_x, other_y)

// Two chains of calls take turns, ten thousand times a second or more.
PROGRAM(walk_chains, "walk-chains") {
  show_all();
  SHOW(spin);
  SHOW(chain_a);
  SHOW(chain_b);
  SHOW(chain_c);
  SHOW(other_x);
  SHOW(other_y);
  SHOW(other_z);
  SHOW(walk_chains_run);
  puts("stopping");
  for (;;) {
    chain_a(5);
    other_x(5);
  }
}

NOT_INLINED static void nap(int count __attribute__((unused))) {
  nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  RETURN_HERE;
}

// More than is copied at once.
NOT_INLINED static void wide_b(int count) {
  volatile char bytes[200000];
  bytes[0] = (char)count;
  nap(count);
  bytes[1] = bytes[0];
}

LINK(wide_a, wide_b)
LINK(nap_z, nap)
LINK(nap_y, nap_z)
LINK(nap_x, nap_y)

NOT_INLINED static void *nap_and_nap(void *unused) {
  for (;;) {
    wide_a(1);
    nap_x(1);
  }
  return unused;
}

// walk-naps: in two threads, two chains of calls take turns, each asleep for a millisecond at its end.
PROGRAM(walk_naps, "walk-naps") {
  show_all();
  SHOW(nap);
  SHOW(wide_a);
  SHOW(wide_b);
  SHOW(nap_x);
  SHOW(nap_y);
  SHOW(nap_z);
  SHOW(nap_and_nap);
  pthread_t thread;
  pthread_create(&thread, NULL, nap_and_nap, NULL);
  puts("stopping");
  nap_and_nap(NULL);
  return 0;
}
