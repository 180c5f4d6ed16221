// Programs that answer from outside, each in its way.
#define _GNU_SOURCE
#include "target.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static int listen_at(const char *path) {
  int socket_ = socket(path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  struct sockaddr_in number = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (path) strncpy(name.sun_path, path, sizeof name.sun_path - 1);
  if (bind(socket_, path ? (struct sockaddr *)&name : (struct sockaddr *)&number,
           path ? sizeof name : sizeof number))
    exit(1);
  listen(socket_, 16);
  return socket_;
}

static void print_port(int socket_) {
  struct sockaddr_in number = {0};
  socklen_t length = sizeof number;
  getsockname(socket_, (struct sockaddr *)&number, &length);
  printf("%d\n", ntohs(number.sin_port));
}

static void answer(int connection, const char *kind) {
  static const char reply[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
  char buffer[1024];
  if (!strcmp(kind, "silent")) return;
  // Until the request, or the end, is there.
  if (read(connection, buffer, sizeof buffer) > 0 && !strcmp(kind, "http"))
    (void)!write(connection, reply, sizeof reply - 1);
  close(connection);
}

__attribute__((noinline)) static void stall_between_answers(void) {
  struct timespec time = {.tv_nsec = 800000000};
  nanosleep(&time, NULL);
  __asm__ volatile("");
}

// answering-loop KIND [PATH]: an epoll loop that answers `http` requests, only `closes` what has ended, or stays
// `silent`. Prints its port, if it has one. At SIGUSR1 it stalls for 800 ms.
PROGRAM(answering_loop, "answering-loop") {
  if (count < 1) return 2;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  int requests = signalfd(-1, &set, SFD_CLOEXEC);
  int listener = listen_at(count > 1 ? arguments[1] : NULL);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = requests};
  epoll_ctl(epoll, EPOLL_CTL_ADD, requests, &event);
  event.data.fd = listener;
  epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
  ready();
  if (count < 2) print_port(listener);
  for (;;) {
    if (epoll_wait(epoll, &event, 1, -1) < 1) continue;
    if (event.data.fd == requests) {
      struct signalfd_siginfo info;
      if (read(requests, &info, sizeof info) != sizeof info) return 1;
      stall_between_answers();
    } else {
      answer(accept(listener, NULL, NULL), arguments[0]);
    }
  }
}
