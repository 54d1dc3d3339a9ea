"""Raters' errors, and whether a judge may replace a rater: the same words in pages, reports and the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from metrics.presentation.blocks import Head, Table, table_of
from metrics.presentation.format import count, number, plural, share
from metrics.presentation.phrases import Estimated, estimated, metric_title

if TYPE_CHECKING:
    import pandas as pd

    from metrics.analysis.labels.corrected_means import Corrected
    from metrics.analysis.labels.pass_rates import PassRate
    from metrics.analysis.labels.rater_errors import RaterErrors, Replacement
    from metrics.analysis.labels.raters import Raters
    from metrics.analysis.leaderboard.leaderboard import Column

RATER_ERRORS = (
    "Dawid–Skene (1979): which outputs truly pass is estimated together with each rater's errors, from labels alone, "
    "assuming that raters err independently of each other. Where some outputs are hard for all, raters err together "
    "and are worse than this says."
)
NO_ERRORS = {
    "graded": "Raters' errors are estimated of pass and fail only, not of grades.",
    "raters": "Raters' errors cannot be told from labels of fewer than three raters: it takes three, each two of whom "
    "share 10 outputs.",
    "outputs": "Raters' errors take 50 outputs, of 4 independent cases or more, with two labels or more.",
}
REPLACEMENT = (
    "Alternative annotator test (Calderon, Reichart & Dror 2025). Each rater in turn is left out: who says more often "
    "what the others say, the judge or the rater? The judge wins where it is significantly better than the rater less "
    "ε (paired t test, Benjamini–Yekutieli over the raters, 5 %); ω is the share of raters it wins against. From ½ on "
    "it may replace a person. ε is what people cost more: 0.1 for crowd workers, 0.15 for skilled raters, 0.2 for "
    "experts."
)
NO_REPLACEMENT = {
    "threshold": "it has no threshold, so it says neither pass nor fail",
    "raters": "it takes three raters with 30 outputs each that another labelled, too; there {have} {raters}",
}
CORRECTED_SHARES = (
    "Rogan–Gladen (1978): the share of each model's outputs that the judge passes, corrected for the sensitivity and "
    "specificity that random labels of all models show (interval: Lang & Reiczigel 2014). It also gives a number for "
    "a model that nobody labelled, and assumes that the judge errs alike on all models. With labels of its own, a "
    "model's corrected mean above does not need that."
)
SHARES = "Share that people would pass"
NO_SHARE = {
    "threshold": "no threshold that was set without these labels",
    "random": "no label of an output drawn at random",
    "labels": "too few: 5 labels that pass and 5 that fail needed",
    "chance": "the judge is not significantly better than chance",
}


def errors_sentence(found: RaterErrors) -> str:
    """Return which share of the outputs truly passes by the raters' labels and errors; else why it is not known."""
    if found.obstacle:
        return NO_ERRORS[found.obstacle]
    return (
        f"Of {plural(found.n, 'output')} with two labels or more, a share of {estimated(found.share)} truly passes, if "
        "raters err independently of each other."
    )


def errors_table(found: RaterErrors) -> Table:
    """Return each rater's labels and errors, a rater a row."""
    rows = found.raters
    return table_of(
        "Errors of raters",
        (Head("Rater", width=200), [row.rater for row in rows]),
        (Head("Sensitivity", True, f"Share of what truly passes that the rater passes. {RATER_ERRORS}", 150),
         [estimated(row.sensitivity) for row in rows]),
        (Head("Specificity", True, f"Share of what truly fails that the rater fails. {RATER_ERRORS}", 150),
         [estimated(row.specificity) for row in rows]),
        (Head("Passes", True, "Share of the rater's labels that pass", 80), [share(row.passes, 1) for row in rows]),
        (Head("Labels", True, "Of outputs with two labels or more", 80), [count(row.labels) for row in rows]),
    )  # fmt: skip


def replacement_sentence(found: Replacement, criterion: str) -> str:
    """Return whether the judge may replace a rater, in a sentence; else why it is not tested."""
    name = metric_title(found.column, arrow=False)
    if found.obstacle:
        have = "is" if found.raters == 1 else "are"
        why = NO_REPLACEMENT[found.obstacle].format(have=have, raters=count(found.raters))
        return f"Whether {name} may replace a rater of “{criterion}” is not tested: {why}."
    wins = sum(one.wins for _, one in found.tests)
    may = "may" if found.replaces else "may not"
    return (
        f"{name} {may} replace a rater of “{criterion}”: it wins against {wins} of {plural(found.raters, 'rater')} "
        f"(ω {number(found.winning_rate)}, ε {found.epsilon:g}), and is at least as close to the others on "
        f"{share(found.advantage or 0.0, 1)} of the outputs (ρ)."
    )


def replacement_table(found: Replacement) -> Table:
    """Return the judge against each rater, a rater a row."""
    tests = [one for _, one in found.tests]
    return table_of(
        "The judge in place of a rater",
        (Head("Rater left out", width=200), [name for name, _ in found.tests]),
        (Head("Judge", True, "Share of outputs on which the judge is at least as close to the others as the rater", 90),
         [share(one.judge, 1) for one in tests]),
        (Head("Rater", True, "Share of outputs on which the rater is at least as close to the others as the judge", 90),
         [share(one.rater, 1) for one in tests]),
        (Head("Adjusted p", True, REPLACEMENT, 100), [number(one.adjusted) for one in tests]),
        (Head("Judge wins", help=REPLACEMENT, width=100), ["✓" if one.wins else "–" for one in tests]),
        (Head("n", True, "Outputs that the rater and another labelled", 80), [count(one.n) for one in tests]),
    )  # fmt: skip


def pass_rate_table(rows: Sequence[PassRate], about: str = "") -> Table:
    """Return the share of each model's outputs that the judge passes, and corrected, a model a row."""
    return table_of(
        f"{SHARES}: {about}" if about else SHARES,
        (Head("Model", width=130), [row.model for row in rows]),
        (Head("Judge passes", True, "Share of the model's outputs at its threshold", 142),
         [estimated(row.judged) for row in rows]),
        (Head("Corrected", True, CORRECTED_SHARES, 250),
         [NO_SHARE[row.obstacle] if row.obstacle else estimated(row.corrected) for row in rows]),
        (Head("Labels", True, "Random labels of the model's own outputs", 80), [count(row.labels) for row in rows]),
    )  # fmt: skip


def means_frame(rows: Iterable[tuple[Column, str, Corrected, PassRate]]) -> pd.DataFrame:
    """Return a row a statistic of each (metric, criterion, means of a model, share of it that passes).

    Columns: evaluator, metric, criterion, model, unit (of the means: of the metric or of the labels), n (random labels
    of the model), total, statistic (raw, corrected, labels, gap: judge − people; unsure: the ends of corrected if
    unsure labels were the lowest, or the highest; judged, passes: the share that the judge passes, and corrected for
    its errors), value, low, high, needs (labels that lack), others (whether intervals allow for other raters), note
    (why there is no number).
    """
    import pandas as pd

    names = "evaluator metric criterion model unit n total statistic value low high needs others note".split()
    found = []
    for column, criterion, mean, passing in rows:
        ends = mean.unsure or (None, None)
        stats = [
            ("raw", _parts(mean.raw), 0, ""),
            *((name, _parts(getattr(mean, name)), mean.needs, "") for name in ("corrected", "labels", "gap")),
            ("unsure", (None, *ends), 0, "" if mean.unsure else "no label is unsure"),
            ("judged", _parts(passing.judged), 0, ""),
            ("passes", _parts(passing.corrected), 0, NO_SHARE.get(passing.obstacle, "")),
        ]
        about = (column.evaluator, column.metric, criterion, mean.model, mean.unit, mean.n, mean.total)
        found += [
            dict(zip(names, (*about, name, *parts, needs, mean.others, note), strict=True))
            for name, parts, needs, note in stats
        ]
    return pd.DataFrame(found, columns=names)


def _parts(found: Estimated | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if found is None else (found.value, found.low, found.high)


def raters_frame(rows: Iterable[tuple[str, Sequence[Raters], RaterErrors]]) -> pd.DataFrame:
    """Return a row a statistic of raters: of all together (`rater` and `other` empty), of each pair, of each rater.

    Columns: criterion, sample ("outputs": a random sample of all, "labelled": those alone), rater, other, n, statistic
    (alpha, kappa, weighted, equal; of Dawid–Skene's model passes, sensitivity, specificity), value, low, high, needs
    (labels that lack), note (why there is no number).
    """
    import pandas as pd

    names = "criterion sample rater other n statistic value low high needs note".split()
    found = []
    for criterion, pairs, errors in rows:
        stats = [
            (one.sample, one.left, one.right, one.n, name, getattr(one, name), "")
            for one in pairs
            for name in ("kappa", "weighted", "equal") * bool(one.left) or ("alpha",)
        ]
        note = NO_ERRORS.get(errors.obstacle, "")
        stats.append((errors.sample, "", "", errors.n, "passes", errors.share, note))
        stats += [
            (errors.sample, one.rater, "", one.labels, name, getattr(one, name), "")
            for one in errors.raters
            for name in ("sensitivity", "specificity")
        ]
        found += [
            dict(zip(names, (criterion, *about, stat.value, stat.low, stat.high, stat.needs, note), strict=True))
            for *about, stat, note in stats
        ]
    return pd.DataFrame(found, columns=names)


def replacement_frame(rows: Iterable[tuple[str, Replacement]]) -> pd.DataFrame:
    """Return a row a rater of each (criterion, test), after one of all raters together (`rater` empty).

    Columns: evaluator, metric, criterion, epsilon, rater, n, judge, people (shares of the outputs on which the judge,
    the rater is at least as close to the others; of all raters the mean, ρ, and none), p, adjusted, winning_rate (ω),
    replaces, sentence.
    """
    import pandas as pd

    found: list[dict[str, object]] = []
    for criterion, one in rows:
        about: dict[str, object] = {"evaluator": one.column.evaluator, "metric": one.column.metric}
        about |= {"criterion": criterion, "epsilon": one.epsilon}
        found.append(
            about
            | {"rater": "", "n": one.n, "judge": one.advantage, "winning_rate": one.winning_rate}
            | {"replaces": one.replaces if one.tests else None, "sentence": replacement_sentence(one, criterion)}
        )
        found += [
            about
            | {"rater": name, "n": test.n, "judge": test.judge, "people": test.rater}
            | {"p": test.p, "adjusted": test.adjusted, "replaces": test.wins}
            for name, test in one.tests
        ]
    names = "evaluator metric criterion epsilon rater n judge people p adjusted winning_rate replaces sentence"
    return pd.DataFrame(found, columns=names.split())
