// An idle epoll loop beside many blocked threads and many mappings: `crowd THREADS MAPPINGS`.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_BYTES = 16 * 1024, PAGE = 4096 };

static void *blocked(void *unused) {
  for (;;) pause();
  return unused;
}

static char *reserve(size_t bytes) {
  char *start =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) exit(1);
  return start;
}

int main(int count, char **words) {
  if (count != 3) return 2;
  // All stacks in one mapping: the number of mappings is what the argument says.
  long threads = atol(words[1]), mappings = atol(words[2]);
  char *stacks = reserve(threads * STACK_BYTES + PAGE);
  for (long index = 0; index < threads; index++) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstack(&attributes, stacks + index * STACK_BYTES, STACK_BYTES) != 0) return 1;
    if (pthread_create(&thread, &attributes, blocked, NULL) != 0) return 1;
  }
  // Neighbours with different protection are mappings of their own.
  char *pages = reserve(mappings * PAGE);
  for (long index = 0; index < mappings; index += 2)
    if (mprotect(pages + index * PAGE, PAGE, PROT_READ) != 0) return 1;
  int loop = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  if (loop < 0 || epoll_ctl(loop, EPOLL_CTL_ADD, STDIN_FILENO, &event) != 0) return 1;
  puts("ready");
  fflush(stdout);
  return epoll_wait(loop, &event, 1, -1) != 1;
}
