"""What a cell of a confusion matrix counts: cases, or pixels of images."""

from __future__ import annotations

from collections.abc import Sequence

from metrics.analysis.objects.working_points import MOST, Listed, Series
from metrics.store import Run

NONE = "(none)"  # stands for an absent label


def confused(run: Run, evaluator: str, series: Series, labels: Sequence[str], predicted: Sequence[str]) -> Listed:
    """Return what has one of `labels` as its truth and one of `predicted` as its prediction, at most MOST.

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
    )  # fmt: skip
    known = run.evaluator(evaluator)
    parameters = None if known is None else known.parameters(**run.evaluators[evaluator])
    spell = getattr(parameters, "normalised", str)  # an answer as a label, for evaluators that compare them so
    curves = run.curves(evaluator)
    drawn = {*curves["label"], *curves["predicted"]} - {None}
    spelt = [None if guess is None else spell(guess) for guess in rows["guess"].where(rows["guess"].notna(), None)]
    held = rows.drop(columns="guess")[[(guess if guess in drawn else NONE) in predicted for guess in spelt]]
    return Listed(held.head(MOST).reset_index(drop=True), len(held))


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
    )  # fmt: skip
    return Listed(rows.head(MOST), len(rows))
