// Programs that have rights of their files, or other rights than whoever started them, and that may not be looked into.
#define _GNU_SOURCE
#include "target.h"

#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

// give-capabilities FILE…: CAP_BPF and CAP_PERFMON, permitted and effective, as setcap(8) writes them.
PROGRAM(give_capabilities, "give-capabilities") {
  struct vfs_cap_data data = {.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE};
  data.data[1].permitted = 1u << (CAP_BPF - 32) | 1u << (CAP_PERFMON - 32);
  for (int i = 0; i < count; i++)
    if (setxattr(arguments[i], "security.capability", &data, sizeof data, 0)) return 1;
  return 0;
}

// become-later COMMAND…: idles, and becomes that program at SIGUSR1.
PROGRAM(become_later, "become-later") {
  sigset_t set;
  int signal;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  ready();
  struct pollfd nothing = {.fd = -1};
  struct timespec moment = {.tv_nsec = 20000000};
  do {
    poll(&nothing, 1, 20);
    moment.tv_nsec = 0;
    signal = sigtimedwait(&set, NULL, &moment);
  } while (signal != SIGUSR1);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  execv(arguments[0], arguments);
  return 127;
}

static const uint64_t open_word = 0x09e11, secret_word = 0x5ec2e7;

// Makes system calls with this word in r15, where whoever sees the registers finds it: some that come back at once, and
// some that sleep.
static void show_word(uint64_t word, int calls) {
  for (int call = 0; call < calls; call++) {
    register uint64_t shown __asm__("r15") = word;
    long result = SYS_poll;
    __asm__ volatile("syscall" : "+a"(result) : "D"(0L), "S"(0L), "d"((long)(call % 2)), "r"(shown) : "rcx", "r11", "memory");
  }
}

// alternating-rights SETUID-PROGRAM PROGRAM: as itself and, executed anew, as root by turns. It gives up being root before
// it becomes the other one again; until then it has a secret.
PROGRAM(alternating_rights, "alternating-rights") {
  bool has_secret = geteuid() != getuid();
  if (count == 2) ready();
  show_word(has_secret ? secret_word : open_word, 8);
  if (has_secret) {
    if (setresuid(getuid(), getuid(), getuid())) return 1;
    show_word(secret_word, 4);
  }
  char *words[] = {arguments[0], "alternating-rights", arguments[0], arguments[1], "again", NULL};
  execv(arguments[has_secret], words);
  return 127;
}

static void *show_secret_for_ever(void *unused) {
  for (;;) show_word(secret_word, 1000);
  return unused;
}

// split-rights: started by root, its first thread is an ordinary user and its second one is not.
PROGRAM(split_rights, "split-rights") {
  pthread_t thread;
  pthread_create(&thread, NULL, show_secret_for_ever, NULL);
  // As the C library does it for all threads, but for this one alone.
  if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, 65534, 65534, 65534) ||
      syscall(SYS_setresuid, 65534, 65534, 65534) || prctl(PR_SET_DUMPABLE, 1))
    return 1;
  ready();
  for (;;) show_word(open_word, 1000);
}

// shows-word, shows-secret: says that it is ready, and makes system calls with that word for ever.
PROGRAM(shows_word, "shows-word") {
  ready();
  for (;;) show_word(open_word, 1000);
}
PROGRAM(shows_secret, "shows-secret") {
  ready();
  show_secret_for_ever(NULL);
  return 1;
}
