"""What watching an idle loop costs, beside a sampling profiler on the same process."""

import contextlib
import subprocess
import time

from processes import Target, Watcher, cpu_share
from programs import REPOSITORY
from requirement import CannotRun, Requirement, Result, ratio

REQUIREMENTS = [
    Requirement("calm watching of an idle asyncio loop, defaults", "≤ 0.05 % of a core"),
    Requirement("the same, beside `py-spy record -r 20`", "≤ 1/20 of its CPU"),
]

# Starting is not watching: the loop has been found, files have been read.
SETTLING_SECONDS = 3


def measure(bench):
    seconds = bench.choose(full=60, quick=4)
    with Target(["python3", REPOSITORY / "Docs/examples/asyncio-sleep.py"]) as target:
        with Watcher(bench.programs.stallwatch, target.pid) as watcher:
            watcher.next("attach")
            time.sleep(SETTLING_SECONDS)
            ours = cpu_share(watcher.pid, seconds)
        yield Result(f"{ours:.4%} over {seconds} s", ours <= 0.0005)
        peers = profiler_share(bench, target.pid, seconds)
    yield Result(
        f"{ours:.4%}, {ratio(ours, peers):.3f} of its",
        ratio(ours, peers) <= 1 / 20,
        peer=f"{peers:.3%}",
    )


def profiler_share(bench, pid, seconds):
    words = [bench.programs.peer("py-spy"), "record", "-r", "20", "-d", str(seconds + SETTLING_SECONDS + 5)]
    words += ["--pid", str(pid), "--output", bench.programs.cache / "py-spy.svg"]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as profiler:
        time.sleep(SETTLING_SECONDS)
        share = cpu_share(profiler.pid, seconds)
        if profiler.poll() is not None:
            raise CannotRun("py-spy ended early")
        with contextlib.suppress(ProcessLookupError):
            profiler.terminate()
    return share
