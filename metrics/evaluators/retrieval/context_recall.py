"""Context recall: the share of the expected answer's claims that the retrieved contexts support."""

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, evaluator, not_applicable
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.judge.asking import Judge
from metrics.judge.steps import (
    CLAIMS,
    ENTAILMENT,
    NO_REFERENCE_CLAIMS,
    entailed_verdicts,
    entailment,
    references,
    together,
)

EINSTEIN = {
    "question": "Who was Einstein?",
    "expected_answers": ["Einstein was born in Ulm in 1879 and won the Nobel Prize."],
    "retrieved_contexts": ["Albert Einstein was born in Ulm on 14 March 1879.", "Ulm lies on the Danube."],
}
CLAIMED = ["Einstein was born in Ulm.", "Einstein was born in 1879.", "Einstein won the Nobel Prize."]
TWO_OF_THREE: list[dict[str, list[int]]] = [{"supported_by": [1]}, {"supported_by": [1]}, {"supported_by": []}]


@evaluator(
    id="context_recall",
    title="Context recall",
    inputs=("expected_answers", "retrieved_contexts"),
    prompts=(CLAIMS, ENTAILMENT),
    metrics=(
        Metric("context_recall", "Share of the expected answer's claims that follow from the retrieved contexts."),
    ),
    sources=("Valor, after RAGAS", "H2O Eval Studio"),
    standards=("NIST AI RMF: valid and reliable", "SR 11-7: outcomes analysis"),
    examples=(
        Example(
            "two of three claims are in the contexts",
            EINSTEIN,
            {"context_recall": 2 / 3},
            judge=(ScriptedReply("claims", {"claims": CLAIMED}), ScriptedReply("entailment", TWO_OF_THREE)),
        ),
        Example(
            "the best of several expected answers counts",
            {**EINSTEIN, "expected_answers": ["I do not know.", *EINSTEIN["expected_answers"], "He lived in Ulm."]},
            {"context_recall": 2 / 3},
            judge=(
                ScriptedReply("claims", {"claims": []}, {"TEXT": "I do not know."}),
                ScriptedReply("claims", {"claims": ["Einstein lived in Ulm."]}, {"TEXT": "He lived in Ulm."}),
                ScriptedReply("claims", {"claims": CLAIMED}),
                ScriptedReply("entailment", [{"supported_by": []}], {"CLAIMS": "lived in Ulm"}),
                ScriptedReply("entailment", TWO_OF_THREE),
            ),
        ),
        Example(
            "the contexts are blank",
            {**EINSTEIN, "retrieved_contexts": ["", " "]},
            {"context_recall": 0.0},
            judge=(ScriptedReply("claims", {"claims": CLAIMED}),),
        ),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**EINSTEIN, "expected_answers": ["It depends."]},
            judge=(ScriptedReply("claims", {"claims": []}),),
        ),
    ),
    differs_from="faithfulness checks the answer's claims against the contexts, this one the expected answer's: it "
    "judges the retrieval and never sees the answer. context_precision considers the order of the contexts.",
    differs_from_source=(
        "The prompts are worded by Assay. Contexts that are all blank give 0, and expected answers that make no claim "
        "are left out; Valor mentions neither. The threshold .75 is H2O's."
    ),
)
async def context_recall(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the expected answer's claims that can be attributed to the retrieved contexts.

        context recall = attributable claims / claims of the expected answer

    From 0 to 1. A judge lists the claims of the expected answer (once for all models), then decides for each which
    contexts support it. With several expected answers, the highest score counts. The order of the contexts does not
    matter.

    If all contexts are blank, the score is 0. Expected answers that make no claim are left out; if none makes any, the
    case is not applicable.
    Evidence: which expected answer counted, each of its claims with verdict, the judge's reason and the supporting
    contexts (numbers from 1).
    """
    expected = await references(judge, case.expected_answers, case.question)
    if not expected:
        return not_applicable(NO_REFERENCE_CLAIMS)
    entailed = await together(entailment(judge, reference.claims, case.retrieved_contexts) for reference in expected)
    recalls = [sum(bool(entry.supported_by) for entry in held) / len(held) for held in entailed]
    best = max(range(len(recalls)), key=recalls.__getitem__)
    claims = entailed_verdicts(expected[best].claims, entailed[best])
    evidence = Evidence({"reference_claims": claims}, {"expected_answer": expected[best].number})
    return CaseScore({"context_recall": recalls[best]}, evidence=evidence)
