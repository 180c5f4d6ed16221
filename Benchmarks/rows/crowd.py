"""Watching a process with 20,000 threads and 65,000 mappings."""

import os
import subprocess
import time
from pathlib import Path

from processes import Target, Watcher, cpu_share, process_tree
from requirement import CannotRun, Requirement, Result, duration, megabytes, ratio

REQUIREMENTS = [
    Requirement("calm watching with 65,000 mappings and 20,000 threads", "≤ 0.05 % of a core"),
    Requirement("the same, openings of a list of mappings", "none"),
    Requirement("`dump` of 20,000 threads", "every thread, ≤ 60 s, ≤ 150 MB"),
]

SETTLING_SECONDS = 5


def measure(bench):
    threads = bench.choose(full=20_000, quick=2_000)
    mappings = bench.choose(full=65_000, quick=6_500)
    seconds = bench.choose(full=60, quick=4)
    small = watching_share(bench, [bench.programs.target("loop")], seconds)
    # The program itself has some, and the kernel allows 65,530 (vm.max_map_count).
    words = [bench.programs.target("crowd"), threads, mappings]
    with Target(words) as target:
        with Watcher(bench.programs.stallwatch, target.pid) as watcher:
            attached = watcher.next("attach")["threads"]
            time.sleep(SETTLING_SECONDS)
            share = cpu_share(watcher.pid, seconds)
            yield Result(
                f"{share:.4%}, {ratio(share, small):.2f} × that with one thread; "
                f"{attached} threads, {count_mappings(target.pid)} mappings",
                share <= 0.0005,
            )
            opened = opened_files(bench, watcher.pid, seconds)
            maps = [path for path in opened if path.endswith("maps")]
            yield Result(f"{len(maps)} of {len(opened)} openings in {seconds} s", not maps)
        yield dump(bench, target.pid, attached)


def watching_share(bench, words, seconds):
    with Target(words) as target, Watcher(bench.programs.stallwatch, target.pid) as watcher:
        watcher.next("attach")
        time.sleep(SETTLING_SECONDS)
        return cpu_share(watcher.pid, seconds)


def count_mappings(pid):
    return Path(f"/proc/{pid}/maps").read_bytes().count(b"\n")


def opened_files(bench, pid, seconds):
    """The paths that the watch opens meanwhile, all of its processes together.

    Looks read files that are open already; their reads show that the watch was seen at all.
    """
    log = bench.programs.cache / "openings"
    words = [
        bench.programs.peer("strace"),
        "--follow-forks",
        "--trace=open,openat,openat2,pread64",
        f"--output={log}",
    ]
    words += [f"--attach={member}" for member in process_tree(pid)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as tracer:
        time.sleep(seconds)
        if tracer.poll() is not None:
            raise CannotRun("strace ended early")
        tracer.terminate()
    lines = log.read_text().splitlines()
    if not any("pread64(" in line for line in lines):
        raise CannotRun("strace saw no look")
    return [line.split('"')[1] for line in lines if "open" in line and line.count('"') >= 2]


def dump(bench, pid, threads):
    start = time.monotonic_ns()
    words = [bench.programs.stallwatch, "dump", "--pid", str(pid), "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        records = sum(b'"type":"dump"' in line for line in process.stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    took, most = time.monotonic_ns() - start, usage.ru_maxrss * 1024
    return Result(
        f"{records} of {threads} threads in {duration(took)}, at most {megabytes(most)}, status {process.returncode}",
        records == threads and process.returncode == 0 and took <= 60e9 and most <= 150e6,
    )
