// The seccomp filter of a process that reads hostile bytes, and the signal handler behind its open(2).
#define _GNU_SOURCE
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

int clinux_drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[2] = {{0}};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return (int)syscall(SYS_capset, &header, none);
}

#if !defined(__x86_64__)
#error "the handler behind open(2) reads the registers of x86-64"
#endif

static clinux_open_for_us open_by_other;

// The kernel raises SIGSYS in the middle of the call; what stands in rax afterwards is what the call returns
// (seccomp(2), SECCOMP_RET_TRAP).
static void answer_trapped_call(int signal, siginfo_t *info, void *context) {
  (void)signal;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  bool is_at = info->si_syscall == SYS_openat;
  const char *path = (const char *)registers[is_at ? REG_RSI : REG_RDI];
  greg_t flags = registers[is_at ? REG_RDX : REG_RSI];
  bool is_wanted = path && path[0] == '/' && (flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT);
  registers[REG_RAX] = is_wanted ? open_by_other(path) : -EACCES;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
// If the loaded word is `value` the next statement applies, else the one after it.
#define IF(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)
#define ALLOW(call) IF(SYS_##call), RETURN(SECCOMP_RET_ALLOW)
// Not with PROT_EXEC: no code comes into this process any more. The low word of the third argument.
#define ALLOW_UNLESS_EXECUTABLE(call)                                                        \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 4), LOAD(args[2]),                      \
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), RETURN(SECCOMP_RET_ERRNO | EPERM), \
      RETURN(SECCOMP_RET_ALLOW)
// Nor locks, leases and signals of files: others would wait for them, or get them. The low word of the second argument.
#define ALLOW_HARMLESS_FCNTL                                                                   \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 8), LOAD(args[1]), IF(F_DUPFD_CLOEXEC),    \
      RETURN(SECCOMP_RET_ALLOW), IF(F_GETFD), RETURN(SECCOMP_RET_ALLOW), IF(F_ADD_SEALS),      \
      RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_ERRNO | EPERM)

static struct sock_filter filter[] = {
    LOAD(arch), IF(AUDIT_ARCH_X86_64), BPF_STMT(BPF_JMP | BPF_JA, 1), RETURN(SECCOMP_RET_KILL_PROCESS),
    LOAD(nr),
    // Messages, and what to do with the files that come with them.
    ALLOW(recvmsg), ALLOW(sendmsg), ALLOW(poll), ALLOW(ppoll), ALLOW(read), ALLOW(pread64), ALLOW(write),
    ALLOW(writev), ALLOW(pwrite64), ALLOW(close), ALLOW(lseek), ALLOW(fstat), ALLOW(newfstatat),
    ALLOW_HARMLESS_FCNTL,
    ALLOW(memfd_create), ALLOW(ftruncate), ALLOW(fallocate),
    // Memory.
    ALLOW_UNLESS_EXECUTABLE(mmap), LOAD(nr), ALLOW_UNLESS_EXECUTABLE(mprotect), LOAD(nr), ALLOW(munmap),
    ALLOW(mremap), ALLOW(madvise), ALLOW(brk), ALLOW(sysinfo), ALLOW(getrandom), ALLOW(futex),
    // Time, and the way out.
    ALLOW(clock_gettime), ALLOW(setitimer), ALLOW(rt_sigreturn), ALLOW(rt_sigprocmask), ALLOW(rt_sigaction),
    ALLOW(sigaltstack), ALLOW(getpid), ALLOW(gettid), ALLOW(exit), ALLOW(exit_group),
    IF(SYS_openat), RETURN(SECCOMP_RET_TRAP), IF(SYS_open), RETURN(SECCOMP_RET_TRAP),
    RETURN(SECCOMP_RET_ERRNO | ENOSYS),
};

int clinux_enter_sandbox(clinux_open_for_us open_for_us) {
  // The handler makes system calls of its own, which must not be trapped while SIGSYS is blocked: the kernel would kill.
  struct sigaction action = {.sa_sigaction = answer_trapped_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
  struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
  open_by_other = open_for_us;
  if (sigaction(SIGSYS, &action, NULL)) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
