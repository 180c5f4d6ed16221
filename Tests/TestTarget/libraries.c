// A program with many libraries, and a stack through some of them.
#include "stacks.h"
#include "target.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef void (*next_function)(void *, int);

static next_function chain[64];

static void stop_in_chain(void *functions, int index) {
  (void)functions, (void)index;
  innermost();
  RETURN_HERE;
}

// walk-libraries DIRECTORY COUNT: loads `0.so` to `COUNT-1.so`, each with a function `through` that calls the next one in
// an array; sixty frames of it lie in thirty of them.
PROGRAM(walk_libraries, "walk-libraries") {
  int total = atoi(arguments[1]);
  next_function *through = malloc(sizeof *through * (size_t)total);
  for (int i = 0; i < total; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%d.so", arguments[0], i);
    void *library = dlopen(path, RTLD_NOW);
    if (!library || !(through[i] = (next_function)dlsym(library, "through"))) return 1;
  }
  for (int i = 0; i < 60; i++) chain[i] = through[i % 30 * (total / 30)];
  chain[60] = stop_in_chain;
  show_all();
  SHOW(stop_in_chain);
  chain[0](chain, 1);
  return count;
}
