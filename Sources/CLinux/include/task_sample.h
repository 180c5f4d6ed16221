// What the task iterator's BPF program tells of one thread: shared by that program and by TaskSample.swift.
//
// Times are nanoseconds. "Run-queue clock" is the clock of the scheduler, not CLOCK_MONOTONIC.
#ifndef CLINUX_TASK_SAMPLE_H
#define CLINUX_TASK_SAMPLE_H

#include <stdint.h>

enum { clinux_task_name_bytes = 16, clinux_task_register_words = 21 };

// Whom the program tells of; set before it is loaded, and constant from then on.
struct clinux_task_request {
  int32_t process;      // as the pid namespace of the reader numbers it
  // 1: the rights to load the program come from the executable. It then tells of the owner's own threads only, of those
  // into which the kernel would let the owner look without any right.
  uint32_t is_for_owner;
  uint32_t owner, group;  // real ids of the caller, in the first user namespace
};

// What is told of every thread: what it takes to copy its stack.
struct clinux_thread_sample {
  int32_t process, thread;       // as the reader's pid namespace numbers them
  uint32_t state, exit_state;    // task_struct.__state, .exit_state
  uint32_t flags;                // task_struct.flags (PF_…)
  uint32_t is_off_processor;     // 1: it was on none from before the first to after the last of this was read
  uint64_t run_time, times_scheduled;
  uint8_t name[clinux_task_name_bytes];
  uint64_t registers[clinux_task_register_words];  // struct pt_regs
};

static const uint64_t clinux_task_lag_unknown = UINT64_MAX;

// What is told of one that is asked for.
struct clinux_task_sample {
  struct clinux_thread_sample thread;
  uint64_t moment;               // CLOCK_MONOTONIC
  uint64_t policy;               // task_struct.policy (SCHED_…)
  uint64_t job_control;          // task_struct.jobctl
  uint64_t run_time_at_arrival, run_queue_delay;
  uint64_t arrived_at;           // run-queue clock: when it was last put on a CPU
  uint64_t accounted_at;         // run-queue clock without stolen time: up to when `run_time` counts
  uint64_t processor_lag;        // of that clock on the thread's CPU behind the run-queue clock
  uint64_t reader_arrived_at;    // run-queue clock: when the reading thread was last put on a CPU
  uint64_t voluntary_switches, involuntary_switches;
  uint64_t user_time, kernel_time;  // as ticks found it
  uint64_t minor_faults, major_faults;
  uint64_t started_at;           // CLOCK_BOOTTIME
  uint64_t code_start, code_end, stack_start;
};

// Memory that the program shares with whoever reads.
struct clinux_task_answer {
  // The one thread that is asked for, as the reader's pid namespace numbers it. Of 0, all come through the walk itself.
  int32_t wanted;
  uint32_t is_given;  // 1: `sample` tells of it
  struct clinux_task_sample sample;
};

#endif
