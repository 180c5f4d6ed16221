// Programs whose threads or processes come and go.
#define _GNU_SOURCE
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void *compute_for_ever(void *unused) {
  for (;;) spin_for(1000000000);
  return unused;
}

// busy-without-main: its first thread exits, its second computes.
PROGRAM(busy_without_main, "busy-without-main") {
  pthread_t thread;
  pthread_create(&thread, NULL, compute_for_ever, NULL);
  ready();
  pthread_exit(NULL);
}

static void block_request_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

// Waits in epoll for a request.
static void wait_for_request(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  int requests = signalfd(-1, &set, SFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  struct signalfd_siginfo info;
  epoll_ctl(epoll, EPOLL_CTL_ADD, requests, &event);
  // Several parks, so that the loop is known.
  while (epoll_wait(epoll, &event, 1, 20) == 0) continue;
  if (read(requests, &info, sizeof info) != sizeof info) abort();
  close(requests);
  close(epoll);
}

static void stall_in_second_thread(void) { usleep(400000); }

static void *run_loop(void *ends) {
  printf("%ld\n", syscall(SYS_gettid));
  do {
    wait_for_request();
    stall_in_second_thread();
  } while (!ends);
  return NULL;
}

// second-loop [ends]: its second thread, whose id it prints, has a loop and stalls for 400 ms at each SIGUSR1; with an
// argument it ends after the first.
PROGRAM(second_loop, "second-loop") {
  pthread_t thread;
  block_request_signal();
  ready();
  pthread_create(&thread, NULL, run_loop, count > 0 ? arguments : NULL);
  for (;;) pause();
}

static void *run_named_loop(void *name) {
  prctl(PR_SET_NAME, name);
  printf("%ld\n", syscall(SYS_gettid));
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event;
  for (;;) {
    // Several parks, so that the loop is known.
    for (int parks = 0; parks < 60; parks++) epoll_wait(epoll, &event, 1, 50);
    stall_in_second_thread();
  }
  return NULL;
}

// named-loops: at SIGUSR1 it starts two threads, "loop-a" and "loop-b", whose loops stall for 400 ms every 3 s.
PROGRAM(named_loops, "named-loops") {
  pthread_t thread;
  block_request_signal();
  ready();
  wait_for_request();
  pthread_create(&thread, NULL, run_named_loop, "loop-a");
  pthread_create(&thread, NULL, run_named_loop, "loop-b");
  for (;;) pause();
}

// stall-and-exit MILLISECONDS STATUS: at SIGUSR1 its loop stalls, then the program exits.
PROGRAM(stall_and_exit, "stall-and-exit") {
  if (count < 2) return 2;
  block_request_signal();
  ready();
  wait_for_request();
  usleep((useconds_t)atoi(arguments[0]) * 1000);
  return atoi(arguments[1]);
}

// loop-then-exit-main: at SIGUSR1 its first thread, which has a loop, exits; another thread goes on.
PROGRAM(loop_then_exit_main, "loop-then-exit-main") {
  pthread_t thread;
  block_request_signal();
  ready();
  wait_for_request();
  pthread_create(&thread, NULL, run_loop, NULL);
  pthread_exit(NULL);
}

// daemonise MILLISECONDS: after that time it goes on as a daemon in a session of its own, whose id it prints.
PROGRAM(daemonise, "daemonise") {
  if (count > 0) usleep((useconds_t)atoi(arguments[0]) * 1000);
  pid_t child = fork();
  if (child == 0) {
    setsid();
    pid_t daemon = fork();
    if (daemon == 0) {
      alarm(20);
      for (int i = 0; i < 3; i++) close(i);
      for (;;) pause();
    }
    printf("%d\n", daemon);
    exit(0);
  }
  waitpid(child, NULL, 0);
  return 0;
}

static void stall_in_first_part(void) { usleep(450000); }
static void stall_in_second_part(void) {
  puts("second part");
  usleep(2000000);
}

// two-part-stall: at SIGUSR1 its loop stalls in one function for 450 ms, then, as it says, in another for 2 s.
PROGRAM(two_part_stall, "two-part-stall") {
  block_request_signal();
  ready();
  wait_for_request();
  stall_in_first_part();
  stall_in_second_part();
  return 0;
}
