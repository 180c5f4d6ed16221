"""Whether threads notice that their stacks are copied: waits that fail, time held, tracers seen."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path

import profilers
from processes import Target, Watcher
from requirement import CannotRun, Requirement, Result

REQUIREMENTS = [
    Requirement("10,000 captures of threads in `epoll_wait` by dumps of a running watch", "0 held, 0 EINTR, 0 traced"),
    Requirement("the same by a watch that copies all threads at each stall", "0 held, 0 EINTR, 0 traced"),
    Requirement("the same by whole `dump --never-stop` processes", "0 held, 0 EINTR, 0 traced"),
]

THREADS = 100


def measure(bench):
    captures = bench.choose(full=10_000, quick=400)
    peers = peer_failures(bench, bench.choose(full=5, quick=1))
    with Target([bench.programs.target("epollers"), THREADS]) as target:
        for copy in (by_signals, by_stalls, by_dumps):
            before = int(target.ask("count"))
            with TracerCheck(target.pid) as tracers:
                stacks = copy(bench, target, captures)
            yield result(stacks, int(target.ask("count")) - before, tracers, captures, peers)


def by_signals(bench, target, captures):
    stacks = []
    with Watcher(bench.programs.stallwatch, target.pid, "--cpu-threshold", "0", "--threshold", "10s") as watcher:
        watcher.next("attach")
        while len(blocked(stacks)) < captures:
            os.kill(watcher.pid, signal.SIGUSR1)
            while (record := watcher.record())["type"] != "dump_summary":
                stacks += record.get("stacks", [])
    return stacks


def by_stalls(bench, target, captures):
    stacks = []
    options = ["--cpu-threshold", "0", "--threshold", "50ms", "--cooldown", "0", "--stacks", "all"]
    options += ["--home", f"epoll:{target.ready_line.split()[1]}"]
    with Watcher(bench.programs.stallwatch, target.pid, *options) as watcher:
        watcher.next("attach")
        deadline = time.monotonic() + 300
        while len(blocked(stacks)) < captures:
            if time.monotonic() > deadline:
                raise CannotRun(f"only {len(blocked(stacks))} captures in 300 s")
            record = watcher.record()
            if record.get("state") == "ended":
                stacks += record["stacks"]
    return stacks


def by_dumps(bench, target, captures):
    stacks = []
    while len(blocked(stacks)) < captures:
        words = [bench.programs.stallwatch, "dump", "--never-stop", "--symbols", "fast", "--json", "--pid", target.pid]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode not in (0, 5):
            raise CannotRun(done.stderr.strip() or f"status {done.returncode}")
        for line in done.stdout.splitlines():
            stacks += json.loads(line).get("stacks", [])
    return stacks


def blocked(stacks):
    return [stack for stack in stacks if stack.get("captured") in ("task-iterator", "ptrace", "syscall-file")]


class TracerCheck(threading.Thread):
    """Reads of one thread after the other whether somebody traces it, as often as it can without taking the machine."""

    def __init__(self, pid):
        super().__init__()
        self.pid, self.checks, self.traced, self.is_over = pid, 0, 0, threading.Event()

    def run(self):
        while not self.is_over.is_set():
            for path in Path(f"/proc/{self.pid}/task").glob("*/status"):
                self.checks += 1
                self.traced += "TracerPid:\t0\n" not in path.read_text()
                if self.is_over.wait(0.001):
                    return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.join()


def peer_failures(bench, runs):
    """How many of the waits each other tool makes fail, in one of its runs; of profilers also whose stacks they see."""
    tools = {
        "eu-stack": ["-p"],
        "gdb": ["--batch", "-ex", "thread apply all backtrace", "-p"],
    }
    said = []
    with Target([bench.programs.target("epollers"), THREADS]) as target:
        for name, words in tools.items():
            before = int(target.ask("count"))
            try:
                command = [str(bench.programs.peer(name)), *words, str(target.pid)]
            except CannotRun as problem:
                said.append(str(problem))
                continue
            for _ in range(runs):
                subprocess.run(command, capture_output=True, timeout=120)
            said.append(f"{name}: {(int(target.ask('count')) - before) / runs:.0f} EINTR a run")
        before = int(target.ask("count"))
        for name, walks, problem in profilers.walks(bench, target.pid, seconds=1):
            after = int(target.ask("count"))
            seen = len({thread for thread, _ in walks})
            said.append(problem or f"{name}: {after - before} EINTR, {seen} threads seen in 1 s, only those that run")
            before = after
    return "; ".join(said) + f", of {THREADS} threads"


def result(stacks, failures, tracers, captures, peers):
    copied = blocked(stacks)
    held = sum(stack["stopped_us"] for stack in stacks)
    ways = {way: sum(stack["captured"] == way for stack in copied) for way in {stack["captured"] for stack in copied}}
    counts = ", ".join(f"{count} by {way}" for way, count in sorted(ways.items()))
    return Result(
        f"{held} µs held, {failures} EINTR, traced in {tracers.traced} of {tracers.checks} readings; {counts}",
        held == 0 and failures == 0 and tracers.traced == 0 and len(copied) >= captures,
        peer=peers,
    )
