// libelf of elfutils: reads sections of ELF files that nobody vouches for.
#include <elf.h>
#include <gelf.h>
#include <libelf.h>
