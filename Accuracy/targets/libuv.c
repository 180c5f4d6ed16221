// The loop of libuv. It cannot run within itself: there are no dialogs.
#include <stdlib.h>
#include <uv.h>

#include "job.h"

static uv_loop_t *loop;
static uv_timer_t timer;
static uv_async_t waker;
static uv_idle_t at_once;
static uv_prepare_t before;
static uv_check_t after;

static void plan_next_job(void);

static void timer_fired(uv_timer_t *unused) {
  (void)unused;
  do_due_job();
  plan_next_job();
}

// While there is such a handle the loop does not wait.
static void nothing(uv_idle_t *unused) { (void)unused; }

// A timer without a delay, started by a timer, fires in the same round: the loop would not come round in between.
static void plan_next_job(void) {
  long long rest = until_next_job();
  if (rest == 0) uv_idle_start(&at_once, nothing);
  if (rest <= 0) return;
  // The loop counts from the time that it has last looked at the clock.
  uv_update_time(loop);
  uv_timer_start(&timer, timer_fired, (uint64_t)((rest + 999999) / 1000000), 0);
}

static void waits(uv_prepare_t *unused) {
  (void)unused;
  loop_waits();
}

static void woke(uv_check_t *unused) {
  (void)unused;
  loop_woke();
  if (!uv_is_active((uv_handle_t *)&at_once)) return;
  uv_idle_stop(&at_once);
  do_due_job();
  plan_next_job();
}

void dialog(long long unused) {
  (void)unused;
  exit(2);
}

int main(int count, char **words) {
  loop = uv_default_loop();
  uv_timer_init(loop, &timer);
  uv_async_init(loop, &waker, NULL);
  uv_idle_init(loop, &at_once);
  uv_prepare_init(loop, &before);
  uv_check_init(loop, &after);
  uv_prepare_start(&before, waits);
  uv_check_start(&after, woke);
  read_plan(count, words);
  plan_next_job();
  return uv_run(loop, UV_RUN_DEFAULT);
}
