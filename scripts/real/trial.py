"""A watch of one program: idle for as long as asked for, ended by its one stall; and what the records say of it."""

import json
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

import program
from program import NotInstalled, Run

# What a stall that was made here may differ from what is reported: the program's own way into it and out of it.
TOLERANCE_MS = 100


@dataclass
class Outcome:
    program: program.Program
    verdict: str = "no verdict"
    loop: str = "-"
    parked: str = "-"
    idle_seconds: float = 0
    false: int = 0
    unverified: int = 0
    true_ms: float | None = None
    stall: dict | None = None
    cost: dict = field(default_factory=dict)

    @property
    def is_good(self):
        return self.verdict == "ok" or self.verdict.startswith("skipped")


def attempt(what, stallwatch, folder, idle, until_all_are_ready):
    """One program from start to end."""
    outcome = Outcome(what)
    run = Run(what.name, folder)
    is_counted = False
    try:
        body = what.body(run)
        subject = next(body)
        pid, thread = subject if isinstance(subject, tuple) else (subject, None)
        until_all_are_ready()
        is_counted = True
        watch(outcome, body, run, [stallwatch, "--pid", pid, *(["--thread", thread] if thread else [])], idle)
    except NotInstalled as missing:
        outcome.verdict = f"skipped: {missing}"
    except Exception as problem:  # noqa: BLE001 (the others shall go on)
        outcome.verdict = f"{'broke' if is_counted else 'did not start'}: {problem!r}"
    finally:
        if not is_counted:
            until_all_are_ready()
        run.end()
    return outcome


def watch(outcome, body, run, words, idle):
    records, remarks = run.folder / "records.jsonl", run.folder / "remarks"
    with open(records, "wb") as output, open(remarks, "wb") as errors:
        watcher = subprocess.Popen([*map(str, words), "--json"], stdin=subprocess.DEVNULL, stdout=output, stderr=errors)
    try:
        run.wait_until(lambda: b'"type":"attach"' in records.read_bytes() or watcher.poll() is not None, "attach")
        time.sleep(idle)
        began, clock = time.monotonic(), time.monotonic_ns() // 1000
        took = stall(body) or time.monotonic() - began
        outcome.true_ms = took * 1000 if outcome.program.provocation else None
        time.sleep(3)
        outcome.idle_seconds = idle
        watcher.send_signal(signal.SIGINT)
        status = watcher.wait(timeout=20)
    finally:
        watcher.kill()
        watcher.wait()
    judge(outcome, [json.loads(line) for line in records.read_bytes().splitlines()], clock)
    if status != 0:
        outcome.verdict = f"stallwatch ended with {status}"


def stall(body):
    """How long, if the program knows better than the clock around it."""
    try:
        next(body)
    except StopIteration as end:
        return end.value


def judge(outcome, records, provoked_at):
    last = {record["id"]: record for record in records if record["type"] == "stall"}
    began = {name: record["monotonic_us"] - record["duration_ms"] * 1000 for name, record in last.items()}
    # A stall seen from outside begins when the program takes the request up: not before.
    provoked = [last[name] for name in last if outcome.true_ms and began[name] > provoked_at - 50_000]
    outcome.false = len(last) - len(provoked)
    outcome.unverified = sum(record["type"] == "unverified" and record["state"] == "ended" for record in records)
    for record in records:
        if record["type"] == "notice" and record["kind"] in ("loop.found", "loop.none"):
            outcome.loop = record["text"].removeprefix("loop found: ").partition(", parked")[0].partition(":")[0]
        if record["type"] == "summary":
            outcome.cost = record["own_cost"]
            outcome.parked = record.get("parked_percent", "-")
    outcome.stall = provoked[0] if provoked else None
    outcome.verdict = verdict(outcome, len(provoked))


def verdict(outcome, provoked):
    if outcome.false:
        return f"{outcome.false} false"
    if not outcome.program.provocation:
        return "ok"
    if provoked != 1:
        return "missed" if provoked == 0 else f"{provoked} stalls of one"
    if outcome.stall["state"] != "ended":
        return outcome.stall["state"]
    if abs(outcome.stall["duration_ms"] - outcome.true_ms) > TOLERANCE_MS:
        return "duration is off"
    if not outcome.stall["stacks"] or not outcome.stall["stacks"][0]["frames"]:
        return "no stack"
    return "ok"


class StartingLine:
    """Where all wait for all, so that what a program does to start is over when the watches begin."""

    def __init__(self, count):
        self.barrier = threading.Barrier(count)

    def __call__(self):
        self.barrier.wait(timeout=300)
