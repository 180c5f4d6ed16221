// Programs whose main thread waits for one thing for ever.
#define _GNU_SOURCE
#include "target.h"

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t both;

static void *hold_mutex(void *mutex) {
  pthread_setname_np(pthread_self(), "holder");
  pthread_mutex_lock(mutex);
  pthread_barrier_wait(&both);
  for (;;) pause();
}

static void *hold_for_writing(void *lock) {
  pthread_setname_np(pthread_self(), "writer");
  pthread_rwlock_wrlock(lock);
  pthread_barrier_wait(&both);
  for (;;) pause();
}

static void *sleep_for_ever(void *unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "sleeper");
  pthread_barrier_wait(&both);
  for (;;) pause();
}

static pthread_t start_beside(void *(*body)(void *), void *argument) {
  pthread_t thread;
  pthread_barrier_init(&both, NULL, 2);
  pthread_create(&thread, NULL, body, argument);
  pthread_barrier_wait(&both);
  ready();
  return thread;
}

static int lock_mutex(int type, int protocol, int robust) {
  static pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutex_init(&mutex, &attributes);
  start_beside(hold_mutex, &mutex);
  return pthread_mutex_lock(&mutex);
}

PROGRAM(mutex, "wait-mutex") { return lock_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED); }
PROGRAM(recursive, "wait-recursive-mutex") {
  return lock_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
}
PROGRAM(robust, "wait-robust-mutex") {
  return lock_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
}
PROGRAM(inheriting, "wait-inheriting-mutex") {
  return lock_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
}

PROGRAM(reader, "wait-read-lock") {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  start_beside(hold_for_writing, &lock);
  return pthread_rwlock_rdlock(&lock);
}

PROGRAM(writer, "wait-write-lock") {
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  start_beside(hold_for_writing, &lock);
  return pthread_rwlock_wrlock(&lock);
}

PROGRAM(condition, "wait-condition") {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  ready();
  pthread_mutex_lock(&mutex);
  return pthread_cond_wait(&condition, &mutex);
}

PROGRAM(semaphore, "wait-semaphore") {
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  ready();
  return sem_wait(&semaphore);
}

PROGRAM(join, "wait-join") { return pthread_join(start_beside(sleep_for_ever, NULL), NULL); }

static void *hold_stdio(void *unused) {
  (void)unused;
  flockfile(stderr);
  pthread_barrier_wait(&both);
  for (;;) pause();
}

PROGRAM(stdio, "wait-stdio-lock") {
  start_beside(hold_stdio, NULL);
  return fputs("never", stderr);
}

PROGRAM(pipe_reader, "wait-pipe-read") {
  int ends[2];
  char byte;
  if (pipe(ends)) return 1;
  ready();
  return (int)read(ends[0], &byte, 1);
}

PROGRAM(pipe_writer, "wait-pipe-write") {
  int ends[2];
  static char bytes[4096];
  if (pipe(ends)) return 1;
  ready();
  for (;;)
    if (write(ends[1], bytes, sizeof bytes) < 0) return 1;
}

PROGRAM(receiver, "wait-receive") {
  int ends[2];
  char byte;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
  ready();
  return (int)recv(ends[0], &byte, 1, 0);
}

PROGRAM(sender, "wait-send") {
  int ends[2];
  static char bytes[4096];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 1;
  ready();
  for (;;)
    if (send(ends[0], bytes, sizeof bytes, 0) < 0) return 1;
}

PROGRAM(sleeper, "wait-sleep") {
  ready();
  return (int)sleep(500);
}

PROGRAM(epoll, "wait-epoll") {
  struct epoll_event event;
  ready();
  return epoll_wait(epoll_create1(0), &event, 1, -1);
}

PROGRAM(child, "wait-child") {
  pid_t parent = getpid(), child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have been killed before that.
    if (getppid() != parent) _exit(0);
    for (;;) pause();
  }
  ready();
  return waitpid(child, NULL, 0);
}

PROGRAM(file_lock, "wait-file-lock") {
  int held = memfd_create("locked", 0);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", held);
  flock(held, LOCK_EX);
  ready();
  FILE *other = fopen(path, "r");
  return flock(fileno(other), LOCK_EX);
}
