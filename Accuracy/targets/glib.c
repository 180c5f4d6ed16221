// The main loop of GLib.
#include <glib.h>

#include "job.h"

static GMainLoop *loop;

static gint logged_poll(GPollFD *descriptors, guint count, gint limit) {
  loop_waits();
  gint ready = g_poll(descriptors, count, limit);
  loop_woke();
  return ready;
}

static void plan_next_job(void);

static gboolean next_job(gpointer unused) {
  (void)unused;
  do_due_job();
  plan_next_job();
  return G_SOURCE_REMOVE;
}

static void plan_next_job(void) {
  long long rest = until_next_job();
  if (rest != FOREVER) g_timeout_add((guint)((rest + 999999) / 1000000), next_job, NULL);
}

static gboolean tick(gpointer unused) {
  (void)unused;
  return G_SOURCE_CONTINUE;
}

static gboolean leave(gpointer nested) {
  g_main_loop_quit(nested);
  return G_SOURCE_REMOVE;
}

void dialog(long long end) {
  GMainLoop *nested = g_main_loop_new(NULL, FALSE);
  guint ticks = g_timeout_add(30, tick, NULL);
  g_timeout_add((guint)((end - now()) / 1000000 + 1), leave, nested);
  g_main_loop_run(nested);
  g_source_remove(ticks);
  g_main_loop_unref(nested);
}

int main(int count, char **words) {
  g_main_context_set_poll_func(NULL, logged_poll);
  loop = g_main_loop_new(NULL, FALSE);
  read_plan(count, words);
  plan_next_job();
  g_main_loop_run(loop);
}
