// Programs that wait for ever in one call, each the simplest one of its kind.
#define _GNU_SOURCE
#include "target.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static void wait_in_epoll(void) {
  struct epoll_event event;
  epoll_wait(epoll_create1(0), &event, 1, -1);
}
static void wait_in_epoll_pwait(void) {
  struct epoll_event event;
  sigset_t none;
  sigemptyset(&none);
  epoll_pwait(epoll_create1(0), &event, 1, -1, &none);
}
static void wait_in_epoll_pwait2(void) {
  struct epoll_event event;
  epoll_pwait2(epoll_create1(0), &event, 1, NULL, NULL);
}
static void wait_in_poll(void) { poll(&(struct pollfd){.fd = eventfd(0, 0), .events = POLLIN}, 1, -1); }
static void wait_in_ppoll(void) { ppoll(&(struct pollfd){.fd = eventfd(0, 0), .events = POLLIN}, 1, NULL, NULL); }
static int one_descriptor(fd_set *set) {
  int descriptor = eventfd(0, 0);
  FD_ZERO(set);
  FD_SET(descriptor, set);
  return descriptor + 1;
}
static void wait_in_select(void) {
  fd_set set;
  int end = one_descriptor(&set);
  select(end, &set, NULL, NULL, NULL);
}
static void wait_in_pselect(void) {
  fd_set set;
  int end = one_descriptor(&set);
  pselect(end, &set, NULL, NULL, NULL, NULL);
}
static void wait_in_ring(void) {
  struct io_uring_params parameters = {0};
  int ring = (int)syscall(SYS_io_uring_setup, 4, &parameters);
  // Status 3: there are no rings here.
  if (ring < 0) _exit(3);
  syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}
static void wait_for_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigwaitinfo(&set, NULL);
}
static void wait_in_pause(void) { pause(); }
static void read_from(int descriptor) {
  char bytes[4096];
  if (read(descriptor, bytes, sizeof bytes) < 0) _exit(1);
}
static void read_timer(void) { read_from(timerfd_create(CLOCK_MONOTONIC, 0)); }
static void read_counter(void) { read_from(eventfd(0, 0)); }
static void read_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  read_from(signalfd(-1, &set, 0));
}
static void read_terminal(void) {
  int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) || unlockpt(master)) _exit(1);
  read_from(open(ptsname(master), O_RDWR | O_NOCTTY));
}
static void read_inotify(void) { read_from(inotify_init1(0)); }
static int listening_socket(void) {
  int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address) || listen(descriptor, 1)) _exit(1);
  return descriptor;
}
static void wait_in_accept(void) { accept(listening_socket(), NULL, NULL); }
static void receive_message(void) {
  int ends[2];
  char byte;
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends)) _exit(1);
  recv(ends[0], &byte, 1, 0);
}
static void receive_with_header(void) {
  int ends[2];
  char byte;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) _exit(1);
  recvmsg(ends[0], &header, 0);
}
static void receive_from_queue(void) {
  struct {
    long type;
    char text[1];
  } message;
  int queue = msgget(IPC_PRIVATE, 0600);
  msgrcv(queue, &message, 1, 0, 0);
}
static void *forever(void *unused) {
  for (;;) pause();
  return unused;
}
static void join_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, forever, NULL);
  pthread_join(thread, NULL);
}
static void wait_on_condition(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
}
static void sleep_and_sleep(void) { usleep(700000); }
static void frame_loop(void) {
  spin_for(2000000);
  usleep(14000);
}
static void wait_on_coroutine_stack(void) {
  static char stack[65536];
  static ucontext_t coroutine, back;
  getcontext(&coroutine);
  coroutine.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  coroutine.uc_link = &back;
  makecontext(&coroutine, wait_in_epoll, 0);
  swapcontext(&back, &coroutine);
}
static void wait_in_handler(int number) {
  (void)number;
  wait_in_epoll();
}
static void wait_on_signal_stack(void) {
  static char stack[65536];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  sigaction(SIGURG, &(struct sigaction){.sa_handler = wait_in_handler, .sa_flags = SA_ONSTACK}, NULL);
  raise(SIGURG);
}
static void wait_among_threads(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, forever, NULL);
  wait_in_epoll();
}
static void exit_main_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, forever, NULL);
  pthread_exit(NULL);
}

static const struct {
  const char *name;
  void (*wait)(void);
} waits[] = {
    {"epoll", wait_in_epoll},       {"epoll-pwait2", wait_in_epoll_pwait2}, {"poll", wait_in_poll},
    {"select", wait_in_select},     {"signal", wait_for_signal},            {"pause", wait_in_pause},
    {"timer", read_timer},          {"counter", read_counter},              {"inotify", read_inotify},
    {"accept", wait_in_accept},     {"datagram", receive_message},          {"queue", receive_from_queue},
    {"join", join_thread},          {"condition", wait_on_condition},       {"sleep-loop", sleep_and_sleep},
    {"frame-loop", frame_loop},     {"exited-main", exit_main_thread},
    {"epoll-pwait", wait_in_epoll_pwait},
    {"ppoll", wait_in_ppoll},       {"pselect", wait_in_pselect},
    {"ring", wait_in_ring},         {"signal-descriptor", read_signals},
    {"terminal", read_terminal},    {"stream", receive_with_header},
    {"coroutine", wait_on_coroutine_stack},
    {"signal-stack", wait_on_signal_stack},
    {"threaded-epoll", wait_among_threads},
};

// idle KIND
PROGRAM(idle, "idle") {
  ready();
  for (size_t i = 0; count > 0 && i < sizeof waits / sizeof *waits; i++)
    while (!strcmp(waits[i].name, arguments[0])) waits[i].wait();
  return 2;
}
