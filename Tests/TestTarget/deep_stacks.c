// Programs with deep stacks, and with stacks that change all the time.
#define _GNU_SOURCE
#include "stacks.h"
#include "target.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
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
