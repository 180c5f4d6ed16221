"""The loop of asyncio: `asyncio_loop.py PLAN LOG`. It cannot run within itself: there are no dialogs."""

import asyncio
import os
import select
import selectors
import subprocess
import sys
import threading
import time

NESTED_ROUNDS = 5
NO_JOB = ("-", 0, 0, 0)
now = time.monotonic_ns


class LoggedSelector(selectors.DefaultSelector):
    """Logs when the loop came round, as log.c does."""

    def __init__(self):
        super().__init__()
        self.passes = []
        self.woke = 0
        self.job = NO_JOB
        self.is_last = False
        self.is_complete = threading.Event()
        self.statistics = os.open("/proc/thread-self/schedstat", os.O_RDONLY)

    def time_awake(self):
        return int(os.pread(self.statistics, 64, 0).split()[1]) + time.thread_time_ns()

    def select(self, timeout=None):
        is_last, self.is_last = self.is_last, False
        # A thread takes a millisecond to start, and the last pass is not over before.
        if is_last:
            threading.Thread(target=write_log).start()
        before = self.time_awake()
        if self.woke:
            cause, due, began, ended = self.job
            self.passes.append([cause, due, self.woke, began, ended, now(), 0])
            self.job = NO_JOB
        if is_last:
            self.is_complete.set()
        try:
            return super().select(timeout)
        finally:
            self.woke = now()
            if self.passes:
                self.passes[-1][-1] += self.time_awake() - before


def compute(end):
    while now() < end:
        sum(range(1000))


def sleep_on_purpose(end):
    time.sleep(max(0, end - now()) / 1e9)


def wait_for_lock(end):
    lock, is_held = threading.Lock(), threading.Event()

    def hold():
        with lock:
            is_held.set()
            sleep_on_purpose(end)

    threading.Thread(target=hold).start()
    is_held.wait()
    with lock:
        pass


def read_pipe(end):
    reading, writing = os.pipe()

    def feed():
        sleep_on_purpose(end)
        os.write(writing, b"\n")

    threading.Thread(target=feed).start()
    os.read(reading, 1)
    os.close(reading)
    os.close(writing)


def write_disk(end):
    block = 0
    while now() < end:
        os.pwrite(DISK, bytes(4096), block % 1024 * 4096)
        os.fdatasync(DISK)
        block += 1


def run_nested_loop(end):
    reading, writing = os.pipe()
    own = select.epoll()
    own.register(reading, select.EPOLLIN)
    pause = (end - now()) / NESTED_ROUNDS / 1e9
    while now() < end:
        own.poll(max(0.001, pause))
    own.close()
    os.close(reading)
    os.close(writing)


def wait_for_child(end):
    subprocess.run(["sleep", f"{max(0, end - now()) / 1e9:.6f}"], check=True)


CAUSES = {
    "compute": compute,
    "sleep": sleep_on_purpose,
    "lock": wait_for_lock,
    "pipe": read_pipe,
    "disk": write_disk,
    "nested": run_nested_loop,
    "child": wait_for_child,
}


def write_log():
    selector.is_complete.wait()
    with open(sys.argv[2], "w") as file:
        for entry in selector.passes:
            print(*entry, file=file)
    print("done", flush=True)


def plan_next_job():
    planned = next(plan, None)
    if planned is None:
        # The pass with the last job is not over yet.
        selector.is_last = True
        return
    gap, cause, duration = planned
    loop.call_later(int(gap) / 1e6, do_job, now() + int(gap) * 1000, cause, int(duration) * 1000)


def do_job(due, cause, duration):
    began = now()
    CAUSES[cause](began + duration)
    selector.job = (cause, due, began, now())
    plan_next_job()


with open(sys.argv[1]) as file:
    plan = iter([line.split() for line in file])
DISK = os.open(f"{sys.argv[2]}.disk", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
os.unlink(f"{sys.argv[2]}.disk")
selector = LoggedSelector()
loop = asyncio.SelectorEventLoop(selector)
plan_next_job()
print("ready", flush=True)
loop.run_forever()
