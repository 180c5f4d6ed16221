// The demo program: an epoll loop that idles for a second, then stalls, each time in another of four ways.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

// A function of its own in the symbol table, however the compiler optimises: its name is what the report shows.
#define NAMED __attribute__((noinline))

static void check(int succeeded, const char *what) {
  if (succeeded) return;
  perror(what);
  exit(1);
}

static void pause_milliseconds(long milliseconds) {
  struct timespec span = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000};
  nanosleep(&span, NULL);
}

static void start_thread(pthread_t *thread, const char *name, void *(*body)(void *), void *argument) {
  check(pthread_create(thread, NULL, body, argument) == 0, "pthread_create");
  pthread_setname_np(*thread, name);
}

// Blocked: a pipe whose other end writes late.

static void *write_report_slowly(void *write_end) {
  pause_milliseconds(800);
  check(write(*(int *)write_end, "report", 6) == 6, "write");
  return NULL;
}

NAMED static void read_report_from_slow_pipe(void) {
  int ends[2];
  char report[6];
  pthread_t writer;
  check(pipe(ends) == 0, "pipe");
  start_thread(&writer, "report-writer", write_report_slowly, &ends[1]);
  check(read(ends[0], report, sizeof report) == sizeof report, "read");
  pthread_join(writer, NULL);
  close(ends[0]);
  close(ends[1]);
}

// Blocked: a mutex that another thread holds for long.

static pthread_mutex_t cache = PTHREAD_MUTEX_INITIALIZER;

static void *flush_cache(void *cache_is_held) {
  pthread_mutex_lock(&cache);
  pthread_barrier_wait(cache_is_held);
  pause_milliseconds(700);
  pthread_mutex_unlock(&cache);
  return NULL;
}

NAMED static void look_up_in_locked_cache(void) {
  pthread_barrier_t cache_is_held;
  pthread_t flusher;
  pthread_barrier_init(&cache_is_held, NULL, 2);
  start_thread(&flusher, "cache-flusher", flush_cache, &cache_is_held);
  pthread_barrier_wait(&cache_is_held);
  pthread_mutex_lock(&cache);
  pthread_mutex_unlock(&cache);
  pthread_join(flusher, NULL);
  pthread_barrier_destroy(&cache_is_held);
}

// Blocked: a sleep where none belongs.

NAMED static void sleep_before_retry(void) {
  pause_milliseconds(600);
}

// Running: more work than a callback should do.

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

NAMED static uint64_t mix(uint64_t sum) {
  for (int round = 0; round < 1000000; round++) sum = (sum ^ (sum >> 29)) * 0xbf58476d1ce4e5b9;
  return sum;
}

NAMED static void compute_checksum_of_everything(void) {
  static volatile uint64_t checksum;
  for (double end = now() + 0.9; now() < end;) checksum = mix(checksum + 1);
}

// The loop.

static void handle_tick(int tick) {
  switch (tick % 4) {
  case 0: read_report_from_slow_pipe(); break;
  case 1: look_up_in_locked_cache(); break;
  case 2: sleep_before_retry(); break;
  case 3: compute_checksum_of_everything(); break;
  }
}

static void set_timer(int timer) {
  struct itimerspec in_one_second = {.it_value = {.tv_sec = 1}};
  check(timerfd_settime(timer, 0, &in_one_second, NULL) == 0, "timerfd_settime");
}

int main(void) {
  int loop = epoll_create1(EPOLL_CLOEXEC);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  check(loop >= 0 && timer >= 0, "epoll_create1, timerfd_create");
  struct epoll_event interest = {.events = EPOLLIN, .data.fd = timer};
  check(epoll_ctl(loop, EPOLL_CTL_ADD, timer, &interest) == 0, "epoll_ctl");

  printf("ready %d\n", getpid());
  fflush(stdout);

  set_timer(timer);
  for (int tick = 0;; tick++) {
    struct epoll_event event;
    uint64_t expirations;
    check(epoll_wait(loop, &event, 1, -1) == 1, "epoll_wait");
    check(read(timer, &expirations, sizeof expirations) == sizeof expirations, "read");
    handle_tick(tick);
    set_timer(timer);
  }
}
