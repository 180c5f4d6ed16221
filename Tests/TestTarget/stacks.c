// Programs that stop in a stack of known shape, after printing where its functions begin.
#define _GNU_SOURCE
#include "stacks.h"
#include "target.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

NOT_INLINED void innermost(void) {
  puts("stopping");
  for (;;) pause();
}

void call_without_frame_pointer(void (*function)(void));
void call_without_rules(void (*function)(void));
void call_without_anything(void (*function)(void));
void pause_without_anything(void (*function)(void));

__asm__(
    ".text\n"
    // Has rules, and rbp holds something else than a frame pointer.
    "call_without_frame_pointer:\n"
    ".cfi_startproc\n"
    "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"
    "sub $32, %rsp\n.cfi_adjust_cfa_offset 32\n"
    "mov $0x123456789, %rbp\n"
    "call *%rdi\n"
    "add $32, %rsp\n.cfi_adjust_cfa_offset -32\n"
    "pop %rbp\n.cfi_adjust_cfa_offset -8\n"
    "ret\n"
    ".cfi_endproc\n"
    // As generated code: a frame pointer and no rules.
    "call_without_rules:\n"
    "push %rbp\n"
    "mov %rsp, %rbp\n"
    "sub $16, %rsp\n"
    "call *%rdi\n"
    "leave\n"
    "ret\n"
    // Neither, and rbp leads to a word on the stack that looks like code but follows no call.
    "call_without_anything:\n"
    "push %rbp\n"
    "lea spin_at_first_instruction(%rip), %rax\n"
    "push %rax\n"
    "push %rsp\n"
    "mov %rsp, %rbp\n"
    "sub $8, %rsp\n"
    "call *%rdi\n"
    "add $24, %rsp\n"
    "pop %rbp\n"
    "ret\n"
    // No rules and no frame, not even a push.
    "pause_without_anything:\n"
    "mov $34, %eax\n"
    "syscall\n"
    "jmp pause_without_anything\n"
    ".globl spin_at_first_instruction\n"
    "spin_at_first_instruction:\n"
    ".cfi_startproc\n"
    "jmp spin_at_first_instruction\n"
    ".cfi_endproc\n");

void show_all(void) {
  ready();
  SHOW(main);
  SHOW(innermost);
  SHOW(call_without_frame_pointer);
  SHOW(call_without_rules);
  SHOW(call_without_anything);
  SHOW(pause_without_anything);
  SHOW(spin_at_first_instruction);
}

NOT_INLINED void outer(void (*call)(void (*)(void))) {
  SHOW(outer);
  call(innermost);
  RETURN_HERE;
}

PROGRAM(walk_rules, "walk-rules") {
  show_all();
  outer(call_without_frame_pointer);
  return 0;
}

PROGRAM(walk_frame_pointer, "walk-frame-pointer") {
  show_all();
  outer(call_without_rules);
  return 0;
}

PROGRAM(walk_nothing, "walk-nothing") {
  show_all();
  outer(call_without_anything);
  return 0;
}

PROGRAM(walk_leaf, "walk-leaf") {
  show_all();
  SHOW(outer);
  puts("stopping");
  outer(pause_without_anything);
  return 0;
}

NOT_INLINED void stop_in_handler(int signal __attribute__((unused))) {
  innermost();
  RETURN_HERE;
}

NOT_INLINED static void call_null(void (*volatile function)(void)) {
  function();
  RETURN_HERE;
}

PROGRAM(walk_null, "walk-null") {
  show_all();
  SHOW(stop_in_handler);
  SHOW(call_null);
  signal(SIGSEGV, stop_in_handler);
  call_null(NULL);
  return 0;
}

NOT_INLINED void call_spinning(void) {
  SHOW(call_spinning);
  spin_at_first_instruction();
  RETURN_HERE;
}

// A signal comes while the first instruction of a function runs: the timer counts only computing.
PROGRAM(walk_signal, "walk-signal") {
  show_all();
  SHOW(stop_in_handler);
  signal(SIGVTALRM, stop_in_handler);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = 50000}}, NULL);
  call_spinning();
  return 0;
}

__attribute__((noreturn)) NOT_INLINED static void never_return(void) {
  innermost();
  exit(0);
}

NOT_INLINED static void end_in_call(void) { never_return(); }

PROGRAM(walk_noreturn, "walk-noreturn") {
  show_all();
  SHOW(never_return);
  SHOW(end_in_call);
  end_in_call();
  return 0;
}

static void *thread_body(void *argument __attribute__((unused))) {
  innermost();
  return NULL;
}

PROGRAM(walk_thread, "walk-thread") {
  show_all();
  SHOW(thread_body);
  pthread_t thread;
  pthread_create(&thread, NULL, thread_body, NULL);
  pthread_join(thread, NULL);
  return 0;
}
