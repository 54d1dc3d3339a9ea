"""Who is to blame for a failing answer: what was retrieved, or what was made of it; and what is grounded the least."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metrics.analysis.cases.threshold_outcomes import rules, sided
from metrics.analysis.evidence import verdict_lists
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.stats.intervals import wilson
from metrics.store import Run

ANSWERING = ("answers", "grounding", "text")  # families whose metrics judge an answer; the first that there is
MOST_CASES = 1_000  # of a blame that are listed
TRIED = 20  # least grounded answers that are searched for a claim


@dataclass(frozen=True, slots=True)
class Blame:
    """The failing answers of one model that are owed to `side`: `blamed` of `failing`, over `n` cases with both.

    evaluator: whose failures they are; None: cases at least half of whose answer metrics are on the wrong side, owed to
    retrieval where at least half of the retrieval metrics are too. by: the metrics it rests on, retrieval's first.
    """

    model: str
    side: str  # retrieval, generation
    evaluator: str | None
    blamed: int
    failing: int
    n: int
    case_ids: tuple[str, ...]
    by: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def mostly(self) -> bool:
        """Whether more than half of the failures are beyond chance owed to this side (Wilson's 95 % interval)."""
        low, _ = wilson(self.blamed, self.failing)
        return low is not None and low > 0.5


@dataclass(frozen=True, slots=True)
class LeastGrounded:
    """The sentence or claim of an answer that its contexts support the least, by one evaluator."""

    evaluator: str
    metric: str
    model: str
    case_id: str
    value: float
    text: str


def blames(run: Run, columns: Sequence[Column]) -> Iterator[Blame]:
    """Yield every blame with a case: from the metrics of contexts and answers, then from each check of the boolean
    family.
    """
    yield from _by_metrics(run, columns)
    yield from _by_checks(run, columns)


def _by_metrics(run: Run, columns: Sequence[Column]) -> Iterator[Blame]:
    primary = {column.evaluator: column for column in columns if column.primary and not column.minor}
    retrieval = tuple(name for name, column in primary.items() if column.family == "retrieval")
    kinds = (tuple(name for name, column in primary.items() if column.family == family) for family in ANSWERING)
    answering = next((names for names in kinds if names), ())
    if not retrieval or not answering:
        return
    found = run.query(
        f"""WITH {sided()},
            cases AS (
                SELECT model, case_id,
                       avg(good::INT) FILTER (evaluator IN (SELECT unnest(?))) <= 0.5 AS unfound,
                       avg(good::INT) FILTER (evaluator IN (SELECT unnest(?))) <= 0.5 AS failing
                FROM sided GROUP BY model, case_id
            )
            SELECT model, count(*) AS n, count(*) FILTER (failing) AS failing,
                   count(*) FILTER (failing AND unfound) AS retrieval,
                   min_by(case_id, position, {MOST_CASES}) FILTER (failing AND unfound) AS unfound_cases,
                   min_by(case_id, position, {MOST_CASES}) FILTER (failing AND NOT unfound) AS found_cases
            FROM cases JOIN (SELECT case_id, position FROM suite_cases) USING (case_id)
            WHERE unfound IS NOT NULL AND failing IS NOT NULL GROUP BY model""",
        [*rules(run, lambda column: column.primary and not column.minor), list(retrieval), list(answering)],
    )
    for row in sorted(found.to_dict("records"), key=lambda row: run.models.index(row["model"])):
        sides = (
            ("retrieval", row["retrieval"], row["unfound_cases"]),
            ("generation", row["failing"] - row["retrieval"], row["found_cases"]),
        )
        for side, blamed, ids in sides:
            if blamed:
                by = (retrieval, answering)
                failing, n = int(row["failing"]), int(row["n"])
                yield Blame(row["model"], side, None, int(blamed), failing, n, tuple(map(str, ids)), by)


def _by_checks(run: Run, columns: Sequence[Column]) -> Iterator[Blame]:
    checks = [column.evaluator for column in columns if column.metric == "retrieval_failures"]
    if not checks:
        return
    found = run.query(
        f"""WITH outcomes AS (
                SELECT evaluator, model, case_id, position, max(value) FILTER (metric = 'failures') AS failing,
                       max(value) FILTER (metric = 'retrieval_failures') AS retrieval
                FROM scores WHERE evaluator IN (SELECT unnest(?)) GROUP BY ALL
            )
            SELECT evaluator, model, count(*) AS n, count(*) FILTER (failing = 1) AS failing,
                   count(*) FILTER (failing = 1 AND retrieval = 1) AS retrieval,
                   min_by(case_id, position, {MOST_CASES}) FILTER (failing = 1 AND retrieval = 1) AS unfound_cases,
                   min_by(case_id, position, {MOST_CASES}) FILTER (failing = 1 AND retrieval = 0) AS found_cases
            FROM outcomes WHERE failing IS NOT NULL AND retrieval IS NOT NULL GROUP BY ALL""",
        [checks],
    ).to_dict("records")
    for row in sorted(found, key=lambda row: (checks.index(row["evaluator"]), run.models.index(row["model"]))):
        failing, retrieval = int(row["failing"]), int(row["retrieval"])
        for side, blamed, ids in (
            ("retrieval", retrieval, row["unfound_cases"]),
            ("generation", failing - retrieval, row["found_cases"]),
        ):
            if blamed:
                yield Blame(row["model"], side, row["evaluator"], blamed, failing, int(row["n"]), tuple(map(str, ids)))


def least_grounded(run: Run, columns: Sequence[Column]) -> Iterator[LeastGrounded]:
    """For each evaluator that judges an answer sentence by sentence or claim by claim: the one least supported.

    Only of answers on the wrong side of the threshold. Groundedness names its sentence; of the others it is the first
    claim found unsupported in the answer with the worst value.
    """
    for column in columns:
        if column.family != "grounding" or not column.primary or column.threshold is None:
            continue
        lower = column.direction == "lower"
        found = run.query(
            f"""SELECT model, case_id, value, evidence FROM scores
                WHERE evaluator = ? AND metric = ? AND value {">" if lower else "<"} ? AND evidence IS NOT NULL
                ORDER BY value {"DESC" if lower else "ASC"}, position, model, run LIMIT {TRIED}""",
            [column.evaluator, column.metric, column.threshold],
        )
        for row in found.to_dict("records"):
            text = _worst_text(json.loads(row["evidence"]))
            if text:
                yield LeastGrounded(
                    column.evaluator, column.metric, row["model"], row["case_id"], float(row["value"]), text
                )
                break


def _worst_text(evidence: dict[str, object]) -> str | None:
    if isinstance(named := evidence.get("least_grounded"), str):
        return named
    lists, _ = verdict_lists(evidence)
    return next((row.text for entry in lists for row in entry.rows if row.holds is False and row.text), None)
