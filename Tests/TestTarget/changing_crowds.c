// Programs whose threads begin, end and execute programs all the time, each in a stack of known shape.
#define _GNU_SOURCE
#include "stacks.h"
#include "target.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

NOT_INLINED static void live(long number) {
  if (number % 2) {
    spin_for(number % 7 * 100000);
  } else {
    usleep((useconds_t)(number % 11 * 1000));
  }
  RETURN_HERE;
}

#define LINK(function, next) \
  NOT_INLINED static void function(long number) { \
    next(number); \
    RETURN_HERE; \
  }

LINK(left_inner, live)
LINK(left_middle, left_inner)
LINK(left_outer, left_middle)
LINK(right_inner, live)
LINK(right_middle, right_inner)
LINK(right_outer, right_middle)

static void start_changing(void);
static int is_replaced;

NOT_INLINED static void *change(void *argument) {
  long number = (long)argument;
  if (is_replaced && number % 512 == 0) {
    execl("/proc/self/exe", "TestTarget", "changing-crowd", "again", NULL);
    exit(1);
  }
  if (number % 3) {
    left_outer(number);
  } else {
    right_outer(number);
  }
  start_changing();
  return NULL;
}

static void start_changing(void) {
  static _Atomic long numbers;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Fails now and then while so many end.
  while (pthread_create(&thread, &attributes, change, (void *)++numbers)) usleep(1000);
  pthread_attr_destroy(&attributes);
}

// changing-crowd [replaced]: twenty threads that each sleep or compute for up to some milliseconds at the end of one of
// two chains of calls, start their successor and end. With the argument every 512th of them replaces the program by itself.
PROGRAM(changing_crowd, "changing-crowd") {
  is_replaced = count > 0 && arguments[0][0];
  if (!is_replaced || arguments[0][0] == 'r') ready();
  for (int threads = 0; threads < 20; threads++) start_changing();
  for (;;) pause();
}
