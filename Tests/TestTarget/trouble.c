// Programs that are hard to capture.
#define _GNU_SOURCE
#include "target.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *pause_beside(void *unused) {
  for (;;) pause();
  return unused;
}

// vfork-parent [beside]: in state D for as long as its child lives; with a second thread that waits.
PROGRAM(vfork_parent, "vfork-parent") {
  pthread_t thread;
  if (count > 0) pthread_create(&thread, NULL, pause_beside, NULL);
  ready();
  if (vfork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  return 1;
}

// exec-loop: replaces itself by itself every 2 ms.
PROGRAM(exec_loop, "exec-loop") {
  if (count == 0) ready();
  spin_for(2000000);
  execl("/proc/self/exe", "TestTarget", "exec-loop", "again", NULL);
  return 1;
}

static void *exec_from_thread(void *argument) {
  (void)argument;
  spin_for(1000000);
  execl("/proc/self/exe", "TestTarget", "thread-exec-loop", "again", NULL);
  return NULL;
}

// thread-exec-loop: the same, done by a second thread, which takes over the id of the first.
PROGRAM(thread_exec_loop, "thread-exec-loop") {
  if (count == 0) ready();
  pthread_t thread;
  pthread_create(&thread, NULL, exec_from_thread, NULL);
  for (;;) spin_for(1000000);
}

static void *live_shortly(void *argument) {
  spin_for(100000);
  return argument;
}

// thread-churn: always some threads, each living 100 µs.
PROGRAM(thread_churn, "thread-churn") {
  ready();
  for (;;) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, live_shortly, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  }
}

// traced: prints the id of a child that computes and that it traces.
PROGRAM(traced, "traced") {
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) spin_for(1000000000);
  }
  if (ptrace(PTRACE_SEIZE, child, NULL, NULL)) return 1;
  ready();
  printf("%d\n", child);
  for (;;) pause();
}

// A page whose fault nobody answers; NULL where that is not allowed.
static void *unserved_page(void) {
  size_t size = (size_t)sysconf(_SC_PAGESIZE);
  void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register range = {.range = {.start = (unsigned long)page, .len = size},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  if (faults < 0 || ioctl(faults, UFFDIO_API, &api) || ioctl(faults, UFFDIO_REGISTER, &range)) {
    puts("not-allowed");
    return NULL;
  }
  return page;
}

// unserved-poll: sleeps in a poll whose descriptors lie in such a page.
PROGRAM(unserved_poll, "unserved-poll") {
  void *page = unserved_page();
  if (!page) return 1;
  ready();
  return poll(page, 20, -1);
}

void pause_over_page(void *page);

__asm__(
    ".text\n"
    // No rules, and rbp leads into the page.
    "pause_over_page:\n"
    "push %rbp\n"
    "mov %rdi, %rbp\n"
    "1: mov $34, %eax\n"
    "syscall\n"
    "jmp 1b\n");

// unserved-frame: waits where the next frame would lie in such a page.
PROGRAM(unserved_frame, "unserved-frame") {
  char *page = unserved_page();
  if (!page) return 1;
  ready();
  pause_over_page(page + 64);
  return 0;
}

// unserved-page: prints the address of a page whose fault nobody answers.
PROGRAM(unserved_page_program, "unserved-page") {
  void *page = unserved_page();
  if (!page) return 1;
  ready();
  printf("%lu\n", (unsigned long)page);
  for (;;) pause();
}
