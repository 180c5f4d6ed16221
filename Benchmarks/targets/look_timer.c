// Loaded into stallwatch before the C library: measures each read of the task iterator, from its beginning to its end, what
// is made of the samples included. The file LOOK_TIMES gets one line for each: nanoseconds and bytes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static __thread int walk = -1;
static __thread long long began, bytes;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int bpf_iter_create(int link);
int bpf_iter_create(int link) {
  static int (*create)(int);
  if (!create) create = (int (*)(int))dlsym(RTLD_NEXT, "bpf_iter_create");
  began = now();
  bytes = 0;
  return walk = create(link);
}

ssize_t read(int descriptor, void *buffer, size_t count) {
  static ssize_t (*next)(int, void *, size_t);
  if (!next) next = (ssize_t(*)(int, void *, size_t))dlsym(RTLD_NEXT, "read");
  ssize_t got = next(descriptor, buffer, count);
  if (descriptor == walk && walk >= 0 && got > 0) bytes += got;
  return got;
}

int close(int descriptor) {
  static int (*next)(int);
  if (!next) next = (int (*)(int))dlsym(RTLD_NEXT, "close");
  int result = next(descriptor);
  if (descriptor != walk || walk < 0) return result;
  long long took = now() - began;
  walk = -1;
  static FILE *file;
  if (!file && getenv("LOOK_TIMES")) file = fopen(getenv("LOOK_TIMES"), "ae");
  if (file) {
    fprintf(file, "%lld %lld\n", took, bytes);
    fflush(file);
  }
  return result;
}
