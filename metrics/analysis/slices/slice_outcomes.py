"""What a model did unit by unit: a metric's value per case, of a detection run what became of each object.

Metrics of the whole data set, such as AP, have no value of a case: they are computed again on the cases of a slice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from metrics.analysis.comparison.case_values import case_values
from metrics.analysis.comparison.paired_bootstrap import computed_again, resampled_evaluators
from metrics.analysis.leaderboard.distributions import metrics_by_case
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.analysis.leaderboard.replicates import no_means
from metrics.analysis.objects.object_index import SIZES, object_index
from metrics.analysis.objects.operating_point import best_point
from metrics.analysis.slices.slice_features import Categories, Known, Numbers, known_of_cases
from metrics.analysis.slices.topics import TOPIC, topics
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.arrow import has_value
from metrics.core.errors import InputError
from metrics.core.metric_names import full_name
from metrics.core.registry import title_of
from metrics.core.sampling_design import cluster_codes
from metrics.store import Run, cache_by_run


@dataclass(frozen=True, slots=True)
class Measure:
    """What slices can be compared by: `of` says whether the units are cases, objects or predictions.

    `metric` of objects is FOUND, of predictions RIGHT: shares of an evaluator's ground truths, of its predictions; of a
    metric of the whole data set (`of` DATA_SET) it is its name with its own columns.
    """

    evaluator: str
    metric: str
    title: str
    description: str
    direction: str
    of: str
    primary: bool
    minor: bool
    low: float = 0.0
    high: float = 1.0
    binary: bool = False

    @property
    def key(self) -> str:
        """Return the key of the measure, `evaluator/metric`."""
        return f"{self.evaluator}/{self.metric}"

    @property
    def ends(self) -> tuple[float, float]:
        """The range of its values."""
        return self.low, self.high


FOUND, RIGHT = "objects_found", "predictions_right"
COUNTS = "A prediction counts from the score with the model's best F1 on"
DATA_SET = "data set"
MOST_CASES = 5_000  # of a suite whose slices are computed again, each with its rest
RESAMPLES = 200  # of a slice
OBJECTS = {
    FOUND: ("objects", "objects found", "share of the ground truths that a prediction was matched to that counts"),
    RIGHT: ("predictions", "predictions right", "share of the predictions that count that were matched"),
}


@dataclass(frozen=True, eq=False)
class Outcomes:
    """One model's values by one measure: n units that have one.

    values [n]; position [n] of the case in the suite; known columns of each unit; weights [n] and clusters [n], codes,
    or None. binary: every value is 0 or 1 and stands for a single answer. noun: what a unit is called. unscored: cases
    without a value. computed: of a metric of the whole data set, its value, low and high over some of the units [n].
    """

    measure: Measure
    model: str
    values: Floats
    position: Ints
    known: Mapping[str, Known]
    weights: Floats | None
    clusters: Ints | None
    binary: bool
    noun: str
    unscored: int
    computed: Callable[[Bools], Floats] | None = None

    @property
    def badness(self) -> Floats:
        """The values turned so that lower is worse."""
        return -self.values if self.measure.direction == "lower" else self.values


@cache_by_run(maxsize=8)
def measures(run: Run) -> tuple[Measure, ...]:
    """Return the metrics that slices can be compared by, those with a better end, in the order of the leaderboard.

    They have a value per case, or can be computed again with an interval on any cases. A detection run also has two of
    each evaluator that matched its objects.
    """
    by_case, columns = metrics_by_case(run) - no_means(run), leaderboard(run).columns
    again = resampled_evaluators(run, run, columns) if run.spec.suite.cases <= MOST_CASES else {}
    found: dict[str, Measure] = {}
    for column in columns:
        has_cases = (column.evaluator, column.metric) in by_case
        if (has_cases or column.evaluator in again) and column.direction != "none":
            metric, of = (column.metric, "cases") if has_cases else (column.key.partition("/")[2], DATA_SET)
            title, said, ends = full_name(column), column.description, (column.low, column.high)
            flags = column.primary, column.minor
            measure = Measure(column.evaluator, metric, title, said, column.direction, of, *flags, *ends, column.binary)
            found.setdefault(measure.key, measure)
    if run.spec.suite.task == "detection":
        for name in run.match_names():
            for metric, (of, title, description) in OBJECTS.items():
                whole = f"{title_of(name)}: {title}"
                about = f"{description}. {COUNTS}"
                found[f"{name}/{metric}"] = Measure(name, metric, whole, about, "higher", of, True, False)
    return tuple(found.values())


@cache_by_run(maxsize=2)
def outcomes(
    run: Run, model: str, evaluator: str, metric: str, by_topic: bool = False, baseline: str | None = None
) -> Outcomes:
    """Return one model's values by a measure; with `by_topic` the topics of the questions are known too, see `topics`.

    With a `baseline`, the differences from that model's values, on the cases of which both have one. InputError where
    the run has no such model or measure, or where the measure has no value of a case to compare with the baseline's.
    """
    known = dict(known_of_cases(run, model))
    measure = next((one for one in measures(run) if one.key == f"{evaluator}/{metric}"), None)
    if measure is None:
        raise InputError(
            f"run {run.id} has no values of {evaluator} {metric!r} to slice, or neither end of it is better"
        )
    if by_topic:
        known[TOPIC] = topics(run)
    if baseline is not None and measure.of != "cases":
        raise InputError(f"{measure.title} has no value of a case that {model} and {baseline} could be compared by")
    if measure.of == DATA_SET:
        return _of_data_set(run, model, measure, known)
    if measure.of != "cases":
        return _of_objects(run, model, measure, known)
    design = run.sampling_design()
    key = (evaluator, metric)
    measured = case_values(run, model, design, [key]).get(key)
    if measured is None or not measured.present.any():
        raise InputError(f"{model} has no values of {evaluator} {metric!r}")
    values, there, is_binary = measured.values, measured.present, measure.binary and measured.single
    if baseline is not None:
        other = case_values(run, baseline, design, [key]).get(key)
        there = there & other.present if other is not None else np.zeros_like(there)
        if other is None or not there.any():
            raise InputError(f"no case has values of both {model} and {baseline}")
        values, is_binary, widest = measured.minus(other), False, measure.high - measure.low
        measure = replace(measure, title=f"{measure.title}, difference from {baseline}", low=-widest, high=widest)
    present = np.flatnonzero(there)
    weights, clusters = design.of_part(present)
    binary = is_binary and weights is None and clusters is None
    values, places, out = values[present], present.astype(np.int64), len(design) - len(present)
    own = known if not out else {name: column.take(present) for name, column in known.items()}
    return Outcomes(measure, model, values, places, own, weights, clusters, binary, _noun(run), out)


def _noun(run: Run) -> str:
    """Return what a case is called."""
    task = run.spec.suite.task
    asked = task in ("text", "agent") and has_value(run.input_path("suite/cases.parquet"), "question")
    return "questions" if asked else "images" if task in ("detection", "segmentation") else "cases"


def _of_data_set(run: Run, model: str, measure: Measure, known: Mapping[str, Known]) -> Outcomes:
    """Return every case, with what computes a metric again on some of them."""
    design, suite = run.sampling_design(), run.sampled_suite
    case_ids, kept = suite.cases["case_id"].combine_chunks(), dict[bytes, Floats]()

    def compute(mask: Bools) -> Floats:
        key = np.packbits(mask).tobytes()
        if key not in kept:
            cases = case_ids.filter(pa.array(mask))
            most = None if mask.all() else RESAMPLES  # of all cases as the leaderboard has it
            again = computed_again(run, model, measure.evaluator, suite, cases, most) if mask.any() else {}
            same = again.get((measure.key, None), [])
            ends = [[one.value, one.low, one.high] for one in same]
            kept[key] = np.array(ends, np.float64).mean(axis=0) if same else np.full(3, np.nan)
        return kept[key]

    if np.isnan(compute(np.ones(len(design), bool))[0]):
        raise InputError(f"{model} has no values of {measure.evaluator} {measure.title!r}")
    everything = np.arange(len(design))
    weights, clusters = design.of_part(everything)
    zeros = np.zeros(len(design))
    return Outcomes(measure, model, zeros, everything, known, weights, clusters, False, _noun(run), 0, compute)


def _of_objects(run: Run, model: str, measure: Measure, known: Mapping[str, Known]) -> Outcomes:
    """Return every ground truth, found or missed, or every prediction, right or wrong, clustered by image.

    Predictions count from the score with the model's best F1 on: what nobody would keep is neither right nor wrong.
    """
    index, least = object_index(run, measure.evaluator, model), best_point(run, model).score
    wrong = "fn" if measure.of == "objects" else "fp"
    kinds = np.array([1 if kind == "tp" else 0 if kind.startswith(wrong) else -1 for kind in index.kinds], np.int64)
    outcome = kinds[index.kind]
    uncounted = (index.score < least) & (outcome >= 0)
    outcome[uncounted] = 0 if measure.of == "objects" else -1
    rows = np.flatnonzero(outcome >= 0)
    position = index.position[rows].astype(np.int64)
    label = index.label[rows].astype(np.int64)
    if measure.of == "objects":  # a ground truth found under another label keeps its own
        label = np.where(index.truth[rows] >= 0, index.truth[rows], label)
    own: dict[str, Known] = {
        "class": Categories(index.labels, label),
        "size": Categories(tuple(SIZES), index.size[rows].astype(np.int64)),
        "area": Numbers(index.area[rows].astype(np.float64)),
    }
    design = run.sampling_design()
    weights = None if design.weights is None else design.weights[position]
    cases = {name: column.take(position) for name, column in known.items() if name != "class"}
    counted = {"objects": f"objects (found at score ≥ {least:g})", "predictions": f"predictions at score ≥ {least:g}"}
    values, clusters = outcome[rows].astype(np.float64), cluster_codes(design.units[position])
    noun = counted[measure.of] if least else measure.of
    return Outcomes(measure, model, values, position, own | cases, weights, clusters, False, noun, 0)
