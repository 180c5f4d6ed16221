// Loaded into stallwatch before the C library: measures each look by the task iterator. The file LOOK_TIMES gets one line for
// each: nanoseconds and the bytes that were read, or −1 where what is told comes another way.
//
// A walk over all threads is measured from its beginning to its end, what is made of the samples included. One that stays at
// a thread (its reads fail with EAGAIN) is measured by the read; beginning it counts as a part of the first one.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_DESCRIPTORS = 1024 };

struct walk {
  long long began;  // 0: there is none, or it is between two looks
  long long bytes;
  int is_open;
};

static struct walk walks[MOST_DESCRIPTORS];

static struct walk *walk_of(int descriptor) {
  if (descriptor < 0 || descriptor >= MOST_DESCRIPTORS || !walks[descriptor].is_open) return NULL;
  return &walks[descriptor];
}

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void note(const struct walk *walk, long long bytes) {
  long long took = now() - walk->began;
  static FILE *file;
  if (!file && getenv("LOOK_TIMES")) file = fopen(getenv("LOOK_TIMES"), "ae");
  if (!file) return;
  fprintf(file, "%lld %lld\n", took, bytes);
  fflush(file);
}

int bpf_iter_create(int link);
int bpf_iter_create(int link) {
  static int (*create)(int);
  if (!create) create = (int (*)(int))dlsym(RTLD_NEXT, "bpf_iter_create");
  long long began = now();
  int descriptor = create(link);
  if (descriptor >= 0 && descriptor < MOST_DESCRIPTORS) walks[descriptor] = (struct walk){began, 0, 1};
  return descriptor;
}

ssize_t read(int descriptor, void *buffer, size_t count) {
  static ssize_t (*next)(int, void *, size_t);
  if (!next) next = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  struct walk *walk = walk_of(descriptor);
  if (walk && walk->began == 0) walk->began = now();
  ssize_t got = next(descriptor, buffer, count);
  if (!walk) return got;
  if (got > 0) walk->bytes += got;
  if (got < 0 && errno == EAGAIN) {
    note(walk, -1);
    walk->began = 0;
    errno = EAGAIN;
  }
  return got;
}

int close(int descriptor) {
  static int (*next)(int);
  if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "close");
  struct walk *walk = walk_of(descriptor);
  int result = next(descriptor);
  if (!walk) return result;
  walk->is_open = 0;
  if (walk->began) note(walk, walk->bytes);
  return result;
}
