// The thin C layer, for what begins with a new process.
#define _GNU_SOURCE
#include "clinux.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

// In the child. Returns only when something failed.
static void become_program(const struct clinux_program *program, const sigset_t *mask, bool *has_identity) {
  const struct clinux_identity *identity = program->identity;
  if (identity) {
    if (setgroups((size_t)identity->group_count, identity->groups) || setgid(identity->group) ||
        setuid(identity->user) || setenv("HOME", identity->home, 1) || setenv("SHELL", identity->shell, 1) ||
        setenv("USER", identity->name, 1) || setenv("LOGNAME", identity->name, 1))
      return;
  }
  *has_identity = true;
  for (int i = 0; i < program->default_count; i++) signal(program->defaults[i], SIG_DFL);
  pthread_sigmask(SIG_SETMASK, mask, NULL);
  execvp(program->arguments[0], program->arguments);
}

pid_t clinux_start_program(const struct clinux_program *program, bool *is_refused_identity) {
  struct {
    int error;
    bool has_identity;
  } failure = {0};
  int news[2];
  sigset_t mask;
  // Closed by a successful exec, which is how that is known.
  if (pipe2(news, O_CLOEXEC)) return -1;
  pthread_sigmask(SIG_BLOCK, NULL, &mask);
  for (int i = 0; i < program->unblocked_count; i++) sigdelset(&mask, program->unblocked[i]);
  pid_t child = fork();
  if (child == 0) {
    become_program(program, &mask, &failure.has_identity);
    failure.error = errno;
    ssize_t written = write(news[1], &failure, sizeof failure);
    _exit(written > 0 ? 127 : 126);
  }
  failure.error = child < 0 ? errno : 0;
  failure.has_identity = child < 0;
  close(news[1]);
  while (child > 0 && read(news[0], &failure, sizeof failure) < 0 && errno == EINTR) continue;
  close(news[0]);
  if (failure.error == 0) return child;
  if (child > 0) waitpid(child, NULL, 0);
  *is_refused_identity = !failure.has_identity;
  errno = failure.error;
  return -1;
}

void clinux_set_alarm(int64_t microseconds) {
  struct itimerval value = {
      .it_value = {.tv_sec = microseconds / 1000000, .tv_usec = microseconds % 1000000}};
  setitimer(ITIMER_REAL, &value, NULL);
}

pid_t clinux_adopter_of_orphans(pid_t *orphan) {
  pid_t found[2] = {0, 0};  // the adopter, and the orphan itself
  int news[2];
  *orphan = 0;
  if (pipe2(news, O_CLOEXEC)) return 0;
  pid_t child = fork();
  if (child == 0) {
    pid_t parent = getpid();
    if (fork() == 0) {
      // Here only what is safe in a copy of a program with several threads, signal-safety(7).
      while (getppid() == parent) poll(NULL, 0, 1);
      found[0] = getppid();
      found[1] = getpid();
      _exit(write(news[1], found, sizeof found) < 0);
    }
    _exit(0);
  }
  close(news[1]);
  if (child > 0) waitpid(child, NULL, 0);
  ssize_t count;
  do count = read(news[0], found, sizeof found);
  while (count < 0 && errno == EINTR);
  close(news[0]);
  if (count != sizeof found) return 0;
  *orphan = found[1];
  return found[0];
}

// In the child: descriptors 0 and 1 are /dev/null, 2 stays, 3 is the socket, and there are no others.
static void become_worker(int socket) {
  int null = open("/dev/null", O_RDWR | O_CLOEXEC), kept = fcntl(socket, F_DUPFD, 8);
  if (null < 0 || kept < 0) _exit(1);
  for (int i = 0; i < 2; i++) dup2(null, i);
  dup2(kept, 3);
  close_range(4, ~0U, 0);
  setpgid(0, 0);
  for (int i = 1; i < NSIG; i++) signal(i, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, NULL);
}

pid_t clinux_fork_worker(int socket) {
  sigset_t all, mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  pid_t child = fork();
  if (child == 0) become_worker(socket);
  else pthread_sigmask(SIG_SETMASK, &mask, NULL);
  return child;
}

// The file actions that give the child its descriptors; 0 or an errno.
static int arrange_descriptors(posix_spawn_file_actions_t *actions, int *sources, int count) {
  int error = 0;
  for (int i = 0; i < count && !error; i++)
    error = sources[i] < 0 ? posix_spawn_file_actions_addopen(actions, i, "/dev/null", O_RDWR, 0)
                           : posix_spawn_file_actions_adddup2(actions, sources[i], i);
  return error ? error : posix_spawn_file_actions_addclosefrom_np(actions, count);
}

static int set_attributes(posix_spawnattr_t *attributes, bool own_group) {
  // What the terminal stops before exec never comes back: it is in no job any more, and we wait for its exec.
  const int of_terminals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU};
  sigset_t mask, all;
  sigemptyset(&mask);
  for (size_t i = 0; own_group && i < sizeof of_terminals / sizeof *of_terminals; i++) sigaddset(&mask, of_terminals[i]);
  sigfillset(&all);
  posix_spawnattr_setsigmask(attributes, &mask);
  posix_spawnattr_setsigdefault(attributes, &all);
  posix_spawnattr_setpgroup(attributes, 0);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (own_group ? POSIX_SPAWN_SETPGROUP : 0);
  return posix_spawnattr_setflags(attributes, flags);
}

enum { most_descriptors = 8 };

pid_t clinux_spawn(const char *path, char *const *arguments, const int *descriptors, int count, bool own_group) {
  pid_t child = -1;
  int sources[most_descriptors], error = count > most_descriptors ? EINVAL : 0;
  for (int i = 0; i < count && !error; i++) {
    // Copies above `count`, so that no dup2 overwrites a descriptor that a later one still needs.
    sources[i] = descriptors[i] < 0 ? -1 : fcntl(descriptors[i], F_DUPFD_CLOEXEC, count);
    if (descriptors[i] >= 0 && sources[i] < 0) {
      error = errno;
      count = i;
    }
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (!error) error = arrange_descriptors(&actions, sources, count);
  if (!error) error = set_attributes(&attributes, own_group);
  if (!error) error = posix_spawn(&child, path, &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (int i = 0; i < count && count <= most_descriptors; i++)
    if (sources[i] >= 0) close(sources[i]);
  errno = error;
  return error ? -1 : child;
}

// What the loader relocates is writable (the x86-64 linkers refuse relocations of code), so nothing is lost here.
static int release_unwritable_segments(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  for (int number = 0; number < object->dlpi_phnum; number++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[number];
    if (segment->p_type != PT_LOAD || segment->p_flags & PF_W) continue;
    uintptr_t start = (object->dlpi_addr + segment->p_vaddr + 4095) & ~(uintptr_t)4095;
    uintptr_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz) & ~(uintptr_t)4095;
    if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  }
  return 0;
}

void clinux_release_code_pages(void) { dl_iterate_phdr(release_unwritable_segments, NULL); }
