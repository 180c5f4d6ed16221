"""Whether a redis-server under load notices that all of its threads are dumped ten times a second.

The server and its clients share one CPU, the dumps have the other: what is measured is what a dump does to the program,
not that both compete for the same CPU.
"""

import os
import subprocess
import threading
import time

from noise import quartiles, spread
from requirement import CannotRun, Requirement, Result, median
from runtimes import Server

REQUIREMENTS = [
    Requirement(
        "throughput of redis-server under redis-benchmark with `dump --never-stop` every 100 ms, beside runs without",
        "no difference beyond noise, by the median of pairs",
    )
]


def measure(bench):
    runs = bench.choose(full=12, quick=2)
    requests = bench.choose(full=200_000, quick=20_000)
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise CannotRun("this takes two CPUs")
    tool_cpu, server_cpu = cpus[0], cpus[1]
    tools = {
        "dump": [bench.programs.stallwatch, "dump", "--never-stop", "--pid"],
        "eu-stack": [bench.programs.peer("eu-stack"), "-p"],
    }
    pairs = {name: [] for name in tools}
    dumps = 0
    with Server(bench.programs, cpu=server_cpu) as server:
        throughput(bench, server, requests, server_cpu)
        for run in range(runs):
            for name, words in tools.items():
                command = [str(word) for word in [*words, server.pid]]
                # Each comes first in half of the pairs.
                found = {}
                for is_with in (True, False) if run % 2 else (False, True):
                    done = Dumps(command if is_with else None, tool_cpu)
                    with done:
                        found[is_with] = throughput(bench, server, requests, server_cpu)
                    dumps += done.count if name == "dump" else 0
                pairs[name].append((found[True], found[False]))
    yield result(pairs, dumps, runs)


class Dumps:
    """One every 100 ms, for as long as the block lasts."""

    def __init__(self, command, cpu):
        self.command, self.cpu, self.count = command, cpu, 0

    def __enter__(self):
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        due = time.monotonic()
        while not self.is_over.is_set():
            if self.command:
                subprocess.run(["taskset", "-c", str(self.cpu), *self.command], capture_output=True)
                self.count += 1
            due = max(due + 0.1, time.monotonic())
            self.is_over.wait(due - time.monotonic())

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def throughput(bench, server, requests, cpu):
    """Requests a second."""
    words = ["taskset", "-c", cpu, bench.programs.peer("redis-benchmark"), "-p", server.port]
    words += ["-n", requests, "-c", 20, "-t", "get", "--csv"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1].split('"')[3])


def result(pairs, dumps, runs):
    differences = {name: [with_ / without - 1 for with_, without in found] for name, found in pairs.items()}
    without = [no for found in pairs.values() for _, no in found]
    low, high = quartiles(without)
    # Half of the quartiles' distance is what two runs without a tool differ by as a matter of course.
    noise = (high - low) / 2 / median(without)
    ours = median(differences["dump"])

    def percent(value):
        return f"{value:+.2%}"

    return Result(
        f"{spread(differences['dump'], percent)} of {median(without):.0f} requests a second, noise ±{noise:.2%}; "
        f"{runs} pairs, {dumps} dumps",
        ours >= -noise,
        peer=f"eu-stack {spread(differences['eu-stack'], percent)}",
    )
