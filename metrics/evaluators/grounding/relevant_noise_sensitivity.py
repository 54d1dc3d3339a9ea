"""Relevant noise sensitivity: wrong claims that the answer took from relevant contexts."""

from metrics.core.evaluator import CaseScore, Example, Parameters, ScriptedReply
from metrics.core.evaluator_decorator import evaluator
from metrics.core.suite import Case
from metrics.evaluators.grounding._noise import INPUTS, PROMPTS, STANDARDS, noise_metrics, noise_sensitivity
from metrics.judge.asking import Judge

EXPECTED = "Leonardo da Vinci painted the Mona Lisa in the 16th century."
MONA_LISA = {
    "question": "Who painted the Mona Lisa and in what century was it painted?",
    "expected_answers": [EXPECTED],
    "answer": "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century.",
    "retrieved_contexts": [
        "The Mona Lisa is a famous portrait painted by Leonardo da Vinci. It is believed to have been started in the "
        "early 1500s. Some art historians date its completion to around 1519, placing it firmly in the 15th century "
        "according to certain periodizations."
    ],
}
ANSWERED = ScriptedReply(
    "claims",
    {"claims": ["Leonardo da Vinci painted the Mona Lisa.", "The Mona Lisa was painted in the 15th century."]},
    {"TEXT": "and it was painted"},
)


@evaluator(
    id="relevant_noise_sensitivity",
    title="Relevant noise sensitivity",
    inputs=INPUTS,
    prompts=PROMPTS,
    metrics=noise_metrics("relevant_noise_sensitivity", "a relevant context"),
    sources=("RAG generator metrics, after RAGChecker",),
    standards=STANDARDS,
    examples=(
        Example(
            "the Mona Lisa: one of two claims is wrong, and it is in the context that names the painter",
            MONA_LISA,
            {"relevant_noise_sensitivity": 0.5},
            judge=(
                ANSWERED,
                ScriptedReply(
                    "claims",
                    {"claims": ["Leonardo da Vinci is its painter.", "The Mona Lisa dates from the 16th century."]},
                    {"TEXT": EXPECTED},
                ),
                ScriptedReply(
                    "entailment",
                    [{"reason": "He is.", "supported_by": [1]}, {"reason": "The 16th.", "supported_by": []}],
                    {"CLAIMS": "15th century", "CONTEXTS": "16th century"},
                ),
                ScriptedReply(
                    "entailment",
                    [{"reason": "It says so.", "supported_by": [1]}, {"reason": "It does.", "supported_by": [1]}],
                    {"CLAIMS": "15th century", "CONTEXTS": "famous portrait"},
                ),
                ScriptedReply(
                    "entailment",
                    [{"reason": "It says so.", "supported_by": [1]}, {"reason": "The 15th.", "supported_by": []}],
                    {"CLAIMS": "16th century", "CONTEXTS": "famous portrait"},
                ),
            ),
        ),
        Example(
            "a claim is correct if the second expected answer makes it",
            {**MONA_LISA, "expected_answers": [EXPECTED, "It is of the 15th century."]},
            {"relevant_noise_sensitivity": 0.0},
            judge=(
                ANSWERED,
                ScriptedReply("claims", {"claims": ["Leonardo da Vinci painted the Mona Lisa."]}, {"TEXT": EXPECTED}),
                ScriptedReply(
                    "claims", {"claims": ["The Mona Lisa is of the 15th century."]}, {"TEXT": "It is of the 15th"}
                ),
                ScriptedReply(
                    "entailment",
                    [{"supported_by": []}, {"supported_by": [1]}],
                    {"CLAIMS": "[2]", "CONTEXTS": "is of the 15th century"},
                ),
                ScriptedReply(
                    "entailment", [{"supported_by": [1]}, {"supported_by": []}], {"CLAIMS": "[2]", "CONTEXTS": "[1] L"}
                ),
                ScriptedReply("entailment", [{"supported_by": [1]}, {"supported_by": [1]}], {"CLAIMS": "[2]"}),
                ScriptedReply("entailment", [{"supported_by": [1]}]),
            ),
        ),
        Example.not_applicable(
            "a refusal makes no claim",
            {**MONA_LISA, "answer": "I do not know."},
            judge=(ScriptedReply("claims", {"claims": []}),),
        ),
    ),
    differs_from="irrelevant_noise_sensitivity counts wrong claims from contexts that contain nothing of the expected "
    "answer; hallucination_claims counts claims that no context supports, right or wrong.",
    differs_from_source=(
        "The formula does not differ. A claim that is listed twice counts once. The prompts are worded by Assay. "
        "Answers and expected answers without a claim are not applicable. The source sets no threshold; .25 is Assay's."
    ),
    version=2,
)
async def relevant_noise_sensitivity(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the answer's claims that are wrong and that a relevant context led it to.

        sensitivity = incorrect claims entailed by a relevant context / claims

    From 0, no claim is both wrong and taken from there, to 1; lower is better. A claim is incorrect if no expected
    answer supports it; a context is relevant if it supports a claim of an expected answer. Wrong claims that are in no
    context are the model's own inventions and do not count here: see hallucination_claims.

    The score is 0 without a relevant context. An answer without a claim, or expected answers without one, are not
    applicable.
    Evidence: each claim, correct or not, whether it is noise, the contexts that entail it, which contexts are relevant.
    """
    return await noise_sensitivity(judge, case, "relevant_noise_sensitivity", relevant=True)
