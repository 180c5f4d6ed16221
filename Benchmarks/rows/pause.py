"""How long a thread of the target does not run while all of its threads are dumped, seen by the target itself."""

import os
import time

from large_programs import with_many_symbols
from processes import Target, timed
from requirement import CannotRun, Requirement, Result, duration, median

REQUIREMENTS = [
    Requirement("pause seen in a target of 7 threads and 100 MB of symbols, beside eu-stack", "≤ 1/20 of its"),
    Requirement("the same, beside gdb", "≤ 1/1000 of its"),
]


def measure(bench):
    tools = {
        "ours": [bench.programs.stallwatch, "dump", "--pid"],
        "eu-stack": [bench.programs.peer("eu-stack"), "-p"],
        "gdb": [bench.programs.peer("gdb"), "--batch", "-ex", "thread apply all backtrace", "-p"],
    }
    pairs = {name: [] for name in tools}
    # A tool that takes the CPU of the meter would pause it by that: they get one each.
    cpus = sorted(os.sched_getaffinity(0))
    tool_cpu, meter_cpu = (cpus[0], cpus[1]) if len(cpus) > 1 else (None, None)
    with Target([with_many_symbols(bench.programs, "meter")]) as target:
        # Its first thread alone, which meters: the others sleep, and wake up where there is room.
        if meter_cpu is not None:
            os.sched_setaffinity(target.pid, {meter_cpu})
        # What the machine takes from the meter in the seconds of a peer's run is as long as what the peer does: the medians
        # settle slowly. gdb takes minutes, and what it does cannot be mistaken for that.
        for run in range(bench.choose(full=40, quick=3)):
            for name, words in tools.items():
                if name != "gdb" or run % 4 == 0:
                    pairs[name].append(pair(target, [*words, target.pid], tool_cpu))
    pauses = {name: Pause(found) for name, found in pairs.items()}
    for name, share in (("eu-stack", 20), ("gdb", 1000)):
        ours, theirs = pauses["ours"].longest, pauses[name].longest
        part = f"1/{theirs / ours:.0f} of its" if ours else "too short to be seen"
        yield Result(
            f"{pauses['ours']}, {part}, {len(pairs[name])} pairs",
            ours * share <= theirs,
            peer=str(pauses[name]),
        )


class Pause:
    """The difference of medians, with and without the tool: of the longest gap, and of all missing time. The latter
    also holds what the machine takes in the time that the tool needs, so the former counts."""

    def __init__(self, pairs):
        whole, longest = (
            median([with_tool[column] for with_tool, _ in pairs]) - median([without[column] for _, without in pairs])
            for column in (0, 1)
        )
        self.whole, self.longest = max(0, whole), max(0, longest)

    def __str__(self):
        return f"{duration(self.longest)} (all missing time {duration(self.whole)})"


def pair(target, words, cpu):
    """What the meter missed while the tool ran, and then without it for as long. A failed dump is tried once more."""
    target.ask("begin")
    try:
        took = timed(words, cpu=cpu)
    except CannotRun:
        # On a machine that is busy otherwise the meter may not get its CPU in time to be held.
        target.ask("begin")
        took = timed(words, cpu=cpu)
    with_tool = missed(target)
    target.ask("begin")
    time.sleep(took / 1e9)
    return with_tool, missed(target)


def missed(target):
    """Since `begin`, in nanoseconds: all, and the longest gap."""
    return tuple(map(int, target.ask("end").split()))
