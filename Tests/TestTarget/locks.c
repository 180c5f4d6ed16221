// Threads that wait for each other: idle pools, and locks that are taken in the wrong order.
#define _GNU_SOURCE
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static struct {
  pthread_mutex_t lock;
  pthread_cond_t filled;
  int jobs;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void *work_off(void *unused) {
  for (;;) {
    pthread_mutex_lock(&pool.lock);
    while (pool.jobs == 0) pthread_cond_wait(&pool.filled, &pool.lock);
    pool.jobs--;
    pthread_mutex_unlock(&pool.lock);
    spin_for(2000000);
  }
  return unused;
}

// thread-pool: four threads idle on a condition, and a loop that has a job for one of them every 300 ms.
PROGRAM(thread_pool, "thread-pool") {
  pthread_t thread;
  for (int i = 0; i < 4; i++) pthread_create(&thread, NULL, work_off, NULL);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event;
  ready();
  for (;;) {
    epoll_wait(epoll, &event, 1, 300);
    pthread_mutex_lock(&pool.lock);
    pool.jobs++;
    pthread_cond_signal(&pool.filled);
    pthread_mutex_unlock(&pool.lock);
  }
}

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both_hold_one;

static void *lock_the_other_way(void *unused) {
  pthread_setname_np(pthread_self(), "other-way");
  pthread_mutex_lock(&second_lock);
  pthread_barrier_wait(&both_hold_one);
  pthread_mutex_lock(&first_lock);
  return unused;
}

// opposite-locks: at SIGUSR1 its loop takes two locks that another thread takes in the other order.
PROGRAM(opposite_locks, "opposite-locks") {
  pthread_t thread;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  int requests = signalfd(-1, &set, SFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, requests, &event);
  pthread_barrier_init(&both_hold_one, NULL, 2);
  ready();
  while (epoll_wait(epoll, &event, 1, 20) == 0) continue;
  pthread_mutex_lock(&first_lock);
  pthread_create(&thread, NULL, lock_the_other_way, NULL);
  pthread_barrier_wait(&both_hold_one);
  return pthread_mutex_lock(&second_lock);
}

// Mutexes and threads in a row: each thread holds the lock of its number and asks for the next one's.
static struct {
  pthread_mutex_t locks[4];
  pthread_barrier_t all_hold_theirs;
  int length;
  int isRing;
  int hasTimeout;
} row;

static void *hold_one_ask_for_the_next(void *number) {
  int own = (int)(intptr_t)number, next = own + 1;
  char name[16];
  snprintf(name, sizeof name, "row-%d", own);
  if (own > 0) pthread_setname_np(pthread_self(), name);
  pthread_mutex_lock(&row.locks[own]);
  pthread_barrier_wait(&row.all_hold_theirs);
  if (own == 0) ready();
  if (next == row.length && !row.isRing) for (;;) pause();
  struct timespec later = {.tv_sec = time(NULL) + 1000};
  pthread_mutex_t *wanted = &row.locks[next % row.length];
  if (row.hasTimeout && next == row.length)
    pthread_mutex_timedlock(wanted, &later);
  else
    pthread_mutex_lock(wanted);
  return NULL;
}

static int wait_in_a_row(int length, int isRing, int hasTimeout) {
  pthread_t thread;
  row.length = length;
  row.isRing = isRing;
  row.hasTimeout = hasTimeout;
  for (int i = 0; i < length; i++) pthread_mutex_init(&row.locks[i], NULL);
  pthread_barrier_init(&row.all_hold_theirs, NULL, length);
  for (intptr_t i = 1; i < length; i++) pthread_create(&thread, NULL, hold_one_ask_for_the_next, (void *)i);
  hold_one_ask_for_the_next((void *)0);
  return 0;
}

PROGRAM(ring_of_two, "wait-ring-of-two") { return wait_in_a_row(2, 1, 0); }
PROGRAM(ring_of_three, "wait-ring-of-three") { return wait_in_a_row(3, 1, 0); }
PROGRAM(ring_with_timeout, "wait-ring-with-timeout") { return wait_in_a_row(2, 1, 1); }
PROGRAM(chain_of_three, "wait-chain-of-three") { return wait_in_a_row(3, 0, 0); }

PROGRAM(own_mutex, "wait-own-mutex") {
  ready();
  pthread_mutex_lock(&first_lock);
  return pthread_mutex_lock(&first_lock);
}

// join-ring: the first thread holds a lock and waits for the end of another one that asks for the lock.
static void *ask_for_the_lock(void *unused) {
  pthread_setname_np(pthread_self(), "joined");
  pthread_mutex_lock(&first_lock);
  return unused;
}

PROGRAM(join_ring, "wait-join-ring") {
  pthread_t thread;
  pthread_mutex_lock(&first_lock);
  pthread_create(&thread, NULL, ask_for_the_lock, NULL);
  ready();
  return pthread_join(thread, NULL);
}
