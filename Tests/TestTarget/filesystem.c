// A program whose file lies on a file system that answers no more.
#define _GNU_SOURCE
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { directory = FUSE_ROOT_ID, program = 2, most_bytes = 131072 };

static const char *contents;
static size_t size;

static void fill(struct fuse_attr *attributes, uint64_t node) {
  attributes->ino = node;
  attributes->size = node == program ? size : 0;
  attributes->mode = node == program ? S_IFREG | 0755 : S_IFDIR | 0755;
  attributes->nlink = 1;
}

// Answers one request (<linux/fuse.h>); the length of the answer's body, or a negative errno.
static int answer(const struct fuse_in_header *request, const void *argument, void *body) {
  switch (request->opcode) {
    case FUSE_INIT:
      *(struct fuse_init_out *)body = (struct fuse_init_out){.major = 7, .minor = 31, .max_write = 4096};
      return sizeof(struct fuse_init_out);
    case FUSE_GETATTR:
      fill(&((struct fuse_attr_out *)body)->attr, request->nodeid);
      return sizeof(struct fuse_attr_out);
    case FUSE_LOOKUP:
      if (strcmp(argument, "program")) return -ENOENT;
      ((struct fuse_entry_out *)body)->nodeid = program;
      fill(&((struct fuse_entry_out *)body)->attr, program);
      return sizeof(struct fuse_entry_out);
    case FUSE_OPEN: return sizeof(struct fuse_open_out);
    case FUSE_READ: {
      const struct fuse_read_in *wanted = argument;
      size_t offset = wanted->offset < size ? wanted->offset : size;
      size_t count = size - offset < wanted->size ? size - offset : wanted->size;
      memcpy(body, contents + offset, count);
      return (int)count;
    }
    case FUSE_FLUSH: return 0;
    default: return -ENOSYS;
  }
}

static void serve(int device) {
  static char request[most_bytes + 4096];
  static struct {
    struct fuse_out_header header;
    char body[most_bytes + 4096];
  } reply;
  const struct fuse_in_header *header = (void *)request;
  while (read(device, request, sizeof request) > 0) {
    if (header->opcode == FUSE_FORGET || header->opcode == FUSE_BATCH_FORGET) continue;
    memset(&reply, 0, 512);
    int length = answer(header, header + 1, reply.body);
    reply.header.unique = header->unique;
    reply.header.error = length < 0 ? length : 0;
    reply.header.len = (uint32_t)sizeof reply.header + (uint32_t)(length > 0 ? length : 0);
    if (write(device, &reply, reply.header.len) < 0) return;
  }
}

// on-dead-filesystem DIRECTORY: runs `pause` from a file system of its own on the directory and prints its id. At SIGSTOP
// to the process that was started, the file system answers no more.
PROGRAM(on_dead_filesystem, "on-dead-filesystem") {
  int own = open("/proc/self/exe", O_RDONLY), device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (count < 1 || own < 0 || device < 0 || unshare(CLONE_NEWNS)) return 1;
  size = (size_t)lseek(own, 0, SEEK_END);
  contents = mmap(NULL, size, PROT_READ, MAP_PRIVATE, own, 0);
  char options[64], path[4096];
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
  snprintf(path, sizeof path, "%s/program", arguments[0]);
  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
  if (mount("stallwatch-test", arguments[0], "fuse", MS_NOSUID | MS_NODEV, options)) return 1;
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execl(path, "program", "pause", NULL);
    _exit(1);
  }
  printf("%d\n", child);
  serve(device);
  return 1;
}
