// Programs that run code which they have made themselves, and tell of it as runtimes do.
#define _GNU_SOURCE
#include "target.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// generated-code: runs for ever in a function that it has made and named in `/tmp/perf-PID.map`.
PROGRAM(generated_code, "generated-code") {
  // push %rbp; mov %rsp, %rbp; jmp to itself.
  static const unsigned char code[] = {0x55, 0x48, 0x89, 0xE5, 0xEB, 0xFE};
  unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(memory + 64, code, sizeof code);
  mprotect(memory, 4096, PROT_READ | PROT_EXEC);
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
  FILE *map = fopen(path, "w");
  if (!map) return 1;
  fprintf(map, "%lx %zx generated_function\n", (unsigned long)memory + 64, sizeof code);
  fclose(map);
  ready();
  ((void (*)(void))(memory + 64))();
  return 0;
}
