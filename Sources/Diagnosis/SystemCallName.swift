// The names of the system calls in which a thread can block, for sentences.

internal import StallCore

extension SystemCallNumber {
  static func name(of number: Int) -> String? { names[number] }

  private static let names: [Int: String] = [
    read: "read", write: "write", poll: "poll", pread64: "pread64", pwrite64: "pwrite64", readv: "readv",
    writev: "writev", select: "select", pause: "pause", nanosleep: "nanosleep", sendfile: "sendfile",
    connect: "connect", accept: "accept", sendto: "sendto", recvfrom: "recvfrom", sendmsg: "sendmsg",
    recvmsg: "recvmsg", wait4: "wait4", semop: "semop", msgsnd: "msgsnd", msgrcv: "msgrcv", fcntl: "fcntl",
    flock: "flock", fsync: "fsync", fdatasync: "fdatasync", rtSigtimedwait: "rt_sigtimedwait",
    rtSigsuspend: "rt_sigsuspend", sync: "sync", futex: "futex", ioGetevents: "io_getevents",
    restartSyscall: "restart_syscall", semtimedop: "semtimedop", clockNanosleep: "clock_nanosleep",
    epollWait: "epoll_wait", mqTimedsend: "mq_timedsend", mqTimedreceive: "mq_timedreceive", waitid: "waitid",
    openat: "openat", pselect6: "pselect6", ppoll: "ppoll", splice: "splice", tee: "tee",
    syncFileRange: "sync_file_range", vmsplice: "vmsplice", epollPwait: "epoll_pwait", accept4: "accept4",
    preadv: "preadv", pwritev: "pwritev", recvmmsg: "recvmmsg", syncfs: "syncfs", sendmmsg: "sendmmsg",
    copyFileRange: "copy_file_range", preadv2: "preadv2", pwritev2: "pwritev2", ioPgetevents: "io_pgetevents",
    ioUringEnter: "io_uring_enter", epollPwait2: "epoll_pwait2", futexWaitv: "futex_waitv",
    futexWait: "futex_wait",
  ]
}
