// Programs for which rights are missing: those that protect themselves, and launchers that take rights away.
#define _GNU_SOURCE
#include "target.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// protected PROGRAM…: becomes that program, whose files in /proc belong to root.
PROGRAM(protected_program, "protected") {
  prctl(PR_SET_DUMPABLE, 0);
  return run_program(count, arguments);
}

// changing-rights: idles in poll; protects itself at the first SIGUSR1, and no longer at the next one.
PROGRAM(changing_rights, "changing-rights") {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  struct pollfd entry = {.fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN};
  ready();
  for (int dumpable = 0;; dumpable = !dumpable) {
    struct signalfd_siginfo info;
    poll(&entry, 1, -1);
    if (read(entry.fd, &info, sizeof info) != sizeof info) return 1;
    prctl(PR_SET_DUMPABLE, dumpable);
  }
}

// Answers one system call in this way from now on; the listener's descriptor if it is to be asked, else 0.
static int filter_call(long number, uint32_t answer, unsigned flags) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static const struct {
  const char *name;
  long number;
} calls[] = {{"ptrace", SYS_ptrace}, {"process_vm_readv", SYS_process_vm_readv},
           {"perf_event_open", SYS_perf_event_open}, {"bpf", SYS_bpf}};

static long number_of(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!strcmp(calls[i].name, name)) return calls[i].number;
  exit(2);
}

// deny CALL ERRNO COMMAND…: a command to which that system call is refused, one of the table above.
PROGRAM(deny, "deny") {
  if (count < 3) return 2;
  uint32_t answer = SECCOMP_RET_ERRNO | (uint32_t)atoi(arguments[1]);
  if (filter_call(number_of(arguments[0]), answer, 0) < 0) return 1;
  execv(arguments[2], arguments + 2);
  return 127;
}

static int refuse_all(int listener) {
  int refused = 0;
  struct pollfd entry = {.fd = listener, .events = POLLIN};
  while (poll(&entry, 1, -1) > 0 && !(entry.revents & POLLHUP)) {
    struct seccomp_notif request = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request)) continue;
    struct seccomp_notif_resp answer = {.id = request.id, .error = -EACCES};
    // Asking ptrace for thread 0 is how a filter is noticed, and no attempt on anybody.
    if (request.data.args[1] != 0) refused++;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  }
  return refused;
}

// count-refused CALL COMMAND…: refuses that system call to the command, and prints in the end how often it tried.
PROGRAM(count_refused, "count-refused") {
  if (count < 2) return 2;
  long number = number_of(arguments[0]);
  volatile int *listener = mmap(NULL, sizeof *listener, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  // With one table of descriptors until exec, so that the listener's number is valid here too.
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    *listener = filter_call(number, SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (*listener > 0) execv(arguments[1], arguments + 1);
    _exit(127);
  }
  while (*listener == 0) usleep(1000);
  if (*listener < 0) return 1;
  int refused = refuse_all(*listener);
  int status;
  waitpid(child, &status, 0);
  printf("refused %d\n", refused);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
