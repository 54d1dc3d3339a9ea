"""pass@k, pass^k: the chance that one, or all, of k tries at a case are right, from the scores of all its repeats."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator

from metrics.core.array_types import Bools, Ints
from metrics.core.evaluator import (
    NO_OUTPUT,
    CaseScore,
    Evaluator,
    Example,
    Findings,
    Metric,
    Parameters,
    Status,
    not_applicable,
)  # fmt: skip
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.consistency.answers import repeated_answers, repeated_scores, summarise
from metrics.stats.repeated_samples import pass_at_k as estimate

USUAL = "code_execution.passed"
ALTERNATIVES = (USUAL, "sql_execution.same_result")
MOST_K = 20  # values of k


def wanted_of(ks: Sequence[int], at_least: int | None) -> dict[str, tuple[int, int]]:
    """Return by metric how many tries there are, and how many of them are to be right; pass^1 would be pass@1."""
    return {
        **{f"pass@{k}": (k, 1) for k in ks},
        **{f"pass^{k}": (k, k) for k in ks if k > 1},
        **{f"at_least_{at_least}_of_{k}": (k, at_least) for k in ks if at_least and 1 < at_least < k},
    }


def metrics_of(ks: Sequence[int], at_least: int | None = None) -> tuple[Metric, ...]:
    """Return the metrics of each k; the first is the main one. Those of all tries are minor."""

    def described(k: int, least: int) -> str:
        kind = "one of" if least == 1 else "all of" if least == k else f"at least {least} of"
        return f"Chance that {kind} {k} tries at a case {'is' if least == 1 else 'are'} right."

    return tuple(
        Metric(
            name, described(k, least), threshold=None if least == k > 1 else 0.5, primary=not place,
            minor=least == k > 1, title=name if "^" in name else "",
        )
        for place, (name, (k, least)) in enumerate(wanted_of(ks, at_least).items())
    )  # fmt: skip


class PassParameters(Parameters):
    """How many tries, and which metric says that one is right."""

    k: tuple[int, ...] = Field(
        (1, 5, 10),
        min_length=1,
        max_length=MOST_K,
        description="The numbers of tries; a case with fewer repeats has no value for it.",
    )
    at_least: int | None = Field(
        None,
        ge=1,
        description="Also the chance that at least so many of k tries are right, for every larger k; empty: it is left "
        "out. One is pass@k, all is pass^k.",
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
        return metrics_of(self.k, self.at_least)


@evaluator(
    title="pass@k",
    tasks=("text", "agent"),
    inputs=("answer",),
    metrics=metrics_of((1, 5, 10)),
    repeats=True,
    default_needs=("repeats", "code_tests"),
    sources=("Chen et al. 2021", "Yao et al. 2024, τ-bench (pass^k)", "Liu et al. 2024 (G-Pass@k)"),
    standards=("valid and reliable",),
    examples=(
        Example(
            "two of four tries pass; for k = 2 five of the six pairs have one of them",
            repeated_answers(["a", "b", "c", "d"]) | repeated_scores(USUAL, [1, 0, 1, 0]),
            rows=(
                {"metric": "pass@1", "value": 0.5, "n": 1},
                {"metric": "pass@2", "value": 5 / 6, "n": 1},
                {"metric": "pass^2", "value": 1 / 6, "n": 1},
            ),
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
        Example(
            "three of four tries pass: at least two of any three, and all of one of the four triples",
            repeated_answers(["a", "b", "c", "d"]) | repeated_scores(USUAL, [1, 1, 1, 0]),
            rows=({"metric": "at_least_2_of_3", "value": 1.0}, {"metric": "pass^3", "value": 1 / 4}),
            parameters={"k": [3], "at_least": 2, "of": USUAL},
        ),
    ),
    differs_from="code_execution is one try; consistency_statistics says how much tries differ, not which are right.",
    differs_from_source="The estimators are the sources'. A case with fewer than k scored repeats has no value and is "
    "counted, where the reference code stops; the interval is a bootstrap over cases, of which the source does not "
    "speak.",
)
def pass_at_k(suite: Suite, outputs: Outputs, parameters: PassParameters, scores: pa.Table) -> Findings:
    """The chance that at least one of k tries at a case is right, the unbiased estimate, as a mean over cases.

        pass@k = mean over cases of 1 − C(n − c, k) / C(n, k)             one of k is right: the best of k answers
        pass^k = mean over cases of C(c, k) / C(n, k)                     all of k are: an agent that must not fail
        at_least_m_of_k = mean of Σ C(c, i) · C(n − c, k − i) / C(n, k)   over i = m … k, with m = `at_least`

    for a case with n scored repeats (column `run`) of which c are right: the share of all subsets of k repeats that
    have so many right ones. 1 − (1 − c/n)ᵏ and (c/n)ᵏ would be biased. All from 0 to 1, higher is better; pass@k rises
    with k, pass^k falls. Ask for n well above k: with n = k, a case is worth 0 or 1. at_least_m_of_k with m = ⌈τ·k⌉ is
    G-Pass@k at τ; with more than half of k it is the chance that a vote of k tries is right.

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
        case_id: _case(count, of_right, of_open, parameters, name)
        for case_id, count, of_right, of_open in zip(case_ids.to_pylist(), repeats, right, open_, strict=True)
    }
    return summarise(suite, metrics_of(parameters.k, parameters.at_least), cases)


def _of_cases(runs: Ints, place: Ints, kept: Bools, cases: int) -> list[list[int]]:
    """Return the runs that are kept, of each of the cases at `place`."""
    counts = np.bincount(place[kept], minlength=cases)
    return [own.tolist() for own in np.split(runs[kept], np.cumsum(counts)[:-1])] if cases else []


def _case(repeats: int, right: list[int], without: list[int], parameters: PassParameters, of: str) -> CaseScore:
    if not repeats:
        return CaseScore({}, Status.SKIPPED, f"the run has no scores of {of} for this case: {NO_OUTPUT}")
    n, c = repeats - len(without), len(right)
    facts: dict[str, Any] = {"n": n, "right": c, "right_repeats": right}
    if without:
        facts["repeats_without_a_value"] = without
    wanted = wanted_of(parameters.k, parameters.at_least)
    values = {name: estimate(n, c, k, least) if k <= n else None for name, (k, least) in wanted.items()}
    lacking = ", ".join(name for name, value in values.items() if value is None)
    reason = f"{lacking}: needs as many repeats with a value of {of}, has {n}" if lacking else None
    if min(parameters.k) > n:
        return not_applicable(reason or "", Evidence(facts=facts))
    return CaseScore(values, reason=reason, evidence=Evidence(facts=facts))
