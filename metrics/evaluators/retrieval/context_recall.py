"""Context recall: the share of the expected answer's claims that the retrieved contexts support."""

from collections.abc import Mapping
from dataclasses import replace

from metrics.core.evaluator import CaseScore, Example, Metric, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._judged_items import EXPECTED, expected_share
from metrics.evaluators.retrieval._references import (
    AGAINST_CONTEXTS,
    NO_EXPECTED_ANSWER,
    NO_REFERENCE_CONTEXTS,
    AgainstParameters,
    holds,
    reference_contexts,
)
from metrics.judge.asking import Judge
from metrics.judge.steps import (
    CLAIMS,
    ENTAILMENT,
    NO_REFERENCE_CLAIMS,
    claims,
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
GOLD = ["Ulm, on the Danube, is where he was born.", "Einstein won the Nobel Prize in 1921, for physics."]
TWO_OF_THREE: list[dict[str, list[int]]] = [{"supported_by": [1]}, {"supported_by": [1]}, {"supported_by": []}]


@evaluator(
    id="context_recall",
    title="Context recall",
    inputs=("expected_answers", "retrieved_contexts"),
    instead={"expected_answers": "reference_contexts"},
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
        Example(
            "the contexts hold the first reference context word for word, and one of two claims of the second",
            {**EINSTEIN, "reference_contexts": GOLD, "retrieved_contexts": [f"Born in Ulm: {GOLD[0]}", "Nobel Prize."]},
            {"context_recall": (1 + 1 / 2) / 2},
            judge=(
                ScriptedReply("claims", {"claims": ["Einstein won the Nobel Prize.", "It was for physics."]}),
                ScriptedReply("entailment", [{"supported_by": [2]}, {"supported_by": []}]),
            ),
        ),
        Example(
            "the reference contexts are not used",
            {**EINSTEIN, "reference_contexts": GOLD},
            {"context_recall": 2 / 3},
            parameters={"against": "expected_answers"},
            judge=(ScriptedReply("claims", {"claims": CLAIMED}), ScriptedReply("entailment", TWO_OF_THREE)),
        ),
        Example(
            "the reference contexts suffice",
            {"retrieved_contexts": GOLD[:1], "reference_contexts": GOLD},
            {"context_recall": 1 / 2},
            judge=(
                ScriptedReply("claims", {"claims": ["Einstein won the Nobel Prize."]}),
                ScriptedReply("entailment", [{"supported_by": []}]),
            ),
        ),
        Example.not_applicable(
            "expected answers are wanted, and there are none",
            {"retrieved_contexts": GOLD, "reference_contexts": GOLD},
            parameters={"against": "expected_answers"},
        ),
        Example.not_applicable(
            "reference contexts are wanted, and there are none",
            EINSTEIN,
            parameters={"against": "reference_contexts"},
        ),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**EINSTEIN, "expected_answers": ["It depends."]},
            judge=(ScriptedReply("claims", {"claims": []}),),
        ),
    ),
    differs_from="faithfulness checks the answer's claims against the contexts, this one the expected answer's: it "
    "judges the retrieval and never sees the answer. context_precision considers the order of the contexts.",
    differs_from_source=EXPECTED
    + (
        "The prompts are worded by Assay. Where a case has reference contexts, they suffice and take the place of the "
        "expected answer, which the sources know only; RAGAS compares them by likeness of characters in a metric of "
        "its own. "
        "A claim that is listed twice counts once. Contexts that are all blank give 0, and expected answers "
        "that make no claim are left out; Valor mentions neither. The threshold .75 is H2O's."
    ),
    version=3,
)
async def context_recall(case: Case, parameters: AgainstParameters, judge: Judge) -> CaseScore:
    """The share of the expected answer's claims that can be attributed to the retrieved contexts.

        context recall = attributable claims / claims of the expected answer
        with reference contexts: the mean over them of attributable claims / claims, 1 for one that is retrieved whole

    From 0 to 1. A judge lists the claims of the expected answer (once for all models), then decides for each which
    contexts support it. With several expected answers, the highest score counts. The order of the contexts does not
    matter.

    Where the case has `reference_contexts`, the passages that should have been retrieved, they are compared with in
    place of the expected answers (`against`), which the case then does not need: one that a retrieved context holds
    word for word is fully recalled without asking; of any other, the share of its claims that the contexts support
    counts.

    If all contexts are blank, the score is 0. Expected answers that make no claim are left out; if none makes any, the
    case is not applicable.
    Evidence: which expected answer counted (or of which reference context a claim is), each claim with verdict, the
    judge's reason and quote, and the supporting contexts (numbers from 1).
    """
    wanted = reference_contexts(case, parameters)
    if wanted is not None:
        return await _against_contexts(case, wanted, judge)
    if not case.expected_answers:
        return not_applicable(NO_EXPECTED_ANSWER)
    expected = await references(judge, case.expected_answers, case.question)
    if not expected:
        return not_applicable(NO_REFERENCE_CLAIMS)
    entailed = await together(entailment(judge, reference.claims, case.retrieved_contexts) for reference in expected)
    judged = [
        entailed_verdicts(reference.claims, held, case.retrieved_contexts)
        for reference, held in zip(expected, entailed, strict=True)
    ]
    recalls = [expected_share(verdicts) for verdicts in judged]
    best = max(range(len(recalls)), key=lambda place: recalls[place][0])
    recall, weighted = recalls[best]
    evidence = Evidence({"reference_claims": judged[best]}, {"expected_answer": expected[best].number, **weighted})
    return CaseScore({"context_recall": recall}, evidence=evidence)


async def _against_contexts(case: Case, wanted: Mapping[int, str], judge: Judge) -> CaseScore:
    """Return the mean recall of the reference contexts, by number; those without a claim are left out."""
    if not wanted:
        return not_applicable(NO_REFERENCE_CONTEXTS)
    found = await together(_recalled(case, number, text, judge) for number, text in wanted.items())
    scored = [verdicts for verdicts in found if verdicts]
    if not scored:
        return not_applicable("no reference context makes a claim")
    shares = [expected_share(verdicts) for verdicts in scored]
    weighted = next((fact for _, fact in shares if fact), {})
    evidence = Evidence(
        {"reference_claims": [verdict for verdicts in scored for verdict in verdicts]},
        {**AGAINST_CONTEXTS, "reference_contexts": len(scored), **weighted},
    )
    return CaseScore({"context_recall": sum(share for share, _ in shares) / len(shares)}, evidence=evidence)


async def _recalled(case: Case, number: int, text: str, judge: Judge) -> list[Verdict]:
    """Return a verdict on a reference context that is retrieved whole, else one on each of its claims."""
    holding = [place for place, context in enumerate(case.retrieved_contexts, 1) if holds(context, text)]
    if holding:
        links = tuple(("contexts", place) for place in holding)
        return [Verdict(f"Reference context {number}", "yes", "retrieved whole", rests_on=links)]
    stated = await claims(judge, text, case.question)
    entailed = await entailment(judge, stated, case.retrieved_contexts)
    judged = entailed_verdicts(stated, entailed, case.retrieved_contexts)
    return [replace(verdict, facts={**verdict.facts, "reference_context": number}) for verdict in judged]
