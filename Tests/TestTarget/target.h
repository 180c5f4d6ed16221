// Programs that each behave in one way, for tests: `TestTarget NAME [ARGUMENT…]`.
#ifndef TARGET_H
#define TARGET_H

#include <stdint.h>

struct program {
  const char *name;
  int (*run)(int count, char **arguments);
  struct program *next;
};

void register_program(struct program *program);

// Runs the program that the first of these words names.
int run_program(int count, char **arguments);

// Defines a program; its body gets `count` and `arguments` (without the program's name).
#define PROGRAM(identifier, name_)                                                         \
  static int identifier##_run(int, char **);                                               \
  __attribute__((constructor)) static void identifier##_register(void) {                   \
    static struct program program = {.name = name_, .run = identifier##_run};              \
    register_program(&program);                                                            \
  }                                                                                        \
  static int identifier##_run(int count __attribute__((unused)), char **arguments __attribute__((unused)))

// Says that the behaviour to be tested begins.
void ready(void);
int64_t now_nanoseconds(void);
// Computes until the time has passed.
void spin_for(int64_t nanoseconds);

#endif
