"""What it costs to sample a stall as long as it lasts, beside profilers on the same process."""

import contextlib
import subprocess
import time

from processes import Target, Watcher, cpu_share
from programs import FOLDER
from requirement import CannotRun, Requirement, Result

REQUIREMENTS = [
    Requirement("sampling a stall of a Python loop, blocked, all processes", "≤ 1 % of a core"),
    Requirement(
        "the same, computing; beside `perf record -F 100`, `py-spy record -r 100 --native`, bpftrace's `profile:hz:100`",
        "≤ 3 % of a core",
    ),
]

LIMITS = {"block": 0.01, "compute": 0.03}
SETTLING_SECONDS = 3


def measure(bench):
    seconds = bench.choose(full=10, quick=3)
    with Target(["python3", FOLDER / "targets/sampled.py"]) as target:
        with Watcher(bench.programs.stallwatch, target.pid, "--cooldown", "0") as watcher:
            watcher.next("notice", kind="loop.found", timeout=30)
            # The first stack warms up whoever analyses.
            stall(target, "compute", 1)
            watcher.next("stall", state="ended")
            time.sleep(SETTLING_SECONDS)
            found = {how: sampled(target, watcher, how, seconds) for how in LIMITS}
        peers = [profiled(bench, target, seconds, *peer) for peer in PEERS]
    for how, (share, sampling) in found.items():
        yield Result(
            f"{share:.2%} over {seconds} s, {sampling['samples']} samples of {sampling['covered_ms']:.0f} ms",
            share <= LIMITS[how],
            peer="; ".join(peers) if how == "compute" else "–",
        )


def stall(target, how, seconds):
    target.process.stdin.write(f"{how} {seconds}\n".encode())
    target.process.stdin.flush()


def sampled(target, watcher, how, seconds):
    """The share of a core that all processes of the watch use during a stall, and what the report rests on."""
    stall(target, how, seconds)
    share = cpu_share(watcher.pid, seconds)
    target.reader.line(seconds + 10)
    sampling = watcher.next("stall", state="ended")["sampling"]
    time.sleep(SETTLING_SECONDS)
    return share, sampling


PERF = ["record", "-F", "100", "-p", "{pid}", "-o", "{file}"]
# Only py-spy finds names while it samples.
PEERS = [
    ("perf", "perf -g, without names", [*PERF, "-g"]),
    ("perf", "perf --call-graph dwarf, without walks", [*PERF, "--call-graph", "dwarf"]),
    ("bpftrace", "bpftrace ustack, without names", ["-e", "profile:hz:100 /pid == {pid}/ {{ @[ustack] = count(); }}"]),
    ("py-spy", "py-spy", ["record", "-r", "100", "--native", "-d", "3600", "--pid", "{pid}", "--output", "{file}"]),
]


def profiled(bench, target, seconds, name, form, words):
    try:
        program = bench.programs.peer(name)
    except CannotRun as problem:
        return str(problem)
    facts = {"pid": target.pid, "file": bench.programs.cache / f"{name}.out"}
    with subprocess.Popen(
        [program, *(word.format(**facts) for word in words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as profiler:
        time.sleep(SETTLING_SECONDS)
        stall(target, "compute", seconds)
        share = cpu_share(profiler.pid, seconds)
        target.reader.line(seconds + 10)
        has_ended = profiler.poll() is not None
        with contextlib.suppress(ProcessLookupError):
            profiler.terminate()
    return f"{form}: ended early" if has_ended else f"{form} {share:.2%}"
