"""Frames of blocked threads beside those that gdb and eu-stack show: the same addresses in the same order."""

import json
import re
import subprocess
import time
from dataclasses import dataclass, field

import runtimes
from programs import FOLDER
from requirement import CannotRun, Requirement, Result

PEERS = ["gdb", "eu-stack"]

REQUIREMENTS = [
    Requirement(f"frames of blocked threads equal to those of {peer}: {', '.join(runtimes.NAMES)}", "≥ 99 %")
    for peer in PEERS
]


@dataclass
class Comparison:
    equal: int = 0
    frames: int = 0
    threads: int = 0
    moved: int = 0
    # Frames behind one of generated code, from which only one of the two found the way.
    generated: int = 0
    # Where one of the two ends earlier than the other, there is nothing to compare.
    ended_early: dict = field(default_factory=lambda: {"ours": 0, "theirs": 0})
    differences: list = field(default_factory=list)


def measure(bench):
    compared = {peer: Comparison() for peer in PEERS}
    runs = bench.choose(full=3, quick=1)
    for name in runtimes.NAMES:
        with runtimes.started(bench.programs, name, "wait") as target:
            # Until what its start-up has begun has ended.
            time.sleep(2)
            for peer in PEERS:
                for _ in range(runs):
                    before = own_frames(bench, target.pid)
                    theirs = peer_frames(bench, peer, target.pid)
                    compare(name, compared[peer], before, theirs, own_frames(bench, target.pid))
    listing = bench.programs.cache / "frame-differences.txt"
    listing.write_text("".join(f"{peer}: {line}\n" for peer in PEERS for line in compared[peer].differences))
    for peer in PEERS:
        yield result(compared[peer], listing)


def own_frames(bench, pid):
    """By thread: the addresses without what was inlined, which of them may be of a `main` that has left no frame, and which
    are of generated code."""
    words = [bench.programs.stallwatch, "dump", "--never-stop", "--json", "--symbols", "fast", "--pid", str(pid)]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    frames = {}
    for record in map(json.loads, done.stdout.splitlines()):
        for stack in record.get("stacks", []):
            if stack.get("captured") == "task-iterator":
                real = [frame for frame in stack["frames"] if not frame["inlined"]]
                guessed = {int(frame["pc"], 16) for frame in real if frame["trust"] == "symbol-guess"}
                generated = {int(frame["pc"], 16) for frame in real if frame.get("generated")}
                frames[stack["tid"]] = [int(frame["pc"], 16) for frame in real], guessed, generated
    if not frames:
        raise CannotRun(f"no stack by the task iterator; status {done.returncode} {done.stderr.strip()}")
    return frames


def peer_frames(bench, peer, pid):
    words = {
        "gdb": [
            "-nx",
            "-batch",
            *("-ex", "set backtrace past-main on"),
            *("-ex", "set backtrace past-entry on"),
            *("-x", FOLDER / "targets/frames_of_gdb.py"),
            *("-p", pid),
        ],
        "eu-stack": ["-n", "256", "-p", pid],
    }[peer]
    command = [str(word) for word in [bench.programs.peer(peer), *words]]
    if peer == "gdb":
        # The script is the last thing that gdb is to do, with the process attached.
        attach = command.index("-p")
        command = command[:2] + command[attach : attach + 2] + command[2:attach]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300).stdout
    frames, thread = {}, None
    for line in said.splitlines():
        if found := re.match(r"TID (\d+):", line):
            thread = int(found[1])
            frames[thread] = []
        elif (found := re.match(r"#\d+\s+(0x[0-9a-f]+)", line)) and thread is not None:
            frames[thread].append(int(found[1], 16))
    return frames


def compare(name, comparison, before, theirs, after):
    for thread, (ours, guessed, generated) in before.items():
        other = theirs.get(thread)
        if (ours, guessed, generated) != after.get(thread) or other is None:
            comparison.moved += 1
            continue
        # The peers show none that has left no frame.
        ours = [address for address in ours if address not in guessed or address in other]
        comparison.threads += 1
        for place, (mine, peers) in enumerate(zip(ours, other)):
            told = f"{name}, thread {thread}, frame {place}: {mine:#x}, theirs {peers:#x}"
            if mine != peers and not generated.isdisjoint(ours[max(0, place - 1) : place + 1]):
                # No table tells how to go on from there, and what the peer shows from here on it has made up.
                comparison.differences.append(f"{told}: generated code; {len(ours) - place} frames not compared")
                comparison.generated += len(ours) - place
                break
            comparison.frames += 1
            comparison.equal += mine == peers
            if mine != peers:
                comparison.differences.append(told)
        else:
            comparison.ended_early["ours"] += max(0, len(other) - len(ours))
            comparison.ended_early["theirs"] += max(0, len(ours) - len(other))


def result(comparison, listing):
    if not comparison.frames:
        raise CannotRun("nothing could be compared")
    share = comparison.equal / comparison.frames
    early = comparison.ended_early
    told = f"{comparison.equal} of {comparison.frames} ({share:.2%}) of {comparison.threads} threads"
    told += f"; {comparison.moved} threads moved meanwhile"
    told += f"; {early['theirs']} frames of ours beyond the peer's end, {early['ours']} of the peer's beyond ours"
    if comparison.generated:
        told += f"; {comparison.generated} frames of ours behind generated code, where the peer has no rules"
    if comparison.differences:
        told += f"; differences in {listing.name}, the first: {comparison.differences[0]}"
    # Frames that only the peer has are missing ones of ours.
    return Result(told, comparison.equal >= 0.99 * (comparison.frames + early["ours"]))
