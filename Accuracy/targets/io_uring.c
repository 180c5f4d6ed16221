// A loop over io_uring: a read that is never served, and a timeout for each round.
#include <liburing.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include "own_loop.h"

static struct io_uring ring;
static int ends[2];
static char byte;

static void open_loop(void) {
  if (io_uring_queue_init(8, &ring, 0) != 0) exit(EX_UNAVAILABLE);
  if (pipe(ends) != 0) exit(1);
  io_uring_prep_read(io_uring_get_sqe(&ring), ends[0], &byte, 1, 0);
  io_uring_submit(&ring);
}

static void wait_in_loop(long long nanoseconds) {
  struct __kernel_timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  if (nanoseconds != FOREVER) io_uring_prep_timeout(io_uring_get_sqe(&ring), &limit, 0, 0);
  io_uring_submit_and_wait(&ring, 1);
  struct io_uring_cqe *done;
  while (io_uring_peek_cqe(&ring, &done) == 0) io_uring_cqe_seen(&ring, done);
}
