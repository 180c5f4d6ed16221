"""The page `Docs/Accuracy.md`."""

from plans import CAUSES
from results import matrix
from table import cell

INTRODUCTION = """# Accuracy

What stallwatch says, held against what the watched programs logged themselves. Written by `scripts/accuracy`.

## Method

Targets run a loop of one kind and do the jobs of a plan that was drawn from a seed. They log, in memory, when each
wait of the loop was over and when the loop waits again, and which job they did in between: that is the truth. Each is
watched by a stallwatch of its own.

- Loops: epoll, poll, select and io_uring by hand; GLib; libuv; asyncio; the run loop of Foundation.
- Causes: computing; a sleep; a lock that another thread holds; a pipe that another thread feeds; writing to a disk
  (each block past the cache and flushed, again and again: many short waits in the kernel, because nothing blocks for a
  chosen time in one); a loop of its own on other descriptors, with five waits; waiting for a child process. All of them
  are possible in all loops.
- Durations from half a threshold to 20 thresholds, most of them short. In between the loop waits for nothing, for
  a short time, or long enough for the watch to grow calm.
- "Loaded" is beside two programs that only compute.
- A stall is **found** if a verified record overlaps it. It has to be if it is as long as the threshold and the largest
  gap between looks, nine tenths of a threshold, together.
- A verified record is **false** if the longest pass at its time was shorter than its `duration_min_ms`, or shorter than
  the threshold by more than that gap.
- A woken thread that has no CPU cannot read a clock, and one that has read it may lose the CPU before it waits. So a
  pass began between the moment at which its timer was due and the moment at which the target read the clock, and ended
  at most so much later than it read the clock again as it was awake from there to the end of its wait (its times on a
  CPU, as which a hypervisor's pauses count, and without one), and before the next timer was due. An error is the distance
  from that range. Reading the clock is not beginning or ending to wait: half a millisecond is allowed for it.
- Errors of durations and bounds are those of verified records that are not false and whose episode has ended.
- Runs without stalls: loops that are idle, or loaded by jobs shorter than half the threshold, or in dialogs that go
  round in the same loop (libuv and asyncio do not run within themselves); and targets that are stopped, frozen, or
  watched by a stallwatch that is itself stopped, for a second every five. Time in which a target was stopped is no part
  of a pass.
- Saturation: loops that never wait, most of their jobs short, some long. Judged right are a long job that is found,
  and a stretch between two of them in which nothing verified is reported.
"""


def markdown(surroundings, rows, outcomes, loops, seed):
    lines = [INTRODUCTION, "## Machine", "", "| | |", "|---|---|"]
    lines += [f"| {word} | {cell(meaning)} |" for word, meaning in [*surroundings, ("seed", str(seed))]]
    met = sum(result.is_met for _, result in rows)
    lines += ["", "## Result", "", f"{met} of {len(rows)} are met.", ""]
    lines += ["| what | has to be | measured | met |", "|---|---|---|---|"]
    for row, result in rows:
        cells = [row.what, row.limit, result.measured, "yes" if result.is_met else "**no**"]
        lines.append(f"| {' | '.join(map(cell, cells))} |")
    for title, names in (
        ("Quiet and loaded", ("quiet", "loaded")),
        ("Without first-stack rules, and stripped", ("without first-stack rules", "stripped")),
        ("Without breakpoint, heartbeat and ping", ("without proof",)),
    ):
        lines += ["", f"## {title}", "", "Found / unverified / missed, of the stalls that have to be found.", ""]
        lines += matrix_lines(matrix(outcomes, loops, *names), loops)
    return "\n".join(lines) + "\n"


def matrix_lines(counts, loops):
    yield f"| loop | {' | '.join(CAUSES)} |"
    yield "|---" * (len(CAUSES) + 1) + "|"
    for loop in loops:
        cells = (" / ".join(map(str, counts[loop.name, cause])) for cause in CAUSES)
        yield f"| {loop.name} | {' | '.join(cells)} |"
