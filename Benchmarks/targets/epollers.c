// Threads in `epoll_wait`, which fails with EINTR when anybody disturbs it: `epollers THREADS`. A home loop stalls in another
// epoll for 100 ms again and again; it says which one is its home. The command `count` answers how many of all waits have failed.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

static atomic_long failures;

static void await(int epoll, int milliseconds) {
  struct epoll_event event;
  if (epoll_wait(epoll, &event, 1, milliseconds) < 0) failures++;
}

static void *wait_for_ever(void *unused) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  for (;;) await(epoll, -1);
  return unused;
}

static void *answer(void *unused) {
  char command[16];
  while (fgets(command, sizeof command, stdin)) {
    printf("%ld\n", failures);
    fflush(stdout);
  }
  exit(0);
  return unused;
}

static void start(void *(*body)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL) != 0) exit(1);
}

int main(int count, char **words) {
  int home = epoll_create1(EPOLL_CLOEXEC), other = epoll_create1(EPOLL_CLOEXEC);
  for (int threads = count > 1 ? atoi(words[1]) : 1; threads > 0; threads--) start(wait_for_ever);
  start(answer);
  printf("ready %d\n", home);
  fflush(stdout);
  for (;;) {
    for (int parks = 0; parks < 3; parks++) await(home, 10);
    await(other, 100);
  }
}
