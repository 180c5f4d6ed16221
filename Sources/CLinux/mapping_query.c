// Asking the kernel for one mapping of a process, ioctl(2) on its `maps`.
#include "clinux.h"

#include <sys/ioctl.h>

// `struct procmap_query` of <linux/fs.h>, which older headers lack.
struct mapping_query {
  uint64_t size, flags, address, start, end, permissions, page_size, offset, inode;
  uint32_t device_major, device_minor, name_size, build_id_size;
  uint64_t name, build_id;
};

int clinux_mapping_end(int descriptor, uint64_t address, uint64_t *end) {
  struct mapping_query query = {.size = sizeof query, .address = address};
  if (ioctl(descriptor, _IOWR('f', 17, struct mapping_query), &query)) return -1;  // PROCMAP_QUERY
  *end = query.end;
  return 0;
}
