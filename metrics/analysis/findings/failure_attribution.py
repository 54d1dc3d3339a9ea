"""Which part of the system causes failing answers, retrieval or generation; and what is grounded the least."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.analysis.cases.old_evidence import read_evidence
from metrics.analysis.cases.threshold_outcomes import outcomes_sql, threshold_arguments
from metrics.analysis.leaderboard.distributions import metrics_by_case
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.evidence import Evidence
from metrics.stats.intervals import wilson
from metrics.store import Run

ANSWERING = ("answers", "grounding", "text")  # families whose metrics judge an answer; the first in the run is used
MOST_CASES = 1_000  # of an attribution that are listed
TRIED = 20  # least grounded answers that are searched for a claim


@dataclass(frozen=True, slots=True)
class Attribution:
    """The failing answers of one model attributed to `cause`: `attributed` of `failing`, over `n` cases with both.

    evaluator: whose failures they are. None: cases with at least half of the answer metrics on the wrong side of their
    thresholds, attributed to retrieval if at least half of the retrieval metrics are too. by: the metrics that decide,
    retrieval's first.
    """

    model: str
    cause: str  # retrieval, generation
    evaluator: str | None
    attributed: int
    failing: int
    n: int
    case_ids: tuple[str, ...]
    by: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    @property
    def mostly(self) -> bool:
        """Whether this cause significantly explains more than half of the failures (Wilson's 95 % interval)."""
        low, _ = wilson(self.attributed, self.failing)
        return low is not None and low > 0.5


@dataclass(frozen=True, slots=True)
class LeastGrounded:
    """The sentence or claim of an answer that its contexts support the least, according to one evaluator."""

    column: Column
    model: str
    case_id: str
    value: float
    text: str


def attribute_failures(run: Run, columns: Sequence[Column]) -> Iterator[Attribution]:
    """Attribute failing answers: by the metrics of contexts and answers, then by each check of the boolean family."""
    yield from _by_metrics(run, columns)
    yield from _by_checks(run, columns)


def _by_metrics(run: Run, columns: Sequence[Column]) -> Iterator[Attribution]:
    primary = {column.evaluator: column for column in columns if column.primary and not column.minor}
    retrieval = tuple(name for name, column in primary.items() if column.family == "retrieval")
    kinds = (tuple(name for name, column in primary.items() if column.family == family) for family in ANSWERING)
    answering = next((names for names in kinds if names), ())
    if not retrieval or not answering:
        return
    answers = f"""{outcomes_sql()},
        answers AS (
            SELECT '' AS evaluator, model, case_id, position,
                   avg(good::INT) FILTER (evaluator IN (SELECT unnest(?))) <= 0.5 AS unfound,
                   avg(good::INT) FILTER (evaluator IN (SELECT unnest(?))) <= 0.5 AS failing
            FROM outcomes GROUP BY model, case_id, position
        )"""
    chosen = threshold_arguments(run, lambda column: column.primary and not column.minor)
    yield from _attributed(run, answers, [*chosen, list(retrieval), list(answering)], (retrieval, answering))


def _by_checks(run: Run, columns: Sequence[Column]) -> Iterator[Attribution]:
    by_case = metrics_by_case(run)  # without a value nothing is known of the contexts
    checks = [
        column.evaluator
        for column in columns
        if column.metric == "retrieval_failures" and (column.evaluator, column.metric) in by_case
    ]
    if not checks:
        return
    answers = """answers AS (
            SELECT evaluator, model, case_id, position, max(value) FILTER (metric = 'failures') = 1 AS failing,
                   max(value) FILTER (metric = 'retrieval_failures') = 1 AS unfound
            FROM scores WHERE evaluator IN (SELECT unnest(?)) AND metric IN ('failures', 'retrieval_failures')
            GROUP BY ALL
        )"""
    yield from sorted(_attributed(run, answers, [checks]), key=lambda one: checks.index(one.evaluator or ""))


def _attributed(
    run: Run, answers: str, arguments: list[Any], by: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
) -> Iterator[Attribution]:
    """Yield each cause of each model's failures. `answers`: SQL of a table of that name with evaluator ("": by all
    metrics), model, case_id, position, and whether the answer is failing and its context unfound.
    """
    found = run.query(
        f"""WITH {answers}
            SELECT evaluator, model, count(*) AS n, count(*) FILTER (failing) AS failing,
                   count(*) FILTER (failing AND unfound) AS retrieval,
                   min_by(case_id, position, {MOST_CASES}) FILTER (failing AND unfound) AS unfound_cases,
                   min_by(case_id, position, {MOST_CASES}) FILTER (failing AND NOT unfound) AS found_cases
            FROM answers WHERE unfound IS NOT NULL AND failing IS NOT NULL GROUP BY ALL""",
        arguments,
    ).to_dict("records")
    for row in sorted(found, key=lambda row: run.models.index(row["model"])):
        failing, retrieval = int(row["failing"]), int(row["retrieval"])
        causes = {
            "retrieval": (retrieval, row["unfound_cases"]),
            "generation": (failing - retrieval, row["found_cases"]),
        }
        for cause, (attributed, ids) in causes.items():
            if attributed:
                case_ids = tuple(map(str, ids))
                yield Attribution(
                    row["model"], cause, row["evaluator"] or None, attributed, failing, int(row["n"]), case_ids, by
                )


def least_grounded(run: Run, columns: Sequence[Column]) -> Iterator[LeastGrounded]:
    """Yield the least supported sentence or claim, for each evaluator that judges an answer by these.

    Only answers on the wrong side of the threshold count. Groundedness names its sentence; for the others it is the
    first claim that does not hold in the answer with the worst value.
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
            text = _worst_text(read_evidence(row["evidence"]))
            if text:
                yield LeastGrounded(column, row["model"], row["case_id"], float(row["value"]), text)
                break


def _worst_text(evidence: Evidence | None) -> str | None:
    if evidence is None:
        return None
    if isinstance(named := evidence.facts.get("least_grounded"), str):
        return named
    failed = (one.text for group in evidence.verdicts.values() for one in group if one.holds == "no" and one.text)
    return next(failed, None)
