"""UMBRELA: how well each retrieved passage answers the question, graded 0 to 3, and the resulting rank metrics."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, field_validator

from metrics.core.errors import JudgeError
from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.evaluators._judged_items import NOTHING_RETRIEVED
from metrics.judge.asking import Judge
from metrics.judge.grading import GRADE, RELEVANT_GRADE, STRUCTURED, Wording, failures, grade_verdicts, grades, wording
from metrics.stats.ranked_retrieval import average_precision

KS = (1, 3, 5)
QUESTION = "Who wrote Dracula?"
PASSAGES = [
    "Dracula is an 1897 novel by Bram Stoker.",
    "Quito is the capital of Ecuador.",
    "The book's author, a theatre manager, had never seen Transylvania; Stoker read about it in a library.",
    "Nosferatu is a film after Dracula.",
    "Stoker, Bram: Dracula (1897), Constable and Company, and other works of his and of others.",
]


def _replies(*marks: int) -> tuple[ScriptedReply, ...]:
    return tuple(
        ScriptedReply(
            "umbrela.grade", {"intent": "the author", "match": mark, "trust": 3, "grade": mark}, {"PASSAGE": passage}
        )
        for mark, passage in zip(marks, PASSAGES, strict=False)
    )


def metrics_at(ks: Sequence[int]) -> tuple[Metric, ...]:
    """Return the evaluator's metrics, with precision and average precision at each of `ks`."""
    return (
        Metric("umbrela", "Mean grade of the passages, 0 to 3.", high=3.0, threshold=2.25, primary=True),
        *(Metric(f"precision_at_{k}", f"Relevant passages among the first {k} / {k}.", minor=k > 1) for k in ks),
        *(
            Metric(
                f"average_precision_at_{k}",
                f"Mean precision at the ranks of the relevant passages among the first {k}.",
                minor=True,
            )
            for k in ks
        ),
        Metric("mrr", "Reciprocal rank of the first relevant passage; 0 without one."),
    )


class UmbrelaParameters(Parameters):
    """At which ranks to measure, what counts as relevant, and how to ask."""

    k_values: tuple[Annotated[int, Field(ge=1, le=1_000)], ...] = Field(
        KS, min_length=1, description="The k of precision and average precision among the first k passages."
    )

    relevant_grade: int = Field(
        RELEVANT_GRADE, ge=1, le=3, description="The lowest grade with which a passage counts as relevant."
    )
    prompt: Wording = Field(
        "auto",
        description="Wording of the question: standard; structured, step by step; auto: structured for GPT-OSS and "
        "Qwen models, else standard.",
    )

    @field_validator("k_values")
    @classmethod
    def _in_order(cls, ks: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(ks)))

    def measured(self, declared: tuple[Metric, ...]) -> tuple[Metric, ...]:
        """Return the metrics at the chosen k."""
        return declared if self.k_values == KS else metrics_at(self.k_values)


@evaluator(
    title="UMBRELA",
    inputs=("question", "retrieved_contexts"),
    prompts=(GRADE, STRUCTURED),
    version=5,
    metrics=metrics_at(KS),
    sources=("Open RAG Eval", "Upadhyay et al. 2024, UMBRELA (arXiv:2406.06519)"),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        Example(
            "five passages graded 3, 0, 2, 1 and 2",
            {"question": QUESTION, "retrieved_contexts": PASSAGES},
            {
                "umbrela": 1.6, "precision_at_1": 1.0, "precision_at_3": 2 / 3, "precision_at_5": 0.6,
                "average_precision_at_1": 1.0, "average_precision_at_3": 5 / 6, "average_precision_at_5": 34 / 45,
                "mrr": 1.0,
            },
            judge=_replies(3, 0, 2, 1, 2),
        ),
        Example(
            "precision at ranks of one's own",
            {"question": QUESTION, "retrieved_contexts": PASSAGES},
            {"precision_at_2": 0.5, "precision_at_4": 0.5, "average_precision_at_4": 5 / 6, "mrr": 1.0},
            parameters={"k_values": [2, 4]},
            judge=_replies(3, 0, 2, 1, 2),
        ),
        Example(
            "no passage is relevant",
            {"question": QUESTION, "retrieved_contexts": PASSAGES[:3]},
            {"umbrela": 2 / 3, "precision_at_1": 0.0, "precision_at_3": 0.0, "average_precision_at_3": 0.0, "mrr": 0.0},
            judge=_replies(1, 0, 1),
        ),
        Example(
            "two of three passages are relevant; precision at 5 is still divided by 5",
            {"question": QUESTION, "retrieved_contexts": PASSAGES[:3]},
            {
                "precision_at_3": 2 / 3, "precision_at_5": 0.4, "average_precision_at_3": 5 / 6,
                "average_precision_at_5": 5 / 6,
            },
            judge=_replies(3, 0, 2),
        ),
        Example(
            "the first relevant passage is the third",
            {"question": QUESTION, "retrieved_contexts": PASSAGES[:3]},
            {"umbrela": 4 / 3, "precision_at_1": 0.0, "precision_at_3": 1 / 3, "mrr": 1 / 3},
            judge=_replies(1, 0, 3),
        ),
        Example(
            "a grade that cannot be read costs only the numbers that rest on it",
            {"question": QUESTION, "retrieved_contexts": PASSAGES[:3]},
            {"umbrela": 2.5, "precision_at_1": 1.0, "precision_at_3": None, "average_precision_at_5": None, "mrr": 1.0},
            judge=(*_replies(3)[:1], ScriptedReply("umbrela.grade", {"grade": "good"}, {"PASSAGE": PASSAGES[1]}),
                   _replies(0, 0, 2)[2]),
            status=Status.PARSE_FAILURE,
        ),
        Example(
            "blank passages get grade 0 without asking the judge",
            {"question": QUESTION, "retrieved_contexts": [" "]},
            {"umbrela": 0.0, "precision_at_1": 0.0, "mrr": 0.0},
        ),
        Example(
            "nothing was retrieved",
            {"question": QUESTION, "retrieved_contexts": []},
            {"umbrela": 0.0, "precision_at_1": 0.0, "precision_at_5": 0.0, "average_precision_at_3": 0.0, "mrr": 0.0},
        ),
    ),
    differs_from="context_relevance asks yes or no about all contexts at once; context_precision asks whether a "
    "context is useful for the expected answer, this one only for the question; context_mrr goes by embeddings.",
    differs_from_source="Both prompts, the standard one and the structured one for GPT-OSS and Qwen models, are worded "
    "by Assay, and the run's judge with its own settings replaces GPT-4o with top_p 1, seed 42 and presence penalty .5 "
    "(they can be set). AP@k averages over the relevant passages among the first k and is 0 without one. A passage "
    "that fails does not cost the others their grades. Thresholds are Assay's.",
)  # fmt: skip
async def umbrela(case: Case, parameters: UmbrelaParameters, judge: Judge) -> CaseScore:
    """How well the retrieved passages answer the question, each graded separately from 0 to 3 by a judge.

        umbrela = mean of the grades O
        precision_at_k = relevant passages among the first k / k,   relevant: O ≥ 2 (`relevant_grade`)
        average_precision_at_k = mean of precision_at_i over the relevant ranks i ≤ k; 0 without any
        mrr = 1 / rank of the first relevant passage; 0 without any

    The judge names the intent of the question, rates how well the passage matches it (M) and how trustworthy it is (T),
    0 to 3 each, and decides on the grade O: 0 nothing to do with the question, 1 related to it, 2 an answer that
    is unclear or hidden, 3 the exact answer and nothing else; that is, 1 for a passage only somewhat about the subject,
    2 for one with something very important and other things, 3 for one only and entirely about it. One call a passage,
    at temperature 0 where it can be set.
    The question has two wordings of the same content (`prompt`); the structured one lists the steps for models that
    follow them better.

    k is 1, 3 and 5 (`k_values`). With fewer passages than k, precision is still divided by k, as in the source, and
    average precision goes over the passages there are; where nothing was retrieved every number is 0. A passage whose
    grade cannot be obtained or read is unknown: it is left out of the mean, and a metric that depends on it (it is
    among the first k, or before the first relevant passage) has no value but the status parse failure (or error) and
    the reason; the other metrics are kept.
    Blank passages have grade 0.
    Evidence: each passage with intent, match, trust and grade, and the prompt that was asked.
    """
    prompt = wording(judge, parameters.prompt)
    if not case.retrieved_contexts:
        evidence = Evidence(facts={"note": NOTHING_RETRIEVED})
        return CaseScore({metric.name: 0.0 for metric in metrics_at(parameters.k_values)}, evidence=evidence)
    graded = await grades(judge, prompt, case.question or "", case.retrieved_contexts)
    known = [entry.grade for entry in graded if not isinstance(entry, JudgeError)]
    relevant = [None if isinstance(entry, JudgeError) else entry.grade >= parameters.relevant_grade for entry in graded]
    values: dict[str, float | None] = {"umbrela": sum(known) / len(known) if known else None}
    for k in parameters.k_values:
        first = [mark for mark in relevant[:k] if mark is not None]
        whole = len(first) == len(relevant[:k])
        values[f"precision_at_{k}"] = sum(first) / k if whole else None
        values[f"average_precision_at_{k}"] = average_precision(first) if whole else None
    values["mrr"] = _reciprocal_rank(relevant)
    status, failed = failures(graded)
    evidence = Evidence({"passages": grade_verdicts(graded, parameters.relevant_grade)}, {"prompt": prompt.id})
    return CaseScore(values, status, failed or None, evidence)


def _reciprocal_rank(relevant: Sequence[bool | None]) -> float | None:
    """Return 1 / rank of the first relevant passage, 0 without one, None if an unknown one comes before it."""
    for rank, mark in enumerate(relevant, 1):
        if mark is None:
            return None
        if mark:
            return 1.0 / rank
    return 0.0
