"""Thresholds in words: what is guaranteed from one on; where a calibrated one comes from, or why there is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from metrics.calibrations.calibrated_thresholds import shipped
from metrics.core.calibration import FEWEST_LABELS, Calibration
from metrics.core.conventions import ASSAY, CALIBRATION, USER, limit
from metrics.core.evaluator import JUDGE
from metrics.presentation.format import MISSING, count, exact, interval, number, plural, rough, share
from metrics.presentation.phrases import metric_title

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis import Column
    from metrics.analysis.labels.pass_rates import Acceptance
    from metrics.analysis.leaderboard.guarantees import ScoreGuarantee

WHOSE = {ASSAY: "Assay's by default", CALIBRATION: "calibrated on labels", USER: "your own"}
NO_THRESHOLD = "No threshold for this model"
HOW = f"Calibrate it on at least {FEWEST_LABELS} labels: page Agreement, or python -m metrics calibrate."


def answer_only(found: ScoreGuarantee) -> str:
    """Return from which score on to answer, what that guarantees and how much it answers; else why nothing is."""
    if found.threshold is None or found.coverage is None:
        return f"No guarantee: {found.reason}."
    return (
        f"Answer only when the score is ≥ {exact(found.threshold)}: then at most {100 * found.most:g} % of the answers "
        f"are wrong, with {100 * found.sure:g} % confidence; {share(found.coverage, 1)} of the cases are answered."
    )


TOGETHER = "all models together, mixed as the labels are"
OBSTACLES = {
    "random": "nothing can be guaranteed: no label is of an output drawn at random",
    "groups": "nothing can be guaranteed: the cases are in groups, so their labels are not independent",
}


def accept(found: Acceptance) -> str:
    """Return from which score on to accept answers without a person, and what that guarantees; else why none are."""
    most = f"{100 * found.most:g} %"
    if found.threshold is not None and found.accepted is not None:
        return (
            f"accept an answer without a person when the score is {limit(found.threshold, found.column.direction)}: "
            f"then at most {most} of the accepted answers are wrong by people's labels, with 95 % confidence; "
            f"{share(found.accepted, 1)} of all answers are accepted"
        )
    if found.obstacle:
        return OBSTACLES[found.obstacle]
    if found.n < found.fewest:
        return f"{missing(found)} random labels needed"
    unshown = f"{plural(found.n, 'label')} show no score from which on at most {most} of the answers are wrong"
    return unshown if found.missing is None else f"{unshown}; {missing(found)} may"


def missing(found: Acceptance) -> str:
    """Return how many labels are missing: `too few: at least 19 more`, `some 230 more`; MISSING where none are."""
    if found.threshold is not None:
        return MISSING
    if found.obstacle:
        return {"random": "no random label", "groups": "cases in groups"}[found.obstacle]
    if found.missing is None:
        return "too many wrong"
    if found.n < found.fewest:
        return f"too few: at least {count(found.missing)} more"
    return f"some {count(rough(found.missing))} more"


def accept_line(found: Acceptance) -> str:
    """Return the same as a sentence of its own: `sonnet: accept …`."""
    return f"{found.model or TOGETHER.capitalize()}: {accept(found)}."


def acceptance_frame(rows: Iterable[tuple[str, Acceptance]]) -> pd.DataFrame:
    """Return a row a model of each (criterion, acceptance); of all models together `model` is empty.

    Columns: evaluator, metric, criterion, model, most_errors, sureness, threshold, accepted (share of all outputs), n,
    answered, wrong (among the n labels), needs (labels that lack, empty where no number helps), sentence.
    """
    import pandas as pd

    from metrics.analysis.labels.pass_rates import CONFIDENCE

    found = [
        {"evaluator": one.column.evaluator, "metric": one.column.metric, "criterion": criterion, "model": one.model}
        | {"most_errors": one.most, "sureness": CONFIDENCE, "threshold": one.threshold, "accepted": one.accepted}
        | {"n": one.n, "answered": one.answered, "wrong": one.wrong, "needs": one.missing}
        | {"sentence": accept(one)}
        for criterion, one in rows
    ]
    names = "evaluator metric criterion model most_errors sureness threshold accepted n answered wrong needs sentence"
    return pd.DataFrame(found, columns=names.split())


def area(one: Calibration) -> str:
    """Return `AUC 0.710 (0.660–0.760) on 846 labels`."""
    return f"AUC {number(one.auc)} ({interval(one.auc_low, one.auc_high)}) on {count(one.n)} labels"


def calibrated(one: Calibration) -> str:
    """Return a calibration in a line: the threshold, what it is worth, the labels, and the model."""
    threshold = "no threshold" if one.threshold is None else f"threshold {one.threshold:g}"
    models = ", ".join(f"{name} {own if name == JUDGE else own[:12]}" for name, own in one.models.items())
    return f"{threshold}; {area(one)} of {one.data}; {models}"


def threshold_lines(column: Column) -> list[str]:
    """Return what a column's header says about its threshold: its origin, or that there is none and how to get one."""
    known = column.calibration
    if column.threshold is not None:
        words = f"Threshold {column.limit}"
        if known is None or known.threshold != column.threshold:
            unfit = warning(column)
            return [words] if unfit is None else [words, unfit]
        held_out = f"balanced accuracy {number(known.balanced)} on held-out labels"
        kind = JUDGE if JUDGE in known.models else "model"
        return [f"{words}, calibrated for this {kind}: {area(known)}, {held_out}", f"Labels: {known.data}"]
    if not column.by_model:
        return []
    unfit = warning(column)
    if known is None or unfit is None:
        return [f"{NO_THRESHOLD}: neither passed nor failed.", HOW]
    return [unfit, f"Labels: {known.data}"]


def whose(column: Column) -> str:
    """Return whose the threshold of a column is, in words; empty where it has none."""
    of, known = column.threshold_of, column.calibration
    if of == CALIBRATION and known is not None:
        return f"calibrated on {labels_of(known)}"
    return WHOSE.get(of, f"{of}'s") if of else ""


def labels_of(one: Calibration) -> str:
    """Return which labels a calibration rests on: `public labels (CLAP NQ, MT-RAG)` of those that come with Assay."""
    if one not in shipped():
        return f"labels of {one.data}"
    sets = dict.fromkeys(re.split("[,(]", part)[0].strip() for part in one.data.split(";"))
    return f"public labels ({', '.join(sets)})"


def whose_thresholds(columns: Iterable[Column]) -> str:
    """Return whose the thresholds of columns are, in words: Assay's defaults, calibrated, the user's, a system's."""
    found = Counter(map(whose, columns))
    if len(found) == 1:
        return f"the thresholds are {', '.join(found)}"
    parts = (f"{count(n)} {'is' if n == 1 else 'are'} {whose}" for whose, n in found.most_common())
    return f"of the thresholds {', '.join(parts)}"


def since(own: float | None, now: float) -> str:
    """Return that a metric was calibrated after a monitor was created, which keeps the threshold that it has."""
    kept = "has no threshold" if own is None else f"keeps {own:g}"
    return f"calibrated at {now:g} since: this monitor {kept}, a new one judges by it"


def warning(column: Column) -> str | None:
    """Return that a metric hardly separates good from bad with the model in use; None if it does or is unmeasured."""
    known = column.calibration
    if known is None or known.separates:
        return None
    return f"⚠ Hardly tells good from bad with this model: {area(known)}; 0.5 is chance"


def footnotes(columns: Iterable[Column]) -> list[str]:
    """Return the notes that stand below a table of these columns: what is not to be trusted, what has no threshold."""
    shown = list(columns)
    notes = [f"{_name(one)}: {text}." for one in shown if (text := warning(one)) is not None]
    if without := [_name(one) for one in shown if one.by_model and one.threshold is None and one.calibration is None]:
        names = ", ".join(dict.fromkeys(without))
        notes.append(f"{NO_THRESHOLD}, so neither passed nor failed: {names}. {HOW}")
    return list(dict.fromkeys(notes))


def _name(column: Column) -> str:
    return metric_title(column, arrow=False)
