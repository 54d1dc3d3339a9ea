"""pass@k: the chance that one of k tries at a case is right, from the scores of all its repeats."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator

from metrics.core.array_types import Bools, Ints
from metrics.core.evaluator import CaseScore, Evaluator, Example, Findings, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.consistency.answers import NO_OUTPUT, repeated_answers, repeated_scores, summarise
from metrics.stats.pass_at_k import pass_at_k as estimate

USUAL = "code_execution.passed"
ALTERNATIVES = (USUAL, "sql_execution.same_result")
MOST_K = 20  # values of k


def metrics_of(ks: Sequence[int]) -> tuple[Metric, ...]:
    """Return the metric of each k; the first is the main one."""
    return tuple(
        Metric(f"pass@{k}", f"Chance that one of {k} tries at a case is right.", threshold=0.5, primary=not place)
        for place, k in enumerate(ks)
    )


class PassParameters(Parameters):
    """How many tries, and which metric says that one is right."""

    k: tuple[int, ...] = Field(
        (1, 5, 10),
        min_length=1,
        max_length=MOST_K,
        description="The numbers of tries; a case with fewer repeats has no value for it.",
    )
    of: str = Field(
        "",
        description="The metric whose value 1 means right, as evaluator.metric; of a case, 0 or 1. Empty: "
        "code_execution.passed, or sql_execution.same_result where the run has that alone.",
    )

    @field_validator("k")
    @classmethod
    def _counts(cls, given: tuple[int, ...]) -> tuple[int, ...]:
        if any(k < 1 for k in given) or len(set(given)) < len(given):
            raise ValueError("whole numbers from 1 up, each once")
        return given

    def followed(self) -> tuple[str, ...]:
        """Return the evaluator whose stored scores are read."""
        return ((self.of or USUAL).partition(".")[0],) if self.of else ()

    def following(self, others: Sequence[Evaluator]) -> "PassParameters":
        """Return the parameters with the metric spelled out; ValueError where the run does not have it."""
        of_cases = [entry for entry in others if entry.shape != "dataset"]
        known = {f"{entry.id}.{metric.name}": metric for entry in of_cases for metric in entry.metrics}
        name = self.of or next((one for one in ALTERNATIVES if one in known), USUAL)
        entry = {one.id: one for one in others}.get(name)
        name = f"{name}.{entry.primary.name}" if entry else name
        if name not in known or not known[name].binary:
            binary = ", ".join(one for one, metric in known.items() if metric.binary) or "none in this run"
            raise ValueError(f"a metric of 0 or 1 of the run's other evaluators of single cases: {binary}")
        return self.model_copy(update={"of": name})

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return a metric for each k."""
        del declared
        return metrics_of(self.k)


@evaluator(
    id="pass_at_k",
    title="pass@k",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=metrics_of((1, 5, 10)),
    repeats=True,
    default_needs=("repeats", "code_tests"),
    sources=("Chen et al. 2021",),
    standards=("valid and reliable",),
    examples=(
        Example(
            "two of four tries pass; for k = 2 five of the six pairs have one of them",
            repeated_answers(["a", "b", "c", "d"]) | repeated_scores(USUAL, [1, 0, 1, 0]),
            rows=({"metric": "pass@1", "value": 0.5, "n": 1}, {"metric": "pass@2", "value": 5 / 6, "n": 1}),
            parameters={"k": [1, 2], "of": USUAL},
        ),
        Example(
            "a mean over cases; a case with two repeats has no pass@3",
            repeated_answers(["a", "b", "c"], ["d", "e"], ["f", "g", "h"])
            | repeated_scores(USUAL, [1, 0, 0], [0, 0], [0, 0, 0]),
            rows=(
                {"metric": "pass@1", "value": (1 / 3 + 0 + 0) / 3, "n": 3, "unscored": 0},
                {"metric": "pass@3", "value": 0.5, "n": 2, "unscored": 1},
            ),
            parameters={"k": [1, 3], "of": USUAL},
        ),
    ),
    differs_from="code_execution is one try; consistency_statistics says how much tries differ, not which are right.",
    differs_from_source=(
        "The estimator is the source's. A case with fewer than k scored repeats has no value and is counted, where the "
        "reference code stops; the interval is a bootstrap over cases, of which the source does not speak."
    ),
)
def pass_at_k(suite: Suite, outputs: Outputs, parameters: PassParameters, scores: pa.Table) -> Findings:
    """The chance that at least one of k tries at a case is right, the unbiased estimate, as a mean over cases.

        pass@k = mean over cases of 1 − C(n − c, k) / C(n, k)

    for a case with n scored repeats (column `run`) of which c are right: the share of all subsets of k repeats that
    have a right one. 1 − (1 − c/n)ᵏ would be biased. Ask for n well above k: with n = k, a case is worth 0 or 1.

    Right is what the metric `of` gives the value 1; by default the code that passes its tests. Nothing is run again:
    the stored scores are read. A repeat without a score is not counted in n. A case with fewer than k scored repeats
    has no value at this k. The interval is a bootstrap over cases, of groups where the suite has them.

    Evidence: n, c, which repeats are right, and which have no value.
    """
    evaluator_id, _, metric = (parameters.of or USUAL).partition(".")
    own = scores.filter(pc.and_(pc.equal(scores["evaluator"], evaluator_id), pc.equal(scores["metric"], metric)))
    case_ids = suite.cases["case_id"]
    place = pc.index_in(own["case_id"], case_ids.combine_chunks())
    known, place = own.filter(pc.is_valid(place)), place.drop_null().to_numpy()
    order = np.lexsort((known["run"].to_numpy(), place))
    runs, values, place = known["run"].to_numpy()[order], known["value"].to_numpy()[order], place[order]
    right, open_ = (_of_cases(runs, place, kept, len(case_ids)) for kept in (values >= 1, np.isnan(values)))
    repeats = np.bincount(place, minlength=len(case_ids)).tolist()
    name = f"{evaluator_id}.{metric}"
    cases = {
        case_id: _case(count, of_right, of_open, parameters.k, name)
        for case_id, count, of_right, of_open in zip(case_ids.to_pylist(), repeats, right, open_, strict=True)
    }
    return summarise(suite, metrics_of(parameters.k), cases)


def _of_cases(runs: Ints, place: Ints, kept: Bools, cases: int) -> list[list[int]]:
    """Return the runs that are kept, of each of the cases at `place`."""
    counts = np.bincount(place[kept], minlength=cases)
    return [own.tolist() for own in np.split(runs[kept], np.cumsum(counts)[:-1])] if cases else []


def _case(repeats: int, right: list[int], without: list[int], ks: Sequence[int], of: str) -> CaseScore:
    if not repeats:
        return not_applicable(f"the run has no scores of {of} for this case: {NO_OUTPUT}")
    n, c = repeats - len(without), len(right)
    facts: dict[str, Any] = {"n": n, "right": c, "right_repeats": right}
    if without:
        facts["repeats_without_a_value"] = without
    values = {f"pass@{k}": estimate(n, c, k) if k <= n else None for k in ks}
    lacking = ", ".join(f"pass@{k}" for k in ks if k > n)
    reason = f"{lacking}: needs as many repeats with a value of {of}, has {n}" if lacking else None
    if min(ks) > n:
        return not_applicable(reason or "", Evidence(facts=facts))
    return CaseScore(values, reason=reason, evidence=Evidence(facts=facts))
