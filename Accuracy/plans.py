"""Plans of jobs, each drawn from a seed: what a target does, and after which gap."""

from dataclasses import dataclass

CAUSES = ("compute", "sleep", "lock", "pipe", "disk", "nested", "child")
# A child is not over in 2 ms, and a disk takes its own time.
SHORT_CAUSES = ("compute", "compute", "compute", "sleep", "pipe", "lock", "nested")

# The watch begins in the first gap, and the loop comes round some times before anything is judged.
FIRST_GAP_SECONDS = 4
FIRST_ROUNDS = 4


@dataclass(frozen=True)
class Job:
    gap: float
    cause: str
    duration: float

    def line(self):
        return f"{round(self.gap * 1e6)} {self.cause} {round(self.duration * 1e6)}"


def start():
    return [Job(FIRST_GAP_SECONDS if index == 0 else 0.3, "compute", 0.001) for index in range(FIRST_ROUNDS)]


def seconds(plan):
    return sum(job.gap + job.duration for job in plan)


def stall_seconds(random, threshold):
    """From 0.5 to 20 thresholds, the shorter the more of them: the density falls with the power of 1.5."""
    shortest, longest = 0.5**-0.5, 20**-0.5
    return threshold * (shortest - random.random() * (shortest - longest)) ** -2


def gap_seconds(random, threshold):
    """None at all, so that the loop passes without a wait; or short; or long enough for the watch to grow calm."""
    kind = random.random()
    if kind < 0.2:
        return 0
    return threshold * (random.uniform(0.2, 2.5) if kind < 0.85 else random.uniform(5, 7))


def stalls(random, threshold, each, causes=CAUSES):
    """Each cause so many times, in any order."""
    causes = list(causes) * each
    random.shuffle(causes)
    return start() + [Job(gap_seconds(random, threshold), cause, stall_seconds(random, threshold)) for cause in causes]


def until(limit, draw):
    """Jobs as they are drawn, after those that show the loop."""
    plan, total = start(), 0
    while total < limit:
        plan.append(draw())
        total += plan[-1].gap + plan[-1].duration
    return plan


def load(random, percent, shortest, longest, limit, causes=CAUSES):
    """Short jobs that keep a loop at work for that share of the time."""
    short_causes = [cause for cause in SHORT_CAUSES if cause in causes]

    def draw():
        duration = shortest * (longest / shortest) ** random.random()
        return Job(duration * (100 - percent) / percent, random.choice(short_causes), duration)

    return until(limit, draw)


def saturated(random, threshold, limit, causes=CAUSES):
    """A loop that never waits: short jobs, and now and then a long one."""
    mixed, since_long, distance = [], 0, 15 * threshold
    for job in load(random, 100, 0.02 * threshold, 0.2 * threshold, limit, causes):
        mixed.append(job)
        since_long += job.duration
        if since_long > distance:
            mixed.append(Job(0, random.choice(causes), random.uniform(2, 6) * threshold))
            since_long, distance = 0, random.uniform(10, 30) * threshold
    return mixed


def idle(random, limit, causes=CAUSES):
    return until(limit, lambda: Job(random.uniform(3, 9), "compute", 0.001))


def dialogs(random, limit, causes=CAUSES):
    """Half of the time the loop goes round in a loop within a job."""
    return until(limit, lambda: Job(random.uniform(0.2, 2), "dialog", random.uniform(0.5, 3)))
