"""What agreement with people rests on, in words and as a table: the same in pages, reports and the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from metrics.presentation.format import count, plural, share

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis.labels.judge_agreement import Agreement
    from metrics.analysis.labels.raters import RaterNoise

STATISTICS = ("kappa", "accuracy", "sensitivity", "specificity", "spearman", "auc", "suggested", "balanced")
HELD_OUT = (
    "κ and the rates judge each output by thresholds that the other labels chose; the table counts at the threshold "
    "itself."
)
RATED = {
    "outputs": "Of the outputs labelled at random, which speak for all.",
    "labelled": "Of the labelled outputs only: none was labelled at random.",
}

RATER_NOISE = (
    "Shares of the variance of one label, as of a two-way crossed design of outputs and raters. Between raters: some "
    "are stricter than others, which clearer instructions mend. The rest: raters see the same output differently, "
    "which more raters per output average out. 95 % intervals by resampled cases, of these raters."
)


def rater_noise_sentence(found: RaterNoise) -> str:
    """Return where labels differ, in a sentence; "" where there are too few, or all are equal."""
    outputs, raters, rest = (one.value for one in (found.outputs, found.raters, found.rest))
    if outputs is None or raters is None or rest is None:
        return ""
    low, high = found.outputs.low, found.outputs.high
    bounds = "" if low is None or high is None else f" ({100 * low:.0f}–{100 * high:.0f})"
    return (
        f"Of the variance of labels, {100 * outputs:.0f} %{bounds} lies between outputs, {100 * raters:.0f} % between "
        f"raters, and {100 * rest:.0f} % in how raters see the same output."
    )


def for_whom(raters: int, others: bool, intervals: str = "Intervals") -> str:
    """Return for which raters intervals hold, in a sentence."""
    if others:
        return f"{intervals} allow for other raters like these {count(raters)}."
    return (
        f"Intervals hold for these {count(raters)} raters alone: it takes five, with about as many labels each, to "
        "allow for others."
    )


def labels_counted(found: Agreement) -> str:
    """Return on how many labels the numbers rest: `70`, or `40 picked` where none was drawn at random."""
    return f"{count(found.n)} picked" if found.sample == "labelled" and found.n else count(found.n)


def basis(found: Agreement) -> str:
    """Return whom the numbers speak of, what picked labels are for, what counts where raters differ."""
    split = ""
    if found.split:
        split = (
            f" On {count(found.split)} of them raters differ: the label of one of them, drawn at random, counts (for ρ "
            "their mean)."
        )
    if found.raters > 1:
        split += f" {for_whom(found.raters, found.others, 'Intervals of κ and the rates')}"
    if found.sample == "labelled":
        unsure = f" {plural(found.unsure, 'more')} of which raters are unsure left out." if found.unsure else ""
        return (
            f"Of the {plural(found.n, 'labelled output')} only: they were picked, or it is not known how they were "
            f"chosen, so they say nothing about the others.{unsure}{split}"
        )
    sample = plural(found.n, "output labelled at random", "outputs labelled at random")
    others = plural(found.picked, "picked one", "picked ones")
    also = f" {others} only {'helps' if found.picked == 1 else 'help'} to choose a threshold." if found.picked else ""
    if found.unsure:
        whom = f"for those that raters are sure of, {share(found.n, found.n + found.unsure)} of all"
    else:
        whom = "for all outputs"
    return f"{sample} {'speaks' if found.n == 1 else 'speak'} {whom}.{also}{split}"


def agreement_frame(rows: Iterable[tuple[str, Agreement]]) -> pd.DataFrame:
    """Return a row a statistic of each (criterion, agreement).

    Columns: evaluator, metric, criterion, sample ("outputs": a random sample of all, "labelled": those alone), n,
    cases, picked, split (of the n, on which raters differ: one label each, drawn at random, counts), unsure (more, left
    out as raters are unsure), raters, others (whether intervals of κ and rates allow for other raters), threshold,
    chosen, held_out, statistic (STATISTICS), value, low, high, needs (labels that lack).
    """
    import pandas as pd

    about = ("sample", "n", "cases", "picked", "split", "unsure", "raters", "others", "threshold", "chosen", "held_out")
    found = [
        {"evaluator": one.column.evaluator, "metric": one.column.metric, "criterion": criterion}
        | {name: getattr(one, name) for name in about}
        | {"statistic": name}
        | {part: getattr(getattr(one, name), part) for part in ("value", "low", "high", "needs")}
        for criterion, one in rows
        for name in STATISTICS
    ]
    names = ["evaluator", "metric", "criterion", *about, "statistic", "value", "low", "high", "needs"]
    return pd.DataFrame(found, columns=names)
