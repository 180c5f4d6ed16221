// The peer of a ptrace capture: the same calls and nothing else. Reads a thread id a line and answers how long it
// held that thread, in nanoseconds; 0 when it could not.
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

enum { STACK_BYTES = 64 * 1024 };

static char stack_copy[STACK_BYTES];

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// From the request to stop until the thread may run again: what stallwatch gives as the time a thread was held.
static long long capture(pid_t thread) {
  if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0) return 0;
  long long start = now();
  int status;
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 || waitpid(thread, &status, __WALL) != thread) exit(1);
  struct user_regs_struct registers;
  struct iovec set = {&registers, sizeof registers};
  ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &set);
  struct iovec local = {stack_copy, STACK_BYTES}, remote = {(void *)registers.rsp, STACK_BYTES};
  process_vm_readv(thread, &local, 1, &remote, 1, 0);
  ptrace(PTRACE_DETACH, thread, 0, 0);
  return now() - start;
}

int main(void) {
  memset(stack_copy, 1, STACK_BYTES);
  puts("ready");
  fflush(stdout);
  int thread;
  while (scanf("%d", &thread) == 1) {
    printf("%lld\n", capture(thread));
    fflush(stdout);
  }
}
