// The calls of perf events.
#define _GNU_SOURCE
#include "perf_event.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_perf_event_open(const struct perf_event_attr *attributes, pid_t thread) {
  return (int)syscall(SYS_perf_event_open, attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int clinux_perf_enable_for(int descriptor, int samples) {
  return ioctl(descriptor, PERF_EVENT_IOC_REFRESH, samples);
}

int clinux_perf_disable(int descriptor) { return ioctl(descriptor, PERF_EVENT_IOC_DISABLE, 0); }

int clinux_perf_enable(int descriptor) { return ioctl(descriptor, PERF_EVENT_IOC_ENABLE, 0); }

int clinux_perf_set_period(int descriptor, uint64_t period) {
  return ioctl(descriptor, PERF_EVENT_IOC_PERIOD, &period);
}

static size_t header_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void *clinux_perf_map(int descriptor, size_t data_bytes) {
  return mmap(NULL, header_bytes() + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
}

void clinux_perf_unmap(void *header, size_t data_bytes) { munmap(header, header_bytes() + data_bytes); }

uint64_t clinux_perf_written(const void *header) {
  return __atomic_load_n(&((const struct perf_event_mmap_page *)header)->data_head, __ATOMIC_ACQUIRE);
}

void clinux_perf_release(void *header, uint64_t read) {
  __atomic_store_n(&((struct perf_event_mmap_page *)header)->data_tail, read, __ATOMIC_RELEASE);
}
