"""Which trials there are, and which of them run side by side."""

import random
import zlib
from dataclasses import dataclass
from typing import Callable

import disturbances
import plans
from watch import Trial

SHORT_THRESHOLD, LONG_THRESHOLD = 0.1, 0.5

# The options with which nothing sees the loop come round.
WITHOUT_PROOF = ("--no-breakpoint",)

# The loop has been found by then, and the files that its names come from have been read.
COST_SETTLING_SECONDS = 5

# Jobs shorter than half the threshold, in seconds.
SHORT_JOBS, LONG_JOBS = (0.002, 0.02), (0.02, 0.2)


@dataclass(frozen=True)
class Group:
    """Trials that run at the same time, beside programs that compute if it is loaded."""

    name: str
    trials: tuple
    is_loaded: bool = False


@dataclass(frozen=True)
class Effort:
    """How many stalls of each cause and loop, by threshold; how many of the variants; how many loops at once, quiet and
    loaded; and how long."""

    stalls: dict
    variants: int
    quiet_at_once: int
    loaded_at_once: int
    rounds: int
    round_seconds: float
    saturated_seconds: float
    saturated_batches: int
    cost_seconds: float


FULL = Effort({SHORT_THRESHOLD: 30, LONG_THRESHOLD: 6}, 10, 4, 4, 8, 75, 60, 2, 60)
# With the processors taken anyway, all loops at once change little.
QUICK = Effort({SHORT_THRESHOLD: 3}, 0, 4, 8, 1, 20, 20, 1, 12)


@dataclass(frozen=True)
class Condition:
    """What a loop without stalls does, as a function of chance, seconds and causes; and what is done to it."""

    name: str
    threshold: float
    plan: Callable
    disturbance: Callable | None = None


def loaded(percent, jobs):
    return lambda chance, seconds, causes: plans.load(chance, percent, *jobs, seconds, causes)


def load_condition(percent, threshold, jobs):
    least, most = (round(1000 * seconds) for seconds in jobs)
    return Condition(f"{percent} % load, {least}–{most} ms", threshold, loaded(percent, jobs))


# Every second one runs in the same half of a round: both halves are loaded alike.
CONDITIONS = (
    Condition("idle", SHORT_THRESHOLD, plans.idle),
    load_condition(30, LONG_THRESHOLD, LONG_JOBS),
    load_condition(30, SHORT_THRESHOLD, SHORT_JOBS),
    load_condition(60, SHORT_THRESHOLD, SHORT_JOBS),
    load_condition(60, LONG_THRESHOLD, LONG_JOBS),
    load_condition(90, LONG_THRESHOLD, LONG_JOBS),
    load_condition(90, SHORT_THRESHOLD, SHORT_JOBS),
    load_condition(100, SHORT_THRESHOLD, SHORT_JOBS),
    load_condition(100, LONG_THRESHOLD, LONG_JOBS),
    Condition("dialogs", SHORT_THRESHOLD, plans.dialogs),
    Condition("target stopped", SHORT_THRESHOLD, loaded(30, SHORT_JOBS), disturbances.stop_target),
    Condition("target frozen", SHORT_THRESHOLD, loaded(30, SHORT_JOBS), disturbances.freeze_target),
    Condition("watcher stopped", SHORT_THRESHOLD, loaded(60, SHORT_JOBS), disturbances.stop_watcher),
)


class Groups:
    def __init__(self, loops, causes, effort, seed, words=()):
        self.loops, self.causes, self.effort, self.seed = loops, causes, effort, seed
        self.words = tuple(words)

    def chance(self, *names):
        """One of its own for each trial: leaving one out changes no other."""
        return random.Random(zlib.crc32(repr((self.seed, *names)).encode()))

    def all(self):
        yield from self.stalls("quiet", self.effort.quiet_at_once)
        yield from self.stalls("loaded", self.effort.loaded_at_once, is_loaded=True)
        if self.effort.variants:
            yield self.variant("without first-stack rules", words=self.words, has_rules=False)
            yield self.variant("stripped", words=self.words, is_stripped=True)
            yield self.variant("without proof", words=(*self.words, *WITHOUT_PROOF))
            yield from self.saturated("saturated without proof", (*self.words, *WITHOUT_PROOF))
        yield from self.saturated("saturated", self.words)
        yield from self.without_stalls()
        yield from self.cost()

    def batches(self, size):
        return [self.loops[index : index + size] for index in range(0, len(self.loops), size)]

    def stalls(self, name, at_once, is_loaded=False):
        for batch in self.batches(at_once):
            trials = [
                self.stall_trial(name, loop, threshold, each, words=self.words)
                for threshold, each in self.effort.stalls.items()
                for loop in batch
            ]
            yield Group(name, tuple(trials), is_loaded)

    def stall_trial(self, name, loop, threshold, each, **options):
        plan = plans.stalls(self.chance(name, loop.name, threshold), threshold, each, self.causes)
        return Trial(name, loop, threshold, tuple(plan), **options)

    def variant(self, name, **options):
        each = self.effort.variants
        return Group(name, tuple(self.stall_trial(name, loop, SHORT_THRESHOLD, each, **options) for loop in self.loops))

    def saturated(self, name, words):
        for batch in self.batches(self.effort.quiet_at_once)[: self.effort.saturated_batches]:
            yield Group(name, tuple(self.saturated_trial(name, loop, words) for loop in batch))

    def saturated_trial(self, name, loop, words):
        seconds = self.effort.saturated_seconds
        plan = plans.saturated(self.chance(name, loop.name), SHORT_THRESHOLD, seconds, self.causes)
        return Trial(name, loop, SHORT_THRESHOLD, tuple(plan), words=words)

    def without_stalls(self):
        """Each round gives each condition another loop."""
        for number in range(self.effort.rounds):
            trials = [self.quiet_trial(condition, place, number) for place, condition in enumerate(CONDITIONS)]
            for half in (trials[::2], trials[1::2]):
                yield Group("no stalls", tuple(half))

    def quiet_trial(self, condition, place, number):
        loops = [loop for loop in self.loops if loop.has_dialogs or condition.plan is not plans.dialogs]
        loop = loops[(place + number) % len(loops)]
        plan = condition.plan(self.chance(condition.name, number), self.effort.round_seconds, self.causes)
        return Trial(
            condition.name,
            loop,
            condition.threshold,
            tuple(plan),
            disturbance=condition.disturbance,
            words=self.words,
        )

    def cost(self):
        """The defaults, alone on the machine: what watching costs at 85 % load, and when calm."""
        loop, seconds = self.loops[0], self.effort.cost_seconds
        busy = loaded(85, SHORT_JOBS)(self.chance("cost"), seconds, self.causes)
        calm = [*plans.start(), plans.Job(seconds, "compute", 0.001)]
        for name, plan in (("85 % load", busy), ("calm", calm)):
            trial = Trial(
                name, loop, LONG_THRESHOLD, tuple(plan), words=self.words, settling_seconds=COST_SETTLING_SECONDS
            )
            yield Group("cost", (trial,))
