"""What rankings say, by several metrics or suites and by preferences of people and judges, in sentences and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from metrics.core.schema import BOTH_BAD
from metrics.presentation.format import MISSING, count, exact, interval, number, p_value, plural, rough
from metrics.presentation.phrases import estimated, metric_title, named, signed, too_few, with_interval
from metrics.stats.corrections import is_significant

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import HeadToHead, ParetoFront, Part, Placing, SeveralSuites, WeightedScores
    from metrics.analysis.preferences.judging import Judged
    from metrics.analysis.preferences.matches import Source
    from metrics.analysis.preferences.preferred import Agreed, PositionBias
    from metrics.analysis.preferences.style import StyleControl
    from metrics.store import Run

MOST_SCORES = 6  # models whose scores are written out
MISFIT = (
    "One strength a model does not describe these matches: who beats whom is not transitive, so look at the pairs "
    "rather than at the ranks"
)
ADDED = (
    "Some models never lose to the others, so that their strengths have no finite value: one even match with an "
    "average model was added for each model."
)
SOURCES: dict[Source, str] = {
    "people": "people's preferences",
    "judge": "the judge's preferences",
    "both": "people's and the judge's preferences",
}
MOST_REASONS = 3
CORRECTED = {
    "people": "Sides are drawn at random on the page Side by side, so that position favours no model.",
    "judge": "Each match counts the mean of both orders, so that position favours no model.",
}


def matches_sentence(found: HeadToHead, title: str) -> str:
    """Return who is strongest by matches: `By matches in ROUGE-L, A leads: A 0.61 (0.57–0.65); B …`."""
    note = standing_note(found)
    if not found.is_comparable:
        return f"By matches in {title}, no model is ranked: {note}"
    leaders = [one.model for one in found.standings if one.best_rank == 1]
    scores = "; ".join(
        f"{one.model} {with_interval(one.score, one.low, one.high)}" for one in found.standings[:MOST_SCORES]
    )
    more = f" {note}" if note else ""
    if len(leaders) == len(found.standings):
        return f"By matches in {title}, no model is significantly stronger than another: {scores}.{more}"
    lead = "leads" if len(leaders) == 1 else "lead together"
    return f"By matches in {title}, {named(leaders)} {lead}: {scores}.{more}"


def standing_note(found: HeadToHead) -> str:
    """Return why there is no score, or what makes one doubtful; "" where there is nothing to say."""
    if not found.is_comparable:
        return unlinked(found)
    if found.misfit_p is not None and is_significant(found.misfit_p):
        return f"{MISFIT} (p {p_value(found.misfit_p)})."
    return ADDED if found.added else ""


def unlinked(found: HeadToHead) -> str:
    """Return which models no chain of matches links, in a sentence: `A and B never met C …`."""
    groups = [named(group[:MOST_SCORES]) + (" …" if len(group) > MOST_SCORES else "") for group in found.groups]
    met = f"{len(groups)} groups of models never met" if len(groups) > 2 else f"{groups[0]} never met {groups[1]}"
    return f"{met}, nor a model that links them, so their strengths are not comparable. Compare a pair across them."


def front_sentence(found: ParetoFront) -> str:
    """Return which models are on the front and which are dominated by which: `B is dominated by A; …`."""
    by = named([metric_title(one.column, arrow=False) for one in found.objectives])
    if len(found.placings) < 2:
        return f"No two models have a number of {by}, so none is dominated."
    front = [one.model for one in found.placings if one.on_front]
    rest = [one for one in found.placings if not one.on_front]
    if not rest:
        return f"No model is dominated by another in {by}: all are on the Pareto front."
    told = "; ".join(placing_words(one) for one in rest[:MOST_SCORES])
    more = f"; {plural(len(rest) - MOST_SCORES, 'more model')} not on the front" if len(rest) > MOST_SCORES else ""
    return f"By {by}, {named(front)} {'is' if len(front) == 1 else 'are'} on the Pareto front; {told}{more}."


def placing_words(one: Placing) -> str:
    """Return `B is dominated by A`, `B may be dominated by A` or `A is on the front`."""
    if one.dominated_by:
        return f"{one.model} is dominated by {named(one.dominated_by)}"
    if one.perhaps_by:
        return f"{one.model} may be dominated by {named(one.perhaps_by)}"
    return f"{one.model} is on the front"


def rank_text(best: int | None, worst: int | None) -> str:
    """Return the ranks that a model may have: `2`, `2–4`; MISSING where it has none."""
    if best is None:
        return MISSING
    return str(best) if best == worst else f"{best}–{worst}"


def weights_text(parts: Sequence[Part]) -> str:
    """Return the weights and, where it is not the metric's own range, the scale: `Accuracy 0.7 and Latency 0.3 (…)`."""
    texts = (
        f"{metric_title(one.objective.column, arrow=False)} {weight_text(one.weight)}{_scale(one)}" for one in parts
    )
    return named(list(texts))


def weight_text(weight: float) -> str:
    """Return a weight with two digits after the point at most."""
    return f"{weight:.2f}".rstrip("0").rstrip(".") if weight >= 0.01 else "<0.01"


def chance_text(share: float) -> str:
    """Return a share of weightings in per cent: `83 %`, `<1 %`."""
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def weighted_sentence(found: WeightedScores) -> str:
    """Return who leads with these weights: `With Accuracy 0.7 and Latency 0.3, A leads: 0.810 (0.780–0.840); B …`."""
    given = f"With {weights_text(found.parts)}"
    if not found.scores:
        return f"{given}, no model has a score: none has a value of every metric on the same case."
    scores = "; ".join(
        f"{one.model} {with_interval(one.value, one.low, one.high)}" for one in found.scores[:MOST_SCORES]
    )
    if len(found.scores) == 1:
        return f"{given}, the score is {scores}."
    leaders = found.leaders
    if len(leaders) == len(found.scores):
        return f"{given}, no model is significantly better than another: {scores}."
    return f"{given}, {named(leaders)} {'leads' if len(leaders) == 1 else 'lead together'}: {scores}."


def robustness_lines(found: WeightedScores) -> Iterator[str]:
    """Yield how much the first place depends on the weights, and what the score leaves out, in sentences."""
    if len(found.scores) > 1 and len(found.parts) > 1:
        shares = [one for one in sorted(found.scores, key=lambda one: -one.first) if one.first > 0][:MOST_SCORES]
        chances = ", ".join(f"{one.model} {chance_text(one.first)}" for one in shares)
        yield f"First in all possible weightings: {chances}."
        if (turn := found.turn) is None:
            yield f"{found.scores[0].model} stays first whichever single weight is changed."
        else:
            title = metric_title(turn.part.objective.column, arrow=False)
            yield (
                f"{turn.model} becomes first where the weight of {title} goes from {weight_text(turn.part.weight)} to "
                f"{weight_text(turn.weight)}, the others in proportion."
            )
    if lacking := {one.model: one.lacking for one in found.scores if one.lacking}:
        cases = ", ".join(f"{model} {count:,}" for model, count in list(lacking.items())[:MOST_SCORES])
        yield f"Cases left out because they lack one of the metrics: {cases}."
    for part in found.parts:
        if part.clipped:
            title = metric_title(part.objective.column, arrow=False)
            yield f"{plural(part.clipped, 'value')} of {title} outside the scale count as its nearer end."
    if found.unscored:
        yield f"Without a score, as a metric is missing altogether: {named(found.unscored)}."
    if found.caution:
        yield found.caution


def suites_sentence(found: SeveralSuites) -> str:
    """Return who leads over all suites: `Over 3 suites, in Accuracy A leads: A 0.810 (0.780–0.840); B …`."""
    title = metric_title(found.column, arrow=False)
    over = f"Over {plural(len(found.suites), 'suite')} in {title}"
    fitted = [one for one in found.overall if one.value is not None]
    if not fitted:
        return f"{over}, nothing can be said of all suites together." if len(found.suites) > 1 else f"{over}."
    scores = "; ".join(f"{one.model} {with_interval(one.value, one.low, one.high)}" for one in fitted[:MOST_SCORES])
    if not found.leaders:
        return f"{over}, no model is ranked: {scores}."
    if len(found.leaders) == len(fitted):
        return f"{over}, no model is significantly better than another: {scores}."
    return f"{over}, {named(found.leaders)} {'leads' if len(found.leaders) == 1 else 'lead together'}: {scores}."


def suites_lines(found: SeveralSuites) -> Iterator[str]:
    """Yield whether the differences between models are one in all suites, and what was left out, in sentences."""
    if found.p is not None and found.q is not None and found.i2 is not None and found.tau is not None:
        test = f"Q {number(found.q)} on {found.freedom}, p {p_value(found.p)}; I² {100 * found.i2:.0f} %"
        if is_significant(found.p):
            yield f"Which model is better, or by how much, depends on the suite: {test}."
        elif found.tau > 0:
            yield f"Differences between models vary from suite to suite no more than chance allows: {test}."
        else:
            yield f"Differences between models are as alike as cases of one suite would make them: {test}."
        if found.tau > 0:
            yield f"A difference varies by {number(found.tau)} (SD) between suites, which the intervals include."
    yield from found.notes


def _scale(part: Part) -> str:
    column = part.objective.column
    if {part.worst, part.best} == {column.low, column.high}:
        return ""
    unit = f" {column.unit}" if column.unit else ""
    return f" ({exact(part.worst)}{unit} worst, {exact(part.best)}{unit} best)"


def standing_sentence(found: HeadToHead | None, source: Source, criterion: str) -> str:
    """Return who is preferred: `By matches in people's preferences (quality), A leads: …`."""
    title = f"{SOURCES[source]} ({criterion})"
    return f"No ranking by {title} yet." if found is None else matches_sentence(found, title)


def style_sentence(found: StyleControl | None) -> str:
    """Return who is preferred at equal style and what style adds; "" where nothing was fitted."""
    if found is None:
        return ""
    scores = "; ".join(
        f"{one.model} {with_interval(one.score, one.low, one.high)}" for one in found.standings[:MOST_SCORES]
    )
    effects = "; ".join(
        f"{one.style} {signed(one.value)} ({interval(one.low, one.high)})" + ("" if is_significant(one.p) else " n.s.")
        for one in found.effects
    )
    adds = f"One standard deviation more adds to the log-odds of a win: {effects}"
    return f"At equal style the scores are {scores}. {adds}."


def left_sentence(more: int | None, left: int | None = None) -> str:
    """Return about how many more matches the ranking needs, of those that are `left` (None: unknown)."""
    if more == 0:
        return "Every model has a rank of its own."
    if more is None or (left is not None and more > left):
        than = f"than these {plural(left, 'pair')} " if more is not None and left is not None else ""
        return f"Some models are too much alike to separate: it would take many more matches {than}".rstrip() + "."
    matches = plural(rough(more), "more match", "more matches")
    return f"About {matches} until every model has a rank of its own, if differences stay."


def bias_sentence(found: PositionBias) -> str:
    """Return how far position sways people or a judge, and how that is corrected."""
    who = "people" if found.of == "people" else found.of
    of = plural(found.n, "preference") if who == "people" else plural(found.n, "match", "matches")
    if found.share.value is None:
        return f"Position bias of {who}: {too_few(found.share.needs)}."
    swayed = found.p is not None and is_significant(found.p)
    side = "" if not swayed else " — swayed towards the " + ("first" if found.share.value > 0.5 else "second")
    told = (
        f"Position bias of {who}: the answer shown first is preferred in {estimated(found.share)} of {of}"
        f" (0.5 without bias, p {p_value(found.p)}){side}."
    )
    if found.of != "people":
        told += f" {plural(found.contradictory, 'match is', 'matches are')} contradictory: each order prefers another."
        if found.half:
            told += f" {plural(found.half, 'match', 'matches')} in one order only do not count."
    if found.lopsided:
        shown = [f"{one} – {other}" for one, other in found.lopsided[:MOST_REASONS]]
        more = len(found.lopsided) - len(shown)
        pairs = named([*shown, plural(more, "more pair")] if more else shown)
        return (
            f"{told} One model nearly always stood first in {pairs}: there the share also tells which model is better, "
            "and position bias is not corrected."
        )
    return f"{told} {CORRECTED['people' if found.of == 'people' else 'judge']}"


def agreed_sentence(found: Agreed) -> str:
    """Return how far judge and people agree; "" without a common match."""
    if not found.n:
        return ""
    if found.kappa.needs or found.accuracy.value is None:
        return f"Judge and people: {too_few(found.accuracy.needs)} that both compared."
    decided = "" if found.decided.value is None else f"; where people have no tie {estimated(found.decided)}"
    kappa = "not defined" if found.kappa.value is None else estimated(found.kappa)
    return (
        f"Judge and people prefer the same in {estimated(found.accuracy)} of "
        f"{plural(found.n, 'common match', 'common matches')}{decided}; κ {kappa}."
    )


def judged_lines(found: Judged) -> Iterator[str]:
    """Yield what became of the matches that a judge was to compare."""
    same = f", {count(found.same)} of them without asking, as both answers are the same" if found.same else ""
    yield f"{count(found.decided)} of {plural(found.matches, 'match', 'matches')} decided in both orders{same}."
    if found.suspected:
        have = plural(found.suspected, "match has", "matches have")
        yield f"{have} an answer that looks as if written for the judge."
    for reason, times in found.unread.most_common(MOST_REASONS):
        yield f"{plural(times, 'match', 'matches')} without a preference: {reason}"
    if found.stopped:
        yield f"Stopped: {found.stopped}. What was decided is kept; asking again continues from there."


def preference_lines(run: Run, criterion: str | None = None) -> Iterator[str]:
    """Yield what the preferences of a run's data say by a criterion, default the one with most; nothing without any."""
    from metrics.analysis.preferences.matches import preference_criteria
    from metrics.analysis.preferences.preferred import judge_and_people, position_bias, preferred
    from metrics.analysis.preferences.style import style_control

    counts = preference_criteria(run)
    criterion = next(iter(counts), None) if criterion is None else criterion
    if criterion is None or criterion not in counts:
        return
    for by in ("people", "judge"):
        if by in counts[criterion]:
            yield standing_sentence(preferred(run, by, criterion), by, criterion)
            if told := style_sentence(style_control(run, by, criterion)):
                yield told
            yield from map(bias_sentence, position_bias(run, by, criterion))
    told = agreed_sentence(judge_and_people(run, criterion))
    if told:
        yield told


def ranking_frame(rows: Iterable[tuple[str, str, HeadToHead]]) -> pd.DataFrame:
    """Return rankings, each with its criterion and source, as a table of a model a row."""
    import pandas as pd

    columns = ["criterion", "source", "model", "score", "low", "high", "best_rank", "worst_rank"]
    columns += ["wins", "ties", "losses", "note"]
    found = [
        {"criterion": name, "source": by, **asdict(one), "note": standing_note(own)}
        for name, by, own in rows
        for one in own.standings
    ]
    return pd.DataFrame(found, columns=columns).astype({"best_rank": "Int64", "worst_rank": "Int64"})


def exported_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return preferences (schema PREFERENCES) as a file that can be uploaded again, the winner in words."""
    import pandas as pd

    columns = ["case_id", "model_a", "model_b", "winner", "rater", "by", "criterion", "shown_first", "note", "given"]
    return pd.DataFrame([{**row, **_winner(row)} for row in rows], columns=columns)


def _winner(row: Mapping[str, Any]) -> dict[str, str]:
    if row["note"] == BOTH_BAD:
        return {"winner": "tie (bothbad)", "note": ""}
    return {"winner": {1.0: "model_a", 0.0: "model_b"}.get(row["outcome"], "tie")}
