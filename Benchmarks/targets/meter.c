// Seven threads, one of which notices when it does not run. Commands: `begin` and `end`, which answers how much time
// was missing in between and the longest single gap, in nanoseconds. With the argument `deep` one of the others is
// blocked under a recursion of 1 MB.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

// A shorter gap is a cache miss or a tick of the clock.
enum { LEAST_GAP = 10000, DEEP_BYTES = 1024 * 1024, FRAME_BYTES = 1024 };

static atomic_llong missing, longest;
static atomic_int threads_ready, is_over;
static pid_t blocked, running, deep;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// The first thread: tools that find out about the program while they hold it do so while they hold that one. It runs as
// deep as a handler of node does, since others unwind while they hold it.
enum { METER_FRAMES = 40 };

static int meter(int depth) {
  volatile int frame = depth;
  if (depth > 1) return meter(depth - 1) + frame;
  for (long long last = now(); !is_over;) {
    long long current = now(), gap = current - last;
    last = current;
    if (gap < LEAST_GAP) continue;
    missing += gap;
    if (gap > longest) longest = gap;
  }
  return frame;
}

static void *sleeper(void *unused) {
  prctl(PR_SET_NAME, "sleeper");
  blocked = gettid();
  threads_ready++;
  for (;;) pause();
  return unused;
}

static int descend(int bytes) {
  volatile char frame[FRAME_BYTES];
  frame[0] = 1;
  if (bytes > 0) return descend(bytes - FRAME_BYTES) + frame[0];
  deep = gettid();
  threads_ready++;
  while (frame[0]) pause();
  return 0;
}

static void *recursion(void *unused) {
  descend(DEEP_BYTES);
  return unused;
}

static void start(void *(*body)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, NULL) != 0) exit(1);
}

static void *answer(void *unused) {
  while (threads_ready < 5) usleep(1000);
  printf("ready %d %d %d\n", blocked, running, deep);
  fflush(stdout);
  char command[16];
  long long missing_before = 0;
  while (fgets(command, sizeof command, stdin)) {
    if (strcmp(command, "begin\n") == 0) {
      missing_before = missing;
      longest = 0;
    }
    printf("%lld %lld\n", missing - missing_before, longest);
    fflush(stdout);
  }
  is_over = 1;
  return unused;
}

int main(int count, char **words) {
  running = gettid();
  start(count > 1 && strcmp(words[1], "deep") == 0 ? recursion : sleeper);
  for (int others = 0; others < 4; others++) start(sleeper);
  start(answer);
  return meter(METER_FRAMES) < 0;
}
