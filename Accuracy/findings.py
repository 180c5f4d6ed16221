"""What went wrong, a sentence each: what was said and what was true."""

from scoring import MILLISECOND


def milliseconds(nanoseconds):
    return "?" if nanoseconds is None else f"{nanoseconds / MILLISECOND:.1f}"


def said(episode):
    kind = "verified stall" if episode.is_verified else f"unverified {episode.type}"
    bounds = f"{milliseconds(episode.least)} to {milliseconds(episode.most)} ms"
    return f"{kind} of {milliseconds(episode.duration)} ms ({bounds}, {episode.proof}, {episode.state})"


def true(truth, since):
    if truth is None:
        return "no pass at that time"
    started = "" if truth.longest - truth.shortest < MILLISECOND else f" to {milliseconds(truth.longest)}"
    at = (truth.woke - since) / 1e9
    return f"a pass of {milliseconds(truth.shortest)}{started} ms, {truth.cause}, {at:.3f} s into the run"


def findings(outcome):
    """Of one trial."""
    trial, score = outcome.trial, outcome.score
    where = f"{trial.what}, {trial.loop.name}, {trial.threshold * 1000:.0f} ms"
    if outcome.problem:
        yield f"not run: {where}: {outcome.problem}"
    for episode, truth in score.false:
        yield f"false: {where}: said {said(episode)}; true {true(truth, outcome.since)}"
    for find in score.finds:
        if find.verdict != "found":
            answer = "; ".join(map(said, find.episodes)) or "nothing"
            yield f"{find.verdict}: {where}: said {answer}; true {true(find.truth, outcome.since)}"
    for episode, truth in score.out_of_bounds:
        yield f"out of bounds: {where}: said {said(episode)}; true {true(truth, outcome.since)}"
