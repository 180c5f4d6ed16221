// Demanglers of other languages' symbol names, each with a limit on what it may write.
#ifndef CDEMANGLE_SHIM_H
#define CDEMANGLE_SHIM_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Exported by libswiftCore (swift/Demangling/Demangle.h); without a buffer the answer is allocated.
char *swift_demangle(const char *mangled, size_t length, char *buffer, size_t *buffer_size, uint32_t flags);

// libiberty's <demangle.h>, which cannot be included without its whole family of headers. DMGL_PARAMS | DMGL_ANSI |
// DMGL_NO_RECURSE_LIMIT: the limit refuses C++ names of more than 1 KB whatever their depth; the caller's limit on their
// length bounds the depth as well.
int cplus_demangle_v3_callback(const char *mangled, int options, void (*output)(const char *, size_t, void *),
                               void *opaque);
int rust_demangle_callback(const char *mangled, int options, void (*output)(const char *, size_t, void *),
                           void *opaque);
enum { cdemangle_cpp_options = 3 | 1 << 18, cdemangle_rust_options = 0 };

struct cdemangle_output {
  jmp_buf full;
  char *bytes;
  size_t count;
  size_t capacity;
};

static void cdemangle_append(const char *text, size_t length, void *opaque) {
  struct cdemangle_output *output = (struct cdemangle_output *)opaque;
  if (length > output->capacity - output->count) _longjmp(output->full, 1);
  memcpy(output->bytes + output->count, text, length);
  output->count += length;
}

// The length of the demangled name, or 0 if it is none of this scheme or longer than `capacity`.
//
// Back references let 200 bytes stand for gigabytes, so a full buffer leaves the demangler at once: its C++ half
// keeps all its state on the stack; the Rust half can lose one small buffer of a non-ASCII identifier.
static inline size_t cdemangle_bounded(int rust, const char *mangled, char *bytes, size_t capacity) {
  struct cdemangle_output output = {.bytes = bytes, .capacity = capacity};
  if (_setjmp(output.full)) return 0;
  int known = rust ? rust_demangle_callback(mangled, cdemangle_rust_options, cdemangle_append, &output)
                   : cplus_demangle_v3_callback(mangled, cdemangle_cpp_options, cdemangle_append, &output);
  return known ? output.count : 0;
}

#endif
