// What the task iterator needs of libbpf, whose options are macros and whose objects need not outlive the start.
#ifndef CLIBBPF_SHIM_H
#define CLIBBPF_SHIM_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>

// A descriptor of its own for the only program of the object, once that is loaded; else a negated error number. The only
// constant of the program is whom it tells of, a `clinux_task_request`.
static inline int clibbpf_load_opened(struct bpf_object *object, const void *request, size_t size) {
  struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
  struct bpf_program *program = bpf_object__next_program(object, NULL);
  if (!constants || !program) return -EINVAL;
  int error = bpf_map__set_initial_value(constants, request, size);
  if (!error) error = bpf_object__load(object);
  if (error) return error;
  int copy = fcntl(bpf_program__fd(program), F_DUPFD_CLOEXEC, 0);
  return copy < 0 ? -errno : copy;
}

static inline int clibbpf_load(const void *bytes, size_t count, const void *request, size_t size) {
  // Reasons are ours to tell: the library would write them to the standard error.
  libbpf_set_print(NULL);
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "stallwatch");
  struct bpf_object *object = bpf_object__open_mem(bytes, count, &options);
  if (!object) return -errno;
  int program = clibbpf_load_opened(object, request, size);
  bpf_object__close(object);
  return program;
}

// A descriptor of the attached program, or a negated error number. `process` or `thread` limits the walk; with neither it
// goes over all of the reader's pid namespace.
static inline int clibbpf_attach(int program, int32_t process, int32_t thread) {
  union bpf_iter_link_info walk = {0};
  walk.task.pid = (uint32_t)process;
  walk.task.tid = (uint32_t)thread;
  LIBBPF_OPTS(bpf_link_create_opts, options);
  if (process || thread) {
    options.iter_info = &walk;
    options.iter_info_len = sizeof walk;
  }
  return bpf_link_create(program, 0, BPF_TRACE_ITER, &options);
}

#endif
