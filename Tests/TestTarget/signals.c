// A process whose sibling sends it many signals, each with a value.
#define _GNU_SOURCE
#include "target.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t received, out_of_order;

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  // Queued signals of one number come in order, so each value is the count so far.
  if (info->si_code != SI_QUEUE || info->si_value.sival_int != received) out_of_order++;
  received++;
}

// signal-storm COUNT: computes while COUNT signals come at 2 kHz, then prints "RECEIVED OUT-OF-ORDER".
PROGRAM(signal_storm, "signal-storm") {
  int total = count > 0 ? atoi(arguments[0]) : 1000;
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  sigaction(SIGRTMIN, &action, NULL);
  pid_t parent = getpid();
  ready();
  pid_t sender = fork();
  if (sender == 0) {
    for (int i = 0; i < total; i++) {
      sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = i});
      usleep(500);
    }
    _exit(0);
  }
  int status;
  while (waitpid(sender, &status, WNOHANG) == 0) spin_for(100000);
  printf("%d %d\n", received, out_of_order);
  for (;;) pause();
}

// epoll-signals COUNT: waits in `epoll_pwait` for COUNT signals that can arrive only there. The next one is sent when
// the last one has interrupted its wait, so a wait that goes on after a signal hangs the program. Prints COUNT.
PROGRAM(epoll_signals, "epoll-signals") {
  int total = count > 0 ? atoi(arguments[0]) : 100;
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  sigaction(SIGRTMIN, &action, NULL);
  sigset_t blocked, none;
  sigemptyset(&none);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGRTMIN);
  sigprocmask(SIG_BLOCK, &blocked, NULL);
  int acknowledgements[2], epoll = epoll_create1(EPOLL_CLOEXEC);
  pid_t parent = getpid();
  if (pipe(acknowledgements)) return 1;
  ready();
  if (fork() == 0) {
    char byte;
    close(acknowledgements[1]);
    for (int i = 0; i < total; i++) {
      usleep(300);
      sigqueue(parent, SIGRTMIN, (union sigval){.sival_int = i});
      if (read(acknowledgements[0], &byte, 1) != 1) break;
    }
    _exit(0);
  }
  for (int interrupted = 0; interrupted < total;) {
    struct epoll_event event;
    if (epoll_pwait(epoll, &event, 1, -1, &none) >= 0) return 1;
    // Interrupted without a signal: by the capture.
    if (received != interrupted + 1) return 1;
    interrupted++;
    if (write(acknowledgements[1], "", 1) != 1) return 1;
  }
  printf("%d\n", received);
  for (;;) pause();
}
