"""What a log of passes and the records of a watch say of each other: values in, values out."""

import bisect
import datetime
import statistics
from dataclasses import dataclass, field, replace

MILLISECOND = 1_000_000

# Between the end of a wait and reading the clock, and between reading it and the wait that comes after: nobody sees that from
# outside. A virtual machine has its processors taken away there: a program alone on one, that only read the clock, found 334
# gaps a second over 50 µs, 29 over 200 µs and 11 over 500 µs. Some 20 µs lie there, twice a stall.
LOG_NANOSECONDS = 500_000

# The log is written while the last pass has perhaps no CPU yet to wait with: nothing says for how long.
LONGEST_UNKNOWN_DELAY = 1000 * MILLISECOND

# The cause of a pass in which no job was done.
NO_JOB = "-"


@dataclass(frozen=True)
class Pass:
    """From the moment at which a wait of the loop was over to its next wait, in nanoseconds of the monotonic clock.

    It may have begun as early as `due`: the thread was woken then, but had no CPU yet to read the clock. It may have
    ended as late as `latest`: the thread had read the clock, but not begun its wait.
    """

    cause: str
    due: int
    woke: int
    waits: int
    latest: int
    paused: int = 0
    ended: int | None = None

    @property
    def earliest(self):
        return min(self.due, self.woke)

    @property
    def shortest(self):
        """A loop may look for more to do, and so come round, between the end of its job and its wait (RunLoop does)."""
        return max(0, (self.waits if self.ended is None else self.ended) - self.woke - self.paused)

    @property
    def longest(self):
        return max(0, self.latest - self.earliest - self.paused)


@dataclass(frozen=True)
class Episode:
    """The last record of one stall, or of what was perhaps one."""

    type: str
    state: str
    verified: bool
    proof: str
    start: int
    duration: int
    least: int
    most: int | None

    @property
    def end(self):
        return self.start + self.duration

    @property
    def earliest(self):
        """When it may have begun; where that is not known, its likely start."""
        return self.start if self.most is None else self.end - max(self.most, self.duration)

    @property
    def is_verified(self):
        return self.type == "stall" and self.verified


def read_passes(lines):
    """Each line is `cause due woke began ended waits delay`."""
    passes = []
    for line in lines:
        cause, *numbers = line.split()
        due, woke, _, ended, waits, delay = map(int, numbers)
        if cause == NO_JOB:
            due, ended = woke, None
        if passes:
            last = passes[-1]
            # A timer that is due ends the wait. One that is due already before the loop waits does not wake it: the wait
            # begins and ends at some moment before the clock is read.
            began_late = due <= last.waits
            due = max(due, last.waits)
            passes[-1] = replace(last, latest=min(last.latest, woke if began_late else min(due, woke)))
        passes.append(Pass(cause, due, woke, waits, waits + delay, ended=ended))
    if passes:
        passes[-1] = replace(passes[-1], latest=passes[-1].waits + LONGEST_UNKNOWN_DELAY)
    return passes


def without_pauses(passes, pauses):
    """The same without the time in which the program was stopped or frozen."""
    passes = list(passes)
    starts = [one.earliest for one in passes]
    for begin, end in pauses:
        for index in range(max(0, bisect.bisect(starts, begin) - 1), len(passes)):
            if starts[index] >= end:
                break
            one = passes[index]
            waited = common(begin, end, one.due, one.woke)
            worked = common(begin, end, one.woke, one.waits)
            passes[index] = replace(one, due=one.due + waited, paused=one.paused + worked)
    return passes


def common(begin, end, other_begin, other_end):
    return max(0, min(end, other_end) - max(begin, other_begin))


def read_episodes(records):
    """Of each episode its last record, in order of their starts."""
    last = {}
    for record in records:
        if record["type"] in ("stall", "unverified"):
            last[record["type"], record["id"]] = record
    return sorted((episode(record) for record in last.values()), key=lambda one: one.start)


def episode(record):
    """The wall clock and the monotonic clock of a record are the same moment, so one leads to the other."""
    before = moment(record["time"]) - moment(record["started_at"])
    most = record["duration_max_ms"]
    return Episode(
        record["type"],
        record["state"],
        record["verified"],
        record["proof"],
        record["monotonic_us"] * 1000 - before,
        round(record["duration_ms"] * MILLISECOND),
        round(record["duration_min_ms"] * MILLISECOND),
        None if most is None else round(most * MILLISECOND),
    )


def moment(text):
    since = datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return since // datetime.timedelta(microseconds=1) * 1000


def largest_gap(threshold):
    """Between two looks while the loop is calm: nine tenths of the threshold, at most 500 ms."""
    return min(threshold * 9 // 10, 500 * MILLISECOND)


def alert_look(threshold):
    """From one look to the next while the loop is at work."""
    return threshold // 10


def overlap(one, episode):
    return min(one.latest, episode.end) - max(one.earliest, episode.start)


def pass_of(episode, passes, ends):
    """The pass that has most of its time in common with the episode; `ends` are the ends of the passes."""
    best = None
    for index in range(bisect.bisect_left(ends, episode.start), len(passes)):
        if passes[index].earliest > episode.end:
            break
        if best is None or overlap(passes[index], episode) > overlap(best, episode):
            best = passes[index]
    return best


def is_false(episode, truth, threshold):
    """Whether a verified record says what was not so: it was shorter than the least that the record allows, or shorter
    than the threshold by more than the largest gap between looks."""
    longest = truth.longest + LOG_NANOSECONDS if truth else 0
    return longest < episode.least or longest < threshold - largest_gap(threshold)


def is_of_the_log(episode, ends):
    """After the last pass the target waits until its log is written, and is ended."""
    if episode.state != "interrupted" or not ends:
        return False
    return episode.end - episode.least >= ends[-1] - LOG_NANOSECONDS


@dataclass
class Find:
    """A stall that has to be found, and what was said of it."""

    truth: Pass
    verdict: str
    episodes: list


@dataclass
class Score:
    """What one watch got right and wrong."""

    finds: list = field(default_factory=list)
    false: list = field(default_factory=list)
    unverified: list = field(default_factory=list)
    errors: list = field(default_factory=list)
    off: list = field(default_factory=list)
    out_of_bounds: list = field(default_factory=list)
    bounded: int = 0
    split: int = 0

    def count(self, verdict):
        return sum(find.verdict == verdict for find in self.finds)


def score(passes, episodes, threshold, since):
    """`since` is when the watch is taken to know the loop. All times are nanoseconds."""
    result = Score()
    passes = [one for one in passes if one.woke >= since]
    ends = [one.waits for one in passes]
    of_pass = {}
    for one in episodes:
        if one.end < since or is_of_the_log(one, ends):
            continue
        truth = pass_of(one, passes, ends)
        of_pass.setdefault(truth, []).append(one)
        judge(result, one, truth, threshold)
    for truth in passes:
        if truth.shortest >= threshold + largest_gap(threshold):
            result.finds.append(Find(truth, *verdict(truth, episodes)))
    result.split = sum(truth is not None and len(said) > 1 for truth, said in of_pass.items())
    return result


def judge(result, episode, truth, threshold):
    if not episode.is_verified:
        result.unverified.append((episode, truth))
        return
    if is_false(episode, truth, threshold):
        result.false.append((episode, truth))
        return
    if truth is None or episode.state != "ended":
        return
    result.bounded += 1
    error = distance(episode.duration, truth.shortest, truth.longest)
    result.errors.append(error)
    if error > alert_look(threshold):
        result.off.append((episode, truth))
    is_inside = episode.least <= truth.longest + LOG_NANOSECONDS
    if episode.most is not None:
        is_inside = is_inside and truth.shortest <= episode.most + LOG_NANOSECONDS
    if not is_inside:
        result.out_of_bounds.append((episode, truth))


def distance(value, least, most):
    """From a range."""
    return max(least - value, value - most, 0)


def verdict(truth, episodes):
    said = [one for one in episodes if one.earliest < truth.waits and truth.woke < one.end]
    if any(one.is_verified and overlap(truth, one) > 0 for one in said):
        return "found", said
    return ("unverified" if said else "missed"), said


def percentile(values, percent):
    """By nearest rank."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def median(values):
    return statistics.median(values)


def saturation(score, passes, threshold, since):
    """Of a loop that never waits: how many long callbacks and how many stretches between them, at least as long as the
    threshold, and how many of both were judged right: a callback is found, a stretch has no verified record."""
    long = [find.truth for find in score.finds]
    right = sum(find.verdict == "found" for find in score.finds)
    passes = [one for one in passes if one.woke >= since]
    if not passes:
        return 0, 0
    borders = [passes[0].woke, *[edge for one in long for edge in (one.woke, one.waits)], passes[-1].waits]
    stretches = [pair for pair in zip(borders[::2], borders[1::2]) if pair[1] - pair[0] >= threshold]
    wrong = [pair for pair in stretches if any(pair[0] <= one.start < pair[1] for one, _ in score.false)]
    return right + len(stretches) - len(wrong), len(long) + len(stretches)
