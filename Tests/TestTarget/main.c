// Finds the program that the first argument names, and runs it.
#define _GNU_SOURCE
#include "target.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct program *programs;

void register_program(struct program *program) {
  program->next = programs;
  programs = program;
}

void ready(void) { puts("ready"); }

int64_t now_nanoseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

void spin_for(int64_t nanoseconds) {
  int64_t end = now_nanoseconds() + nanoseconds;
  while (now_nanoseconds() < end) continue;
}

int run_program(int count, char **arguments) {
  for (struct program *program = programs; program && count > 0; program = program->next)
    if (!strcmp(program->name, arguments[0])) return program->run(count - 1, arguments + 1);
  fprintf(stderr, "TestTarget: no such program\n");
  return 2;
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  alarm(600);  // ends by itself if whoever started it was killed
  return run_program(count - 1, arguments + 1);
}
