// A loop made by hand: the main function and the dialog of those that only differ in how they wait.
#pragma once

#include "job.h"

static void open_loop(void);

// Waits for so long on the loop's own descriptors, for ever if FOREVER, and goes round without a wait if 0.
static void wait_in_loop(long long nanoseconds);

static void go_round(long long nanoseconds) {
  loop_waits();
  wait_in_loop(nanoseconds);
  loop_woke();
}

enum { DIALOG_TICK = 30000000 };

void dialog(long long end) {
  for (long long left = end - now(); left > 0; left = end - now()) go_round(left < DIALOG_TICK ? left : DIALOG_TICK);
}

int main(int count, char **words) {
  open_loop();
  read_plan(count, words);
  for (;;) {
    go_round(until_next_job());
    do_due_job();
  }
}
