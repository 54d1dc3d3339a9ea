"""The matched objects behind a number: a point of a curve by threshold, kinds of errors, a range of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from metrics.core.registry import title_of
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ["case_id", "label", "kind", "score", "iou", "object", "family"]
KEY = "coalesce('p' || prediction_id, 'a' || annotation_id) AS object"  # as in object_pages.GalleryObject
MAX_LISTED = 1_000  # rows of a list
MOST_OF_FAMILY = 500  # rows of a working point
Series = tuple[str, int]  # model, repeat
NONE = "(none)"  # stands for an absent label


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
