// A program whose sleeps can be told apart by their arguments.
#define _GNU_SOURCE
#include "target.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *compute(void *unused) {
  for (;;) spin_for(1000000000);
  return unused;
}

// counted-sleeps: sleeps for moments, each with its number as an argument that the call does not have, on the CPU of a
// second thread, which computes.
PROGRAM(counted_sleeps, "counted-sleeps") {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(sched_getcpu(), &here);
  sched_setaffinity(0, sizeof here, &here);
  pthread_t other;
  pthread_create(&other, NULL, compute, NULL);
  prctl(PR_SET_TIMERSLACK, 1);
  ready();
  struct timespec moment = {.tv_nsec = 20000};
  for (long number = 0;; number++) syscall(SYS_nanosleep, &moment, NULL, 0, 0, 0, number);
}
