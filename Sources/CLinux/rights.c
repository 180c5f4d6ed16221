// The thin C layer, for the rights that this process has and its caller has not.
#define _GNU_SOURCE
#include "clinux.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

bool clinux_is_privileged_by_file(void) { return getauxval(AT_SECURE) != 0; }

static long capabilities(long call, struct __user_cap_data_struct words[2]) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  return syscall(call, &header, words);
}

// A program that is executed by somebody who is not root gets what its file has and what is ambient, and nothing else
// (capabilities(7), "Transformation of capabilities during execve").
static bool are_all_ambient(const struct __user_cap_data_struct words[2]) {
  for (int number = 0; number < 64; number++) {
    bool is_permitted = words[number / 32].permitted >> number % 32 & 1;
    if (is_permitted && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, number, 0, 0) != 1) return false;
  }
  return true;
}

bool clinux_has_only_rights_of_caller(void) {
  uid_t user, effective_user, saved_user;
  gid_t group, effective_group, saved_group;
  struct __user_cap_data_struct words[2];
  if (getresuid(&user, &effective_user, &saved_user) || getresgid(&group, &effective_group, &saved_group)) return false;
  if (user != effective_user || user != saved_user || group != effective_group || group != saved_group) return false;
  if (user == 0 && !(prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) & SECBIT_NOROOT)) return true;
  return capabilities(SYS_capget, words) == 0 && are_all_ambient(words);
}

// Root that acts as somebody else is that one: nothing here may make more of it.
void clinux_ids_of_caller(uid_t *user, gid_t *group) {
  bool is_root = getuid() == 0;
  *user = is_root ? geteuid() : getuid();
  *group = is_root ? getegid() : getgid();
}

int clinux_give_up_rights_of_file(uint64_t kept) {
  uid_t user;
  gid_t group;
  clinux_ids_of_caller(&user, &group);
  struct __user_cap_data_struct words[2];
  if (setresgid(group, group, group) || setresuid(user, user, user)) return -1;
  if (capabilities(SYS_capget, words)) return -1;
  for (int i = 0; i < 2; i++) {
    words[i].permitted &= (uint32_t)(kept >> 32 * i);
    words[i].effective &= words[i].permitted;
  }
  return (int)capabilities(SYS_capset, words);
}

int clinux_become_dumpable(void) { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }
