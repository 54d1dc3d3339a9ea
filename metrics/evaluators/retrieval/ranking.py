"""Ranking of retrieved ids: recall, precision, hit rate, nDCG, MRR and MAP at several k, R-precision, bpref, RBP."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Annotated, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, FiniteFloat, field_validator

from metrics.core.array_types import Floats, Ints
from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore, Direction, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict, yes_or_no
from metrics.stats.ranked_retrieval import RankedMeasures, ranks_of

KS = (1, 3, 5, 10, 20)
MAIN_K = 10  # of the primary metric, where it is among the k
SHOWN_IDS = 20  # ids of each kind in the evidence of a case
NO_IDS = "the output has no context ids"
NO_RETRIEVED = "nothing was retrieved: there is nothing to have been judged"
IDEAL = {"reference_context_ids": ["a", "b"], "context_ids": ["a", "b", "c"]}
LATE = {"reference_context_ids": ["a", "b", "c"], "context_ids": ["x", "b", "y", "a"]}
GRADED = {"reference_context_ids": ["a", "b", "c"], "reference_grades": [1.0, 3.0, 0.0], "context_ids": ["c", "a", "b"]}
LATE_IDEAL = 1 + 1 / np.log2(3) + 1 / np.log2(4)


def metrics_at(ks: Sequence[int]) -> tuple[Metric, ...]:
    """Return the metrics for these k, in order."""
    main = max((k for k in ks if k <= MAIN_K), default=min(ks))

    def at(name: str, description: str, binary: bool = False, title: str = "", neutral: bool = False) -> list[Metric]:
        return [
            Metric(
                f"{name}_at_{k}", description.format(k=k), primary=k == main and name == "ndcg",
                minor=k != main or name not in ("ndcg", "recall"), binary=binary, title=title.format(k=k),
                direction=Direction.NONE if neutral else Direction.HIGHER,
            )
            for k in ks
        ]  # fmt: skip

    return (
        *at("ndcg", "Discounted gain of the first {k} ids / that of the ideal order."),
        *at("recall", "Share of the relevant ids among the first {k}."),
        *at("precision", "Relevant ids among the first {k} / {k}."),
        *at("hit_rate", "Share of cases with a relevant id among the first {k}.", binary=True),
        *at("mrr", "1 / rank of the first relevant id, 0 without one among the first {k}."),
        *at("map", "Average precision of the relevant ids among the first {k} / all relevant ids.", title="MAP@{k}"),
        *at("judged", "Share of the first {k} ids that have a judgement.", neutral=True),
        Metric("mrr", "1 / rank of the first relevant id, 0 without one; the mean over cases is the MRR."),
        Metric(
            "map", "Average precision over the relevant ids; the mean over cases is the MAP.", minor=True, title="MAP"
        ),
        Metric("r_precision", "Relevant ids among the first R / R, where R are relevant.", minor=True),
        Metric(
            "bpref", "How rarely ids judged irrelevant come before relevant ones; unjudged ids are left out.",
            minor=True, title="bpref",
        ),
        Metric(
            "rbp", "Chance that a reader who goes on to the next id with a set probability ends at a relevant one.",
            minor=True, title="RBP",
        ),
        Metric.neutral(
            "rbp_residual", "How much RBP would gain if every id without a judgement were relevant.", minor=True,
            title="RBP residual",
        ),
    )  # fmt: skip


class RankingParameters(Parameters):
    """At which ranks to measure, what counts as relevant, and what a grade is worth."""

    k_values: tuple[Annotated[int, Field(ge=1, le=10_000)], ...] = Field(
        KS, min_length=1, description="The k of the measures among the first k ids."
    )
    relevant_grade: FiniteFloat = Field(
        1.0, gt=0, description="The lowest grade with which an id counts as relevant; nDCG uses every grade above 0."
    )
    gain: Literal["linear", "exponential"] = Field(
        "linear", description="What a grade g is worth in nDCG: linear g, as trec_eval; exponential 2^g − 1."
    )

    persistence: float = Field(
        0.8, gt=0, lt=1, description="RBP: the probability with which a reader goes on to the next id; .5 to .95."
    )

    @field_validator("k_values")
    @classmethod
    def _in_order(cls, ks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(ks)))

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the metrics at the chosen k."""
        return declared if self.k_values == KS else metrics_at(self.k_values)


class Judged(NamedTuple):
    """The reference ids of cases: the place of their case [m], the ids, their grades, and ranks, 0: not retrieved.

    retrieved: [n] how many ids each case retrieved, one that was retrieved twice counted once.
    """

    case: Ints
    ids: pa.Array
    grade: Floats
    rank: Ints
    retrieved: Ints


@evaluator(
    title="Ranking of retrieved ids",
    inputs=("reference_context_ids",),
    default_needs=("context_ids",),
    metrics=metrics_at(KS),
    has_thresholds=False,
    sources=(
        "trec_eval", "Järvelin & Kekäläinen 2002, nDCG", "Buckley & Voorhees 2004, bpref", "Moffat & Zobel 2008, RBP",
    ),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "both relevant ids come first",
            IDEAL,
            {
                "ndcg_at_10": 1.0, "recall_at_1": 0.5, "recall_at_3": 1.0, "precision_at_1": 1.0,
                "precision_at_3": 2 / 3, "hit_rate_at_1": 1.0, "mrr": 1.0, "map": 1.0, "r_precision": 1.0,
            },
        ),
        Example(
            "two of three relevant ids, at ranks 2 and 4",
            LATE,
            {
                "ndcg_at_10": (1 / np.log2(3) + 1 / np.log2(5)) / LATE_IDEAL, "recall_at_1": 0.0, "recall_at_3": 1 / 3,
                "recall_at_10": 2 / 3, "precision_at_5": 0.4, "precision_at_10": 0.2, "hit_rate_at_1": 0.0,
                "hit_rate_at_3": 1.0, "mrr": 0.5, "map": (1 / 2 + 2 / 4) / 3, "r_precision": 1 / 3,
            },
        ),
        Example(
            "grades 0, 1, 3 in rising order",
            GRADED,
            {
                "ndcg_at_10": (1 / np.log2(3) + 3 / 2) / (3 + 1 / np.log2(3)), "recall_at_3": 1.0, "mrr": 0.5,
                "mrr_at_1": 0.0, "map_at_3": (1 / 2 + 2 / 3) / 2, "bpref": 0.0, "rbp": 0.2 * (0.8 + 0.64),
                "rbp_residual": 0.8**3, "judged_at_3": 1.0,
            },
        ),
        Example(
            "an id judged irrelevant before one of two relevant ones; two that nobody judged, and a reader who goes on "
            "with probability .5",
            {
                "reference_context_ids": ["a", "b", "c"], "reference_grades": [1.0, 1.0, 0.0],
                "context_ids": ["x", "a", "c", "y", "b"],
            },
            {
                "bpref": (1 + 0) / 2, "rbp": 0.5 * (1 / 2 + 1 / 16), "rbp_residual": 1 / 2 + 1 / 16 + 1 / 32,
                "judged_at_1": 0.0, "judged_at_3": 2 / 3, "judged_at_10": 3 / 5, "map_at_3": 1 / 4,
            },
            parameters={"persistence": 0.5},
        ),
        Example(
            "the same with exponential gain, only grade 3 relevant, and one k",
            GRADED,
            {"ndcg_at_2": 1 / np.log2(3) / (7 + 1 / np.log2(3)), "recall_at_2": 0.0, "mrr": 1 / 3},
            parameters={"gain": "exponential", "relevant_grade": 3, "k_values": [2]},
        ),
        Example(
            "nothing was retrieved",
            {"reference_context_ids": ["a"], "context_ids": []},
            {
                "ndcg_at_10": 0.0, "recall_at_10": 0.0, "mrr": 0.0, "map": 0.0, "r_precision": 0.0, "bpref": 0.0,
                "rbp": 0.0, "rbp_residual": 1.0, "judged_at_10": None,
            },
        ),
        Example.not_applicable(
            "no id is relevant", {"reference_context_ids": ["a"], "reference_grades": [0.0], "context_ids": ["a"]}
        ),
    ),
    differs_from="The other evaluators of retrieval read the passages; this one compares ids with those known to be "
    "relevant, and needs neither texts nor models.",
    differs_from_source="A case without a relevant id has no value; trec_eval counts it as 0. A case for which nothing "
    "was retrieved counts as 0, as with trec_eval -c and in ir-measures. An id that was retrieved twice counts at its "
    "first rank, and those after it move up; trec_eval refuses such a run. The order is that of the list: ties of "
    "scores are settled where a run file is read, as trec_eval settles them. A negative grade is no judgement, as in "
    "trec_eval's bpref. The default persistence .8 is that of ir-measures; Moffat and Zobel show .5, .8 and .95.",
)  # fmt: skip
def ranking(cases: Cases, parameters: RankingParameters) -> list[CaseScore]:
    """How well the retrieved ids are ranked, beside those that are known to be relevant.

    An id is relevant if its grade is at least `relevant_grade`; ids without a grade are not. With R relevant ids, and
    rel(i) = 1 where the id at rank i is relevant:

        recall@k = Σ_{i≤k} rel(i) / R                precision@k = Σ_{i≤k} rel(i) / k
        hit rate@k = 1 if recall@k > 0, else 0       MRR = 1 / rank of the first relevant id, 0 without one
        MAP = Σ_i rel(i) · precision@i / R           R-precision = precision@R
        MRR@k, MAP@k: the same over the first k ids, MAP@k still divided by R
        nDCG@k = DCG@k / DCG@k of the ideal order,   DCG@k = Σ_{i≤k} gain(i) / log2(i + 1)

    How much ids that nobody judged matter, with N ids judged irrelevant (grades from 0 up to `relevant_grade`):

        judged@k = ids with a judgement among the first k / k, or / all where fewer were retrieved
        bpref    = 1/R · Σ over relevant ids retrieved of 1 − min(irrelevant ids before it, R) / min(R, N)
        RBP      = (1 − p) · Σ_i rel(i) · p^(i − 1)
        residual = (1 − p) · Σ p^(i − 1) over the ranks i without a judgement

    bpref leaves ids without a judgement out. RBP is the chance that a reader who looks at the next id with probability
    p (`persistence`) ends at a relevant one; with every judgement it would be between RBP and RBP + residual, to which
    ranks beyond the list count. judged@k and the residual speak of the judgements, not of the model.

    All from 0 to 1. gain is the grade, or 2^grade − 1 with `gain` = exponential; grades of 0 and below, and ids without
    a grade, gain nothing. Without `reference_grades` every reference id has grade 1. k may exceed the number of
    retrieved ids: precision@k is then still divided by k. MRR and MAP go over the whole list. The primary metric is
    nDCG@10, or nDCG at the largest k below 10 where 10 is not among `k_values`.

    An empty list of ids is a case for which nothing was found, and scores 0; an output without ids has no value, nor
    has a case without a relevant id. Equal to trec_eval's recall, P, success, recip_rank, map, map_cut, Rprec, bpref
    and ndcg_cut, and to ir-measures' RR@k and Judged@k (tests/stats/test_ranked_retrieval.py says how it was compared).

    Evidence: the first 20 retrieved ids with their grades and whether they are relevant, relevant ids further down,
    relevant ids that were not retrieved, and the number of each.
    """
    reasons = _reasons(cases, parameters)
    kept = cases.take(pa.array([place for place, reason in enumerate(reasons) if reason is None], pa.int64()))
    judged = judged_ids(kept)
    values = measures(len(kept), judged, parameters)
    columns = {name: pa.array(column, from_pandas=True).to_pylist() for name, column in values.items()}
    rows = zip(*columns.values(), strict=True)
    shown = zip(rows, judged.retrieved.tolist(), _evidence(kept, judged, parameters), strict=True)
    scores = (
        CaseScore(dict(zip(values, row, strict=True)), reason=None if retrieved else NO_RETRIEVED, evidence=evidence)
        for row, retrieved, evidence in shown
    )
    return [next(scores) if reason is None else not_applicable(reason) for reason in reasons]


def _reasons(cases: Cases, parameters: RankingParameters) -> list[str | None]:
    """Return why a case has no value; None where it has."""
    ids = cases.column("context_ids").is_valid().to_pylist()
    references, grades = (cases.column(name).to_pylist() for name in ("reference_context_ids", "reference_grades"))
    level = parameters.relevant_grade

    def reason(has_ids: bool, names: list[str], own: list[float | None] | None) -> str | None:
        if not has_ids:
            return NO_IDS
        given = [grade for grade in own or [1.0] * len(names) if grade is not None]
        if len(given) != len(names):
            return f"{len(given)} grades for {len(names)} reference ids"
        if len(set(names)) < len(names):
            return "a reference id is given twice"
        return None if max(given) >= level else f"no reference id has a grade of {level:g} or more"

    return list(map(reason, ids, references, grades))


def judged_ids(cases: Cases) -> Judged:
    """Return the reference ids of cases that have a value."""
    retrieved, references = (cases.column(name) for name in ("context_ids", "reference_context_ids"))
    grades = cases.column("reference_grades")
    of_retrieved, of_references = (
        np.repeat(np.arange(len(cases)), pc.list_value_length(lists).to_numpy()) for lists in (retrieved, references)
    )
    ids = references.flatten()
    codes = pa.concat_arrays([ids, retrieved.flatten()]).dictionary_encode().indices.to_numpy().astype(np.int64)
    grade = np.ones(len(ids))
    grade[np.repeat(pc.fill_null(pc.list_value_length(grades), 0).to_numpy() > 0, np.bincount(of_references))] = (
        grades.flatten().to_numpy()
    )
    ranks = ranks_of(codes[: len(ids)], of_references, codes[len(ids) :], of_retrieved)
    retrieved = np.bincount(ranks.retrieved_query, minlength=len(cases))
    return Judged(of_references, ids, grade, ranks.rank, retrieved)


def measures(n: int, judged: Judged, parameters: RankingParameters) -> dict[str, Floats]:
    """Return every metric of n cases, by name."""
    gain = np.maximum(judged.grade, 0.0)
    gain = np.exp2(gain) - 1 if parameters.gain == "exponential" else gain
    relevant = judged.grade >= parameters.relevant_grade
    found = RankedMeasures.of(n, judged.case, judged.rank, relevant, gain, judged.grade >= 0)
    kinds: dict[str, Callable[[int], Floats]] = {
        "ndcg": found.ndcg, "recall": found.recall, "precision": found.precision, "hit_rate": found.hit_rate,
        "mrr": found.reciprocal_rank, "map": found.average_precision,
        "judged": partial(found.judged, retrieved=judged.retrieved),
    }  # fmt: skip
    return {
        **{f"{name}_at_{k}": kind(k) for name, kind in kinds.items() for k in parameters.k_values},
        "mrr": found.reciprocal_rank(),
        "map": found.average_precision(),
        "r_precision": found.r_precision(),
        "bpref": found.bpref(),
        "rbp": found.rank_biased_precision(parameters.persistence),
        "rbp_residual": found.residual(parameters.persistence),
    }


def _evidence(cases: Cases, judged: Judged, parameters: RankingParameters) -> Iterator[Evidence]:
    """Yield for each case its first retrieved ids, the relevant ones further down, and those that are missing."""
    lists = [cases.column(name) for name in ("context_ids", "retrieved_contexts", "reference_grades")]
    sizes = (pc.fill_null(pc.list_value_length(column), 0).to_pylist() for column in lists)
    heads = pc.list_slice(lists[0], 0, SHOWN_IDS).to_pylist()
    ends = np.cumsum(np.bincount(judged.case, minlength=len(cases))).tolist()
    own = list(zip(judged.ids.to_pylist(), judged.grade.tolist(), judged.rank.tolist(), strict=True))
    for head, (begin, end), retrieved, texts, graded in zip(heads, pairwise([0, *ends]), *sizes, strict=True):
        yield _case_evidence(head, own[begin:end], parameters.relevant_grade, retrieved, texts == retrieved, graded > 0)


def _case_evidence(
    head: Sequence[str], own: Sequence[tuple[str, float, int]], level: float, retrieved: int, has_texts: bool,
    graded: bool,
) -> Evidence:  # fmt: skip
    """Return the evidence of a case: its first retrieved ids, and id, grade and rank of its reference ids."""
    grades = {one: grade for one, grade, _ in own}

    def label(grade: float) -> str:
        return f"grade {grade:g}" if graded else "relevant"

    first: dict[str, Verdict] = {}
    for place, one in enumerate(head, 1):
        grade = grades.get(one)
        at = (("contexts", place),) if has_texts else ()
        said = "not judged" if grade is None else label(grade)
        good = None if grade is None else grade >= level
        first.setdefault(one, Verdict(one, yes_or_no(good), said, rests_on=at))
    relevant = sorted((one for one in own if one[1] >= level), key=lambda one: (one[2], -one[1]))
    missed = [one for one in relevant if not one[2]]
    below = [one for one in relevant[len(missed) :] if one[0] not in first]
    groups = {
        "retrieved_ids": [*first.values()],
        "found_further_down": [
            Verdict(one, "yes", label(grade), facts={"rank": k}) for one, grade, k in below[:SHOWN_IDS]
        ],
        "missed_ids": [Verdict(one, "no", label(grade)) for one, grade, _ in missed[:SHOWN_IDS]],
    }
    found = len(relevant) - len(missed)
    return Evidence(groups, {"retrieved": retrieved, "relevant": len(relevant), "relevant_retrieved": found})
