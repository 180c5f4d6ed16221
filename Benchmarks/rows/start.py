"""How soon stallwatch has looked for the first time."""

from processes import Target, Watcher
from requirement import Requirement, Result, duration, median

REQUIREMENTS = [Requirement("start to first look", "≤ 60 ms, by the median")]


def measure(bench):
    runs = bench.choose(full=50, quick=5)
    taken = []
    with Target([bench.programs.target("loop")]) as target:
        for _ in range(runs):
            with Watcher(bench.programs.stallwatch, target.pid) as watcher:
                # The record is made right after the first look.
                looked = watcher.next("attach")["monotonic_us"] * 1000
                taken.append(looked - watcher.started)
    yield Result(f"{duration(median(taken))}, at most {duration(max(taken))}, {runs} starts", median(taken) <= 60e6)
