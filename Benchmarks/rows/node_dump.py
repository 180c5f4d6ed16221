"""The stacks of all threads of node, beside eu-stack."""

import os
from pathlib import Path

from processes import Target, timed
from programs import REPOSITORY
from requirement import CannotRun, Requirement, Result, duration, median

REQUIREMENTS = [
    Requirement("`dump --pid` of node, cold process", "wall ≤ eu-stack's, by medians"),
    Requirement("the same without lines (`--symbols fast`), as eu-stack prints none", "wall ≤ eu-stack's, by medians"),
    Requirement("with lines and inlined calls on both sides (`eu-stack -s -i`)", "wall ≤ eu-stack's, by medians"),
    Requirement("with lines, page cache dropped before each run", "wall ≤ eu-stack's, by medians"),
]


def measure(bench):
    program, peer = bench.programs.stallwatch, bench.programs.peer("eu-stack")
    commands = {
        "lines": [program, "dump", "--pid"],
        "names": [program, "dump", "--symbols", "fast", "--pid"],
        "peer's names": [peer, "-p"],
        "peer's lines": [peer, "-s", "-i", "-p"],
    }
    node = bench.programs.peer("node")
    with Target([node, REPOSITORY / "Docs/examples/node-server.js", "0"]) as target:
        threads = len(os.listdir(f"/proc/{target.pid}/task"))
        runs = bench.choose(full=20, quick=3)
        warm = alternate(commands, target.pid, runs)
        for ours, theirs in (("lines", "peer's names"), ("names", "peer's names"), ("lines", "peer's lines")):
            yield compared(warm, ours, theirs, f"{threads} threads, {runs} runs")
        runs = bench.choose(full=10, quick=2)
        cold = alternate(commands, target.pid, runs, drop_page_cache)
        yield compared(cold, "lines", "peer's lines", f"{threads} threads, {runs} runs")


def alternate(commands, pid, runs, prepare=lambda: None):
    """The times of each command, taken in turn."""
    taken = {name: [] for name in commands}
    for _ in range(runs):
        for name, words in commands.items():
            prepare()
            taken[name].append(timed([*words, pid]))
    return taken


def compared(taken, ours, theirs, of):
    mine, other = median(taken[ours]), median(taken[theirs])
    return Result(f"{duration(mine)}, {of}", mine <= other, peer=duration(other))


def drop_page_cache():
    try:
        os.sync()
        Path("/proc/sys/vm/drop_caches").write_text("1\n")
    except OSError as problem:
        raise CannotRun(f"the page cache cannot be dropped: {problem.strerror}") from None
