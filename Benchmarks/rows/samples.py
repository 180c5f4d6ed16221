"""Running threads of several languages, sampled and walked: how many of the walks end at the root."""

import os
import signal
import time
from pathlib import Path

import profilers
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
            stacks, roots = sampled(bench, target.pid, samples)
            yield result(name, stacks, samples, peers(bench, target.pid, roots))


def sampled(bench, pid, count):
    """Stacks of threads that were sampled, by dumps of a running watch; and all addresses at which whole stacks end."""
    stacks, roots, deadline = [], set(), time.monotonic() + 120
    options = ["--never-stop", "--cpu-threshold", "0", "--threshold", "1m", "--symbols", "none"]
    with Watcher(bench.programs.stallwatch, pid, *options) as watcher:
        watcher.next("attach")
        while len(stacks) < count:
            if time.monotonic() > deadline:
                raise CannotRun(f"only {len(stacks)} samples in 120 s")
            os.kill(watcher.pid, signal.SIGUSR1)
            while (record := watcher.record())["type"] != "dump_summary":
                there = record.get("stacks", [])
                stacks += [stack for stack in there if stack.get("captured") == "perf"]
                roots |= {int(stack["frames"][-1]["pc"], 16) for stack in there if stack["walk_end"] == "root"}
    return stacks[:count], roots


def peers(bench, pid, roots):
    """How many of the walks of others end where whole stacks do. perf shows the call, which is before the return address,
    and tells places in their file."""
    said, roots = [], roots | offsets_in_files(pid, roots)
    for name, walks, problem in profilers.walks(bench, pid, seconds=1):
        whole = sum(bool(walk) and not roots.isdisjoint({walk[-1], walk[-1] + 1}) for _, walk in walks)
        said.append(problem or f"{name} {whole} of {len(walks)} at the root")
    return "; ".join(said)


def offsets_in_files(pid, addresses):
    found = set()
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        span, _, offset = line.split()[:3]
        start, end = (int(word, 16) for word in span.split("-"))
        found |= {address - start + int(offset, 16) for address in addresses if start <= address < end}
    return found


def result(name, stacks, count, peer):
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
    return Result(f"{told}; {frames:.1f} frames on average", enough >= 0.99 * count, peer)
