// What a job does until its time is over, each in a function of its own: the place that a report has to name.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "job.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_asked, is_held;
static enum order order;
static long long order_nanoseconds;
static int feed[2], disk = -1;
static const char *log_path;
static void *disk_block;

enum { DISK_BLOCK = 4096, DISK_BLOCKS = 1024, NESTED_ROUNDS = 5 };

static struct timespec span(long long nanoseconds) {
  if (nanoseconds < 0) nanoseconds = 0;
  return (struct timespec){nanoseconds / 1000000000, nanoseconds % 1000000000};
}

static void rest(long long nanoseconds) {
  struct timespec left = span(nanoseconds);
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {}
}

static void wait_for(sem_t *semaphore) {
  while (sem_wait(semaphore) != 0) {}
}

static void *help(void *unused) {
  for (;;) {
    wait_for(&is_asked);
    switch (order) {
      case HOLD_THE_LOCK:
        pthread_mutex_lock(&lock);
        sem_post(&is_held);
        rest(order_nanoseconds);
        pthread_mutex_unlock(&lock);
        break;
      case FEED_THE_PIPE:
        rest(order_nanoseconds);
        if (write(feed[1], "", 1) != 1) exit(1);
        break;
      case WRITE_THE_LOG:
        write_log(log_path);
        puts("done");
        fflush(stdout);
    }
  }
  return unused;
}

void ask_helper(enum order what, long long nanoseconds) {
  order = what;
  order_nanoseconds = nanoseconds;
  sem_post(&is_asked);
}

// The disk file lies beside the log and has no name for longer than it takes to open it.
void start_helper(const char *path) {
  pthread_t thread;
  char scratch[4096];
  snprintf(scratch, sizeof scratch, "%s.disk", path);
  log_path = path;
  disk = open(scratch, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
  if (disk < 0) disk = open(scratch, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (disk < 0 || unlink(scratch) != 0 || pipe2(feed, O_CLOEXEC) != 0) exit(1);
  if (posix_memalign(&disk_block, DISK_BLOCK, DISK_BLOCK) != 0) exit(1);
  memset(disk_block, 1, DISK_BLOCK);
  sem_init(&is_asked, 0, 0);
  sem_init(&is_held, 0, 0);
  if (pthread_create(&thread, NULL, help, NULL) != 0) exit(1);
}

#define CAUSE(name) __attribute__((noinline)) static void name(long long end)

static volatile double sum;
CAUSE(compute) {
  while (now() < end)
    for (int step = 0; step < 1000; step++) sum += step;
}

CAUSE(sleep_on_purpose) { rest(end - now()); }

CAUSE(wait_for_lock) {
  ask_helper(HOLD_THE_LOCK, end - now());
  wait_for(&is_held);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
}

CAUSE(read_pipe) {
  char byte;
  ask_helper(FEED_THE_PIPE, end - now());
  while (read(feed[0], &byte, 1) < 0 && errno == EINTR) {}
}

// Many short waits in the kernel, each for the device: nothing blocks for a chosen time in a single one.
CAUSE(write_disk) {
  for (int block = 0; now() < end; block = (block + 1) % DISK_BLOCKS)
    if (pwrite(disk, disk_block, DISK_BLOCK, (off_t)block * DISK_BLOCK) < 0 || fdatasync(disk) != 0) exit(1);
}

CAUSE(run_nested_loop) {
  int own = epoll_create1(EPOLL_CLOEXEC), timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  struct timespec round = span((end - now()) / NESTED_ROUNDS + 1);
  struct itimerspec times = {round, round};
  if (own < 0 || timer < 0 || epoll_ctl(own, EPOLL_CTL_ADD, timer, &event) != 0) exit(1);
  timerfd_settime(timer, 0, &times, NULL);
  while (now() < end) {
    long long count;
    if (epoll_wait(own, &event, 1, -1) == 1 && read(timer, &count, sizeof count) < 0) exit(1);
  }
  close(timer);
  close(own);
}

extern char **environ;
CAUSE(wait_for_child) {
  char seconds[32], *words[] = {"sleep", seconds, NULL};
  long long left = end - now();
  snprintf(seconds, sizeof seconds, "%.6f", left > 0 ? left / 1e9 : 0);
  pid_t child;
  if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) != 0) exit(1);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
}

const struct cause *cause_named(const char *name) {
  static const struct cause causes[] = {
    {"compute", compute},         {"sleep", sleep_on_purpose},  {"lock", wait_for_lock},   {"pipe", read_pipe},
    {"disk", write_disk},         {"nested", run_nested_loop},  {"child", wait_for_child}, {"dialog", dialog},
  };
  for (unsigned index = 0; index < sizeof causes / sizeof *causes; index++)
    if (strcmp(causes[index].name, name) == 0) return &causes[index];
  return NULL;
}
