"""One target under one watch, from start to end; what it logged and what was recorded of it."""

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import Callable

import plans
import scoring
from disturbances import NotPossibleHere
from loops import Loop
from processes import Target, cpu_nanoseconds
from requirement import CannotRun


# Also those of places that are known.
EVERY_STALL = ("--cooldown", "0")


@dataclass(frozen=True)
class Trial:
    """What shall run: `what` names what the trials of a kind have in common."""

    what: str
    loop: Loop
    threshold: float
    plan: tuple
    is_stripped: bool = False
    has_rules: bool = True
    disturbance: Callable | None = None
    words: tuple = ()
    # Before its own CPU time counts: starting is not watching.
    settling_seconds: float = 0

    @property
    def nanoseconds(self):
        return round(self.threshold * 1e9)


@dataclass
class Outcome:
    trial: Trial
    passes: list = field(default_factory=list)
    records: list = field(default_factory=list)
    score: scoring.Score = field(default_factory=scoring.Score)
    since: int = 0
    cpu_share: float = 0
    problem: str = ""
    is_possible: bool = True

    @property
    def seconds(self):
        """How long the loop was watched and judged."""
        return (self.passes[-1].waits - self.since) / 1e9 if self.passes else 0


def attempt(trial, programs, folder):
    """A trial that cannot be run says why."""
    folder.mkdir(parents=True)
    outcome = Outcome(trial)
    try:
        run(outcome, programs, folder)
        judge(outcome)
    except (CannotRun, OSError, ValueError, LookupError, subprocess.SubprocessError) as problem:
        outcome.problem = str(problem) or repr(problem)
    return outcome


def run(outcome, programs, folder):
    trial, plan, log = outcome.trial, folder / "plan", folder / "log"
    plan.write_text("\n".join(job.line() for job in trial.plan) + "\n")
    words = [*trial.loop.words(programs, trial.is_stripped), plan, log]
    with Target(words) as target, watcher(outcome, programs, target.pid, folder) as process:
        until_attached(folder, process)
        pauses = observe(outcome, target, process.pid)
        # The last stall may have ended with the last job.
        time.sleep(1 + 2 * trial.threshold)
    outcome.records = [json.loads(line) for line in (folder / "records").read_text().splitlines()]
    outcome.passes = scoring.without_pauses(scoring.read_passes(log.read_text().splitlines()), pauses)


@contextlib.contextmanager
def watcher(outcome, programs, pid, folder):
    """Writes to a file: nobody reads while it runs."""
    trial = outcome.trial
    words = [programs.stallwatch, "--pid", pid, "--json", *EVERY_STALL]
    words += ["--threshold", f"{round(trial.threshold * 1000)}ms", *trial.words]
    empty = folder / "no-rules"
    empty.touch()
    environment = os.environ | ({} if trial.has_rules else {"STALLWATCH_LOOP_RULES": str(empty)})
    with open(folder / "records", "wb") as records, open(folder / "remarks", "wb") as remarks:
        process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=records,
            stderr=remarks,
            env=environment,
        )
    try:
        yield process
        process.send_signal(signal.SIGINT)
        if process.wait(timeout=20) != 0:
            raise CannotRun(f"stallwatch ended with {process.returncode}: {said(folder)}")
    finally:
        process.kill()
        process.wait()


def until_attached(folder, process):
    """Within the first gap of the plan, with room to see the loop wait."""
    deadline = time.monotonic() + plans.FIRST_GAP_SECONDS - 1
    while b'"type":"attach"' not in (folder / "records").read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            raise CannotRun(f"the watch did not begin in time: {said(folder)}")
        time.sleep(0.02)


def said(folder):
    return next(iter((folder / "remarks").read_text(errors="replace").splitlines()), "it said nothing")


def observe(outcome, target, watcher):
    """Until the plan is over; the pauses that the target had."""
    is_over, pauses = threading.Event(), []

    def disturb():
        try:
            pauses.extend(outcome.trial.disturbance(target.pid, watcher, is_over))
        except (CannotRun, OSError) as problem:
            outcome.problem = str(problem)
            outcome.is_possible = not isinstance(problem, NotPossibleHere)

    thread = threading.Thread(target=disturb)
    time.sleep(outcome.trial.settling_seconds)
    start, used = time.monotonic_ns(), cpu_nanoseconds(watcher)
    if outcome.trial.disturbance:
        thread.start()
    try:
        patience = 2 * plans.seconds(outcome.trial.plan) + 60
        if target.reader.line(patience) != "done":
            raise CannotRun("the target did not come to the end of its plan")
    finally:
        outcome.cpu_share = (cpu_nanoseconds(watcher) - used) / (time.monotonic_ns() - start)
        is_over.set()
        if outcome.trial.disturbance:
            thread.join()
    return pauses


def judge(outcome):
    if outcome.problem:
        return
    with_jobs = [one for one in outcome.passes if one.cause != scoring.NO_JOB]
    if len(with_jobs) <= plans.FIRST_ROUNDS:
        raise CannotRun("the target logged nothing")
    # After the rounds that only show the loop.
    outcome.since = with_jobs[plans.FIRST_ROUNDS - 1].waits
    episodes = scoring.read_episodes(outcome.records)
    outcome.score = scoring.score(outcome.passes, episodes, outcome.trial.nanoseconds, outcome.since)
