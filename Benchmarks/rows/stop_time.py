"""How long a thread is held for a capture, beside a program that makes the same calls and nothing else.

A running thread is held only where perf events are refused, so they are refused here.
"""

import os
import signal

from large_programs import with_many_symbols
from processes import Target, Watcher
from requirement import CannotRun, Requirement, Result, duration, median, percentile, ratio

KINDS = ["blocked", "running, without perf events", "blocked under a recursion of 1 MB"]

REQUIREMENTS = [
    Requirement(f"time a thread is held for a ptrace capture: {kind}", "≤ 1.5 × the bare calls, by medians")
    for kind in KINDS
]


def measure(bench):
    captures = bench.choose(full=1000, quick=30)
    with (
        Target([with_many_symbols(bench.programs, "meter"), "deep"]) as target,
        Target([bench.programs.target("peer_capture")]) as peer,
        Watcher(
            bench.programs.stallwatch,
            target.pid,
            "--cpu-threshold",
            "0",
            # By the task iterator nobody would be held.
            "--observer",
            "proc",
            launcher=[bench.programs.target("refuse_perf")],
        ) as watcher,
    ):
        threads = [int(word) for word in target.ready_line.split()[1:]]
        watcher.next("attach")
        ours = {thread: [] for thread in threads}
        peers = {thread: [] for thread in threads}
        for _ in range(captures):
            for thread in threads:
                peers[thread].append(int(peer.ask(thread)))
            for thread, held in dumped(watcher).items():
                if thread in ours:
                    ours[thread].append(held)
    for thread in threads:
        yield result(ours[thread], peers[thread], captures)


def dumped(watcher):
    """How long each thread was held for one dump, in nanoseconds."""
    os.kill(watcher.pid, signal.SIGUSR1)
    held = {}
    while (record := watcher.record())["type"] != "dump_summary":
        if record["type"] == "dump" and record["stacks"][0].get("captured") == "ptrace":
            held[record["thread"]["tid"]] = record["stacks"][0]["stopped_us"] * 1000
    return held


def result(ours, peers, captures):
    # A thread that could not be held tells nothing about how long holding takes.
    if min(len(ours), len(peers)) < captures * 0.9 or 0 in peers:
        raise CannotRun(f"only {len(ours)} of {captures} captures went through ptrace")
    return Result(
        f"{spread(ours)}; {ratio(median(ours), median(peers)):.2f} ×, {len(ours)} captures",
        ratio(median(ours), median(peers)) <= 1.5,
        peer=spread(peers),
    )


def spread(values):
    return f"{duration(median(values))} (99 %: {duration(percentile(values, 99))})"
