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
    """Of one trial: of which kind, and the sentence."""
    trial, score, since = outcome.trial, outcome.score, outcome.since
    where = f"{trial.what}, {trial.loop.name}, {trial.threshold * 1000:.0f} ms"
    if outcome.problem:
        yield "not run" if outcome.is_possible else "SKIPPED", f"{where}: {outcome.problem}"
    homes = [record["text"] for record in outcome.records if record.get("kind") == "loop.found"]
    if len(homes) != 1 and not outcome.problem:
        yield "homes", f"{where}: {'; '.join(homes) or 'none'}"
    for find in score.finds:
        if find.verdict != "found":
            answer = "; ".join(map(said, find.episodes)) or "nothing"
            yield find.verdict, f"{where}: said {answer}; true {true(find.truth, since)}"
    for kind, pairs in (("false", score.false), ("out of bounds", score.out_of_bounds), ("duration", score.off)):
        for episode, truth in pairs:
            yield kind, f"{where}: said {said(episode)}; true {true(truth, since)}"
