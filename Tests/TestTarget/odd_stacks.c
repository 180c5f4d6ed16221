// Programs that stop in stacks that are hard to walk: signals on signals, stacks of their own, odd rules, made code.
#define _GNU_SOURCE
#include "stacks.h"
#include "target.h"

#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

void restorer_without_rules(void);
void pause_with_expression(void (*function)(void));
void pause_at_return(void (*function)(void));
void call_forged(void (*function)(void));
void call_in_circle(void (*function)(void));
void call_on_stack(void *stack, void (*function)(void));
void call_with_debug_rules(void (*function)(void));
extern const char call_with_frame[], call_with_frame_end[], call_frameless[], call_frameless_end[];

__asm__(
    ".text\n"
    // As musl's: the trampoline has no rules.
    "restorer_without_rules:\n"
    "mov $15, %rax\n"
    "syscall\n"
    // The CFA lies in memory, at the address in r10.
    "pause_with_expression:\n"
    ".cfi_startproc\n"
    "lea 8(%rsp), %rax\n"
    "push %rax\n"
    "mov %rsp, %r10\n"
    ".cfi_escape 0x0f, 3, 0x7a, 0, 0x06\n"
    "1: mov $34, %eax\n"
    "syscall\n"
    "jmp 1b\n"
    ".cfi_endproc\n"
    // The rules do not say that the frame is gone when the function returns.
    "pause_at_return:\n"
    ".cfi_startproc\n"
    "push %rbp\n.cfi_adjust_cfa_offset 8\n.cfi_rel_offset %rbp, 0\n"
    "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"
    "pop %rbp\n"
    "mov $34, %eax\n"
    "syscall\n"
    "ret\n"
    ".cfi_endproc\n"
    // No rules, and rbp leads to an address behind a call in a function with rules, which would then return to 0.
    "call_forged:\n"
    "push %rbp\n"
    "lea behind_a_call(%rip), %rax\n"
    "push $0\npush $0\npush $0\npush $0\npush $0\npush $0\n"
    "push %rax\n"
    "push $0\n"
    "mov %rsp, %rbp\n"
    "sub $8, %rsp\n"
    "call *%rdi\n"
    "hlt\n"
    "call_with_rules:\n"
    ".cfi_startproc\n"
    "sub $40, %rsp\n.cfi_adjust_cfa_offset 40\n"
    "call *%rdi\n"
    "behind_a_call:\n"
    "add $40, %rsp\n.cfi_adjust_cfa_offset -40\n"
    "ret\n"
    ".cfi_endproc\n"
    // No rules, and rbp leads to two links that lead to each other.
    "call_in_circle:\n"
    "sub $40, %rsp\n"
    "lea behind_circle(%rip), %rax\n"
    "lea 16(%rsp), %rdx\n"
    "mov %rdx, (%rsp)\n"
    "mov %rax, 8(%rsp)\n"
    "mov %rsp, 16(%rsp)\n"
    "mov %rax, 24(%rsp)\n"
    "mov %rsp, %rbp\n"
    "sub $16, %rsp\n"
    "call *%rdi\n"
    "behind_circle:\n"
    "hlt\n"
    // As the switch of a coroutine library: nothing leads back from the new stack, whose bottom is junk.
    "call_on_stack:\n"
    ".cfi_startproc\n"
    "mov %rdi, %rsp\n"
    "jmp *%rsi\n"
    ".cfi_endproc\n"
    // Code to be copied elsewhere, with a frame pointer and without one.
    "call_with_frame:\n"
    "push %rbp\n"
    "mov %rsp, %rbp\n"
    "call *%rdi\n"
    "pop %rbp\n"
    "ret\n"
    "call_with_frame_end:\n"
    "call_frameless:\n"
    "push %rbp\n"
    "mov $1, %ebp\n"
    "call *%rdi\n"
    "pop %rbp\n"
    "ret\n"
    "call_frameless_end:\n");

static void spin_in_handler(int signal __attribute__((unused))) {
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_usec = 30000}}, NULL);
  spin_at_first_instruction();
  RETURN_HERE;
}

// A second signal comes while the handler of the first one spins.
PROGRAM(walk_nested_signals, "walk-nested-signals") {
  show_all();
  SHOW(stop_in_handler);
  SHOW(spin_in_handler);
  signal(SIGVTALRM, spin_in_handler);
  signal(SIGPROF, stop_in_handler);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = 30000}}, NULL);
  call_spinning();
  return 0;
}

PROGRAM(walk_restorer, "walk-restorer") {
  // `struct kernel_sigaction`; 0x04000000 is SA_RESTORER.
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action = {stop_in_handler, 0x04000000, restorer_without_rules, 0};
  show_all();
  SHOW(stop_in_handler);
  syscall(SYS_rt_sigaction, SIGVTALRM, &action, NULL, 8);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = 30000}}, NULL);
  call_spinning();
  return 0;
}

static void use_alternate_stack(int signal) {
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  sigaltstack(&stack, NULL);
  sigaction(signal, &(struct sigaction){.sa_handler = stop_in_handler, .sa_flags = SA_ONSTACK}, NULL);
}

static void compute_in_handler(int signal __attribute__((unused))) {
  puts("stopping");
  for (volatile int i = 0;; i++) continue;
}

// walk-alternate-stack [spin]: a handler on a stack of its own, blocked or computing.
PROGRAM(walk_alternate_stack, "walk-alternate-stack") {
  show_all();
  SHOW(stop_in_handler);
  SHOW(compute_in_handler);
  use_alternate_stack(SIGVTALRM);
  if (count > 0)
    sigaction(SIGVTALRM, &(struct sigaction){.sa_handler = compute_in_handler, .sa_flags = SA_ONSTACK}, NULL);
  setitimer(ITIMER_VIRTUAL, &(struct itimerval){.it_value = {.tv_usec = 30000}}, NULL);
  call_spinning();
  return 0;
}

#pragma clang diagnostic ignored "-Winfinite-recursion"
NOT_INLINED static int overflow(int depth) {
  volatile char bytes[1024];
  bytes[0] = (char)depth;
  return overflow(depth + 1) + bytes[0];
}

static void *overflowing_body(void *argument __attribute__((unused))) {
  use_alternate_stack(SIGSEGV);
  overflow(0);
  return NULL;
}

PROGRAM(walk_overflow, "walk-overflow") {
  show_all();
  SHOW(stop_in_handler);
  SHOW(overflow);
  SHOW(overflowing_body);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 131072);
  pthread_t thread;
  pthread_create(&thread, &attributes, overflowing_body, NULL);
  pthread_join(thread, NULL);
  return 0;
}

static void *stack_of_junk(size_t size) { return memset(malloc(size), 0xAA, size); }

static void fiber_body(void) {
  innermost();
  RETURN_HERE;
}

PROGRAM(walk_fiber, "walk-fiber") {
  ucontext_t own, fiber;
  show_all();
  SHOW(fiber_body);
  getcontext(&fiber);
  fiber.uc_stack = (stack_t){.ss_sp = stack_of_junk(65536), .ss_size = 65536};
  fiber.uc_link = &own;
  makecontext(&fiber, fiber_body, 0);
  swapcontext(&own, &fiber);
  return 0;
}

PROGRAM(walk_coroutine, "walk-coroutine") {
  show_all();
  SHOW(fiber_body);
  call_on_stack((char *)stack_of_junk(65536) + 32768 + 8, fiber_body);
  return 0;
}

__attribute__((force_align_arg_pointer)) NOT_INLINED static void call_realigned(void (*function)(void)) {
  volatile char *bytes = alloca((size_t)getpid() % 7 * 100 + 100);
  bytes[0] = 1;
  function();
  RETURN_HERE;
}

#define CALLING(identifier, name, call) \
  PROGRAM(identifier, name) {           \
    show_all();                         \
    SHOW(call);                         \
    outer(call);                        \
    return 0;                           \
  }
#define STOPPING(identifier, name, call) \
  PROGRAM(identifier, name) {            \
    show_all();                          \
    SHOW(call);                          \
    SHOW(outer);                         \
    puts("stopping");                    \
    outer(call);                         \
    return 0;                            \
  }

CALLING(walk_realigned, "walk-realigned", call_realigned)
CALLING(walk_circle, "walk-circle", call_in_circle)
CALLING(walk_debug_rules, "walk-debug-rules", call_with_debug_rules)
STOPPING(walk_expression, "walk-expression", pause_with_expression)
STOPPING(walk_return, "walk-return", pause_at_return)

void call_with_rules(void (*function)(void));

PROGRAM(walk_forged, "walk-forged") {
  show_all();
  SHOW(call_forged);
  SHOW(call_with_rules);
  outer(call_forged);
  return 0;
}

// Generated code calls back: in anonymous memory, or with an argument in a memory file, 4096 bytes from its start.
static int call_generated(const char *code, const char *end, int isInFile) {
  int file = isInFile ? memfd_create("generated", MFD_CLOEXEC) : -1;
  if (isInFile && ftruncate(file, 8192)) return 1;
  char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      isInFile ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, file, isInFile ? 4096 : 0);
  memcpy(memory + 256, code, (size_t)(end - code));
  show_all();
  outer((void (*)(void (*)(void)))(memory + 256));
  return 0;
}

PROGRAM(walk_generated, "walk-generated") { return call_generated(call_with_frame, call_with_frame_end, 0); }
PROGRAM(walk_memory_file, "walk-memory-file") { return call_generated(call_with_frame, call_with_frame_end, 1); }
PROGRAM(walk_frameless, "walk-frameless") { return call_generated(call_frameless, call_frameless_end, 0); }

// Goes on as `walk-rules`, executed from a memory file.
PROGRAM(walk_executed_from_memory, "walk-executed-from-memory") {
  int file = memfd_create("program", 0), own = fileno(fopen("/proc/self/exe", "r"));
  char bytes[65536];
  for (ssize_t size; (size = read(own, bytes, sizeof bytes)) > 0;)
    if (write(file, bytes, (size_t)size) != size) return 1;
  char *words[] = {"TestTarget", "walk-rules", NULL};
  fexecve(file, words, environ);
  return 1;
}
