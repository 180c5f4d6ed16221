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

struct pid_namespace;
// kuid_t and kgid_t: always the same, in every kernel.
struct id {
  uint32_t val;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rq {
  uint64_t clock, clock_task;
};

struct cfs_rq {
  struct rq *rq;  // CONFIG_FAIR_GROUP_SCHED
};

struct sched_entity {
  unsigned char sched_delayed;  // since Linux 6.12
  uint64_t exec_start, sum_exec_runtime, prev_sum_exec_runtime;
  struct cfs_rq *cfs_rq;  // the same
};

struct sched_info {
  unsigned long pcount;
  unsigned long long run_delay, last_arrival, last_queued;
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
  unsigned long start_code, end_code, start_stack, flags;
};

// As newer kernels have it; libbpf ignores what stands behind the three underscores.
struct mm_struct___of_bits {
  struct {
    unsigned long words[1];
  } flags;
};

struct user_namespace {
  int level;
};

struct cred {
  struct id uid, euid, suid, gid, egid, sgid;
  struct {
    uint64_t val;
  } cap_permitted;
  struct user_namespace *user_ns;
};

struct task_struct {
  unsigned int __state, flags, policy;
  int on_cpu, on_rq, exit_state, pid, tgid;
  unsigned long jobctl, nvcsw, nivcsw, min_flt, maj_flt;
  uint64_t utime, stime, start_boottime;
  struct sched_entity se;
  struct sched_info sched_info;
  struct task_struct *group_leader;
  struct pid *thread_pid;
  struct mm_struct *mm;
  const struct cred *real_cred;
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

const volatile struct clinux_task_request request = {0};

struct clinux_task_answer answer = {0};

// For pointers, and for what they point to. Numbers of the task itself are read by the program's own instructions; but for
// each such read of a pointer the verifier searches all types of the kernel, which takes some milliseconds.
#define READ(place) \
  ({ \
    __typeof__(*(place)) read_value = 0; \
    bpf_probe_read_kernel(&read_value, sizeof read_value, place); \
    read_value; \
  })

// Of the task itself, as it is at this point of the program.
#define NOW(member) (*(volatile __typeof__(member) *)&(member))

INTERNAL_LINKAGE struct upid *place_of(struct pid *pid, uint32_t level) {
  const uint32_t size = __builtin_preserve_type_info(*(struct upid *)0, 1 /* BPF_TYPE_SIZE */);
  return (struct upid *)((char *)&pid->numbers[0] + level * size);
}

// What the reader's namespace calls a thread or process; 0 if it is not in there.
INTERNAL_LINKAGE int name_of(struct pid *pid, struct pid *reader, uint32_t level) {
  if (level > READ(&pid->level)) return 0;
  struct upid *place = place_of(pid, level);
  return READ(&place->ns) == READ(&place_of(reader, level)->ns) ? READ(&place->nr) : 0;
}

// In the machine's first namespace the kernel's own numbers are right, and no `struct pid`, in no cache, need be read.
INTERNAL_LINKAGE void read_names(struct clinux_thread_sample *sample, struct task_struct *task) {
  struct pid *reader = READ(&bpf_get_current_task_btf()->thread_pid);
  uint32_t level = READ(&reader->level);
  if (level == 0) {
    sample->process = task->tgid;
    sample->thread = task->pid;
    return;
  }
  struct task_struct *leader = READ(&task->group_leader);
  sample->process = name_of(READ(&leader->thread_pid), reader, level);
  sample->thread = name_of(READ(&task->thread_pid), reader, level);
}

// Copies what the kernel has at this place; false where that cannot be read, which must never look like a 0.
#define COPY(to, place) (bpf_probe_read_kernel(&(to), sizeof(to), place) == 0)

INTERNAL_LINKAGE int has_id(const struct id *place, uint32_t wanted) {
  struct id id;
  return COPY(id, place) && id.val == wanted;
}

// What the kernel asks for where nobody has a right over the other (kernel/ptrace.c, `__ptrace_may_access`;
// security/commoncap.c, `cap_ptrace_access_check`), and of a thread of another user namespace it is refused altogether.
INTERNAL_LINKAGE int is_of_owner(const struct cred *credentials) {
  struct user_namespace *space;
  uint64_t capabilities;
  int level;
  return has_id(&credentials->euid, request.owner) && has_id(&credentials->suid, request.owner) &&
         has_id(&credentials->uid, request.owner) && has_id(&credentials->egid, request.group) &&
         has_id(&credentials->sgid, request.group) && has_id(&credentials->gid, request.group) &&
         COPY(space, &credentials->user_ns) && COPY(level, &space->level) && level == 0 &&
         COPY(capabilities, &credentials->cap_permitted) && capabilities == 0;
}

// SUID_DUMP_USER in the lowest two bits of the flags (<linux/sched/coredump.h>, MMF_DUMPABLE_MASK).
INTERNAL_LINKAGE int is_dumpable(struct mm_struct *memory) {
  struct mm_struct___of_bits *memory_of_bits = (void *)memory;
  unsigned long flags;
  if (__builtin_preserve_field_info(memory->flags, 2 /* BPF_FIELD_EXISTS */))
    return COPY(flags, &memory->flags) && (flags & 3) == 1;
  if (__builtin_preserve_field_info(memory_of_bits->flags, 2))
    return COPY(flags, &memory_of_bits->flags) && (flags & 3) == 1;
  return 0;
}

// What was true of a thread before it was read, and must still be true after that.
struct permission {
  const struct cred *credentials;
  struct mm_struct *memory;
};

// Credentials never change in place, and within one run of this program no others can get their address (RCU). As in the
// kernel, dumpable comes second: who gives up rights stops being dumpable before the new credentials show.
INTERNAL_LINKAGE int may_be_told(struct permission *permission, struct task_struct *task) {
  return COPY(permission->credentials, &task->real_cred) && is_of_owner(permission->credentials) &&
         COPY(permission->memory, &task->mm) && permission->memory && is_dumpable(permission->memory);
}

// A program is executed (begin_new_exec in fs/exec.c) in this order: its memory, whether that is dumpable, new credentials
// in any case, and only then its registers. So what was read while the credentials stayed is of the program before.
INTERNAL_LINKAGE int may_still_be_told(const struct permission *before, struct task_struct *task) {
  const struct cred *credentials;
  struct mm_struct *memory;
  return COPY(credentials, &task->real_cred) && credentials == before->credentials &&
         COPY(memory, &task->mm) && memory == before->memory && is_dumpable(memory);
}

INTERNAL_LINKAGE void read_identity(struct clinux_task_sample *sample, struct task_struct *task) {
  sample->started_at = task->start_boottime;
  struct mm_struct *memory = READ(&task->mm);
  sample->code_start = READ(&memory->start_code);
  sample->code_end = READ(&memory->end_code);
  sample->stack_start = READ(&memory->start_stack);
}

// task_struct.__state of a thread that is on a queue or about to be: TASK_RUNNING and TASK_WAKING (<linux/sched.h>).
enum { is_running = 0, is_waking = 0x200 };

// The queue of the CPU on which it ran last. One that is woken can be given to another CPU before it runs: asleep after
// the queue was read, and not put on a CPU meanwhile, it was not woken.
INTERNAL_LINKAGE void read_processor_lag(struct clinux_task_sample *sample, struct task_struct *task) {
  sample->processor_lag = clinux_task_lag_unknown;
  if (!__builtin_preserve_field_info(task->se.cfs_rq, 2 /* BPF_FIELD_EXISTS */)) return;
  struct cfs_rq *group = READ(&task->se.cfs_rq);
  struct rq *queue = READ(&group->rq);
  uint64_t lag = READ(&queue->clock) - READ(&queue->clock_task);
  uint32_t state = NOW(task->__state);
  if (state == is_running || state == is_waking) return;
  if (NOW(task->sched_info.pcount) != sample->thread.times_scheduled) return;
  sample->processor_lag = lag;
}

INTERNAL_LINKAGE void read_thread(struct clinux_thread_sample *sample, struct task_struct *task) {
  sample->state = task->__state;
  sample->exit_state = task->exit_state;
  sample->flags = task->flags;
  sample->run_time = task->se.sum_exec_runtime;
  bpf_probe_read_kernel(sample->registers, sizeof sample->registers, (void *)bpf_task_pt_regs(task));
}

INTERNAL_LINKAGE void read_schedule(struct clinux_task_sample *sample, struct task_struct *task) {
  sample->moment = bpf_ktime_get_ns();
  sample->policy = task->policy;
  sample->job_control = task->jobctl;
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

// It is on no CPU, or about to leave one, and will be counted when it is put on one: it waits for one, or is asleep, perhaps
// still in a queue. Nobody counts it (kernel/sched/stats.h, `sched_info_arrive`) if it lost its CPU on the way to sleep.
INTERNAL_LINKAGE int will_be_counted(struct task_struct *task) {
  if (NOW(task->sched_info.last_queued) != 0 || NOW(task->on_rq) == 0) return 1;
  return __builtin_preserve_field_info(task->se.sched_delayed, 2 /* BPF_FIELD_EXISTS */) && NOW(task->se.sched_delayed);
}

// `on_cpu` alone does not tell: it is set only after the thread was counted (kernel/sched/core.c, `prepare_task_switch`), and
// what switches off the breakpoints of the thread before it lies in between. Each departure is counted too.
INTERNAL_LINKAGE void read_standing_still(struct clinux_task_sample *sample, struct task_struct *task, int is_whole) {
  uint64_t departures = NOW(task->nvcsw) + NOW(task->nivcsw);
  sample->thread.times_scheduled = NOW(task->sched_info.pcount);
  if (is_whole) read_schedule(sample, task);
  read_thread(&sample->thread, task);
  sample->thread.is_off_processor = will_be_counted(task) && NOW(task->on_cpu) == 0 &&
                                    NOW(task->sched_info.pcount) == sample->thread.times_scheduled &&
                                    NOW(task->nvcsw) + NOW(task->nivcsw) == departures;
}

// After 1 the kernel does not go on: the next read comes to this thread again (kernel/bpf/bpf_iter.c, `bpf_seq_read`), and
// fails with EAGAIN as this one does. What the program wrote through the walk would be lost.
enum { go_on = 0, come_again = 1 };

SECTION("iter/task") int task_iterator(struct bpf_iter__task *context) {
  struct task_struct *task = context->task;
  if (!task) return go_on;
  int wanted = NOW(answer.wanted);
  struct clinux_task_sample sample;
  __builtin_memset(&sample.thread, 0, sizeof sample.thread);
  read_names(&sample.thread, task);
  if (sample.thread.process != request.process || (wanted && wanted != sample.thread.thread)) return go_on;
  struct permission permission;
  if (request.is_for_owner && !may_be_told(&permission, task)) return go_on;
  bpf_probe_read_kernel(sample.thread.name, sizeof sample.thread.name, task->comm);
  read_standing_still(&sample, task, wanted != 0);
  if (wanted) {
    read_identity(&sample, task);
    read_processor_lag(&sample, task);
  }
  if (request.is_for_owner && !may_still_be_told(&permission, task)) return go_on;
  if (!wanted) {
    bpf_seq_write(context->meta->seq, &sample.thread, sizeof sample.thread);
    return go_on;
  }
  answer.sample = sample;
  answer.is_given = 1;
  return come_again;
}

// Some of the helpers are for programs under the GPL only.
SECTION("license") char program_license[] = "Dual BSD/GPL";
