// A terminal for another program, typed into and read through pipes.
#define _GNU_SOURCE
#include "target.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Copies what is there; 0 at the end, which a terminal tells by an error.
static int pass_on(int from, int to) {
  char bytes[4096];
  ssize_t count = read(from, bytes, sizeof bytes);
  return count > 0 && write(to, bytes, (size_t)count) == count;
}

// terminal COMMAND ARGUMENT…: COMMAND leads a session in a new terminal, and its id is printed. Standard input is typed
// there, and what is shown there goes to standard output. The end of the input hangs up. Prints how COMMAND ended.
PROGRAM(terminal, "terminal") {
  int terminal, status;
  if (count == 0) return 2;
  pid_t leader = forkpty(&terminal, NULL, NULL, NULL);
  if (leader == 0) {
    alarm(0);
    execvp(arguments[0], arguments);
    _exit(127);
  }
  printf("leader %d\n", leader);
  for (int is_open = 1; is_open;) {
    struct pollfd ends[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = terminal, .events = POLLIN}};
    if (poll(ends, 2, -1) < 0) break;
    if (ends[1].revents) is_open = pass_on(terminal, STDOUT_FILENO);
    if (ends[0].revents && is_open) is_open = pass_on(STDIN_FILENO, terminal);
  }
  close(terminal);
  waitpid(leader, &status, 0);
  printf("\nended %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
