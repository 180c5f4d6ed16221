"""How long after the threshold was reached a reader has the `ongoing` record."""

import time

from processes import Target, Watcher
from requirement import CannotRun, Requirement, Result, duration, median, percentile

THRESHOLD_MS = 500
ALERT_LOOK_MS = THRESHOLD_MS / 10

REQUIREMENTS = [
    Requirement("threshold reached to `ongoing` record, blocked (the start is known)", "≤ 10 ms, 9 of 10"),
    Requirement("the same, computing", f"≤ one alert look + 10 ms ({ALERT_LOOK_MS + 10:.0f} ms), 9 of 10"),
]


def measure(bench):
    stalls = bench.choose(full=30, quick=3)
    with (
        Target([bench.programs.target("loop")]) as target,
        Watcher(bench.programs.stallwatch, target.pid, "--cooldown", "0") as watcher,
    ):
        watcher.next("notice", kind="loop.found", timeout=30)
        # The first stack warms up whoever analyses.
        late_by(target, watcher, "block", 0)
        for how, limit in (("block", 10e6), ("spin", (ALERT_LOOK_MS + 10) * 1e6)):
            late = [late_by(target, watcher, how, place) for place in range(1, stalls + 1)]
            yield Result(
                f"{duration(median(late))}, 9 of 10 within {duration(percentile(late, 90))}, "
                f"at most {duration(max(late))}, {stalls} stalls",
                percentile(late, 90) <= limit,
            )


def late_by(target, watcher, how, place):
    """Nanoseconds from the moment at which the stall was as long as the threshold to the record's arrival."""
    stall_ms = THRESHOLD_MS + 300
    target.process.stdin.write(f"{how} {stall_ms} {place}\n".encode())
    target.process.stdin.flush()
    if watcher.next("stall")["state"] != "ongoing":
        raise CannotRun("a stall was not reported while it went on")
    arrival = watcher.reader.arrival
    start = int(target.reader.line(10))
    watcher.next("stall", state="ended")
    # Calm again: four thresholds after the last working look.
    time.sleep(4.5 * THRESHOLD_MS / 1000)
    return arrival - start - THRESHOLD_MS * 1_000_000
