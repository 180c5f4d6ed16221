"""The table of what was seen."""

COLUMNS = (
    ("program", 18), ("verdict", 12), ("idle s", 6), ("false", 5), ("unver.", 6), ("made ms", 7), ("said ms", 7),
    ("parked %", 8), ("cost %", 6), ("loop", 23), ("cause", 16), ("stack", 16), ("top frames", 0),
)  # fmt: skip


def print_table(outcomes):
    row([title for title, _ in COLUMNS])
    for outcome in outcomes:
        row(cells(outcome))
    watched = [outcome for outcome in outcomes if outcome.idle_seconds]
    stalls = [outcome for outcome in watched if outcome.program.provocation]
    print(
        f"{len(watched)} programs, {sum(outcome.idle_seconds for outcome in watched):.0f} s idle in all, "
        f"{sum(outcome.false for outcome in watched)} false stalls; "
        f"{sum(outcome.stall is not None for outcome in stalls)} of {len(stalls)} stalls found"
    )


def row(words):
    print("  ".join(f"{word:<{width}}" for word, (_, width) in zip(words, COLUMNS)).rstrip())


def cells(outcome):
    stall = outcome.stall
    return [
        outcome.program.name,
        outcome.verdict,
        f"{outcome.idle_seconds:.0f}",
        outcome.false,
        outcome.unverified,
        f"{outcome.true_ms:.0f}" if outcome.true_ms else "-",
        f"{stall['duration_ms']:.0f}" if stall else "-",
        outcome.parked,
        outcome.cost.get("cpu_percent", "-"),
        outcome.loop,
        (stall["cause"]["kind"] if stall["verified"] else stall["cause"]["kind"] + "?") if stall else "-",
        f"{len(stall['stacks'][0]['frames'])} {stall['stacks'][0]['walk_end']}" if stall and stall["stacks"] else "-",
        " < ".join(top_frames(stall)) if stall else "-",
    ]


def top_frames(stall):
    """The three deepest calls."""
    frames = stall["stacks"][0]["frames"] if stall["stacks"] else []
    return [frame.get("symbol") or place(frame) for frame in frames[:3]]


def place(frame):
    if "module" not in frame:
        return frame["pc"]
    return f"{frame['module'].rpartition('/')[2]}+{frame['offset']}"
