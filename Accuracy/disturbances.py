"""What is done to a target, or to its watcher, while no stall may be reported."""

import contextlib
import os
import signal
import time
from pathlib import Path

from processes import process_tree
from requirement import CannotRun


class NotPossibleHere(CannotRun):
    """For want of rights, or of something in the system."""


SECOND = 1.0
EVERY_SECONDS = 5


def again_and_again(disturb, is_over):
    """The pauses, in nanoseconds of the monotonic clock."""
    pauses = []
    while not is_over.wait(EVERY_SECONDS):
        begin = time.monotonic_ns()
        disturb()
        pauses.append((begin, time.monotonic_ns()))
    return pauses


def stop_target(target, watcher, is_over):
    """SIGSTOP, and SIGCONT a second later."""
    return again_and_again(lambda: stopped([target]), is_over)


def stop_watcher(target, watcher, is_over):
    """With all its helpers. For the target that is no pause."""
    again_and_again(lambda: stopped(process_tree(watcher)), is_over)
    return []


def stopped(pids):
    try:
        signal_all(pids, signal.SIGSTOP)
        time.sleep(SECOND)
    finally:
        signal_all(pids, signal.SIGCONT)


def signal_all(pids, number):
    """A helper may have ended meanwhile."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def freeze_target(target, watcher, is_over):
    """In a control group of its own, of version 1 where there is a freezer."""
    with frozen_group(target) as (control, freeze, thaw):

        def frozen():
            control.write_text(freeze)
            try:
                time.sleep(SECOND)
            finally:
                control.write_text(thaw)

        return again_and_again(frozen, is_over)


@contextlib.contextmanager
def frozen_group(pid):
    first, second = Path("/sys/fs/cgroup/freezer"), Path("/sys/fs/cgroup")
    if (first / "cgroup.procs").exists():
        parent, name, freeze, thaw = first, "freezer.state", "FROZEN", "THAWED"
    elif (second / "cgroup.controllers").exists():
        parent, name, freeze, thaw = second, "cgroup.freeze", "1", "0"
    else:
        raise NotPossibleHere("no control groups are mounted, so nothing can be frozen")
    group = parent / f"stallwatch-accuracy-{pid}"
    try:
        group.mkdir()
        (group / "cgroup.procs").write_text(str(pid))
    except OSError as problem:
        raise NotPossibleHere(f"nothing can be frozen: {problem}") from None
    try:
        yield group / name, freeze, thaw
    finally:
        with contextlib.suppress(OSError):
            (parent / "cgroup.procs").write_text(str(pid))
        with contextlib.suppress(OSError):
            group.rmdir()
