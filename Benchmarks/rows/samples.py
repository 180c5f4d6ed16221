"""Running threads of several languages, sampled and walked: how many of the walks end at the root."""

import os
import signal
import time

import runtimes
from processes import Watcher
from requirement import CannotRun, Requirement, Result

REQUIREMENTS = [
    Requirement(f"walks of perf-sampled running threads that end at the root: {name}", "≥ 99 %")
    if name not in runtimes.GENERATING
    else Requirement(f"the same, {name}", "≥ 99 %, or an end in generated code that is said")
    for name in runtimes.NAMES
]


def measure(bench):
    samples = bench.choose(full=1000, quick=50)
    for name in runtimes.NAMES:
        with runtimes.started(bench.programs, name, "spin") as target:
            # A runtime that compiles what is run often does so in the first seconds.
            time.sleep(bench.choose(full=3, quick=1))
            yield result(name, sampled(bench, target.pid, samples), samples)


def sampled(bench, pid, count):
    """Stacks of threads that were sampled, by dumps of a running watch."""
    stacks, deadline = [], time.monotonic() + 120
    options = ["--never-stop", "--cpu-threshold", "0", "--threshold", "1m", "--symbols", "none"]
    with Watcher(bench.programs.stallwatch, pid, *options) as watcher:
        watcher.next("attach")
        while len(stacks) < count:
            if time.monotonic() > deadline:
                raise CannotRun(f"only {len(stacks)} samples in 120 s")
            os.kill(watcher.pid, signal.SIGUSR1)
            while (record := watcher.record())["type"] != "dump_summary":
                stacks += [stack for stack in record.get("stacks", []) if stack.get("captured") == "perf"]
    return stacks[:count]


def result(name, stacks, count):
    whole = sum(stack["walk_end"] == "root" for stack in stacks)
    generated = sum(
        stack["walk_end"] == "no-rule" and bool(stack["frames"][-1].get("generated"))
        for stack in stacks
    )
    ends = {stack["walk_end"] for stack in stacks if stack["walk_end"] != "root"}
    told = f"{whole} of {count} at the root"
    if generated:
        told += f", {generated} in generated code without tables"
    if rest := count - whole - generated:
        told += f", {rest} else ({', '.join(sorted(ends))})"
    enough = whole + (generated if name in runtimes.GENERATING else 0)
    frames = sum(len(stack["frames"]) for stack in stacks) / max(1, len(stacks))
    return Result(f"{told}; {frames:.1f} frames on average", enough >= 0.99 * count)
