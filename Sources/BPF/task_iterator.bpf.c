// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
// Tells of every thread of one process what the scheduler knows of it, and its user registers. Nothing is stopped.
//
// scripts/build-bpf compiles it. The kernel's structures are declared with the members that are read, no more; libbpf
// puts in where they lie in the kernel that runs ("CO-RE", `preserve_access_index`).

#include "../CLinux/include/task_sample.h"

#define INTERNAL_LINKAGE static __attribute__((always_inline))
#define SECTION(name) __attribute__((section(name), used))

// Helpers are called by their numbers (<linux/bpf.h>, `__BPF_FUNC_MAPPER`).
static uint64_t (*const bpf_ktime_get_ns)(void) = (void *)5;
static long (*const bpf_probe_read_kernel)(void *to, uint32_t size, const void *from) = (void *)113;
static long (*const bpf_seq_write)(void *file, const void *bytes, uint32_t size) = (void *)127;
static struct task_struct *(*const bpf_get_current_task_btf)(void) = (void *)158;
static long (*const bpf_task_pt_regs)(struct task_struct *task) = (void *)175;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
  uint64_t clock, clock_task;
};

struct cfs_rq {
  struct rq *rq;  // CONFIG_FAIR_GROUP_SCHED
};

struct sched_entity {
  uint64_t exec_start, sum_exec_runtime, prev_sum_exec_runtime;
  struct cfs_rq *cfs_rq;  // the same
};

struct sched_info {
  unsigned long pcount;
  unsigned long long run_delay, last_arrival;
};

struct ns_common {
  unsigned int inum;
};

struct pid_namespace {
  struct ns_common ns;
};

struct upid {
  int nr;
  struct pid_namespace *ns;
};

struct pid {
  unsigned int level;
  struct upid numbers[1];
};

struct mm_struct {
  unsigned long start_code, end_code, start_stack;
};

struct task_struct {
  unsigned int __state, flags, policy;
  int on_cpu, exit_state;
  unsigned long jobctl, nvcsw, nivcsw, min_flt, maj_flt;
  uint64_t utime, stime, start_boottime;
  struct sched_entity se;
  struct sched_info sched_info;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct mm_struct *mm;
  char comm[clinux_task_name_bytes];
};

struct bpf_iter_meta {
  void *seq;
};

struct bpf_iter__task {
  struct bpf_iter_meta *meta;
  struct task_struct *task;
};

#pragma clang attribute pop

// Set before the program is loaded.
const volatile struct {
  int32_t process;
  uint32_t pid_namespace;  // the inode number of the one in which `process` is meant
} wanted = {0, 0};

// MAX_PID_NS_LEVEL (include/linux/pid_namespace.h).
enum { deepest_namespace = 32 };

struct names {
  int outer, inner;
};

// The id in the reader's namespace and in the innermost one; 0 where there is none.
INTERNAL_LINKAGE struct names names_of(struct pid *pid) {
  struct names names = {0, 0};
  uint32_t deepest = pid->level;
  const uint32_t size = __builtin_preserve_type_info(*(struct upid *)0, 1 /* BPF_TYPE_SIZE */);
  for (uint32_t level = 0; level <= deepest_namespace && level <= deepest; level++) {
    struct upid *place = (struct upid *)((char *)&pid->numbers[0] + level * size);
    struct pid_namespace *space = 0;
    unsigned int number = 0;
    bpf_probe_read_kernel(&names.inner, sizeof names.inner, &place->nr);
    bpf_probe_read_kernel(&space, sizeof space, &place->ns);
    bpf_probe_read_kernel(&number, sizeof number, &space->ns.inum);
    if (number == wanted.pid_namespace) names.outer = names.inner;
  }
  return names;
}

INTERNAL_LINKAGE void read_identity(struct clinux_task_sample *sample, struct task_struct *task) {
  struct names names = names_of(task->thread_pid);
  sample->thread = names.outer;
  sample->inner_thread = names.inner;
  sample->started_at = task->start_boottime;
  sample->code_start = task->mm->start_code;
  sample->code_end = task->mm->end_code;
  sample->stack_start = task->mm->start_stack;
  bpf_probe_read_kernel(sample->name, sizeof sample->name, task->comm);
}

// The queue of the CPU on which it ran last, or waits.
INTERNAL_LINKAGE void read_processor_lag(struct clinux_task_sample *sample, struct task_struct *task) {
  sample->processor_lag = clinux_task_lag_unknown;
  if (!__builtin_preserve_field_info(task->se.cfs_rq, 2 /* BPF_FIELD_EXISTS */)) return;
  struct rq *queue = task->se.cfs_rq->rq;
  sample->processor_lag = queue->clock - queue->clock_task;
}

INTERNAL_LINKAGE void read_schedule(struct clinux_task_sample *sample, struct task_struct *task) {
  sample->state = task->__state;
  sample->exit_state = task->exit_state;
  sample->flags = task->flags;
  sample->policy = task->policy;
  sample->job_control = task->jobctl;
  sample->run_time = task->se.sum_exec_runtime;
  sample->run_time_at_arrival = task->se.prev_sum_exec_runtime;
  sample->run_queue_delay = task->sched_info.run_delay;
  sample->arrived_at = task->sched_info.last_arrival;
  sample->accounted_at = task->se.exec_start;
  sample->voluntary_switches = task->nvcsw;
  sample->involuntary_switches = task->nivcsw;
  sample->user_time = task->utime;
  sample->kernel_time = task->stime;
  sample->minor_faults = task->min_flt;
  sample->major_faults = task->maj_flt;
  sample->reader_arrived_at = bpf_get_current_task_btf()->sched_info.last_arrival;
}

// A thread that is put on a CPU is counted first and marked second (kernel/sched/core.c, `prepare_task_switch`); one that
// leaves it is unmarked last. So if it has no mark and the count is the same before and after, it stood still meanwhile.
INTERNAL_LINKAGE void read_standing_still(struct clinux_task_sample *sample, struct task_struct *task) {
  sample->times_scheduled = *(volatile unsigned long *)&task->sched_info.pcount;
  int was_on = *(volatile int *)&task->on_cpu;
  sample->moment = bpf_ktime_get_ns();
  read_schedule(sample, task);
  bpf_probe_read_kernel(sample->registers, sizeof sample->registers, (void *)bpf_task_pt_regs(task));
  int is_on = *(volatile int *)&task->on_cpu;
  sample->is_off_processor =
      !was_on && !is_on && *(volatile unsigned long *)&task->sched_info.pcount == sample->times_scheduled;
}

SECTION("iter/task") int task_iterator(struct bpf_iter__task *context) {
  struct task_struct *task = context->task;
  if (!task) return 0;
  struct names process = names_of(task->group_leader->thread_pid);
  if (process.outer != wanted.process) return 0;
  struct clinux_task_sample sample;
  __builtin_memset(&sample, 0, sizeof sample);
  sample.process = process.outer;
  sample.inner_process = process.inner;
  read_identity(&sample, task);
  read_standing_still(&sample, task);
  read_processor_lag(&sample, task);
  bpf_seq_write(context->meta->seq, &sample, sizeof sample);
  return 0;
}

// Some of the helpers are for programs under the GPL only.
SECTION("license") char program_license[] = "Dual BSD/GPL";
