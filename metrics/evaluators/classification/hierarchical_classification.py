"""hierarchical_classification: classes in a hierarchy, where a near miss is less wrong than a far one."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Floats
from metrics.core.errors import InputError, InputProblem
from metrics.core.evaluator import Aggregate, Example, Findings, Metric
from metrics.core.suite import Outputs, Suite
from metrics.evaluators._classification import NOTHING_SCORED, ResamplingParameters, aggregate, estimate
from metrics.evaluators._spread_scores import spread_scores
from metrics.evaluators.classification._examples import classification_evaluator, scored_cases
from metrics.evaluators.classification.classification import top_predictions
from metrics.stats.bootstrap import Draws
from metrics.stats.float_tolerance import ratio
from metrics.stats.prediction_errors import resampled_means

FLAT = "no class has another one above it: name them in the parameter parents, or a separator of paths"
NO_TRUTH = "the case has no true label"
UNANSWERED = "the model made no prediction"
METRICS = ("hierarchical_f1", "hierarchical_precision", "hierarchical_recall", "lca_distance")
PETS = {"poodle": "dog", "husky": "dog", "dog": "animal", "cat": "animal", "car": "vehicle"}
MISSES = scored_cases(
    ("poodle", {"husky": 1.0}), ("cat", {"cat": 1.0}), ("husky", {"car": 1.0}), ("poodle", {"dog": 1})
)


class HierarchyParameters(ResamplingParameters):
    """Where the hierarchy comes from."""

    parents: dict[str, str] = Field(
        default_factory=dict, description="The class above each class; empty: those that the suite names."
    )
    separator: str = Field(
        "", max_length=10, description="What separates the classes of a path, such as / in animal/dog; empty: no paths."
    )


@classification_evaluator(
    metrics=(
        Metric("hierarchical_f1", "Harmonic mean of hierarchical precision and recall.", primary=True),
        Metric("hierarchical_precision", "Share of the predicted classes and those above them that are true ones."),
        Metric("hierarchical_recall", "Share of the true classes and those above them that are predicted."),
        Metric.amount(
            "lca_distance",
            "Steps from the true class to the predicted one by way of their lowest common ancestor.",
            title="LCA distance",
        ),
    ),
    sources=("Kiritchenko et al. 2006: hierarchical F1",),
    standards=("valid and reliable",),
    default_needs=("class_parents",),
    examples=(
        Example(
            "another dog, right, something else altogether, and dog for a poodle",
            MISSES,
            expect={
                "hierarchical_recall": (2 + 2 + 0 + 2) / (3 + 2 + 3 + 3),
                "hierarchical_f1": 2 * 6 / (9 + 11),
                "lca_distance": (2 + 0 + 5 + 1) / 4,
            },
            rows=({"metric": "hierarchical_precision", "value": (2 + 2 + 0 + 2) / (3 + 2 + 2 + 2), "n": 4},),
            parameters={"parents": PETS},
        ),
        Example(
            "paths as labels",
            scored_cases(("animal/dog", {"animal/cat": 1.0})),
            expect={"hierarchical_f1": 0.5, "lca_distance": 2.0},
            parameters={"separator": "/"},
        ),
        Example(
            "without a hierarchy there is no value",
            scored_cases(("cat", {"dog": 1.0})),
            expect={"hierarchical_f1": None},
        ),
    ),
    differs_from="classification counts every wrong class alike; here one with the same class above it is half right.",
    differs_from_source="As in the source the root, which is above all classes, counts in no set. The LCA distance is "
    "added; classes without a common ancestor meet at the root. The thresholds are Assay's.",
)
def hierarchical_classification(suite: Suite, outputs: Outputs, parameters: HierarchyParameters) -> Findings:
    """How near the predicted class is to the true one in a hierarchy: hierarchical precision, recall, F1 and distance.

    The prediction of a case is its label with the highest score, as in classification. With A the true class and all
    above it, and P the predicted one and all above it, without the root, summed over the cases:

        hierarchical_precision = Σ|A ∩ P| / Σ|P|        hierarchical_recall = Σ|A ∩ P| / Σ|A|
        hierarchical_f1 = 2·Σ|A ∩ P| / (Σ|A| + Σ|P|)    lca_distance = mean |A| + |P| − 2·|A ∩ P|

    The distance counts the steps up from the true class to the lowest class that is above both, and down to the
    predicted one; classes that have none in common meet at the root. 0 where the prediction is right.

    The class above each class comes from `parents`, else from the suite; with a `separator` a label is a path and the
    classes above it are its beginnings. A class that nothing is said of stands below the root. Where no class has one
    above it there is no value, with the reason. Cases without a true label or a prediction are unscored.

    The score of a case is its own F1, precision, recall and distance; evidence: truth, predicted and the lowest common
    ancestor. 95 % intervals over cases, or over `cases.group` where given: resamples for the shares, bootstrap for the
    distance; two models are tested on the same resamples.
    """
    truth, ids = suite.cases["label"].combine_chunks(), suite.cases["case_id"].combine_chunks()
    best, _ = top_predictions(suite.cases["case_id"], outputs.predictions)
    named = pa.concat_arrays([truth, best]).unique().drop_null().to_pylist()
    parents = parameters.parents or {n: f.parent for n, f in suite.classes.items() if f.parent is not None}
    lines = _lines(suite.name, named, parents, parameters.separator)
    if all(len(line) == 1 for line in lines.values()):
        rows = [aggregate(name, math.nan, n=0, unscored=len(suite), reason=FLAT) for name in METRICS]
        nobody = np.zeros(0, np.intp)
        return Findings(rows, spread_scores(ids, nobody, pa.repeat(FLAT, len(ids)), {}, truth=truth, predicted=best))
    reasons = pc.case_when(pc.make_struct(truth.is_null(), best.is_null()), NO_TRUTH, UNANSWERED)
    place = np.flatnonzero(pc.and_(truth.is_valid(), best.is_valid()).to_numpy(zero_copy_only=False))
    where = pa.array(place)
    pairs = list(zip(truth.take(where).to_pylist(), best.take(where).to_pylist(), strict=True))
    found = {pair: _compared(lines[pair[0]], lines[pair[1]]) for pair in set(pairs)}
    sizes = np.array([found[pair][0] for pair in pairs], np.float64).reshape(-1, 3)
    shared, real, made = sizes.T
    values = {
        "hierarchical_f1": 2 * shared / (real + made), "hierarchical_precision": shared / made,
        "hierarchical_recall": shared / real, "lca_distance": real + made - 2 * shared,
    }  # fmt: skip
    ancestors = pa.array([found[pair][1] for pair in pairs], pa.string())
    cases = spread_scores(
        ids, place, pc.cast(reasons, pa.string()), values, truth=truth, predicted=best, common_ancestor=ancestors
    )
    draws = parameters.draws(suite).of_cases(place)
    return Findings(_aggregates(sizes, values["lca_distance"], draws, len(suite)), cases)


def _lines(suite: str, labels: Sequence[str], parents: Mapping[str, str], separator: str) -> dict[str, tuple[str, ...]]:
    """Return each label's line, from the class below the root to itself. InputError where classes are in a circle."""
    lines = {}
    for label in labels:
        if separator:
            steps = label.split(separator)
            lines[label] = tuple(separator.join(steps[: end + 1]) for end in range(len(steps)))
            continue
        line = [label]
        while (above := parents.get(line[-1])) is not None:
            if above in line:
                circle = " below ".join([*line[line.index(above) :], above])
                raise InputError([InputProblem(suite, circle, "a hierarchy without circles", column="parents")])
            line.append(above)
        lines[label] = tuple(reversed(line))
    return lines


def _compared(true: tuple[str, ...], made: tuple[str, ...]) -> tuple[tuple[int, int, int], str | None]:
    """Return the sizes of what two lines share and of both, and the lowest class that they share."""
    shared = next((place for place, (a, b) in enumerate(zip(true, made, strict=False)) if a != b), None)
    shared = min(len(true), len(made)) if shared is None else shared
    return (shared, len(true), len(made)), true[shared - 1] if shared else None


def _aggregates(sizes: Floats, distance: Floats, draws: Draws, cases: int) -> list[Aggregate]:
    n = len(sizes)
    if not n:
        return [aggregate(name, math.nan, n=0, unscored=cases, reason=NOTHING_SCORED) for name in METRICS]
    shared, real, made, apart = resampled_means(np.column_stack([sizes, distance]), draws).T
    shares = {
        "hierarchical_f1": ratio(2 * shared, real + made),
        "hierarchical_precision": ratio(shared, made),
        "hierarchical_recall": ratio(shared, real),
    }
    ends, why = draws.mean_interval(distance, 0.0)
    return [
        *(estimate(name, own, n, draws, n=n, unscored=cases - n) for name, own in shares.items()),
        aggregate("lca_distance", apart[0], ends, "bootstrap", n=n, unscored=cases - n, reason=why, samples=apart[1:]),
    ]
