// The thin C layer: each function is one system call in the shape that Swift can import.
#define _GNU_SOURCE
#include "clinux.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

int clinux_open(const char *path, int flags) { return open(path, flags | O_CLOEXEC, 0644); }

int clinux_open_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int clinux_open_path_in(int root, const char *path) {
  struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

int clinux_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

int clinux_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int clinux_pidfd_getfd(int process, int descriptor) {
  return (int)syscall(SYS_pidfd_getfd, process, descriptor, 0);
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int clinux_poll_for(struct pollfd *entries, unsigned count, int64_t nanoseconds) {
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  return ppoll(entries, count, &time, NULL);
}

int clinux_memfd_create(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int clinux_memfd_seal(int descriptor) {
  return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

int clinux_signalfd(const int *signals, int count) {
  sigset_t set;
  sigemptyset(&set);
  for (int i = 0; i < count; i++) sigaddset(&set, signals[i]);
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error) {
    errno = error;
    return -1;
  }
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

ssize_t clinux_read_signal(int descriptor, struct clinux_signal_info *info) {
  struct signalfd_siginfo raw;
  ssize_t count = read(descriptor, &raw, sizeof raw);
  *info = (struct clinux_signal_info){0};
  if (count == (ssize_t)sizeof raw)
    *info = (struct clinux_signal_info){
        .signal = (int)raw.ssi_signo, .code = raw.ssi_code, .sender = (pid_t)raw.ssi_pid};
  return count;
}

int clinux_terminal_columns(int descriptor) {
  struct winsize size = {0};
  return ioctl(descriptor, TIOCGWINSZ, &size) ? 0 : size.ws_col;
}

int clinux_set_parent_death_signal(int signal) { return prctl(PR_SET_PDEATHSIG, signal); }
int clinux_set_thread_name(const uint8_t *name) { return prctl(PR_SET_NAME, name); }
uint64_t clinux_own_vdso_address(void) { return getauxval(AT_SYSINFO_EHDR); }
int clinux_processor_of_caller(void) { return sched_getcpu(); }

int clinux_pin_to_processor(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (processor < 0 || processor >= CPU_SETSIZE) {
    errno = EINVAL;
    return -1;
  }
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set);
}

int clinux_signal_that_stopped(pid_t child) {
  siginfo_t info = {0};
  if (waitid(P_PID, (id_t)child, &info, WSTOPPED | WNOHANG) || info.si_pid != child) return 0;
  return info.si_status;
}

bool clinux_has_ended(pid_t child) {
  siginfo_t info = {0};
  return !waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == child;
}

void clinux_unblock_all_signals(void) {
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

pid_t clinux_any_ended_child(void) {
  siginfo_t info = {0};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) ? 0 : info.si_pid;
}

bool clinux_is_ignored(int signal) {
  struct sigaction action;
  return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

// The C library hands them to constructors. Other ways to them go through /proc, which may be missing.
static int own_argument_count;
static char **own_arguments;

__attribute__((constructor)) static void keep_arguments(int count, char **arguments) {
  own_argument_count = count;
  own_arguments = arguments;
}

const char *clinux_own_argument(int index) { return index < own_argument_count ? own_arguments[index] : NULL; }

bool clinux_save_affinity(void *buffer, size_t size) {
  return syscall(SYS_sched_getaffinity, 0, size, buffer) > 0;
}

bool clinux_restore_affinity(const void *buffer, size_t size) {
  return syscall(SYS_sched_setaffinity, 0, size, buffer) == 0;
}

ssize_t clinux_process_vm_read(pid_t pid, uint64_t address, void *buffer, size_t length) {
  struct iovec local = {buffer, length};
  struct iovec remote = {(void *)address, length};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0);
}

int clinux_ptrace_seize(pid_t tid) { return (int)ptrace(PTRACE_SEIZE, tid, NULL, NULL); }
int clinux_ptrace_interrupt(pid_t tid) { return (int)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL); }
int clinux_ptrace_detach(pid_t tid, int signal) {
  return (int)ptrace(PTRACE_DETACH, tid, NULL, (void *)(intptr_t)signal);
}

ssize_t clinux_ptrace_registers(pid_t tid, uint64_t *words, size_t capacity_bytes) {
  struct iovec vector = {words, capacity_bytes};
  if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &vector)) return -1;
  return (ssize_t)vector.iov_len;
}

// The raw call: glibc's wrapper returns the word itself, so that a word of -1 looks like a failure.
int clinux_ptrace_peek(pid_t tid, uint64_t address, uint64_t *word) {
  return (int)syscall(SYS_ptrace, PTRACE_PEEKDATA, tid, address, word);
}

int clinux_ptrace_write_rax(pid_t tid, uint64_t value) {
  return (int)ptrace(PTRACE_POKEUSER, tid, (void *)offsetof(struct user, regs.rax), (void *)value);
}

pid_t clinux_wait(pid_t pid, int *status, bool block) {
  return waitpid(pid, status, __WALL | (block ? 0 : WNOHANG));
}

struct clinux_wait_status clinux_decode_status(int status) {
  return (struct clinux_wait_status){
      .exited = WIFEXITED(status),
      .exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
      .signaled = WIFSIGNALED(status),
      .term_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
      .stopped = WIFSTOPPED(status),
      .stop_signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0,
      .ptrace_event = WIFSTOPPED(status) ? status >> 16 : 0,
  };
}

int clinux_pipe(int descriptors[2]) { return pipe2(descriptors, O_CLOEXEC); }

int clinux_socketpair(int descriptors[2]) {
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, descriptors)) return -1;
  return fcntl(descriptors[0], F_SETFL, O_NONBLOCK);
}

int clinux_wait_readable(int descriptor, int64_t nanoseconds) {
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
  struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
  return ppoll(&entry, 1, nanoseconds < 0 ? NULL : &time, NULL);
}

ssize_t clinux_send_message(int socket, const void *bytes, size_t length, int descriptor) {
  struct iovec vector = {(void *)bytes, length};
  struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
  union {
    char space[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {0};
  if (descriptor >= 0) {
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t clinux_receive_message(int socket, void *bytes, size_t capacity, int *descriptor) {
  struct iovec vector = {bytes, capacity};
  union {
    char space[CMSG_SPACE(sizeof(int))];
    struct cmsghdr align;
  } control = {0};
  struct msghdr message = {.msg_iov = &vector,
                           .msg_iovlen = 1,
                           .msg_control = control.space,
                           // Not CMSG_SPACE: its padding would let in a second descriptor, which nobody closes.
                           .msg_controllen = CMSG_LEN(sizeof(int))};
  *descriptor = -1;
  ssize_t count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (count < 0) return count;
  struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
    memcpy(descriptor, CMSG_DATA(header), sizeof(int));
  return count;
}
