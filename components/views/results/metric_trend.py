"""A metric over runs in words and in a table: the answer, each model's number run by run, what changed."""

from collections.abc import Sequence
from typing import Any

from components.widgets.tables import draw_columns, header, numeric
from metrics.analysis import Column, Stop, Trend
from metrics.presentation.format import MISSING, aligned, count, interval, moment, number, p_value, plural, shorten
from metrics.presentation.phrases import better, signed, unscored_words
from metrics.presentation.questions.is_it_better import CORRECTIONS

WORDS = (
    "better: the adjusted p is at most 0.05. No significant change does not mean no change: see the interval of the "
    "change."
)
OF_CHANGE = "of the change, not widened for the number of changes"
OUTCOMES = "cases better, worse, equal since the run before"
SETTINGS = "what differs from the run before, which alone can make a change"
ENDS = {"better": "Yes: better", "worse": "No: worse", "higher": "Higher", "lower": "Lower"}


def answer(stops: Sequence[Stop]) -> str:
    """Return whether the models' last runs are better than those before, in one sentence."""
    last = {stop.model: stop for stop in stops}
    compared = {stop.model: stop.change.significance for stop in last.values() if stop.change is not None}
    if not compared:
        return "No model has a number that can be compared with an earlier run's"
    groups = {end: [shorten(model, 30) for model, own in compared.items() if own == end] for end in ENDS}
    if groups["better"] and groups["worse"]:
        return (
            f"It depends: better than in the run before {_listed(groups['better'])}, worse {_listed(groups['worse'])}"
        )
    for significance, models in groups.items():
        if models:
            rest = len(compared) - len(models)
            others = f"; {plural(rest, 'other')} without significant change" if rest else ""
            return f"{ENDS[significance]} than in the run before: {_listed(models)}{others}"
    if all(found == "equal" for found in compared.values()):
        return f"No: nothing has changed since the run before, in {plural(len(compared), 'model')}"
    return f"No significant change since the run before, in {plural(len(compared), 'model')}"


def _listed(models: Sequence[str]) -> str:
    return ", ".join(models[:3]) + (f" and {len(models) - 3} more" if len(models) > 3 else "")


def method(found: Trend) -> str:
    """Return how the changes were tested, in a sentence a manager understands."""
    units = ", in the suite's groups" if found.clustered else ""
    base = f"Each run is compared with the previous one on their shared cases{units}"
    if not found.tested:
        return f"{base}: none differs, so nothing was tested."
    return f"{base}. {better(found.tested, found.correction)}"


def value_facts(stop: Stop, column: Column) -> str:
    """Return a model's number in one run: value, interval, n, what could not be scored."""
    bounds = interval(stop.cell.low, stop.cell.high)
    facts = [f"{number(stop.cell.value)} {column.unit}".strip() + (f" (95 % {bounds})" if bounds else "")]
    facts.append(f"n {count(stop.cell.n)}")
    if stop.cell.unscored:
        facts.append(unscored_words(stop.cell))
    return " · ".join(facts)


def change_facts(stop: Stop) -> str:
    """Return what became of the number since the run before, in one line; empty for a first run."""
    if not stop.before:
        return ""
    facts = [f"Since the run before: {stop.words}"]
    change = stop.change
    if change is not None and change.difference is not None:
        bounds = interval(change.low, change.high)
        facts.append(signed(change.difference) + (f" (95 % {bounds})" if bounds else ""))
        if change.p is not None:
            facts.append(f"p {p_value(change.p)}, adjusted {p_value(change.adjusted)}")
    if change is not None and change.outcomes:
        wins, losses, ties = change.outcomes
        facts.append(f"{plural(wins, 'case')} better, {count(losses)} worse, {count(ties)} equal")
    return " · ".join(facts)


def draw_stops(stops: Sequence[Stop], correction: str, key: str, tallest: int) -> int | None:
    """Draw a row for each number, in the order given; return the one just clicked."""
    changes = [stop.change for stop in stops]
    runs = [f"{shorten(stop.name, 18)}, {moment(stop.created)}" for stop in stops]
    of_values = [interval(stop.cell.low, stop.cell.high) or MISSING for stop in stops]
    differences = [signed(change.difference if change else None) for change in changes]
    of_changes = [(interval(change.low, change.high) if change else "") or MISSING for change in changes]
    adjusted = [p_value(change.adjusted if change else None) for change in changes]
    outcomes = [" / ".join(map(count, one.outcomes)) if one and one.outcomes else MISSING for one in changes]
    columns: dict[str, Any] = {
        "run": (header("Run", 268), runs),
        "model": (header("Model", 130), [stop.model for stop in stops]),
        "value": (numeric("Value", 64, "the metric over all cases of the run"), aligned([s.cell.value for s in stops])),
        "interval": (numeric("95 % interval", 104, "of the value"), of_values),
        "n": (numeric("n", 56, "cases that the value rests on"), [stop.cell.n for stop in stops]),
        "words": (header("Since the run before", 178, WORDS), [stop.words for stop in stops]),
        "difference": (numeric("Change", 66, "mean of the differences on the cases of both runs"), differences),
        "of_change": (numeric("95 % of change", 112, OF_CHANGE), of_changes),
        "adjusted": (numeric("Adjusted p", 76, f"for all changes shown: {CORRECTIONS[correction]}"), adjusted),
        "outcomes": (numeric("Wins / losses / ties", 128, OUTCOMES), outcomes),
    }
    if any(stop.settings for stop in stops):
        columns["settings"] = header("Evaluated with", 160, SETTINGS), [", ".join(stop.settings) for stop in stops]
    return draw_columns(columns, key, tallest)
