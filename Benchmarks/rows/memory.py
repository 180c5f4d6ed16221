"""Resident memory of all processes of a watch together."""

import time

from large_programs import with_much_debug_information
from processes import Target, Watcher, resident_bytes
from requirement import CannotRun, Requirement, Result, megabytes

REQUIREMENTS = [
    Requirement("resident while watching, before the first stack", "≤ 30 MB"),
    Requirement("resident after a stack through 1 GB of debug information, with lines", "≤ 150 MB"),
]


def measure(bench):
    with Target([bench.programs.target("loop")]) as target:
        with Watcher(bench.programs.stallwatch, target.pid) as watcher:
            watcher.next("attach")
            time.sleep(bench.choose(full=5, quick=2))
            resident, most = resident_bytes(watcher.pid)
    yield Result(f"{megabytes(resident)}, at most {megabytes(most)}", resident <= 30e6)
    program = with_much_debug_information(bench.programs)
    with Target([program]) as target:
        with Watcher(bench.programs.stallwatch, target.pid, "--symbols", "full") as watcher:
            watcher.next("attach")
            time.sleep(bench.choose(full=5, quick=2))
            target.ask("block 1500 0")
            frames = watcher.next("stall", timeout=120, state="ended")["stacks"][0]["frames"]
            resident, most = resident_bytes(watcher.pid)
    lines = sum("line" in frame for frame in frames)
    if lines < 8:
        raise CannotRun(f"only {lines} of {len(frames)} frames have a line")
    size = megabytes(program.stat().st_size)
    yield Result(
        f"{megabytes(resident)}, at most {megabytes(most)}; {len(frames)} frames, {lines} with lines, of {size}",
        resident <= 150e6,
    )
