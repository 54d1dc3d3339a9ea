"""The worst cases of one number of one model, with the answers: what a click on a cell of the leaderboard shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from metrics.analysis.cases.case_pages import PREVIEW, CasePage, cases, cut
from metrics.store import Run

if TYPE_CHECKING:
    import pandas as pd

MOST = 20  # cases in the list
ANSWERED, PREDICTED = "outputs/outputs.parquet", "outputs/predictions.parquet"
Answers = dict[tuple[str, str, int], str]  # by case, model and repeat


def worst_cases(
    run: Run, evaluator: str, metric: str, model: str, tag: str | None = None, most: int = MOST
) -> CasePage:
    """Return the `most` worst cases behind a cell, see `cases`, with the column `answer` (see `with_answers`)."""
    return with_answers(run, cases(run, evaluator, metric, most, model=model, tag=tag))


def with_answers(run: Run, page: CasePage) -> CasePage:
    """Return the page with the column `answer`: the first line of each output, or the label scored highest; else None.

    Only the answers of the page's rows are read.
    """
    found = (_answers(run, page.rows) or _labels(run, page.rows)) if len(page.rows) else {}
    keys = zip(page.rows["case_id"], page.rows["model"], page.rows["run"], strict=True)
    answers: list[Any] = [found.get(key) for key in keys]
    return replace(page, rows=page.rows.assign(answer=answers))


def _answers(run: Run, rows: pd.DataFrame) -> Answers:
    found = run.query(
        f"""SELECT case_id, model, run, left(regexp_extract(answer, '\\S[^\\n\\r]*'), {PREVIEW + 1}) AS answer
            FROM read_parquet(?) WHERE case_id IN (SELECT unnest(?)) AND model IN (SELECT unnest(?))""",
        _choice(run, ANSWERED, rows),
    )
    return {key: cut(answer) for key, answer in _by_output(found).items()}


def _labels(run: Run, rows: pd.DataFrame) -> Answers:
    """Return the labels of a classification; objects in images have none that would stand for the whole image."""
    if run.spec.suite.task != "classification" or run.stored_input(PREDICTED) is None:
        return {}
    found = run.query(
        """SELECT case_id, model, run, max_by(label, coalesce(score, 1)) AS answer FROM read_parquet(?)
           WHERE case_id IN (SELECT unnest(?)) AND model IN (SELECT unnest(?)) GROUP BY ALL""",
        _choice(run, PREDICTED, rows),
    )
    return _by_output(found)


def _choice(run: Run, name: str, rows: pd.DataFrame) -> list[object]:
    models = rows["model"].dropna().unique().tolist()
    return [str(run.input_path(name)), rows["case_id"].unique().tolist(), models]


def _by_output(found: pd.DataFrame) -> Answers:
    given = found[found["answer"].notna()]
    return dict(zip(zip(given["case_id"], given["model"], given["run"], strict=True), given["answer"], strict=True))
