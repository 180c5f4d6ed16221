// perf events, perf_event_open(2): what is variadic, a macro, or an access that other threads and the kernel see.
#ifndef CLINUX_PERF_EVENT_H
#define CLINUX_PERF_EVENT_H

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/types.h>

// Opens an event on one thread (0: the caller), on whatever CPU it runs.
int clinux_perf_event_open(const struct perf_event_attr *attributes, pid_t thread);
// Enables the event for so many samples; then the kernel disables it.
int clinux_perf_enable_for(int descriptor, int samples);
int clinux_perf_disable(int descriptor);
// Enables the event until it is disabled or closed.
int clinux_perf_enable(int descriptor);
int clinux_perf_set_period(int descriptor, uint64_t period);

// The header page of an event and `data_bytes` for its records behind it; MAP_FAILED if that is refused.
void *clinux_perf_map(int descriptor, size_t data_bytes);
void clinux_perf_unmap(void *header, size_t data_bytes);
// How many bytes the kernel has written since the event began; all before are there to be read.
uint64_t clinux_perf_written(const void *header);
// The kernel may overwrite all before this.
void clinux_perf_release(void *header, uint64_t read);

#endif
