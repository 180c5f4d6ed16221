// The plan of a target: which job comes next, and when.
#include "job.h"

#include <stdio.h>
#include <stdlib.h>

struct job {
  long long gap, duration;
  const struct cause *cause;
};

static struct job *jobs;
static long jobs_planned, jobs_done;
static long long due;
static int is_over;

void read_plan(int count, char **words) {
  FILE *plan = count == 3 ? fopen(words[1], "r") : NULL;
  if (!plan) exit(2);
  long long gap, duration;
  char name[16];
  while (fscanf(plan, "%lld %15s %lld", &gap, name, &duration) == 3) {
    if (jobs_planned % 4096 == 0) jobs = realloc(jobs, (jobs_planned + 4096) * sizeof *jobs);
    const struct cause *cause = cause_named(name);
    if (!jobs || !cause) exit(2);
    jobs[jobs_planned++] = (struct job){gap * 1000, duration * 1000, cause};
  }
  fclose(plan);
  if (jobs_planned == 0) exit(2);
  open_log(jobs_planned);
  start_helper(words[2]);
  due = now() + jobs[0].gap;
  puts("ready");
  fflush(stdout);
}

long long until_next_job(void) {
  if (jobs_done == jobs_planned) {
    if (!is_over) close_log();
    is_over = 1;
    return FOREVER;
  }
  // Without a gap the loop goes round and does not wait, also where the clock has not moved.
  long long rest = jobs[jobs_done].gap ? due - now() : 0;
  return rest > 0 ? rest : 0;
}

void do_due_job(void) {
  if (until_next_job() != 0) return;
  const struct job *job = &jobs[jobs_done];
  begin_job(job->cause->name, due);
  job->cause->act(now() + job->duration);
  end_job();
  if (++jobs_done < jobs_planned) due = now() + jobs[jobs_done].gap;
}
