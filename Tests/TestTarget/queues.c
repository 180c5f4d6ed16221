// A main queue as libdispatch has it after dispatchMain(): words in memory, a first thread that waits for signals for
// ever, and threads that take turns at the queue.
#define _GNU_SOURCE
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

// `struct dispatch_lane_s` of libdispatch: reference counts, state, serial number, first block.
uint64_t _dispatch_main_q[14];

static void stall_in_main_queue(void) { usleep(400000); }

static void *take_turns(void *turns) {
  sigset_t set;
  int signal;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  for (long turn = 0; turn < (long)turns; turn++) {
    sigwait(&set, &signal);
    long self = syscall(SYS_gettid);
    __atomic_store_n(&_dispatch_main_q[7], 0x60001080000000 | (uint64_t)self, __ATOMIC_SEQ_CST);
    stall_in_main_queue();
    __atomic_store_n(&_dispatch_main_q[7], 0x1ffe1000000000, __ATOMIC_SEQ_CST);
    printf("%ld\n", self);
  }
  for (;;) pause();
}

// main-queue [foreign]: two threads, each of which works for the main queue for 400 ms at one SIGUSR1 and then prints its
// id. With an argument the queue's words are laid out otherwise, and the threads are named as libdispatch's.
PROGRAM(main_queue, "main-queue") {
  pthread_t thread;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  _dispatch_main_q[1] = 0x7fffffff7fffffff;
  _dispatch_main_q[7] = 0x1ffe1000000000;
  _dispatch_main_q[8] = count > 0 ? 2 : 1;
  for (int i = 0; i < 2; i++) {
    pthread_create(&thread, NULL, take_turns, (void *)1);
    if (count > 0) pthread_setname_np(thread, "-qos.overcommit");
  }
  ready();
  sigset_t all;
  sigfillset(&all);
  sigdelset(&all, SIGTERM);
  for (;;) sigsuspend(&all);
}
