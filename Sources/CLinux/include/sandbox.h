// Giving up rights for good, and the one door that is left.
#ifndef CLINUX_SANDBOX_H
#define CLINUX_SANDBOX_H

#include <stddef.h>
#include <stdint.h>

// Takes every capability from this process, and the way to new ones.
int clinux_drop_capabilities(void);

// Opens `path` for the process that cannot: returns a descriptor or a negative errno.
typedef int (*clinux_open_for_us)(const char *path);

// From here on only the system calls of a process that computes over what it was given are allowed. Any open(2) goes
// to `open_for_us`; a call that is not allowed fails with ENOSYS. Fails where the kernel has no seccomp filters.
int clinux_enter_sandbox(clinux_open_for_us open_for_us);

#endif
