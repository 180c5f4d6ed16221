"""How long a look through the task iterator takes, timed within the watch."""

import os
import signal
import subprocess
import time

from processes import Target, Watcher
from requirement import CannotRun, Requirement, Result, duration, median, percentile

REQUIREMENTS = [
    Requirement("a look at one thread through the task iterator", "≤ 10 µs, by the median"),
    Requirement("a look at all of 10,001 threads", "≤ 1.5 µs a thread, by the median"),
]


def measure(bench):
    # Its loop has moved at each look, so that there is something to read.
    with Target([bench.programs.target("epollers"), 1]) as target:
        seconds = bench.choose(full=20, quick=3)
        times = read_times(bench, target.pid, lambda _: time.sleep(seconds))
        alone = [took for took, read in times if read]
        yield Result(
            f"{duration(median(alone))} (99 %: {duration(percentile(alone, 99))}), {len(alone)} looks",
            median(alone) <= 10_000,
        )
    threads = 10_000
    with Target([bench.programs.target("crowd"), threads, 10]) as target:
        runs = bench.choose(full=20, quick=3)
        times = read_times(bench, target.pid, lambda watcher: dump(watcher, runs))
        most = max(read for _, read in times)
        whole = [took / (threads + 1) for took, read in times if read > most * 0.9]
        if most < threads * 100:
            raise CannotRun(f"no read of all threads: at most {most} bytes")
        yield Result(f"{duration(median(whole))} a thread, {len(whole)} looks", median(whole) <= 1_500)


def dump(watcher, times):
    for _ in range(times):
        os.kill(watcher.pid, signal.SIGUSR1)
        watcher.next("dump_summary")


def read_times(bench, pid, use):
    """Nanoseconds and bytes of each look that the watch makes while it is used."""
    log = bench.programs.cache / "look-times"
    log.unlink(missing_ok=True)
    environment = ["env", f"LD_PRELOAD={timer(bench.programs)}", f"LOOK_TIMES={log}"]
    options = ["--observer", "bpf", "--threshold", "20ms", "--cpu-threshold", "0"]
    with Watcher(bench.programs.stallwatch, pid, *options, launcher=environment) as watcher:
        watcher.next("attach")
        use(watcher)
    if not log.exists():
        raise CannotRun("no look was timed: is libbpf linked statically?")
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()]


def timer(programs):
    source = programs.target_source("look_timer")

    def make(path):
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", path, source, "-ldl"], check=True)

    return programs.made("look_timer.so", [source], make)
