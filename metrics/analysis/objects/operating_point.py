"""The operating point of a model in a detection run, and the matched objects behind a number: a point
of a curve by threshold, kinds of errors, a range of scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from metrics.analysis.objects.matching_again import ANY_LABEL, IOU, SEGMENTS
from metrics.analysis.objects.object_index import ObjectIndex, object_index
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.registry import title_of
from metrics.stats.float_tolerance import highest_place
from metrics.store import Run, cache_by_run
from metrics.store.reviews import Review

if TYPE_CHECKING:
    import pandas as pd

GRID: Floats = np.round(np.linspace(0.0, 1.0, 101), 2)  # score thresholds
COLUMNS = ["case_id", "label", "kind", "score", "iou", "object", "family"]
KEY = "coalesce('p' || prediction_id, 'a' || annotation_id) AS object"  # as in object_pages.GalleryObject
MAX_LISTED = 1_000  # rows of a list
MOST_OF_FAMILY = 500  # rows of a working point
Series = tuple[str, int]  # model, repeat
NONE = "(none)"  # stands for an absent label


class OperatingPoint(NamedTuple):
    """Predictions count from `score` on, and match from `iou` on."""

    score: float
    iou: float = IOU


def operating_point(run: Run, model: str) -> OperatingPoint:
    """Return the point that was chosen for all models of a run, else the one with the model's best F1."""
    score, iou = Review(run).point()
    return best_point(run, model, iou) if score is None else OperatingPoint(score, iou)


@cache_by_run(maxsize=256)
def best_point(run: Run, model: str, iou: float = IOU) -> OperatingPoint:
    """Return the score threshold with the model's highest F1 over all objects at an IoU threshold.

    The least of the hundredths 0 … 1 that reach it; 0 where no evaluator stored matches or scores exceed 1.
    """
    names = [name for name in match_evaluators(run) if name != SEGMENTS]  # segments have no scores
    evaluator = next((name for name in names if name != ANY_LABEL), next(iter(names), None))
    if evaluator is None or model not in run.models:
        return OperatingPoint(0.0, iou)
    index = object_index(run, evaluator, model, 1, iou)
    if np.nanmax(index.score, initial=0.0) > 1:
        return OperatingPoint(0.0, iou)
    tp, predicted, truths = _from_above(index)
    return OperatingPoint(float(GRID[highest_place(2 * tp / np.maximum(predicted + truths, 1))]), iou)


def confusion_at(run: Run, model: str, point: OperatingPoint, repeat: int = 1) -> pd.DataFrame:
    """Return the confusion matrix of one model's objects at a point, as detection_confusion counts it.

    Columns label (the truth; "background" for a prediction that matches nothing), predicted ("missed" for an object
    that nothing matches) and count, without empty cells.
    """
    from metrics.evaluators._objects import confusion_table

    index = object_index(run, ANY_LABEL, model, repeat, point.iou)
    size, reached = len(index.labels) + 1, index.score >= point.score
    made = reached & (_of_kind(index, "tp") | _of_family(index, "fp"))
    took = index.took > 0
    missed = (took & ~reached) | _of_family(index, "fn")
    truth = np.where(took, index.truth, size - 1)
    cells = np.bincount(truth[made].astype(np.int64) * size + index.label[made], minlength=size * size)
    lost = np.where(took, index.truth, index.label)[missed].astype(np.int64)
    cells += np.bincount(lost * size + size - 1, minlength=size * size)
    return cast("pd.DataFrame", confusion_table(cells.reshape(size, size), index.labels).to_pandas())


def _from_above(index: ObjectIndex) -> tuple[Ints, Ints, int]:
    """Return true positives and predictions that score at least each of GRID, and the number of ground truths."""
    right = _of_kind(index, "tp")
    made = right | _of_family(index, "fp")

    def counted(rows: Bools) -> Ints:
        reached = np.searchsorted(GRID, index.score[rows], side="right")
        return np.bincount(reached, minlength=len(GRID) + 1)[::-1].cumsum()[::-1][1:]

    return counted(right), counted(made), int(((index.took > 0) | _of_family(index, "fn")).sum())


def _of_kind(index: ObjectIndex, kind: str) -> Bools:
    return np.asarray(index.kind == (index.kinds.index(kind) if kind in index.kinds else -1))


def _of_family(index: ObjectIndex, family: str) -> Bools:
    return np.isin(index.kind, [code for code, kind in enumerate(index.kinds) if kind.startswith(family)])


class Listed(NamedTuple):
    """Some rows of a list and how many there are in all. Of matches: case_id, label, kind, score, iou, object (key)."""

    rows: pd.DataFrame
    total: int


class WorkingPoint(NamedTuple):
    """The objects at a score threshold: rows with COLUMNS, and how many there are of each family (tp, fp, fn)."""

    rows: pd.DataFrame
    counts: Mapping[str, int]


def match_evaluators(run: Run) -> dict[str, str]:
    """Return the evaluators of a run whose matches of objects or segments are stored: id → title."""
    pictured = run.spec.suite.task in ("detection", "segmentation")  # cases have matches too
    names = run.match_names() if pictured else ()
    return {name: title_of(name) for name in names}


def working_point(run: Run, evaluator: str, series: Series, labels: Sequence[str], threshold: float) -> WorkingPoint:
    """Return the objects of these labels at a score threshold, at most MOST_OF_FAMILY of each family.

    A match scored below the threshold is no longer made: its ground truth is missed. False positives come by falling,
    true positives by rising score. Empty where the run has no matches of that evaluator.
    """
    import pandas as pd

    if evaluator not in run.match_names():
        return WorkingPoint(pd.DataFrame(columns=COLUMNS), {})
    lost = "(kind = 'tp' AND score < $threshold)"
    moved = f"""
        SELECT case_id, label, CASE WHEN {lost} THEN 'fn' ELSE kind END AS kind,
               CASE WHEN {lost} THEN NULL ELSE score END AS score, iou, {KEY},
               CASE WHEN {lost} THEN 'fn' ELSE left(kind, 2) END AS family
        FROM "matches_{evaluator}"
        WHERE model = $model AND run = $run AND list_contains($labels, label)
              AND NOT (kind LIKE 'fp%' AND score < $threshold)"""
    bound: Any = {"model": series[0], "run": series[1], "labels": list(labels), "threshold": threshold}
    order = "CASE family WHEN 'fp' THEN -score ELSE score END NULLS LAST, case_id"
    rows = run.query(
        f"""SELECT *, count(*) OVER (PARTITION BY family) AS n FROM ({moved}) WHERE family IN ('tp', 'fp', 'fn')
            QUALIFY row_number() OVER (PARTITION BY family ORDER BY {order}) <= {MOST_OF_FAMILY}
            ORDER BY family, {order}""",
        bound,
    )
    first = rows.drop_duplicates("family")
    counts = dict(zip(first["family"].astype(str), first["n"].astype(int), strict=True))
    return WorkingPoint(rows.drop(columns="n"), counts)


def matched(run: Run, evaluator: str, model: str, kinds: Sequence[str], label: str | None = None) -> Listed:
    """Return a model's matches of these kinds (and of that label), best scores first."""
    where = "model = ? AND list_contains(?, kind) AND label = coalesce(?, label)"
    return listed(run, evaluator, where, [model, list(kinds), label])


def scored(run: Run, evaluator: str, series: Series, low: float, high: float) -> Listed:
    """Return the true and false positives with low < score ≤ high (0 ≤ score where low is 0), best scores first."""
    where = """model = ? AND run = ? AND (score > ? OR score = 0 AND ? = 0) AND score <= ?
               AND (kind = 'tp' OR kind LIKE 'fp%')"""
    return listed(run, evaluator, where, [*series, low, low, high])


def listed(run: Run, evaluator: str, where: str, bound: list[Any]) -> Listed:
    """Return the matches of an evaluator that meet an SQL condition, at most MAX_LISTED, best scores first."""
    rows = run.query(
        f"""SELECT case_id, label, kind, score, iou, {KEY}, count(*) OVER () AS n
            FROM "matches_{evaluator}" WHERE {where}
            ORDER BY score DESC NULLS LAST, case_id LIMIT {MAX_LISTED}""",
        bound,
    )
    return Listed(rows.drop(columns="n"), int(rows["n"].iloc[0]) if len(rows) else 0)


def confused(run: Run, evaluator: str, series: Series, labels: Sequence[str], predicted: Sequence[str]) -> Listed:
    """Return what has one of `labels` as its truth and one of `predicted` as its prediction, at most MAX_LISTED.

    NONE stands for an absent label. Rows are cases: case_id and score, or, of a segmentation, case_id and pixels (most
    first). Objects of a detection are those of object_pages, filtered.
    """
    known = run.evaluator(evaluator)
    if known is not None and "segmentation" in known.tasks:
        return _images(run, evaluator, series, labels, predicted)
    return _cases(run, evaluator, series, labels, predicted)


def _cases(run: Run, evaluator: str, series: Series, labels: Sequence[str], predicted: Sequence[str]) -> Listed:
    rows = run.query(
        """SELECT case_id, TRY_CAST(evidence ->> 'score' AS DOUBLE) AS score, evidence ->> 'predicted' AS guess
           FROM scores WHERE evaluator = ? AND model = ? AND run = ? AND status = 'ok' AND evidence IS NOT NULL
           AND list_contains(?, coalesce(evidence ->> 'truth', ?))
           ORDER BY score DESC NULLS LAST, case_id""",
        [evaluator, *series, list(labels), NONE],
    )
    known = run.evaluator(evaluator)
    parameters = None if known is None else known.parameters(**run.evaluators[evaluator])
    spell = getattr(parameters, "normalised", str)  # an answer as a label, for evaluators that compare them so
    curves = run.curves(evaluator)
    drawn = {*curves["label"], *curves["predicted"]} - {None}
    spelt = [None if guess is None else spell(guess) for guess in rows["guess"].where(rows["guess"].notna(), None)]
    held = rows.drop(columns="guess")[[(guess if guess in drawn else NONE) in predicted for guess in spelt]]
    return Listed(held.head(MAX_LISTED).reset_index(drop=True), len(held))


def _images(run: Run, evaluator: str, series: Series, labels: Sequence[str], predicted: Sequence[str]) -> Listed:
    rows = run.query(
        """WITH cells AS (
               SELECT case_id, unnest(from_json(
                   evidence -> 'confusion', '[{"truth": "VARCHAR", "predicted": "VARCHAR", "pixels": "BIGINT"}]'
               )) AS cell
               FROM scores WHERE evaluator = ? AND model = ? AND run = ? AND evidence IS NOT NULL)
           SELECT case_id, sum(cell.pixels)::BIGINT AS pixels FROM cells
           WHERE list_contains(?, cell.truth) AND list_contains(?, coalesce(cell.predicted, ?))
           GROUP BY case_id ORDER BY pixels DESC, case_id""",
        [evaluator, *series, list(labels), list(predicted), NONE],
    )
    return Listed(rows.head(MAX_LISTED), len(rows))
