// System calls and constants that Swift cannot import: variadic functions, _GNU_SOURCE, raw calls, macros.
//
// Every function returns what the system call returns and leaves the reason in errno.
#ifndef CLINUX_H
#define CLINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "perf_event.h"
#include "sandbox.h"
#include "task_sample.h"

int clinux_open(const char *path, int flags);
// O_PATH: names a file without opening it.
int clinux_open_path(const char *path);
// The same below another root, which no link and no `..` leads out of.
int clinux_open_path_in(int root, const char *path);
int clinux_duplicate(int descriptor);
int clinux_pidfd_open(pid_t pid);
// A descriptor of our own for an open file of the other process.
int clinux_pidfd_getfd(int process, int descriptor);
int clinux_eventfd(void);
// poll(2) for so long.
struct pollfd;
int clinux_poll_for(struct pollfd *entries, unsigned count, int64_t nanoseconds);
// The end of the mapping that holds an address, by an open `maps`; fails with ENOENT if there is none.
int clinux_mapping_end(int descriptor, uint64_t address, uint64_t *end);
int clinux_memfd_create(const char *name);
int clinux_memfd_seal(int descriptor);

// Blocks the signals of the set in this thread and returns a descriptor that reads them.
int clinux_signalfd(const int *signals, int count);
// One pending signal, or a count of 0 with `signal` 0 if there is none.
struct clinux_signal_info {
  int signal;
  int code;
  pid_t sender;
};
ssize_t clinux_read_signal(int descriptor, struct clinux_signal_info *info);

// A user to become, with what the environment says of one.
struct clinux_identity {
  uid_t user;
  gid_t group;
  const gid_t *groups;
  int group_count;
  const char *name;
  const char *home;
  const char *shell;
};
// `unblocked` signals are not blocked in it, `defaults` have their default action; `identity` is NULL for our own.
struct clinux_program {
  char *const *arguments;
  const int *unblocked;
  int unblocked_count;
  const int *defaults;
  int default_count;
  const struct clinux_identity *identity;
};
// Starts a program found through PATH as execvp(3) does, in our process group, with our descriptors (but the
// close-on-exec ones). Fails with the reason of exec, or with that of becoming the user. Only while we have one thread.
pid_t clinux_start_program(const struct clinux_program *program, bool *is_refused_identity);
// SIGALRM after this time, instead of any alarm set before; 0: none.
void clinux_set_alarm(int64_t microseconds);
// The signal that stopped the child, if it has been stopped since the last call; 0 if not.
int clinux_signal_that_stopped(pid_t child);
// Whether the child has ended; its status stays for a later wait.
bool clinux_has_ended(pid_t child);
// A child that has ended and was not waited for, 0 if there is none.
pid_t clinux_any_ended_child(void);
// Who becomes the parent of our descendants when theirs ends: found by leaving `orphan` behind for a moment. 0 if unknown.
pid_t clinux_adopter_of_orphans(pid_t *orphan);
bool clinux_is_ignored(int signal);
void clinux_unblock_all_signals(void);
// A word of our own command line, NULL behind the last.
const char *clinux_own_argument(int index);

// The file of our program is setuid or setgid, or has capabilities, and we are not root by ourselves (AT_SECURE).
bool clinux_is_privileged_by_file(void);
// Whoever executed us has the rights that we have: root, or by ambient capabilities. In doubt false.
bool clinux_has_only_rights_of_caller(void);
// Whom that is, by his real ids.
void clinux_ids_of_caller(uid_t *user, gid_t *group);
// Only these ids stay, and these capabilities. For the calling thread.
int clinux_give_up_rights_of_file(uint64_t kept);
// Whoever has our user and rights may look into us, which the kernel forbids of a program with rights of its file.
int clinux_become_dumpable(void);

// Columns of the terminal; 0 if it is none or does not tell.
int clinux_terminal_columns(int descriptor);

int clinux_set_parent_death_signal(int signal);
int clinux_set_thread_name(const uint8_t *name);
uint64_t clinux_own_vdso_address(void);
int clinux_processor_of_caller(void);
int clinux_pin_to_processor(int processor);
// Whether the calling thread may use the processor now.
bool clinux_save_affinity(void *buffer, size_t size);
bool clinux_restore_affinity(const void *buffer, size_t size);

// Copies up to `length` bytes from the other process; a short count where its memory ends.
ssize_t clinux_process_vm_read(pid_t pid, uint64_t address, void *buffer, size_t length);

// ptrace: only what reading needs. `clinux_ptrace_write_rax` is the one that writes.
int clinux_ptrace_seize(pid_t tid);
int clinux_ptrace_interrupt(pid_t tid);
int clinux_ptrace_detach(pid_t tid, int signal);
// Registers as `struct user_regs_struct` (27 words on x86-64); returns the number of bytes the kernel filled in.
ssize_t clinux_ptrace_registers(pid_t tid, uint64_t *words, size_t capacity_bytes);
// One word of the memory of a stopped thread.
int clinux_ptrace_peek(pid_t tid, uint64_t address, uint64_t *word);
int clinux_ptrace_write_rax(pid_t tid, uint64_t value);

// Starts a program with our environment, no signal blocked or handled, and exactly these descriptors: `descriptors[i]`
// becomes i, where it is -1 that is /dev/null. In its own process group if asked, out of the terminal's reach; the
// signals of terminals are blocked then, until it has arranged itself.
pid_t clinux_spawn(const char *path, char *const *arguments, const int *descriptors, int count, bool own_group);
// A copy of this process in a group of its own, with no signal blocked or handled, /dev/null as 0 and 1, our 2, the
// socket as 3 and no other descriptor. Returns 0 in the copy. Only while this process has one thread.
pid_t clinux_fork_worker(int socket);
int clinux_pipe(int descriptors[2]);
int clinux_socketpair(int descriptors[2]);
// poll(2) for reading on one descriptor; a negative time waits without end.
int clinux_wait_readable(int descriptor, int64_t nanoseconds);

// wait4 with __WALL: status in `status`.
pid_t clinux_wait(pid_t pid, int *status, bool block);

struct clinux_wait_status {
  bool exited;
  int exit_status;
  bool signaled;
  int term_signal;
  bool stopped;
  int stop_signal;
  int ptrace_event;
};
struct clinux_wait_status clinux_decode_status(int status);

// A non-blocking stream to a numeric address or to a path, on its way if it is not there at once.
int clinux_connect_host(const char *address, uint16_t port);
int clinux_connect_path(const char *path);
// Why it did not come about, once it is ready for writing; 0: it did.
int clinux_socket_error(int descriptor);
// send(2) without a signal where the other side is gone.
ssize_t clinux_send(int descriptor, const void *bytes, size_t count);

// One message over a SOCK_SEQPACKET socket, with at most one descriptor beside it (-1: none).
ssize_t clinux_send_message(int socket, const void *bytes, size_t length, int descriptor);
ssize_t clinux_receive_message(int socket, void *bytes, size_t capacity, int *descriptor);

// Gives back the pages of code and constants that were mapped so far; those that are needed are mapped again.
void clinux_release_code_pages(void);

#endif
