// What the programs that stop in a stack of known shape share.
#ifndef STACKS_H
#define STACKS_H

#include <stdio.h>

int main(int count, char **arguments);

// Tells the test where a function begins.
#define SHOW(function) printf("%lx " #function "\n", (unsigned long)(function))
#define NOT_INLINED __attribute__((noinline))
// Keeps the call before it from becoming a jump.
#define RETURN_HERE __asm__ volatile("" ::: "memory")

// Stops for good, after saying so.
void innermost(void);
// A function with rules whose first instruction is an endless loop.
void spin_at_first_instruction(void);

// Says `ready` and shows the functions of this file.
void show_all(void);
// Shows itself, and calls `call(innermost)`.
void outer(void (*call)(void (*)(void)));

// A signal handler that stops for good.
void stop_in_handler(int signal);
// Shows itself, and spins in a function until a signal comes.
void call_spinning(void);

#endif
