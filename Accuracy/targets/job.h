// What every target does, whatever its loop: jobs from a plan, and a log of when the loop came round.
#pragma once

enum { FOREVER = -1 };

long long now(void);

// `TARGET PLAN LOG`. A line of the plan is a gap, a cause and a duration, in microseconds. Says that it is ready.
void read_plan(int count, char **words);

// Nanoseconds until the next job; when all are done the log is written, by another thread, and the answer is FOREVER.
long long until_next_job(void);

// Does the next job if it is due.
void do_due_job(void);

// Around each wait of the loop. They log into memory.
void loop_waits(void);
void loop_woke(void);

// A dialog: goes round in the same loop from within a job.
void dialog(long long end);

// The rest is between job.c, causes.c and log.c.
enum order { HOLD_THE_LOCK, FEED_THE_PIPE, WRITE_THE_LOG };

void start_helper(const char *log_path);
void ask_helper(enum order what, long long nanoseconds);
void begin_job(const char *cause, long long due);
void end_job(void);
void open_log(long jobs);
void close_log(void);
void write_log(const char *path);

struct cause {
  const char *name;
  void (*act)(long long end);
};
const struct cause *cause_named(const char *name);
