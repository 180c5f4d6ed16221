"""How long a thread of the target does not run, with and without a tool beside it, seen by the target itself."""

import os

from noise import is_noise, spread
from processes import Target
from requirement import Requirement, Result, duration, median
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
    program = bench.programs.stallwatch
    dump = [program, "dump", "--never-stop", "--symbols", "fast"]
    tools = {
        "others": [*dump, "--thread", "name:sleeper", "--pid"],
        "all": [*dump, "--pid"],
        "eu-stack": [bench.programs.peer("eu-stack"), "-p"],
    }
    cpus = sorted(os.sched_getaffinity(0))
    tool_cpu, meter_cpu = (cpus[0], cpus[1]) if len(cpus) > 1 else (None, None)
    pairs = {name: [] for name in tools}
    with Target([bench.programs.target("meter")]) as target:
        if meter_cpu is not None:
            os.sched_setaffinity(target.pid, {meter_cpu})
        for _ in range(runs):
            for name, words in tools.items():
                pairs[name].append(pair(target, [*words, target.pid], tool_cpu))
    longest = {name: ([with_[1] for with_, _ in found], [no[1] for _, no in found]) for name, found in pairs.items()}
    missing = {name: ([with_[0] for with_, _ in found], [no[0] for _, no in found]) for name, found in pairs.items()}
    peer = f"eu-stack: longest {spread(longest['eu-stack'][0], duration)}"
    yield Result(
        f"longest gap {beside(longest['others'])}; all missing time {beside(missing['others'])}; {runs} pairs",
        at_most_noise(longest["others"]) and at_most_noise(missing["others"]),
        peer=peer,
    )
    ours, without = longest["all"]
    yield Result(
        f"longest gap {beside(longest['all'])}; {runs} pairs", median(ours) - median(without) <= 50_000, peer=peer
    )


def beside(found):
    return f"{spread(found[0], duration)}, without a tool {spread(found[1], duration)}"


def at_most_noise(found):
    """A tool does not make a machine quieter: less than without it is as good."""
    with_tool, without = found
    return is_noise(with_tool, without) or median(with_tool) < median(without)
