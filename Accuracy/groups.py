"""Which trials there are, and which of them run side by side."""

import random
import zlib
from dataclasses import dataclass

import disturbances
import plans
from watch import Trial

SHORT_THRESHOLD, LONG_THRESHOLD = 0.1, 0.5

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
    """How often, how many and how long."""

    stalls_each: int
    variants_each: int
    side_by_side: int
    quiet_seconds: float
    rounds: int
    saturated_seconds: float
    cost_seconds: float


FULL = Effort(6, 10, 4, 75, 8, 60, 60)
QUICK = Effort(3, 0, 4, 20, 1, 20, 12)


class Groups:
    """`unproven` are the words that switch breakpoint, heartbeat and ping off."""

    def __init__(self, loops, causes, effort, seed, words=(), unproven=()):
        self.loops, self.causes, self.effort, self.seed = loops, causes, effort, seed
        self.words, self.unproven = tuple(words), tuple(unproven)

    def draw(self, *names):
        """A source of chance of its own for each trial: leaving one out changes no other."""
        return random.Random(zlib.crc32(repr((self.seed, *names)).encode()))

    def all(self):
        yield from self.stalls("quiet", is_loaded=False)
        yield from self.stalls("loaded", is_loaded=True)
        if self.effort.variants_each:
            yield from self.variants()
        yield from self.saturated("saturated", self.loops, self.words)
        yield from self.without_stalls()
        yield self.cost()

    def batches(self, loops):
        size = self.effort.side_by_side
        return [loops[index : index + size] for index in range(0, len(loops), size)]

    def stalls(self, name, is_loaded):
        is_quick = self.effort.rounds == 1
        # With the processors taken anyway, more at once change little.
        for batch in [self.loops] if is_quick and is_loaded else self.batches(self.loops):
            trials = [self.stall_trial(name, loop, SHORT_THRESHOLD, self.short_each()) for loop in batch]
            if not is_quick:
                trials += [self.stall_trial(name, loop, LONG_THRESHOLD, self.effort.stalls_each) for loop in batch]
            yield Group(name, tuple(trials), is_loaded)

    def short_each(self):
        """As many as take the same time as those of the longer threshold."""
        ratio = 1 if self.effort.rounds == 1 else round(LONG_THRESHOLD / SHORT_THRESHOLD)
        return self.effort.stalls_each * ratio

    def stall_trial(self, name, loop, threshold, each, **options):
        plan = plans.stalls(self.draw(name, loop.name, threshold), threshold, each, self.causes)
        return Trial(name, loop, threshold, tuple(plan), **{"words": self.words, **options})

    def variants(self):
        for name, options in (
            ("without first-stack rules", {"has_rules": False}),
            ("stripped", {"is_stripped": True}),
            ("without proof", {"words": self.unproven}),
        ):
            yield Group(
                name,
                tuple(
                    self.stall_trial(name, loop, SHORT_THRESHOLD, self.effort.variants_each, **options)
                    for loop in self.loops
                ),
            )
        yield from self.saturated("saturated without proof", self.loops, self.unproven)

    def saturated(self, name, loops, words):
        for batch in self.batches(loops)[: self.effort.rounds]:
            yield Group(
                name,
                tuple(
                    Trial(
                        name,
                        loop,
                        SHORT_THRESHOLD,
                        tuple(
                            plans.saturated(
                                self.draw(name, loop.name), SHORT_THRESHOLD, self.effort.saturated_seconds, self.causes
                            )
                        ),
                        words=words,
                    )
                    for loop in batch
                ),
            )

    def without_stalls(self):
        """Two halves, so that the processors are not overloaded; each round gives each condition another loop."""
        conditions = list(self.conditions())
        for round_number in range(self.effort.rounds):
            for half in (conditions[::2], conditions[1::2]):
                trials = []
                for name, threshold, plan, disturbance in half:
                    loop = self.loop_for(name, conditions.index((name, threshold, plan, disturbance)), round_number)
                    chance = self.draw(name, loop.name, round_number)
                    jobs = tuple(plan(chance, self.effort.quiet_seconds, self.causes))
                    trials.append(
                        Trial(name, loop, threshold, jobs, disturbance=disturbance, words=self.words)
                    )
                yield Group("no stalls", tuple(trials))

    def loop_for(self, name, position, round_number):
        loops = [loop for loop in self.loops if loop.has_dialogs or name != "dialogs"]
        return loops[(position + round_number) % len(loops)]

    def conditions(self):
        """Name, threshold, how the plan is made of chance and seconds, and what is done to the processes."""
        yield "idle", SHORT_THRESHOLD, plans.idle, None
        for index, percent in enumerate((30, 60, 90, 100)):
            sizes = ((SHORT_THRESHOLD, SHORT_JOBS), (LONG_THRESHOLD, LONG_JOBS))
            # Turned around every second time: so both halves are loaded alike.
            for threshold, (least, most) in sizes if index % 2 else sizes[::-1]:
                name = f"{percent} % load, {least * 1000:.0f}–{most * 1000:.0f} ms"
                yield name, threshold, loaded(percent, least, most), None
        yield "dialogs", SHORT_THRESHOLD, plans.dialogs, None
        yield "target stopped", SHORT_THRESHOLD, loaded(30, *SHORT_JOBS), disturbances.stop_target
        yield "target frozen", SHORT_THRESHOLD, loaded(30, *SHORT_JOBS), disturbances.freeze_target
        yield "watcher stopped", SHORT_THRESHOLD, loaded(60, *SHORT_JOBS), disturbances.stop_watcher

    def cost(self):
        """The defaults, alone on the machine: what watching costs at 85 % load, and when calm."""
        loop, seconds = self.loops[0], self.effort.cost_seconds
        busy = tuple(loaded(85, *SHORT_JOBS)(self.draw("cost"), seconds, self.causes))
        calm = (*plans.start(), plans.Job(seconds, "compute", 0.001))
        return Group(
            "cost",
            (
                Trial("85 % load", loop, LONG_THRESHOLD, busy, words=self.words),
                Trial("calm", loop, LONG_THRESHOLD, calm, words=self.words),
            ),
        )


def loaded(percent, least, most):
    return lambda chance, seconds, causes: plans.load(chance, percent, least, most, seconds, causes)
