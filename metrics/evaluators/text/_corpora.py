"""Corpus scores: counts of texts that add up, the score of their sums, and its interval from resampled cases."""

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import numpy as np

from metrics.core.array_types import Floats
from metrics.core.cases import join_cases
from metrics.core.evaluator import Aggregate, CaseScore, Columns, Findings, Status, no_output, not_applicable
from metrics.core.rounding import EQUAL
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators._classification import ResamplingParameters, aggregate
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import root
from metrics.stats.resample_intervals import resample_interval
from metrics.stats.student_t import student

NOTHING_COMPARED = "no case has both an expected answer and an output"
NO_REFERENCE = "no expected answer has text"
TOO_LONG = "texts of more than 10⁸ pairs of words: of which kinds their edits are is not known"
ALIKE = "No 95 % interval: every resample has the same value."


class Compared(NamedTuple):
    """The cases of one model that have an expected answer: places in the suite [n], answers, expected answers.

    Blank expected answers are left out.
    """

    places: list[int]
    cases: list[Case]
    answers: list[str]
    references: list[list[str]]
    missing: Mapping[str, CaseScore]  # by id: the cases without

    @property
    def reference_counts(self) -> str:
        """How many expected answers the cases have, as sacreBLEU's signature says it: a number, or `var`."""
        counts = {len(references) for references in self.references}
        return str(counts.pop()) if len(counts) == 1 else "var"


def compare_texts(suite: Suite, outputs: Outputs) -> Compared:
    """Return the cases of a suite with one model's answers to them."""
    found = Compared([], [], [], [], {})
    missing: dict[str, CaseScore] = dict.fromkeys(suite.cases["case_id"].to_pylist(), no_output())
    for case in sorted(join_cases(suite, outputs), key=lambda case: case.position):
        if case.error is not None:
            missing[case.case_id] = CaseScore({}, Status.ERROR, f"the model gave no answer: {case.error}")
            continue
        references = [text for text in case.expected_answers if text.strip()]
        if not references:
            missing[case.case_id] = not_applicable(NO_REFERENCE)
            continue
        del missing[case.case_id]
        found.places.append(case.position)
        found.cases.append(case)
        found.answers.append(case.answer or "")
        found.references.append(references)
    return found._replace(missing=missing)


def findings(
    suite: Suite,
    texts: Compared,
    parameters: ResamplingParameters,
    scores: Mapping[str, CaseScore],
    rows: Mapping[str, tuple[Floats, Callable[[Floats], Floats]]],
    columns: Mapping[str, Columns],
    open_above: Collection[str] = (),
) -> Findings:
    """Return the corpus scores of a model, with the scores of its cases.

    Args:
        scores: of the compared cases, by id.
        rows: by metric the counts [n, k] of the compared cases, and the score of sums [..., k] of them.
        columns: by metric, those of its aggregate.
        open_above: the metrics that have no upper end; the others are within 0 … 1.
    """
    draws = parameters.draws(suite).of_cases(np.array(texts.places, np.int64))
    aggregates = [
        corpus_aggregate(
            name, counts, score, draws, len(suite) - len(texts.cases), columns.get(name, {}), name not in open_above
        )
        for name, (counts, score) in rows.items()
    ]
    order = suite.cases["case_id"].to_pylist()
    all_scores = {**texts.missing, **scores}
    return Findings(aggregates, {case_id: all_scores[case_id] for case_id in order})


def corpus_aggregate(
    metric: str,
    counts: Floats,
    score: Callable[[Floats], Floats],
    draws: Draws,
    unscored: int,
    columns: Columns,
    bounded: bool,
) -> Aggregate:
    """Return the score of the sums of `counts` [n, k], with its 95 % interval from the same resamples for all models.

    The interval follows from the variance of the resamples: within 0 … 1 as resample_interval has it, else as that of a
    rate from 0 up. None of fewer than two units, or of an open score that is the same in every resample.
    """
    n = len(counts)
    if draws.weights is not None:
        counts = counts * draws.weights[:, None]
    if not n:
        return aggregate(metric, np.nan, n=0, unscored=unscored, reason=NOTHING_COMPARED, columns=columns)
    if np.isnan(counts).any():
        return aggregate(metric, np.nan, n=n, unscored=unscored, reason=TOO_LONG, columns=columns)
    units = np.zeros((draws.times.shape[1], counts.shape[1]))
    np.add.at(units, draws.unit, counts)
    value, samples = score(counts.sum(axis=0)), score(draws.times[1:].astype(np.float64) @ units)
    if draws.units < 2 or not len(samples):
        return aggregate(metric, float(value), n=n, unscored=unscored, columns=columns)
    if np.ptp(samples) <= EQUAL and not bounded:
        return aggregate(metric, float(value), n=n, unscored=unscored, columns=columns, reason=ALIKE)
    low, high = _bounded(value, samples, draws.units) if bounded else _open(float(value), samples, draws.units)
    return aggregate(
        metric, float(value), (low, high), "bootstrap", n=n, unscored=unscored, columns=columns, samples=samples
    )


def error_rate(sums: Floats) -> Floats:
    """Return edits / words of sums [..., 2] of both; 1 for edits without words, 0 for neither."""
    edits, words = sums[..., 0], sums[..., 1]
    found: Floats = np.divide(edits, words, out=np.asarray(edits > 0, np.float64), where=words > 0)
    return found


def _bounded(value: Floats, samples: Floats, units: float) -> tuple[float, float]:
    low, high = resample_interval(np.asarray(value), samples, np.inf, units, bias=0.0)
    return float(low), float(high)


def _open(value: float, samples: Floats, units: float) -> tuple[float, float]:
    """Return the interval of a rate from 0 up, whose variance is taken to fall with it: (v − p)² = t²·s²/v·p."""
    k = student(units - 1) ** 2 * float(samples.var()) / max(value, np.finfo(np.float64).tiny)
    reach = float(root(k * value + k * k / 4))
    return max(0.0, value + k / 2 - reach), value + k / 2 + reach


def signature(**parts: str) -> str:
    """Return sacreBLEU's signature of a score: how it was computed, so that others can compute it again."""
    return "|".join(f"{name}:{value}" for name, value in parts.items())
