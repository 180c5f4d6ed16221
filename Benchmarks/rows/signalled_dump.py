"""What a dump on request costs a watch that runs already: all stacks of node."""

import os
import resource
import signal
import subprocess
import time

from processes import Target, Watcher, cpu_nanoseconds
from programs import REPOSITORY
from requirement import CannotRun, Requirement, Result, duration, median

REQUIREMENTS = [
    Requirement("second SIGUSR1 dump of a watch of node, all processes of ours together", "≤ 1 ms of CPU, by the median")
]


def measure(bench):
    runs = bench.choose(full=20, quick=3)
    node = bench.programs.peer("node")
    costs, later = [], []
    with Target([node, REPOSITORY / "Docs/examples/node-server.js", "0"]) as target:
        threads = len(os.listdir(f"/proc/{target.pid}/task"))
        for _ in range(runs):
            found = dumps(bench, target.pid, 3)
            costs.append(found[1])
            later.append(found[2])
        peer = cpu_of_eu_stack(bench, target.pid, bench.choose(full=10, quick=2))
    yield Result(
        f"{duration(median(costs))}, {threads} threads, {runs} watches; the third one {duration(median(later))}",
        median(costs) <= 1e6,
        peer,
    )


def cpu_of_eu_stack(bench, pid, runs):
    """It reads everything anew each time."""
    try:
        words = [str(bench.programs.peer("eu-stack")), "-p", str(pid)]
    except CannotRun as problem:
        return str(problem)
    costs = []
    for _ in range(runs):
        before = cpu_of_children()
        subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        costs.append(cpu_of_children() - before)
    return f"eu-stack {duration(median(costs))}"


def cpu_of_children():
    """Of those that have ended, in nanoseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e9


def dumps(bench, pid, count):
    """The CPU time of each."""
    options = ["--cpu-threshold", "0", "--threshold", "10s"]
    with TextWatcher(bench.programs.stallwatch, pid, *options) as watcher:
        time.sleep(0.3)
        return [watcher.cpu_of_dump() for _ in range(count)]


class TextWatcher(Watcher):
    """As a person has it: text."""

    def __init__(self, program, pid, *options):
        super().__init__(program, pid, *options, form=())

    def cpu_of_dump(self):
        before = cpu_nanoseconds(self.pid)
        os.kill(self.pid, signal.SIGUSR1)
        while "target stopped" not in self.reader.line(20):
            continue
        # What is done after the last line belongs to it.
        time.sleep(0.05)
        return cpu_nanoseconds(self.pid) - before
