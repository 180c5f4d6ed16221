"""What a measurement has to reach, and what it was found to be."""

import statistics
from dataclasses import dataclass


class CannotRun(Exception):
    """Why a row could not be measured. It then counts as not met."""


@dataclass
class Requirement:
    """What has to be reached."""

    what: str
    limit: str


@dataclass
class Result:
    """What was measured in one run, the peer's figure from the same run beside it."""

    measured: str
    is_met: bool
    peer: str = "–"


def median(values):
    return statistics.median(values)


def percentile(values, percent):
    """By nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def ratio(ours, peers):
    return ours / peers if peers else float("inf")


def duration(nanoseconds):
    """In the unit that gives a readable number."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def megabytes(count):
    return f"{count / 1e6:.1f} MB"
