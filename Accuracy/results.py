"""What has to be reached, and what the outcomes say of it."""

import scoring
from plans import CAUSES
from requirement import Requirement, Result, duration

WITHOUT_STALLS = "no stalls"
# Scored apart: what nothing sees come round.
WITHOUT_PROOF = ("without proof", "saturated without proof")


def of(outcomes, *names):
    return [outcome for name, outcome in outcomes if name in names and not outcome.problem]


def with_proof(outcomes):
    return [outcome for name, outcome in outcomes if name not in WITHOUT_PROOF]


def recall(outcomes, name):
    finds = [find for outcome in of(outcomes, name) for find in outcome.score.finds]
    found, unverified = (sum(find.verdict == word for find in finds) for word in ("found", "unverified"))
    measured = (
        f"{share(found, len(finds))}: {found} of {len(finds)}; {unverified} unverified, "
        f"{len(finds) - found - unverified} missed"
    )
    return Result(measured, bool(finds) and found == len(finds))


def without_proof(outcomes):
    chosen = of(outcomes, *WITHOUT_PROOF)
    finds = [find for outcome in chosen for find in outcome.score.finds]
    false = sum(len(outcome.score.false) for outcome in chosen)
    counts = ", ".join(
        f"{share(sum(find.verdict == word for find in finds), len(finds))} {word}"
        for word in ("found", "unverified", "missed")
    )
    return Result(f"{false} verified and wrong; of {len(finds)} stalls {counts}", bool(finds) and false == 0)


def false_stalls(outcomes, is_quick):
    chosen = of(outcomes, WITHOUT_STALLS)
    false = sum(len(outcome.score.false) for outcome in chosen)
    unverified = sum(len(outcome.score.unverified) for outcome in chosen)
    seconds = {}
    for outcome in chosen:
        seconds[outcome.trial.what] = seconds.get(outcome.trial.what, 0) + outcome.seconds
    total, least = sum(seconds.values()), min(seconds.values(), default=0)
    was_long_enough = is_quick or (total >= 7200 and least >= 600)
    return Result(
        f"{false}, in {total / 60:.0f} minutes, at least {least / 60:.1f} a kind; {unverified} not verified",
        bool(chosen) and false == 0 and was_long_enough,
    )


def false_among_stalls(outcomes):
    apart = (WITHOUT_STALLS, *WITHOUT_PROOF)
    chosen = [outcome for name, outcome in outcomes if name not in apart and not outcome.problem]
    false = sum(len(outcome.score.false) for outcome in chosen)
    passes = sum(len(outcome.passes) for outcome in chosen)
    return Result(f"{false}, among {passes} passes", bool(chosen) and false == 0)


def saturation(outcomes):
    right = total = records = 0
    for outcome in of(outcomes, "saturated"):
        trial = outcome.trial
        good, of_all = scoring.saturation(outcome.score, outcome.passes, trial.nanoseconds, outcome.since)
        right, total = right + good, total + of_all
        records += sum(record["type"] == "saturation" for record in outcome.records)
    measured = f"{share(right, total)} of {total}; {records} records of saturation"
    return Result(measured, total > 0 and right / total >= 0.99)


def durations(outcomes):
    """By threshold, because an alert look is a tenth of it."""
    errors = {}
    for outcome in with_proof(outcomes):
        errors.setdefault(outcome.trial.threshold, []).extend(outcome.score.errors)
    errors = {threshold: values for threshold, values in errors.items() if values}
    medians = {threshold: scoring.median(values) for threshold, values in errors.items()}
    tails = {threshold: scoring.percentile(values, 99) for threshold, values in errors.items()}
    measured = "; ".join(
        f"at {threshold * 1000:.0f} ms {duration(medians[threshold])} and {duration(tails[threshold])}"
        for threshold in sorted(errors)
    )
    is_met = bool(errors) and all(
        medians[threshold] <= 2e6 and tails[threshold] <= scoring.alert_look(threshold * 1e9) for threshold in errors
    )
    return Result(f"{measured}; {sum(map(len, errors.values()))} stalls", is_met)


def bounds(outcomes):
    chosen = with_proof(outcomes)
    bounded = sum(outcome.score.bounded for outcome in chosen)
    outside = sum(len(outcome.score.out_of_bounds) for outcome in chosen)
    return Result(
        f"{share(bounded - outside, bounded)} of {bounded}", bounded > 0 and (bounded - outside) / bounded >= 0.999
    )


def cost(outcomes, what, limit):
    chosen = [outcome for outcome in of(outcomes, "cost") if outcome.trial.what == what]
    if not chosen:
        return Result("not run", is_met=False)
    used = chosen[0].cpu_share
    return Result(f"{used:.4%} over {chosen[0].seconds:.0f} s", used <= limit)


def stalls(outcomes):
    """Those that lasted the threshold, as far as the runs that count for recall have them."""
    chosen = of(outcomes, "quiet", "loaded")
    count = sum(one.shortest >= outcome.trial.nanoseconds for outcome in chosen for one in outcome.passes)
    return Result(f"{count}", count >= 1000)


def all_ran(outcomes, missing):
    broken = [outcome.problem for _, outcome in outcomes if outcome.problem]
    words = [*missing.values(), *dict.fromkeys(broken)]
    counted = f"{len(outcomes) - len(broken)} of {len(outcomes)}"
    return Result("; ".join([counted, *words]), is_met=not words)


def table(outcomes, missing, is_quick):
    """Requirement and result. What needs the whole run is left out of a quick one."""
    every = "100 % of stalls ≥ threshold + the largest gap between looks"
    rows = [
        ("recall, quiet", every, recall(outcomes, "quiet")),
        ("recall, both processors loaded", every, recall(outcomes, "loaded")),
        ("false stalls in the runs without stalls", "0", false_stalls(outcomes, is_quick)),
        ("false stalls in all other runs", "0", false_among_stalls(outcomes)),
        ("saturation told apart from one long callback", "≥ 99 %", saturation(outcomes)),
        ("duration error, median and 99 %", "≤ 2 ms and ≤ one alert look (10 ms, 50 ms)", durations(outcomes)),
        ("truth inside the printed bounds", "≥ 99.9 %", bounds(outcomes)),
        ("own CPU on a loop at 85 % load", "≤ 0.5 % of a core", cost(outcomes, "85 % load", 0.005)),
        ("own CPU on a calm loop", "≤ 0.05 % of a core", cost(outcomes, "calm", 0.0005)),
    ]
    if not is_quick:
        rows[2:2] = [
            ("recall without first-stack rules", every, recall(outcomes, "without first-stack rules")),
            ("recall of stripped targets", every, recall(outcomes, "stripped")),
            ("without breakpoint, heartbeat and ping", "nothing verified is wrong", without_proof(outcomes)),
        ]
        rows[:0] = [
            ("stalls of the threshold or longer", "≥ 1,000", stalls(outcomes)),
            ("trials that could be run", "all, with all eight loops", all_ran(outcomes, missing)),
        ]
    return [(Requirement(what, limit), result) for what, limit, result in rows]


def share(part, whole):
    if part == whole:
        return "100 %" if whole else "none"
    # Never rounded up to all of them.
    return f"{min(99.99, 100 * part / whole):.2f} %"


def matrix(outcomes, loops, *names):
    """Of each loop and cause how many were found, unverified and missed."""
    counts = {(loop.name, cause): [0, 0, 0] for loop in loops for cause in CAUSES}
    for outcome in of(outcomes, *names):
        for find in outcome.score.finds:
            cell = counts.get((outcome.trial.loop.name, find.truth.cause))
            if cell:
                cell[("found", "unverified", "missed").index(find.verdict)] += 1
    return counts
