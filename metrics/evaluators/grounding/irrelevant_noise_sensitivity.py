"""Irrelevant noise sensitivity: wrong claims that the answer took from irrelevant contexts."""

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Parameters, ScriptedReply
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.grounding._noise import INPUTS, PROMPTS, STANDARDS, noise_metrics, noise_sensitivity
from metrics.judge.asking import Judge

AUSTEN = {
    "question": "Who wrote the novel 'Pride and Prejudice'?",
    "expected_answers": ["Jane Austen wrote 'Pride and Prejudice.'"],
    "answer": "Charlotte Brontë wrote 'Pride and Prejudice,' and she is famous for 'Jane Eyre.'",
    "retrieved_contexts": [
        "Jane Austen published 'Pride and Prejudice' in 1813, a classic romance novel.",
        "Charlotte Brontë, a renowned author, is best known for her novel 'Jane Eyre,' published in 1847.",
    ],
}
WROTE = "Charlotte Brontë wrote 'Pride and Prejudice'."
FAMOUS = "Charlotte Brontë is famous for 'Jane Eyre'."
TRUTH = "Jane Austen wrote 'Pride and Prejudice'."


class NoiseParameters(Parameters):
    """What counts as irrelevant noise."""

    exclusive: bool = Field(
        False, description="Count a claim only if no relevant context entails it too, as RAGChecker does."
    )


def _both_kinds(value: float, *, exclusive: bool) -> Example:
    """Return the example of a wrong claim that contexts of both kinds entail, and one that the irrelevant one does."""
    return Example(
        f"contexts of both kinds entail one of two incorrect claims{', which then does not count' * exclusive}",
        AUSTEN,
        {"irrelevant_noise_sensitivity": value},
        parameters={"exclusive": True} if exclusive else {},
        judge=(
            ScriptedReply("claims", {"claims": [WROTE, FAMOUS]}, {"TEXT": "Charlotte"}),
            ScriptedReply("claims", {"claims": [TRUTH]}, {"TEXT": "Jane Austen wrote"}),
            ScriptedReply("entailment", [{"supported_by": []}, {"supported_by": []}], {"CONTEXTS": TRUTH}),
            ScriptedReply("entailment", [{"supported_by": [1, 2]}, {"supported_by": [2]}], {"CLAIMS": WROTE}),
            ScriptedReply("entailment", [{"supported_by": [1]}], {"CLAIMS": TRUTH}),
        ),
    )


@evaluator(
    id="irrelevant_noise_sensitivity",
    title="Irrelevant noise sensitivity",
    inputs=INPUTS,
    prompts=PROMPTS,
    metrics=noise_metrics("irrelevant_noise_sensitivity", "an irrelevant context"),
    sources=("RAG generator metrics, after RAGChecker",),
    standards=STANDARDS,
    examples=(
        Example(
            "Jane Austen: one of two incorrect claims is in the irrelevant context",
            AUSTEN,
            {"irrelevant_noise_sensitivity": 0.5},
            judge=(
                ScriptedReply("claims", {"claims": [WROTE, FAMOUS]}, {"TEXT": "Charlotte"}),
                ScriptedReply("claims", {"claims": [TRUTH]}, {"TEXT": "Jane Austen wrote"}),
                ScriptedReply("entailment", [{"supported_by": []}, {"supported_by": []}], {"CONTEXTS": TRUTH}),
                ScriptedReply("entailment", [{"supported_by": []}, {"supported_by": [2]}], {"CLAIMS": WROTE}),
                ScriptedReply("entailment", [{"supported_by": [1]}], {"CLAIMS": TRUTH}),
            ),
        ),
        _both_kinds(1.0, exclusive=False),
        _both_kinds(0.5, exclusive=True),
        Example(
            "every context is relevant",
            {**AUSTEN, "retrieved_contexts": AUSTEN["retrieved_contexts"][:1]},
            {"irrelevant_noise_sensitivity": 0.0},
            judge=(
                ScriptedReply("claims", {"claims": [WROTE]}, {"TEXT": "Charlotte"}),
                ScriptedReply("claims", {"claims": [TRUTH]}),
                ScriptedReply("entailment", [{"supported_by": []}], {"CONTEXTS": TRUTH}),
                ScriptedReply("entailment", [{"supported_by": []}], {"CLAIMS": WROTE}),
                ScriptedReply("entailment", [{"supported_by": [1]}]),
            ),
        ),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**AUSTEN, "expected_answers": ["It depends.", " "]},
            judge=(
                ScriptedReply("claims", {"claims": [WROTE]}, {"TEXT": "Charlotte"}),
                ScriptedReply("claims", {"claims": []}),
            ),
        ),
    ),
    differs_from="relevant_noise_sensitivity counts wrong claims from contexts that contain a part of the expected "
    "answer; hallucination_claims counts claims that no context supports, right or wrong.",
    differs_from_source=(
        "The formula does not differ; RAGChecker's own program leaves out claims that a relevant context entails too, "
        "which `exclusive` does. A claim that is listed twice counts once. The prompts are worded by Assay. Answers "
        "and expected answers without a claim are not applicable. The source sets no threshold; .25 is Assay's."
    ),
    version=2,
)
async def irrelevant_noise_sensitivity(case: Case, parameters: NoiseParameters, judge: Judge) -> CaseScore:
    """The share of the answer's claims that are wrong and that an irrelevant context led it to.

        sensitivity = incorrect claims entailed by an irrelevant context / claims

    From 0, no claim is both wrong and taken from there, to 1; lower is better. A claim is incorrect if no expected
    answer supports it, even if it is true but beside the point; a context is irrelevant if it supports no claim of any
    expected answer. A claim that contexts of both kinds entail counts in both noise sensitivity evaluators; with
    `exclusive` only in relevant_noise_sensitivity, so that the two shares never count a claim twice.

    The score is 0 without an irrelevant context. An answer without a claim, or expected answers without one, are not
    applicable.
    Evidence: each claim, correct or not, whether it is noise, the contexts that entail it, which contexts are relevant.
    """
    return await noise_sensitivity(
        judge, case, "irrelevant_noise_sensitivity", relevant=False, exclusive=parameters.exclusive
    )
