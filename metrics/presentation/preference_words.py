"""What preferences of people and judges say, in words: the same on the page, in the report and in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from metrics.core.schema import BOTH_BAD
from metrics.presentation.format import count, interval, p_value, plural, rough
from metrics.presentation.phrases import estimated, named, signed, too_few, with_interval
from metrics.presentation.ranking_words import MOST_SCORES, matches_sentence, standing_note
from metrics.stats.corrections import is_significant

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import HeadToHead
    from metrics.analysis.preferences.judging import Judged
    from metrics.analysis.preferences.matches import Source
    from metrics.analysis.preferences.preferred import Agreed, PositionBias
    from metrics.analysis.preferences.style import StyleControl
    from metrics.store import Run

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
    table = pd.DataFrame(found, columns=columns)
    return table.astype({"best_rank": "Int64", "worst_rank": "Int64"})


def exported_frame(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return preferences (schema PREFERENCES) as a file that can be uploaded again, the winner in words."""
    import pandas as pd

    columns = ["case_id", "model_a", "model_b", "winner", "rater", "by", "criterion", "shown_first", "note", "given"]
    return pd.DataFrame([{**row, **_winner(row)} for row in rows], columns=columns)


def _winner(row: Mapping[str, Any]) -> dict[str, str]:
    if row["note"] == BOTH_BAD:
        return {"winner": "tie (bothbad)", "note": ""}
    return {"winner": {1.0: "model_a", 0.0: "model_b"}.get(row["outcome"], "tie")}
