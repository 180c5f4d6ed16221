// libelf and libdw of elfutils: read ELF files and their debug information, which nobody vouches for.
#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <libelf.h>
