// Programs that do one thing for ever.
#define _GNU_SOURCE
#include "target.h"

#include <poll.h>
#include <unistd.h>

PROGRAM(pause, "pause") {
  ready();
  for (;;) pause();
}

PROGRAM(spin, "spin") {
  ready();
  for (;;) spin_for(1000000000);
}
