"""Problems: models on the wrong side of a threshold, perturbations that move cases across it, defects of cases
that a mean hides: files that are not intact, answers too short to compare, extracts that tell nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from metrics.analysis.cases.case_pages import ANSWERED, NAMED, failing
from metrics.analysis.cases.old_evidence import read_evidence
from metrics.analysis.findings.flips import flip_rates, flips
from metrics.analysis.leaderboard.cells import misses_surely
from metrics.analysis.leaderboard.leaderboard import Column, Leaderboard, leaderboard
from metrics.core.evidence import Evidence
from metrics.core.metric_names import full_name
from metrics.core.number_text import interval, number, p_words
from metrics.core.registry import evaluators, standards_of
from metrics.store import Run, keep_by_run

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = [
    "kind", "model", "evaluator", "metric", "perturbation", "value", "low", "high", "threshold", "threshold_of",
    "direction", "n", "severity", "message", "evidence", "affected", "case_ids", "standards",
]  # fmt: skip
ORDER = {"high": 0, "unknown": 1, "low": 2}
FILES = "agent_sanity"
MOST = 200  # files that are listed
EXTRACTS = "exact_match"
LEAST_EXTRACTS = 3  # cases in which the same is found before that is no chance
EMPTY = "the (answer|summary) (is empty|has no sentence)"  # how evaluators that embed say so


def problems(run: Run) -> pd.DataFrame:
    """Return the problems of the models of a run, most severe first: columns COLUMNS.

    kind `threshold`: a model and metric whose value is on the wrong side of the threshold. Severity `high` if the whole
    95 % interval is on the wrong side, `low` if the interval reaches the good side, so that chance may explain it,
    `unknown` without an interval. Minor metrics are left to the leaderboard.

    kind `flips`: a kind of perturbation that moved cases of a model across the threshold of a metric; value, low and
    high are the rate, n the pairs. Severity `high` if there are significantly more flips than with unchanged copies,
    `low` if not, `unknown` without copies to compare with. See metrics.analysis.findings.flips. Behind it stand its
    cases, kind `flip`: one for each perturbed case whose metric flipped, with the variant's value.

    kind `artifact`: a file of an agent that is not intact, one problem each; kind `blank`: answers without any
    text, by model; kind `empty`: others that leave no sentence to embed, by model and evaluator. All are `high`:
    they are certain. See metrics.analysis.findings.problems.

    evidence: what the severity rests on, in words; affected: number of cases (None: the metric has no cases of its
    own), case_ids: the worst of them, at most NAMED; standards: those that the evaluator gives evidence for.
    """
    import pandas as pd

    board = leaderboard(run)
    found = sorted([*_thresholds(run, board), *_flips(run, board), *_defects(run, board)], key=_rank)
    rows = (row for one in found for row in (one, *one.get("cases", ())))
    return pd.DataFrame(rows, columns=COLUMNS).astype({"affected": "Int64"})


def _rank(row: dict[str, Any]) -> tuple[int, bool, float]:
    """Return the sort key of a problem: by severity, thresholds first, then by what is farthest or most often wrong."""
    missed = row["kind"] == "threshold"
    size = abs(row["value"] - row["threshold"]) if missed else row.get("value", -math.inf)
    return ORDER[row["severity"]], not missed, -size


def _thresholds(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    for column in board.columns:
        if column.minor or column.threshold is None:
            continue
        behind: Mapping[str, tuple[int, list[str]]] | None = None
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None or not cell.problem or cell.value is None:
                continue
            if behind is None:  # queried once per metric, and only if a model has a problem
                behind = failing(run, column.evaluator, column.metric)
            lower = column.direction == "lower"
            side = "above" if lower else "below"
            severity, evidence = "unknown", f"n = {cell.n:,}, without an interval"
            if cell.low is not None and cell.high is not None:
                beyond = misses_surely(column, cell)
                severity = "high" if beyond else "low"
                reach = f"is entirely {side} it" if beyond else "reaches the good side, so it may be chance"
                evidence = f"the 95 % interval {interval(cell.low, cell.high)} {reach}; n = {cell.n:,}"
            affected, named = behind.get(model, (None, []))
            name = full_name(column)
            yield _row(
                column, kind="threshold", model=model, value=cell.value, low=cell.low, high=cell.high, n=cell.n,
                severity=severity, evidence=evidence, affected=affected, case_ids=named,
                message=f"{model}: {name} is {number(cell.value)}, {side} the threshold {column.mark}",
            )  # fmt: skip


def _flips(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    columns = {(column.evaluator, column.metric): column for column in reversed(board.columns)}
    rates = flip_rates(run)
    flipped = rates[rates["flips"] > 0].to_dict("records")
    behind = flips(run).groupby(["model", "evaluator", "metric", "perturbation"]) if flipped else None
    for row in flipped:
        column = columns[row["evaluator"], row["metric"]]
        assert behind is not None
        name = full_name(column)
        cases = behind.get_group((row["model"], row["evaluator"], row["metric"], row["perturbation"]))
        shared = {
            "model": row["model"], "perturbation": row["perturbation"], "evidence": flip_evidence(row),
            "severity": "high" if row["exceeds"] else "unknown" if row["exceeds"] is None else "low",
        }  # fmt: skip
        yield _row(
            column, kind="flips", value=row["rate"], low=row["low"], high=row["high"], n=row["pairs"],
            affected=row["flips"], case_ids=list(cases["case_id"][:NAMED]), **shared,
            cases=[_flip(column, name, one, shared) for one in cases.to_dict("records")],
            message=f"{row['model']}: {name} flips in {row['flips']:,} of {row['pairs']:,} cases perturbed"
            f" by {row['perturbation']}; {row['worse']:,} of them are now on the wrong side of "
            f"{column.mark}",
        )  # fmt: skip


def _flip(column: Column, name: str, flip: dict[Any, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Return the problem of one perturbed case whose metric flipped."""
    side = "wrong" if flip["change"] == "worse" else "good"
    return _row(
        column, kind="flip", value=flip["after"], n=1, affected=1, case_ids=[flip["case_id"]], **shared,
        message=f"{flip['model']}: {name} of {flip['case_id']} ({flip['perturbation']} of "
        f"{flip['original']}) flips from {number(flip['before'])} to {number(flip['after'])}, now on the {side} side "
        f"of {column.mark}",
    )  # fmt: skip


def _defects(run: Run, board: Leaderboard) -> Iterator[dict[str, Any]]:
    columns = {(column.evaluator, column.metric): column for column in reversed(board.columns)}
    evidence = {
        "artifact": "checked by reading the file",
        "blank": "counted in the outputs, whatever the evaluators",
        "empty": "the answer has no word",
        "extract": "compared over all cases",
    }
    for one in case_defects(run, NAMED):
        column = board.columns[0] if one.kind == "blank" else columns.get((one.evaluator, one.metric))
        if column is not None:
            yield _row(
                column, kind=one.kind, model=one.model, threshold=None, n=one.affected, severity="high",
                message=one.message, evidence=evidence[one.kind], affected=one.affected, case_ids=list(one.case_ids),
            )  # fmt: skip


def flip_evidence(row: Any) -> str:
    """Return how a row of metrics.analysis.flip_rates compares with the copies, in words."""
    if row["control"]:
        return "unchanged copies flipped: the model or the evaluator is not deterministic"
    if row["exceeds"] is None:
        return "the suite has no copies of these cases to separate the perturbation from chance"
    base = f"copies flip in {row['control_flips']:,} of {row['control_pairs']:,}"
    if row["p"] != row["p"]:
        return base
    more = "significantly more than copies" if row["exceeds"] else "not significantly more than copies"
    return f"{base}; {more} (exact test, {p_words(row['adjusted'])} after Holm's correction)"


def _row(column: Column, **values: Any) -> dict[str, Any]:
    return {
        "perturbation": None, "evaluator": column.evaluator, "metric": column.metric, "threshold": column.threshold,
        "threshold_of": column.threshold_of, "direction": column.direction,
        "standards": list(standards_of(column.evaluator)), **values,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class CaseDefect:
    """A broken file of one case (`kind` artifact), answers without any text (blank, of no evaluator in particular),
    answers that leave nothing to embed (empty), or an expression that finds the same in all answers, or nothing
    (extract).
    """

    kind: str
    model: str
    evaluator: str
    metric: str
    message: str
    affected: int
    case_ids: tuple[str, ...]


def case_defects(run: Run, most: int) -> Iterator[CaseDefect]:
    """Yield every file that is not intact, the first MOST in the order of cases, the empty answers, then the extracts.

    Of blank answers one for each model, of other empty ones one for each model and evaluator, of extracts one for each
    model, with the ids of `most` cases.
    """
    yield from _files(run)
    for model, (cases, total) in blank_answers(run).items():
        message = f"{model}: {len(cases):,} of {total:,} answers {'is' if len(cases) == 1 else 'are'} empty"
        yield CaseDefect("blank", model, "", "", message, len(cases), cases[:most])
    yield from _empty(run, most)
    yield from _extracts(run, most)


@keep_by_run(maxsize=32, reads=(ANSWERED,))
def blank_answers(run: Run) -> Mapping[str, tuple[tuple[str, ...], int]]:
    """Return by model the cases that it answered with nothing, and how many it was asked; of models with any.

    Failed calls are no answers. Nothing where the task has no answers in words, or no model gave any.
    """
    if run.spec.suite.task != "text":
        return {}
    asked, found = Counter[str](), dict[str, list[str]]()
    outputs = run.needed(ANSWERED)
    there = [name for name in ("case_id", "model", "answer", "error") if name in outputs.columns]
    if "answer" not in there:  # outputs have the columns that they were given
        return {}
    for rows in outputs.pieces(there):  # never all texts at once
        answered = rows.filter(pc.is_null(rows["error"])) if "error" in there else rows
        models, cases, answers = (answered[name].to_pylist() for name in ("model", "case_id", "answer"))
        asked.update(models)
        for model, case, answer in zip(models, cases, answers, strict=True):
            if not (answer or "").strip():  # in Python: Arrow's scalars load pandas
                found.setdefault(model, []).append(case)
    if sum(map(len, found.values())) == asked.total():
        return {}
    return {model: (tuple(dict.fromkeys(found[model])), asked[model]) for model in run.models if model in found}


def _files(run: Run) -> Iterator[CaseDefect]:
    if FILES not in run.evaluators:
        return
    found = run.query(
        """SELECT case_id, model, run, evidence FROM scores
           WHERE evaluator = ? AND value < 1 AND evidence IS NOT NULL ORDER BY position, model, run LIMIT ?""",
        [FILES, MOST],
    )
    listed = 0
    for row in found.to_dict("records"):
        case, model = str(row["case_id"]), str(row["model"])
        for name, wrong in _bad_files(read_evidence(row["evidence"])):
            if (listed := listed + 1) > MOST:
                return
            yield CaseDefect("artifact", model, FILES, FILES, f"{model}, case {case}: {name}: {wrong}", 1, (case,))


def _bad_files(evidence: Evidence | None) -> Iterator[tuple[str, str]]:
    """Yield each file that is not intact, or that was expected and is missing, with what is wrong with it."""
    if evidence is None:
        return
    for one in evidence.verdicts.get("artifacts", ()):
        if one.holds == "no":
            yield one.text, one.reason or one.label
    missing = evidence.facts.get("missing")
    for name in missing if isinstance(missing, list) else ():
        yield str(name), "expected, but the agent did not make it"


def _empty(run: Run, most: int) -> Iterator[CaseDefect]:
    known = evaluators()
    embedding = [name for name in run.evaluators if name in known and "embedder" in known[name].resources]
    if not embedding:
        return
    found = run.query(
        f"""WITH empty AS (
                SELECT DISTINCT evaluator, model, case_id, position FROM scores
                WHERE evaluator IN (SELECT unnest(?)) AND (
                    (status = 'not_applicable' AND regexp_matches(reason, '^{EMPTY}'))
                    OR regexp_matches(evidence, '"note": ?"{EMPTY}')
                ) AND model || chr(10) || case_id NOT IN (SELECT unnest(?::VARCHAR[]))
            )
            SELECT evaluator, model, count(*) AS n, min_by(case_id, position, {int(most)}) AS first
            FROM empty GROUP BY evaluator, model""",
        [embedding, [f"{model}\n{case}" for model, (cases, _) in blank_answers(run).items() for case in cases]],
    )
    rows = found.to_dict("records")
    for row in sorted(rows, key=lambda row: (embedding.index(row["evaluator"]), run.models.index(row["model"]))):
        entry, n = known[row["evaluator"]], int(row["n"])
        answers = "1 answer is" if n == 1 else f"{n:,} answers are"
        message = f"{row['model']}: {answers} too short for {entry.title}: no sentence is left to embed"
        yield CaseDefect("empty", row["model"], entry.id, entry.primary.name, message, n, tuple(map(str, row["first"])))


def _extracts(run: Run, most: int) -> Iterator[CaseDefect]:
    """Yield the models in whose answers `extract` or `boxed` finds one value, or none, though the expected differ."""
    if EXTRACTS not in run.evaluators:
        return
    found = run.query(
        """WITH parts AS (
               SELECT model, case_id, position, evidence->>'$.extracted' AS part,
                      evidence->>'$.verdicts.answer[0].expected' AS expected
               FROM scores WHERE evaluator = ? AND json_exists(evidence, '$.extracted')
           )
           SELECT model, count(*) AS n, any_value(part) AS part, min_by(case_id, position, ?) AS first FROM parts
           GROUP BY model HAVING count(DISTINCT part) + (count(part) < count(*))::INT = 1 AND count(*) >= ?
           AND count(DISTINCT expected) > 1""",
        [EXTRACTS, most, LEAST_EXTRACTS],
    )
    rows = {row["model"]: row for row in found.to_dict("records")}
    for model in filter(rows.__contains__, run.models):
        n, part, first = int(rows[model]["n"]), rows[model]["part"], rows[model]["first"]
        finds = f"the same, {part[:80]!r}," if isinstance(part, str) else "no answer"
        message = f"{model}: the extract finds {finds} in all {n:,} answers, though the expected answers differ"
        yield CaseDefect("extract", model, EXTRACTS, EXTRACTS, message, n, tuple(map(str, first)))
