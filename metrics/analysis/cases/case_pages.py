"""The cases behind a number, and the worst of them: paged, worst first, without loading the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from metrics.analysis.leaderboard.distributions import metrics_by_case
from metrics.analysis.leaderboard.leaderboard import Column, leaderboard
from metrics.analysis.objects.matching_again import rules
from metrics.analysis.objects.operating_point import operating_point
from metrics.analysis.slices.slice_conditions import parse
from metrics.analysis.slices.slice_values import positions
from metrics.core.evaluator import Metric
from metrics.store import Run, cache_by_run, keep_by_run
from metrics.store.run_tables import listed
from metrics.text.conversation import last_user_turn

if TYPE_CHECKING:
    import pandas as pd

NAMED = 20  # ids of failing cases that are listed
PREVIEW = 160  # characters of the question or its substitute
MAX_TURN_READ = 20_000  # characters in which the last turn of a conversation is looked for
TEXT = "coalesce(question, source_text, image_name, image, suite_cases.case_id)"
MAX_LISTED = 20  # cases in the list
# of an image: what is false or missed where a prediction `counts` by its score; a wrong class is one mistake, not two
ERRORS = """count(*) FILTER (kind LIKE 'fp%' AND counts) + count(*) FILTER (kind LIKE 'fn%')
    + count(*) FILTER (kind = 'tp' AND NOT counts)
    - coalesce(len(list_intersect(list(annotation_id) FILTER (kind = 'fn_misclassification'),
                                  list(annotation_id) FILTER (kind = 'fp_misclassification' AND counts))), 0)"""
ANSWERED, PREDICTED = "outputs/outputs.parquet", "outputs/predictions.parquet"
Answers = dict[tuple[str, str, int], str]  # by case, model and repeat


@dataclass(frozen=True, slots=True)
class CasePage:
    """Some rows of a list of cases, and the total number.

    Columns: case_id, model, run, value, status, reason, preview (the beginning of the question; of a conversation that
    of the last one), tags, errors (false positives and missed objects of an image; null for text).
    """

    rows: pd.DataFrame
    total: int


class CaseChoice(TypedDict, total=False):
    """Which cases a list holds and in which order; None or no entry: all of them.

    model, tag and status are those of the rows. `search` is looked up in case id and question, ignoring case.
    `worst_first` (the default) is turned round by False. `failing` keeps the values on the wrong side of the threshold
    in force (images with an error), low and high those with low ≤ value < high. `within` is the address of a slice
    (metrics.analysis.slices.parse). `disputed` puts the cases first that the judges of a panel, or the draws of one
    judge, score most differently, and adds the column spread: their highest − lowest value, null where one judged.
    `varied` does so with the cases whose repeats have the most different values.
    `only` keeps the cases with these ids, `better_in` those in which that other model does better (fewer errors in an
    image).
    """

    model: str | None
    tag: str | None
    status: str | None
    search: str | None
    worst_first: bool
    failing: bool
    low: float | None
    high: float | None
    within: str | None
    disputed: bool
    varied: bool
    only: Sequence[str] | None
    better_in: str | None


def cases(
    run: Run, evaluator: str, metric: str, limit: int = 100, offset: int = 0, **choice: Unpack[CaseChoice]
) -> CasePage:
    """Return the cases behind one metric of one model (or of all), worst value first, unscored ones last.

    A metric of the whole data set (mAP) has no value per case; its cases are ordered by their number of errors.
    InputError if the run has no slice `within`.
    """
    found, arguments, order = list_source(run, evaluator, metric, **choice)
    total = count_rows(run, found, tuple(arguments))
    spread = ", spread" * (choice.get("disputed", False) or choice.get("varied", False))
    # the page's rows first, then their texts: sorting and counting never read the suite
    rows = run.query(
        f"""
        WITH shown AS (
            SELECT * {found} ORDER BY {order} LIMIT {int(limit)} OFFSET {int(offset)}
        )
        SELECT shown.case_id, model, run, value, status, reason, left({TEXT}, {MAX_TURN_READ}) AS preview,
               coalesce(tags, []) AS tags, errors{spread}
        FROM shown JOIN suite_cases USING (position)
        ORDER BY {order}""",
        arguments,
    )
    return CasePage(rows.assign(preview=rows["preview"].map(preview_of)), total)


def case_ids(run: Run, evaluator: str, metric: str, **choice: Unpack[CaseChoice]) -> tuple[str, ...]:
    """Return the ids of all the cases that `cases` would page through, each once, in their order."""
    found, arguments, order = list_source(run, evaluator, metric, **choice)
    rows = run.query(f"SELECT case_id {found} ORDER BY {order}", arguments)
    return tuple(rows["case_id"].drop_duplicates())


def list_source(run: Run, evaluator: str, metric: str, **choice: Unpack[CaseChoice]) -> tuple[str, list[Any], str]:
    """Return the SQL of a list of cases from its FROM on, its arguments, and its order."""
    source, arguments, order = _source(run, evaluator, metric, choice.get("worst_first", True))
    plain = source, tuple(arguments)
    if choice.get("disputed"):
        source, order = _with_spread(source), f"spread DESC NULLS LAST, {order}"
        arguments += [f'$.panel.spread."{scored_metric(run, evaluator, metric) or metric}"', evaluator]
    elif choice.get("varied"):
        apart = "max(value) OVER own - min(value) OVER own AS spread"
        source = f"SELECT *, {apart} FROM ({source}) WINDOW own AS (PARTITION BY position, model)"
        order = f"spread DESC NULLS LAST, position, model, {order}"
    conditions = ["s.failing"] * choice.get("failing", False)
    asked = {
        "s.value >= ?": choice.get("low"),
        "s.value < ?": choice.get("high"),
        "s.model = ?": choice.get("model"),
        "s.status = ?": choice.get("status"),
    }
    conditions += [condition for condition, wanted in asked.items() if wanted is not None]
    arguments += [wanted for wanted in asked.values() if wanted is not None]
    if (within := choice.get("within")) is not None:
        conditions.append("s.position IN (SELECT unnest(string_split(?, ' ')::INTEGER[]))")
        arguments.append(" ".join(map(str, positions(run, parse(within), evaluator).tolist())) or "-1")
    if (better_in := choice.get("better_in")) is not None:
        conditions.append(
            f"EXISTS (SELECT 1 FROM ({plain[0]}) o WHERE o.model = ? AND (o.case_id, o.run) = (s.case_id, s.run)"
            f" AND {_worse(run, evaluator, metric)})"
        )
        arguments += [*plain[1], better_in]
    if (only := choice.get("only")) is not None:
        conditions.append("list_contains(?, s.case_id)")
        arguments.append(tuple(only))
    tag, search = choice.get("tag"), choice.get("search")
    if tag is not None or search:  # conditions on the suite's columns: find its cases once
        conditions.append("s.position IN (SELECT position FROM suite_cases WHERE TRUE")
        if tag is not None:
            conditions[-1] += " AND list_contains(tags, ?)"
            arguments.append(tag)
        if search:
            conditions[-1] += f" AND (contains(lower(case_id), ?) OR contains(lower({TEXT}), ?))"
            arguments += [search.lower()] * 2
        conditions[-1] += ")"
    found = f"FROM ({source}) s WHERE {' AND '.join(['TRUE', *conditions])}"
    return found, arguments, f"{order}, position, model, run"


def case_texts(run: Run, case_ids: Sequence[str]) -> pd.DataFrame:
    """Return the beginning of the text of these cases, in their order: case_id, preview (NaN for an unknown case)."""
    found = run.query(
        f"SELECT case_id, left({TEXT}, {MAX_TURN_READ}) AS preview FROM suite_cases "
        f"WHERE case_id IN ({listed(case_ids)})"
    )
    found = found.assign(preview=found["preview"].map(preview_of))
    return found.set_index("case_id").reindex(list(case_ids)).reset_index()


def preview_of(text: str) -> str:
    """Return the beginning of a text; of a conversation, of what its user says last: they often begin alike."""
    asked = last_user_turn(text)
    return cut(asked[0] if asked else text)


def cut(text: str) -> str:
    """Return the first PREVIEW characters of a text, the last an ellipsis if there are more."""
    return text if len(text) <= PREVIEW else text[: PREVIEW - 1] + "…"


def failing(run: Run, evaluator: str, metric: str) -> Mapping[str, tuple[int, list[str]]]:
    """Return how many cases of each model are `failing` (see `cases`), and the ids of the NAMED worst of them."""
    return _failing_from(run, evaluator, metric, chosen_scores(run, evaluator, metric))


@keep_by_run(maxsize=512)
def _failing_from(
    run: Run,
    evaluator: str,
    metric: str,
    lows: tuple[tuple[str, float], ...],  # noqa: ARG001 - chosen beside the run
) -> dict[str, tuple[int, list[str]]]:
    source, arguments, _ = _source(run, evaluator, metric, worst_first=True)
    metric = scored_metric(run, evaluator, metric) or metric
    sign = -1 if is_lower_better(run, evaluator, metric) else 1
    found = run.query(
        f"""SELECT model, count(DISTINCT position) AS n,
                   min_by(case_id, ({sign} * value, -errors, position), {2 * NAMED}) AS first
            FROM ({source}) WHERE failing AND model IS NOT NULL GROUP BY model""",
        arguments,
    )
    return {
        str(row["model"]): (int(row["n"]), list(dict.fromkeys(map(str, row["first"])))[:NAMED])
        for row in found.to_dict("records")
    }


def _with_spread(source: str) -> str:
    """Return the SQL of a source with the spread of its values, read from the evidence of the first metric."""
    return f"""
        SELECT v.*, p.spread FROM ({source}) v LEFT JOIN (
            SELECT case_id, model, run, max(CAST(json_extract_string(evidence, ?) AS DOUBLE)) AS spread
            FROM scores WHERE evaluator = ? AND evidence IS NOT NULL GROUP BY ALL) p USING (case_id, model, run)"""


@cache_by_run(maxsize=512)
def count_rows(run: Run, found: str, arguments: tuple[Any, ...], tables: str = "") -> int:
    """Return how many rows a filter leaves; `tables` stand before its SELECT."""
    return int(run.query(f"{tables} SELECT count(*) AS total {found}", list(arguments))["total"].iloc[0])


def _source(run: Run, evaluator: str, metric: str, worst_first: bool) -> tuple[str, list[Any], str]:
    """Return the SQL of one row per case and model, its arguments, and their order."""
    if (scored := scored_metric(run, evaluator, metric)) is not None:
        ascending = worst_first != is_lower_better(run, evaluator, scored)
        by_value = f"value {'ASC' if ascending else 'DESC'} NULLS LAST"
        columns = "case_id, position, model, run, value, status, reason, NULL::BIGINT AS errors"
        failing = _failing(run.metric(evaluator, scored))
        return (
            f"SELECT {columns}, {failing} AS failing FROM scores WHERE evaluator = ? AND metric = ?",
            [evaluator, scored],
            by_value,
        )
    if evaluator in run.match_names():
        # one row for each image and model, also for images without any object
        source = f"""
            SELECT k.case_id, k.position, r.model, r.run, NULL::DOUBLE AS value, 'ok' AS status, NULL AS reason,
                   coalesce(m.errors, 0) AS errors, coalesce(m.errors, 0) > 0 AS failing
            FROM suite_cases k
            CROSS JOIN (SELECT DISTINCT model, run FROM "matches_{evaluator}") r
            LEFT JOIN (SELECT case_id, model, run, {ERRORS} AS errors
                       FROM (SELECT *, coalesce(score, 1) >= {_lowest_scores(run, evaluator)} AS counts
                             FROM "matches_{evaluator}")
                       GROUP BY case_id, model, run) m USING (case_id, model, run)"""
        return source, [], f"errors {'DESC' if worst_first else 'ASC'}"
    source = """
        SELECT case_id, position, NULL AS model, NULL::INTEGER AS run, NULL::DOUBLE AS value,
               'ok' AS status, NULL AS reason, NULL::BIGINT AS errors, FALSE AS failing
        FROM suite_cases"""
    return source, [], "position"


def lowest_scores(run: Run, evaluator: str) -> dict[str, float]:
    """Return the score from which each model's predictions count: the evaluator's, or its operating point's."""
    own = run.evaluators.get(evaluator, {}).get("score_threshold")
    return {model: operating_point(run, model).score if own is None else float(own) for model in run.models}


def chosen_scores(run: Run, evaluator: str, metric: str) -> tuple[tuple[str, float], ...]:
    """Return `lowest_scores` as pairs where the cases of a metric have errors, () where they have values."""
    by_score = scored_metric(run, evaluator, metric) is None and evaluator in run.match_names()
    return tuple(lowest_scores(run, evaluator).items()) if by_score else ()


def error_words(run: Run, evaluator: str, metric: str) -> str | None:
    """Return what counts as an error in the lists of a metric whose cases have errors; None where they have values."""
    if scored_metric(run, evaluator, metric) is not None or evaluator not in run.match_names():
        return None
    of = rules(run, evaluator)
    lows = {f"{low:g}" for low in lowest_scores(run, evaluator).values()}
    score = f"score ≥ {lows.pop()}" if len(lows) == 1 else "score from each model's best F1 on"
    return f"errors ({score}, {of.similarity} ≥ {of.iou:g})"


def _lowest_scores(run: Run, evaluator: str) -> str:
    """Return the SQL of `lowest_scores`."""
    lows = lowest_scores(run, evaluator)
    names = [model.replace("'", "''") for model in lows]
    whens = (f"WHEN '{name}' THEN {low!r}" for name, low in zip(names, lows.values(), strict=True))
    return f"(CASE model {' '.join(whens)} ELSE 0 END)"


def _worse(run: Run, evaluator: str, metric: str) -> str:
    """Return the SQL condition of a row s being worse than a row o of the same source."""
    if (scored := scored_metric(run, evaluator, metric)) is None:
        return "s.errors > o.errors"
    return f"s.value {'>' if is_lower_better(run, evaluator, scored) else '<'} o.value"


def is_lower_better(run: Run, evaluator: str, metric: str) -> bool:
    """Return whether a metric is better when lower; False of an unknown one."""
    known = run.metric(evaluator, metric)
    return known is not None and known.direction.value == "lower"


@keep_by_run(maxsize=512)
def scored_metric(run: Run, evaluator: str, metric: str) -> str | None:
    """Return the metric whose values per case represent this one; None if the evaluator has no such values.

    Macro F1 has no value per case: its cases are those of the evaluator's first metric that has one, of those with a
    better end if there are any.
    """
    if (evaluator, metric) in metrics_by_case(run):
        return metric
    measured = run.query("SELECT DISTINCT metric FROM scores WHERE evaluator = ?", [evaluator])["metric"].tolist()
    entry = run.evaluator(evaluator)
    declared = sorted(entry.metrics if entry else (), key=lambda one: one.direction.value == "none")
    names = [metric, *(one.name for one in declared), *sorted(measured)]
    return next((name for name in names if name in measured), None)


def column_of_cases(run: Run, column: Column) -> Column:
    """Return the column of the metric whose values the cases of a column show: its own, or see `scored_metric`."""
    shown = (column.evaluator, scored_metric(run, column.evaluator, column.metric))
    return next((one for one in leaderboard(run).columns if (one.evaluator, one.metric) == shown), column)


def _failing(metric: Metric | None) -> str:
    """Return the SQL condition of a value on the wrong side of the threshold in force."""
    if metric is None or metric.threshold is None or metric.direction.value == "none":
        return "FALSE"
    return f"coalesce(value {'>' if metric.direction.value == 'lower' else '<'} '{metric.threshold!r}'::DOUBLE, FALSE)"


def worst_cases(
    run: Run, evaluator: str, metric: str, model: str, tag: str | None = None, most: int = MAX_LISTED
) -> CasePage:
    """Return the `most` worst cases behind a cell, see `cases`, with the column `answer` (see `with_answers`)."""
    return with_answers(run, cases(run, evaluator, metric, most, model=model, tag=tag))


def with_answers(run: Run, page: CasePage) -> CasePage:
    """Return the page with the column `answer`: the first line of each output, or the label scored highest; else None.

    Only the answers of the page's rows are read.
    """
    return replace(page, rows=add_answers(run, page.rows))


def add_answers(run: Run, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of case_id, model and run with the column `answer`, see `with_answers`."""
    found = (_answers(run, rows) or _labels(run, rows)) if len(rows) else {}
    keys = zip(rows["case_id"], rows["model"], rows["run"], strict=True)
    answers: list[Any] = [found.get(key) for key in keys]
    return rows.assign(answer=answers)


def _answers(run: Run, rows: pd.DataFrame) -> Answers:
    found = run.query(
        f"""SELECT case_id, model, run, left(regexp_extract(answer, '\\S[^\\n\\r]*'), {PREVIEW + 1}) AS answer
            FROM {run.needed(ANSWERED).sql} WHERE {_outputs_of(rows)}"""
    )
    return {key: cut(answer) for key, answer in _by_output(found).items()}


def _labels(run: Run, rows: pd.DataFrame) -> Answers:
    """Return the labels of a classification; objects in images have none that would stand for the whole image."""
    if run.spec.suite.task != "classification" or run.stored(PREDICTED) is None:
        return {}
    found = run.query(
        f"""SELECT case_id, model, run, max_by(label, coalesce(score, 1)) AS answer FROM {run.needed(PREDICTED).sql}
           WHERE {_outputs_of(rows)} GROUP BY ALL"""
    )
    return _by_output(found)


def _outputs_of(rows: pd.DataFrame) -> str:
    """Return the SQL condition of an output of one of these rows' cases and models."""
    return " AND ".join(f"{name} IN ({listed(rows[name].dropna().unique())})" for name in ("case_id", "model"))


def _by_output(found: pd.DataFrame) -> Answers:
    given = found[found["answer"].notna()]
    return dict(zip(zip(given["case_id"], given["model"], given["run"], strict=True), given["answer"], strict=True))
