// What the task iterator needs of libbpf, whose options are macros and whose objects need not outlive the start.
#ifndef CLIBBPF_SHIM_H
#define CLIBBPF_SHIM_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>

// `types` is a file with the kernel's types; without it, the library reads those of the kernel itself.
static inline struct bpf_object *clibbpf_open(const void *bytes, size_t count, const char *types) {
  // Reasons are ours to tell: the library would write them to the standard error.
  libbpf_set_print(NULL);
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "stallwatch", .btf_custom_path = types);
  return bpf_object__open_mem(bytes, count, &options);
}

// The object's own types, which belong to it.
static inline const void *clibbpf_types(const struct bpf_object *object, uint32_t *size) {
  struct btf *types = bpf_object__btf(object);
  return types ? btf__raw_data(types, size) : NULL;
}

// Descriptors of their own; −1 where there is none.
struct clibbpf_loaded {
  int program;
  int answer;  // memory to be mapped, which holds a `clinux_task_answer`
};

static inline int clibbpf_keep(int *copy, int descriptor) {
  *copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return *copy < 0 ? -errno : 0;
}

// Loads the only program of the object. Its only constant is whom it tells of, a `clinux_task_request`, its only variable the
// answer. 0, or a negated error number; what there is then is the caller's all the same.
static inline int clibbpf_load(
  struct bpf_object *object, const void *request, size_t size, struct clibbpf_loaded *loaded) {
  struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
  struct bpf_map *variables = bpf_object__find_map_by_name(object, ".bss");
  struct bpf_program *program = bpf_object__next_program(object, NULL);
  if (!constants || !variables || !program) return -EINVAL;
  int error = bpf_map__set_initial_value(constants, request, size);
  if (!error) error = bpf_object__load(object);
  if (!error) error = clibbpf_keep(&loaded->program, bpf_program__fd(program));
  return error ? error : clibbpf_keep(&loaded->answer, bpf_map__fd(variables));
}

static inline int clibbpf_become_iterator(struct bpf_program *program, struct bpf_prog_load_opts *options, long function) {
  options->attach_btf_id = (uint32_t)function;
  return bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);
}

// From here on the program of every object that is opened is attached to the function with this number, and the library
// need not look for it. For a program of its real type it would read the kernel's types all the same, so it gets that only
// when all else is done. Once and for good: taking back the only handler frees the library's list, and 1.1 goes on with it.
static inline int clibbpf_know_function(uint32_t function) {
  LIBBPF_OPTS(libbpf_prog_handler_opts, options, .cookie = (long)function,
              .prog_prepare_load_fn = clibbpf_become_iterator);
  return libbpf_register_prog_handler("iter/task", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_ITER, &options);
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
