"""group_fairness: whether a classifier selects, errs and is calibrated alike in all groups."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.evaluator import Aggregate, Direction, Example, Findings, Metric
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.evaluators._classification import NOTHING_SCORED, ResamplingParameters, aggregate, estimate
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification._score_matrix import read_scores
from metrics.evaluators.classification.classification import top_predictions
from metrics.stats.bootstrap import Draws
from metrics.stats.corrections import holm
from metrics.stats.float_tolerance import ratio
from metrics.stats.group_rates import Ends, difference_interval, equal_rates_p, extremes, ratio_interval
from metrics.stats.intervals import NONE, Interval, wilson
from metrics.stats.paired_tests import resample_tests
from metrics.stats.student_t import Z95

PAIRS = pa.schema(
    [
        ("rate", pa.string()),
        ("group", pa.string()),
        ("other", pa.string()),
        ("value", pa.float64()),
        ("other_value", pa.float64()),
        ("difference", pa.float64()),
        ("low", pa.float64()),  # of the difference, 95 %
        ("high", pa.float64()),
        ("p", pa.float64()),
        ("adjusted_p", pa.float64()),  # Holm's, over all rows of the model
    ]
)
MOST_GROUPS = 50
NO_COLUMN = "name the column of groups in the parameter column"
NO_POSITIVE = "name the class that counts as selected in the parameter positive: there are not just two"
TOO_MANY = f"{{}} groups, more than {MOST_GROUPS}: no column of groups"
FEW = "fewer than two groups have {} cases"
UNDEFINED = {
    "selection_rate": "no case",
    "tpr": "no case of the class",
    "fpr": "no case of another class",
    "accuracy": "no case",
    "calibration_gap": "no score of the class",
}
DIFFERENCES = {
    "demographic_parity_difference": ("selection_rate",), "equalized_odds_difference": ("tpr", "fpr"),
    "accuracy_difference": ("accuracy",), "calibration_difference": ("calibration_gap",),
}  # fmt: skip
RATIOS = {"demographic_parity_ratio": ("selection_rate",), "equalized_odds_ratio": ("tpr", "fpr")}
LOANS = scored_cases(
    ("yes", {"yes": 0.8, "no": 0.2}), ("no", {"yes": 0.6, "no": 0.4}), ("yes", {"yes": 0.9, "no": 0.1}),
    ("no", {"yes": 0.3, "no": 0.7}), ("yes", {"yes": 0.4, "no": 0.6}), ("yes", {"yes": 0.7, "no": 0.3}),
    ("no", {"yes": 0.2, "no": 0.8}), ("no", {"yes": 0.1, "no": 0.9}),
)  # fmt: skip
TWO_TOWNS = LOANS | {
    "cases": [case | {"town": "ford" if place < 4 else "hill"} for place, case in enumerate(LOANS["cases"])]
}


class FairnessParameters(ResamplingParameters):
    """Which groups, and which class counts as selected."""

    column: str = Field("", description="The column of the cases that names each one's group, of the metadata.")
    positive: str = Field("", description="The class that counts as selected; empty: the last one of two.")
    least: int = Field(
        10, ge=2, description="Smaller groups are shown, but take no part in differences, ratios and tests."
    )


def _rate(name: str, words: str, direction: Direction = Direction.NONE, low: float = 0.0) -> Metric:
    title = {"tpr": "TPR", "fpr": "FPR"}.get(name, "")
    about = f"{words}; of each group, and of all cases."
    return Metric.detail(name, about, low=low, direction=direction, title=title)


@classification_evaluator(
    version=2,
    metrics=(
        Metric.lower(
            "demographic_parity_difference",
            "Largest selection rate of a group less the smallest.",
            primary=True,
            threshold=0.1,
        ),
        Metric("demographic_parity_ratio", "Smallest selection rate of a group over the largest.", threshold=0.8),
        Metric.lower(
            "equalized_odds_difference",
            "The larger of the differences between groups in TPR and in FPR.",
            threshold=0.1,
        ),
        Metric("equalized_odds_ratio", "The smaller of the ratios between groups of TPR and of FPR.", threshold=0.8),
        Metric.lower("accuracy_difference", "Largest accuracy of a group less the smallest.", threshold=0.1),
        Metric.lower(
            "calibration_difference", "Largest calibration gap of a group less the smallest.", high=2.0, threshold=0.1
        ),
        _rate("selection_rate", "Share of the cases that are predicted to be of the class"),
        _rate("tpr", "True positive rate: share of the cases of the class that are predicted so", Direction.HIGHER),
        _rate("fpr", "False positive rate: share of the other cases that are predicted so", Direction.LOWER),
        _rate("accuracy", "Share of the cases that are predicted right, as of the class or not", Direction.HIGHER),
        _rate("calibration_gap", "Mean score of the class less the share of cases of it", low=-1.0),
    ),
    sources=("fairlearn: MetricFrame", "Hardt et al. 2016: equalized odds", "Newcombe 1998: intervals of differences"),
    standards=("fair", "outcomes analysis"),
    default_needs=("fairness_groups",),
    examples=(
        Example(
            "three of four selected in ford, one of four in hill",
            TWO_TOWNS,
            expect={
                "demographic_parity_difference": 0.5,
                "demographic_parity_ratio": 1 / 3,
                "equalized_odds_difference": 0.5,
                "equalized_odds_ratio": 0.0,
                "accuracy_difference": 0.0,
            },
            rows=(
                {"metric": "selection_rate", "label": "ford", "value": 0.75, "n": 4},
                {"metric": "tpr", "label": "hill", "value": 0.5},
                {"metric": "fpr", "label": "ford", "value": 0.5},
                {"metric": "calibration_gap", "label": "ford", "value": 0.15},
            ),
            parameters={"column": "town", "positive": "yes", "least": 2},
        ),
        Example("without a column of groups there is no value", LOANS, expect={"demographic_parity_difference": None}),
    ),
    differs_from="fairness_bias judges texts; this one compares what a classifier decides of groups of cases.",
    differs_from_source="Where a group cannot have a rate, such as the TPR of a group without positives, its "
    "difference and ratio have no value; fairlearn counts it as 0. Groups below `least` cases are left out of them. "
    "Intervals, tests, the calibration gap and the thresholds, of which .8 is the four-fifths rule, are added.",
)
def group_fairness(suite: Suite, outputs: Outputs, parameters: FairnessParameters) -> Findings:
    """Whether a classifier selects, errs and is calibrated alike in all groups of cases.

    A case is selected where its highest-scored label is `positive`. In each group of the column `column`:

        selection_rate = selected / cases              tpr = selected / cases of the class
        fpr = selected / cases of other classes        accuracy = right, as of the class or not / cases
        calibration_gap = mean score of the class − share of the cases that are of it

    Over the groups, with max and min of a rate over them:

        demographic_parity_difference, _ratio   = max − min, min / max of selection_rate
        equalized_odds_difference, _ratio       = the larger difference, the smaller ratio of those of tpr and fpr
        accuracy_difference, calibration_difference = max − min

    A difference of 0 and a ratio of 1 are equality. The rates cannot all be equal where groups differ in how often the
    class is true, unless the classifier is perfect: which of them matters depends on what a wrong decision costs. Equal
    to fairlearn's functions of these names.

    Groups below `least` cases are shown, but take no part in differences, ratios and tests, and are named in the
    reason. Where a group cannot have a rate, as the TPR of a group without positives, differences and ratios of that
    rate have no value. Cases without a group, a true label or a prediction are unscored. The calibration gap needs
    scores within 0 … 1.

    Intervals of rates: Wilson's, or resamples where cases are in groups of `cases.group`. Those of differences and
    ratios follow from the rates' (Newcombe) for the two groups that are furthest apart; as these are chosen by what was
    seen, differences of many small groups are large by chance: then look at the tests. Curve: each pair of groups and
    rate with its difference, interval and p (score test; resamples for clustered cases and for calibration), adjusted
    by Holm over all rows of a model. Two models are tested on the same resamples of the cases.
    """
    found = read_scores(suite, outputs, "kept")
    positive = _positive(suite, parameters)
    groups = _groups(suite, parameters) if parameters.column else None
    if groups is None or positive not in found.labels:
        why = NO_COLUMN if groups is None else NO_POSITIVE
        return Findings([aggregate(name, math.nan, n=0, unscored=len(suite), reason=why) for name in _names()])
    best, _ = top_predictions(suite.cases["case_id"], outputs.predictions)
    place = pa.array(found.place)
    own = groups.take(place)
    decided = pc.and_(own.is_valid(), best.take(place).is_valid())
    known = np.flatnonzero(decided.to_numpy(zero_copy_only=False))
    names = sorted(own.unique().drop_null().to_pylist())
    if len(names) > MOST_GROUPS or not len(known):
        why = TOO_MANY.format(len(names)) if len(known) else NOTHING_SCORED
        return Findings([aggregate(name, math.nan, n=0, unscored=len(suite), reason=why) for name in _names()])
    code = found.labels.index(positive)
    group = pc.index_in(own, pa.array(names, pa.string())).take(pa.array(known)).to_numpy().astype(np.int64)
    selected = pc.fill_null(pc.equal(best.take(place), positive), False).to_numpy(zero_copy_only=False)[known]
    score = found.scores[known, code] if found.no_probabilities is None else np.full(len(known), np.nan)
    true, draws = (found.truth == code)[known], parameters.draws(suite).of_cases(found.place[known])
    cases = _Cases(tuple(names), group, true, selected, score, draws, len(suite) - len(known), parameters.least)
    rates = _rates(cases)
    ends = {name: _ends(name, rates[name], cases) for name in rates}
    rows = [*_overall(rates, ends, cases), *_of_groups(rates, ends, cases)]
    return Findings(rows, curves=_pairs(rates, ends, cases))


@dataclass(frozen=True, eq=False, slots=True)
class _Cases:
    """The n scored cases: code of their group, whether of the class, whether selected, score of the class (or NaN)."""

    names: tuple[str, ...]
    group: Ints
    true: Bools
    selected: Bools
    score: Floats
    draws: Draws
    unscored: int
    least: int

    @property
    def large(self) -> Bools:
        """Which groups have enough cases."""
        return np.bincount(self.group, minlength=len(self.names)) >= self.least


@dataclass(frozen=True, eq=False, slots=True)
class _Rate:
    """A rate of each group in the data set and its resamples [1 + B, g]: value, hits and what they are of.

    `counts` [g] is how many cases the rate rests on.
    """

    value: Floats
    hits: Floats
    n: Floats
    counts: Ints

    @property
    def pooled(self) -> Floats:
        """The rate of all cases together [1 + B]."""
        return ratio(self.hits.sum(axis=1), self.n.sum(axis=1))


def _names() -> Iterator[str]:
    yield from (*DIFFERENCES, *RATIOS, *UNDEFINED)


def _positive(suite: Suite, parameters: FairnessParameters) -> str:
    """Return the class that counts as selected; "" where there is none."""
    if parameters.positive and parameters.positive not in suite.labels:
        expected = one_of(parameters.positive, suite.labels)
        raise InputError([InputProblem(suite.name, f"the class {parameters.positive!r}", expected, column="positive")])
    return parameters.positive or (suite.labels[-1] if len(suite.labels) == 2 else "")


def _groups(suite: Suite, parameters: FairnessParameters) -> pa.Array:
    names = {name.removeprefix(METADATA): name for name in suite.cases.column_names if name.startswith(METADATA)}
    names |= {"group": "group"} if "group" not in names else {}
    name = names.get(parameters.column.removeprefix(METADATA))
    if name is None:
        expected = one_of(parameters.column, list(names))
        raise InputError([InputProblem(suite.name, f"the column {parameters.column!r}", expected, column="column")])
    return suite.cases[name].combine_chunks()


def _rates(cases: _Cases) -> dict[str, _Rate]:
    g = len(cases.names)

    def counted(which: Bools, values: Floats | None = None) -> Floats:
        rows = np.flatnonzero(which)
        codes = cases.group[rows]
        sums = cases.draws.sums(codes, g, None if values is None else values[rows], cases=rows)
        if values is not None and cases.draws.weights is None:  # the data set's own exactly
            sums[0] = np.bincount(codes, values[rows], g)
        return sums

    every, scored = np.ones(len(cases.group), bool), ~np.isnan(cases.score)
    parts = {
        "selection_rate": (cases.selected, every), "tpr": (cases.selected & cases.true, cases.true),
        "fpr": (cases.selected & ~cases.true, ~cases.true), "accuracy": (cases.selected == cases.true, every),
    }  # fmt: skip
    found = {}
    for name, (hit, of) in parts.items():
        hits, n = counted(hit), counted(of)
        found[name] = _Rate(ratio(hits, n), hits, n, np.bincount(cases.group[of], minlength=g))
    apart, n = counted(scored, cases.score - cases.true), counted(scored)
    found["calibration_gap"] = _Rate(ratio(apart, n), apart, n, np.bincount(cases.group[scored], minlength=g))
    return found


def _ends(name: str, rate: _Rate, cases: _Cases) -> list[Ends | None]:
    """Return the 95 % interval of the rate of each group; None where it has none."""
    found: list[Ends | None] = []
    for place in range(len(cases.names)):
        row = _estimated(name, rate.value[:, place], rate.hits[0, place], rate.counts[place], cases)
        found.append(None if row.low is None or row.high is None else (row.low, row.high))
    return found


def _estimated(name: str, values: Floats, hits: float, n: int, cases: _Cases, label: str | None = None) -> Aggregate:
    many, reason = int(n), UNDEFINED[name] if np.isnan(values[0]) else None
    if name != "calibration_gap":
        own = wilson(hits, n) if cases.draws.single and n else None
        return estimate(name, values, max(1.0, n), cases.draws, n=many, unscored=cases.unscored, label=label,
                        share=own, reason=reason)  # fmt: skip
    ends: Interval = NONE
    samples = values[1:][~np.isnan(values[1:])]
    if len(samples) and many > 1 and reason is None and float(np.ptp(samples)) > 0:
        reach = Z95 * float(np.std(samples))
        ends = (max(-1.0, float(values[0]) - reach), min(1.0, float(values[0]) + reach))
    return aggregate(name, float(values[0]), ends, "bootstrap", n=many, unscored=cases.unscored, label=label,
                     reason=reason, samples=values[1:])  # fmt: skip


def _of_groups(
    rates: Mapping[str, _Rate], ends: Mapping[str, Sequence[Ends | None]], cases: _Cases
) -> Iterator[Aggregate]:
    """Yield the rates of all cases, then those of each group."""
    for name, rate in rates.items():
        yield _estimated(name, rate.pooled, rate.hits[0].sum(), rate.counts.sum(), cases)
    for place, label in enumerate(cases.names):
        for name, rate in rates.items():
            yield _estimated(name, rate.value[:, place], rate.hits[0, place], rate.counts[place], cases, label)


def _overall(
    rates: Mapping[str, _Rate], ends: Mapping[str, Sequence[Ends | None]], cases: _Cases
) -> Iterator[Aggregate]:
    """Yield differences and ratios of the groups that are furthest apart."""
    large = cases.large
    small = [name for name, enough in zip(cases.names, large, strict=True) if not enough]
    note = f"left out, fewer than {cases.least} cases: {', '.join(small)}" if small else None
    n = int(np.isin(cases.group, np.flatnonzero(large)).sum())
    for metric, names in (DIFFERENCES | RATIOS).items():
        divides = metric in RATIOS
        compared = (
            _apart(
                rates[name].value[:, large], [ends[name][place] for place in np.flatnonzero(large).tolist()], divides
            )
            for name in names
        )
        parts = [part for part in compared if part is not None]
        out = cases.unscored + len(cases.group) - n
        lacking = next(
            (f"{UNDEFINED[name]} in {cases.names[place]}: {name} has no value there" for name in names
             for place in np.flatnonzero(large & np.isnan(rates[name].value[0]))), None,
        )  # fmt: skip
        if lacking is not None and large.sum() > 1:
            yield aggregate(metric, math.nan, n=n, unscored=out, reason=lacking)
            continue
        if not parts:
            reason = note if large.sum() < 2 else "no group has the rate, or it is 0 in all of them"
            why = FEW.format(cases.least) if large.sum() < 2 else reason
            yield aggregate(metric, math.nan, n=n, unscored=out, reason=why)
            continue
        values, (low, high) = (min if divides else max)(parts, key=lambda part: float(part[0][0]))
        samples = (np.fmin if divides else np.fmax).reduce([part[0][1:] for part in parts])
        yield aggregate(
            metric, float(values[0]), (low, high), "bootstrap" if not cases.draws.single else "Newcombe", n=n,
            unscored=out, reason=note, samples=samples,
        )  # fmt: skip


def _apart(
    values: Floats, ends: Sequence[Ends | None], divides: bool
) -> tuple[Floats, tuple[float | None, float | None]] | None:
    """Return max − min, or min / max, over groups in the data set and its resamples [1 + B], and its interval."""
    places = extremes(values[0])
    if places is None:
        return None
    low, high = places
    bottom, top = np.fmin.reduce(values, axis=1), np.fmax.reduce(values, axis=1)  # NaN left out
    if divides:
        if top[0] <= 0:
            return None
        own = ratio(bottom, top)
    else:
        own = top - bottom
    a, b = ends[low], ends[high]
    if a is None or b is None:
        return own, (None, None)
    if divides:
        if bottom[0] <= 0:
            return own, (0.0, min(1.0, a[1] / top[0]))
        found = ratio_interval(bottom[0], a, top[0], b)
        return own, (max(0.0, found[0]), min(1.0, max(found[1], own[0])))
    found = difference_interval(top[0], b, bottom[0], a)
    return own, (max(0.0, min(found[0], own[0])), max(found[1], own[0]))


def _pairs(rates: Mapping[str, _Rate], ends: Mapping[str, Sequence[Ends | None]], cases: _Cases) -> pa.Table:
    """Return every rate of every two groups that are large enough, with Holm's adjusted p."""
    rows = []
    large = np.flatnonzero(cases.large).tolist()
    for name, rate in rates.items():
        for index, one in enumerate(large):
            for other in large[index + 1 :]:
                value, beside = float(rate.value[0, one]), float(rate.value[0, other])
                a, b = ends[name][one], ends[name][other]
                if math.isnan(value - beside) or a is None or b is None:
                    continue
                if cases.draws.single and name != "calibration_gap":
                    p = equal_rates_p((rate.hits[0, one], rate.hits[0, other]), (rate.n[0, one], rate.n[0, other]))
                else:
                    samples = rate.value[1:, one] - rate.value[1:, other]
                    p = float(resample_tests(np.array([value - beside]), samples[None])[0])
                low, high = difference_interval(value, a, beside, b)
                names = name, cases.names[one], cases.names[other]
                rows.append((*names, value, beside, value - beside, low, high, p))
    adjusted = holm(np.array([row[-1] for row in rows])).tolist()
    columns = list(zip(*((*row, p) for row, p in zip(rows, adjusted, strict=True)), strict=True))
    return pa.table(columns, schema=PAIRS) if rows else PAIRS.empty_table()
