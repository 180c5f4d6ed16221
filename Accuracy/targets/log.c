// The log of a target: each time that the loop came round, and the job that it did meanwhile.
#include "job.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// From the moment at which a wait was over to the next wait. Without a job, `cause` is null. `delay` is how long the
// thread was awake between `waits` and the end of that wait, on a CPU or without one: before it slept, or after it was woken.
struct pass {
  const char *cause;
  long long due, woke, began, ended, waits, delay;
};

static struct pass *passes, current;
static long passes_done, passes_at_most;
static int is_last, statistics = -1;
static long long awake_before;

long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// All memory is had before the first job: a target must not wait for more at a moment that is measured.
void open_log(long jobs) {
  passes_at_most = 4 * jobs + 100000;
  passes = malloc(passes_at_most * sizeof *passes);
  if (!passes) exit(1);
  for (long index = 0; index < passes_at_most; index++) passes[index] = (struct pass){0};
  statistics = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (statistics < 0) exit(1);
}

// On a CPU, and waiting for one: the second field of /proc/PID/task/TID/schedstat, in nanoseconds. What a hypervisor takes
// away without a word counts as time on a CPU.
static long long time_awake(void) {
  char text[64] = "";
  if (pread(statistics, text, sizeof text - 1, 0) <= 0) exit(1);
  char *second;
  strtoll(text, &second, 10);
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec + strtoll(second, NULL, 10);
}

void loop_woke(void) {
  current = (struct pass){.woke = now()};
  if (passes_done) passes[passes_done - 1].delay += time_awake() - awake_before;
}

void loop_waits(void) {
  if (!current.woke) return;
  awake_before = time_awake();
  current.waits = now();
  if (passes_done == passes_at_most) {
    fprintf(stderr, "the log is full\n");
    exit(1);
  }
  passes[passes_done++] = current;
  current = (struct pass){0};
  if (is_last) ask_helper(WRITE_THE_LOG, 0);
  is_last = 0;
}

// The pass with the last job is not over yet.
void close_log(void) { is_last = 1; }

void begin_job(const char *cause, long long due) {
  current.cause = cause;
  current.due = due;
  current.began = now();
}

void end_job(void) {
  if (current.cause) current.ended = now();
}

void write_log(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) exit(1);
  for (struct pass *pass = passes; pass < passes + passes_done; pass++)
    fprintf(file, "%s %lld %lld %lld %lld %lld %lld\n", pass->cause ? pass->cause : "-", pass->due, pass->woke,
      pass->began, pass->ended, pass->waits, pass->delay);
  if (fclose(file) != 0) exit(1);
}
