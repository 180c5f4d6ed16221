// A stack that is to be built: each link calls the next one.
#pragma once

struct chain {
  void (*call)(struct chain *rest);
  struct chain *rest;
};
