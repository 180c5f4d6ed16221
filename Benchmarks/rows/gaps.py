"""How long a thread of the target does not run, with and without a tool beside it, seen by the target itself."""

import contextlib
import os

from noise import is_noise, spread
from processes import Target
from requirement import CannotRun, Requirement, Result, duration, median
from rows.pause import pair

REQUIREMENTS = [
    Requirement(
        "gaps of a computing thread while the others of its process are dumped without a stop, beside no tool at all",
        "medians equal within noise (between the quartiles of the runs without)",
    ),
    Requirement("the same while it is dumped along with them: the perf sample's own time", "≤ 50 µs"),
]


def measure(bench):
    runs = bench.choose(full=20, quick=4)
    dump = [bench.programs.stallwatch, "dump", "--never-stop", "--symbols", "fast", "--pid", "{pid}"]
    tools = {"others": [*dump, "--thread", "name:sleeper"], "all": dump} | peers(bench)
    cpus = sorted(os.sched_getaffinity(0))
    tool_cpu, meter_cpu = (cpus[0], cpus[1]) if len(cpus) > 1 else (None, None)
    pairs = {name: [] for name in tools}
    with Target([bench.programs.target("meter")]) as target:
        if meter_cpu is not None:
            os.sched_setaffinity(target.pid, {meter_cpu})
        for _ in range(runs):
            for name, words in tools.items():
                command = [str(word).format(pid=target.pid) for word in words]
                pairs[name].append(pair(target, command, tool_cpu))
    longest = {name: ([with_[1] for with_, _ in found], [no[1] for _, no in found]) for name, found in pairs.items()}
    missing = {name: ([with_[0] for with_, _ in found], [no[0] for _, no in found]) for name, found in pairs.items()}
    peer = "; ".join(f"{name}: longest {spread(longest[name][0], duration)}" for name in peers(bench)) or "none is installed"
    yield Result(
        f"longest gap {beside(longest['others'])}; all missing time {beside(missing['others'])}; {runs} pairs",
        at_most_noise(longest["others"]) and at_most_noise(missing["others"]),
        peer=peer,
    )
    ours, without = longest["all"]
    yield Result(
        f"longest gap {beside(longest['all'])}; {runs} pairs", median(ours) - median(without) <= 50_000, peer=peer
    )


def peers(bench):
    """Those that are installed: one that stops all threads, and one that samples those that run, 99 times a second."""
    perf = ["record", "-F", "99", "-e", "cpu-clock", "--call-graph", "dwarf", "-o", bench.programs.cache / "gaps.perf"]
    words = {"eu-stack": ["-p", "{pid}"], "perf": [*perf, "-p", "{pid}", "--", "sleep", "0.2"]}
    found = {}
    for name in words:
        with contextlib.suppress(CannotRun):
            found[name] = [bench.programs.peer(name), *words[name]]
    return found


def beside(found):
    return f"{spread(found[0], duration)}, without a tool {spread(found[1], duration)}"


def at_most_noise(found):
    """A tool does not make a machine quieter: less than without it is as good."""
    with_tool, without = found
    return is_noise(with_tool, without) or median(with_tool) < median(without)
