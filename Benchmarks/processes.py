"""Processes under measurement: targets that answer, watchers whose records are read, and what a process uses."""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

from requirement import CannotRun


class LineReader:
    """Lines of a pipe, each with the moment at which it came, in nanoseconds of the monotonic clock."""

    def __init__(self, pipe):
        self.descriptor = pipe.fileno()
        self.unread = b""
        self.arrival = 0

    def line(self, timeout):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.unread:
            ready, _, _ = select.select([self.descriptor], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise CannotRun(f"no answer within {timeout} s")
            chunk = os.read(self.descriptor, 1 << 16)
            self.arrival = time.monotonic_ns()
            if not chunk:
                raise CannotRun("a program ended early")
            self.unread += chunk
        line, self.unread = self.unread.split(b"\n", 1)
        return line.decode(errors="replace")


class Target:
    """A program that prints a line when it is ready and answers commands with lines; killed at the end."""

    def __init__(self, words, cpu=None, patience=60):
        pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
        self.process = subprocess.Popen(
            [str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=pin
        )
        self.reader = LineReader(self.process.stdout)
        try:
            self.ready_line = self.reader.line(patience)
        except CannotRun:
            self.__exit__()
            raise

    @property
    def pid(self):
        return self.process.pid

    def ask(self, command, timeout=60):
        self.process.stdin.write(f"{command}\n".encode())
        self.process.stdin.flush()
        return self.reader.line(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


class Watcher:
    """`stallwatch --json` on a target, or another form; ended as a person ends it."""

    def __init__(self, program, pid, *options, launcher=(), form=("--json",)):
        self.started = time.monotonic_ns()
        self.process = subprocess.Popen(
            [*map(str, launcher), str(program), "--pid", str(pid), *form, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.reader = LineReader(self.process.stdout)

    @property
    def pid(self):
        return self.process.pid

    def record(self, timeout=20):
        try:
            return json.loads(self.reader.line(timeout))
        except CannotRun as problem:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=1)
                said = self.process.stderr.read().decode(errors="replace").splitlines()
                raise CannotRun(said[0] if said else str(problem)) from None
            raise

    def next(self, kind, /, timeout=20, **fields):
        """The next record of this type whose fields have these values."""
        while True:
            record = self.record(timeout)
            if record["type"] == kind and all(record.get(key) == value for key, value in fields.items()):
                return record

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.communicate(timeout=10)
        self.process.kill()
        self.process.wait()


def process_tree(pid):
    """The process and all that descend from it."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    tree = [pid]
    for member in tree:
        tree += parents.get(member, [])
    return tree


def cpu_nanoseconds(pid):
    """What all threads of the process and its children have run so far."""
    total = 0
    for member in process_tree(pid):
        for path in Path(f"/proc/{member}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                total += int(path.read_text().split()[0])
    return total


def cpu_share(pid, seconds):
    """The share of one core that the process and its children use from now on."""
    before, start = cpu_nanoseconds(pid), time.monotonic_ns()
    time.sleep(seconds)
    return (cpu_nanoseconds(pid) - before) / (time.monotonic_ns() - start)


def resident_bytes(pid):
    """Resident memory of the process and its children, pages that they share counted each time: now, and at most.

    The latter adds up the peak of each (VmHWM in proc(5)), which need not have been at the same moment.
    """
    now = most = 0
    for member in process_tree(pid):
        with contextlib.suppress(OSError):
            status = Path(f"/proc/{member}/status").read_text(errors="replace")
            # One that has ended and was not waited for yet has none.
            if "VmRSS:" not in status:
                continue
            now += int(status.partition("VmRSS:")[2].split()[0]) * 1024
            most += int(status.partition("VmHWM:")[2].split()[0]) * 1024
    return now, most


def timed(words, cpu=None):
    """How long a command takes, in nanoseconds; its output is thrown away."""
    pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
    start = time.monotonic_ns()
    done = subprocess.run(
        [str(word) for word in words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=pin,
    )
    took = time.monotonic_ns() - start
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        last = said[-1] if said else "it said nothing"
        raise CannotRun(f"{Path(words[0]).name} ended with {done.returncode}; its last words: {last}")
    return took
