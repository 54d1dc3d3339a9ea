"""Context precision and recall: whether the retrieved contexts hold what the suite says that they should."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Pair, Prompt
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.evaluators._judged_items import BLANK_CONTEXT, SHARE_IS_EXPECTED, expected_share
from metrics.evaluators._scripted import claims_reply, entailment_reply, example_of
from metrics.judge import steps
from metrics.judge.asking import Judge
from metrics.stats.ranked_retrieval import average_precision

NO_REFERENCE_CONTEXTS = "the case has no reference contexts"
NO_EXPECTED_ANSWER = "the case has no expected answer"
AGAINST_CONTEXTS = {"against": "reference contexts"}  # a fact of a case that was not compared with expected answers


class AgainstParameters(Parameters):
    """What the retrieved contexts are compared with."""

    against: Literal["auto", "expected_answers", "reference_contexts"] = Field(
        "auto",
        description="What the retrieved contexts should hold: the suite's reference_contexts, or the expected answers; "
        "auto: the reference contexts of the cases that have any.",
    )


def reference_contexts(case: Case, parameters: AgainstParameters) -> dict[int, str] | None:
    """Return the case's reference contexts to compare with, by number from 1, without blank ones; {} without any.

    None where the expected answers are compared with.
    """
    if parameters.against == "expected_answers":
        return None
    found = {number: text for number, text in enumerate(case.reference_contexts, 1) if text.strip()}
    return found if found or parameters.against == "reference_contexts" else None


def holds(context: str, reference: str) -> bool:
    """Return whether a retrieved context holds a reference context word for word; white space and case may differ."""
    return " ".join(reference.split()).casefold() in " ".join(context.split()).casefold()


USEFUL = Prompt(
    "context_precision.useful",
    "For each of the CONTEXTS say whether it is useful for arriving at EXPECTED as the answer to QUESTION. yes: it "
    "holds something of what EXPECTED says, or a fact from which a part of it follows. no: EXPECTED could be written "
    "as well without it, also where it is about the same subject.",
    (
        Pair(
            {
                "QUESTION": "Who built the lighthouse of Ardle, and when?",
                "EXPECTED": "Jon Marle built it in 1821.",
                "CONTEXTS": [
                    "The lighthouse of Ardle was first lit in 1821, the year in which it was built.",
                    "The lighthouse of Ardle has 140 steps.",
                ],
            },
            {
                "replies": [
                    {"id": 1, "reason": "It gives the year.", "verdict": "yes"},
                    {"id": 2, "reason": "The answer says nothing of steps.", "verdict": "no"},
                ]
            },
        ),
    ),
    {
        "query": "QUESTION",
        "context": "CONTEXTS",
        "context_list": "CONTEXTS",
        "answer": "EXPECTED",
        "groundtruth": "EXPECTED",
    },
)
QUESTION = "Who wrote Faust?"
GOETHE = "Johann Wolfgang von Goethe."
CONTEXTS = [
    "Faust is a play by Goethe.",
    "Faust Vrančić was an inventor.",
    "A fist.",
    "Goethe published Faust in 1808.",
]


GIVEN = {"question": QUESTION, "expected_answers": [GOETHE], "retrieved_contexts": CONTEXTS}
_precision = partial(example_of, "context_precision")
_recall = partial(example_of, "context_recall")


def _replies(verdicts: str, expected: str = GOETHE) -> ScriptedReply:
    replies = [{"reason": "", "verdict": "yes" if letter == "y" else "no"} for letter in verdicts]
    return ScriptedReply(USEFUL.id, replies, {"EXPECTED": expected})


@evaluator(
    inputs=("question", "expected_answers", "retrieved_contexts"),
    instead={"expected_answers": "reference_contexts"},
    prompts=(USEFUL,),
    version=4,
    metrics=Metric(
        "context_precision", "Average precision of the ranked contexts: whether the useful ones come first."
    ),
    sources=("Valor, after RAGAS and DeepEval", "H2O Eval Studio"),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        _precision("the first and the fourth context are useful", GIVEN, 0.75, _replies("ynny")),
        _precision("the second and the fourth context are useful", GIVEN, 0.5, _replies("nyny")),
        _precision("no context is useful", GIVEN, 0.0, _replies("nnnn")),
        _precision(
            "a context counts if it is useful for either expected answer",
            GIVEN | {"expected_answers": [GOETHE, "In 1808."]},
            0.75,
            _replies("ynnn"),
            _replies("nnny", "1808"),
        ),
        _precision(
            "a blank context keeps its rank and is useless",
            GIVEN | {"retrieved_contexts": [" ", CONTEXTS[0]]},
            0.5,
            _replies("y"),
        ),
        _precision(
            "of two contexts that hold a reference context, one does so word for word",
            GIVEN | {"retrieved_contexts": CONTEXTS[1:], "reference_contexts": ["Goethe published  Faust in 1808."]},
            1 / 3,
            _replies("nn", "1808"),
        ),
        _precision(
            "the reference contexts are not used",
            GIVEN | {"reference_contexts": ["Goethe published Faust in 1808."]},
            0.75,
            _replies("ynny"),
            against="expected_answers",
        ),
        _precision(
            "the reference contexts suffice",
            {"question": QUESTION, "retrieved_contexts": CONTEXTS[:2], "reference_contexts": CONTEXTS[:1]},
            1.0,
            _replies("n", CONTEXTS[0]),
        ),
        _precision("nothing was retrieved", GIVEN | {"retrieved_contexts": []}, 0.0),
        Example.not_applicable(
            "expected answers are wanted, and there are none",
            {"question": QUESTION, "retrieved_contexts": CONTEXTS, "reference_contexts": CONTEXTS},
            parameters={"against": "expected_answers"},
        ),
        Example.not_applicable("the expected answer is blank", GIVEN | {"expected_answers": [" "]}),
    ),
    differs_from="context_relevance asks only about the question and ignores the order; context_recall asks how much "
    "of the expected answer the contexts contain; context_mrr finds the first relevant context by similarity.",
    differs_from_source="The prompt is worded by Assay. Where a case has reference contexts, they suffice and take the "
    "place of the expected answers, which the sources know only. A blank context keeps its rank and is useless. With "
    "several expected answers a context is useful if it is for any, as in Valor; H2O knows one. The threshold .75 is "
    "H2O's.",
)
async def context_precision(case: Case, parameters: AgainstParameters, judge: Judge) -> CaseScore:
    """How early the useful contexts appear: the mean of precision@k over the ranks k of the useful ones.

        precision@k = useful among the first k / k
        context precision = Σ precision@k · v_k / Σ v_k,  v_k = 1 if context k is useful, else 0

    From 0 to 1. A judge decides for each context whether it helps to arrive at the expected answer. The order matters:
    the contexts are taken as ranked, best first. With several expected answers, the judge is asked about each, and a
    context is useful if it is useful for any.

    Where the case has `reference_contexts`, the passages that should have been retrieved, they are compared with in
    place of the expected answers (`against`), which the case then does not need: a retrieved context that holds one
    word for word, or is a part of one, is useful without asking; any other is useful if it holds something of what a
    reference context says.

    Without a useful context, and where nothing was retrieved, the score is 0. A blank context keeps its rank and is
    useless. A blank question, or expected answers that are all blank, are not applicable.
    Evidence: each context with its verdict, the judge's reason and, if it is useful, for which expected answer or
    reference context (number from 1); what was compared with, where it is the reference contexts.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    wanted = reference_contexts(case, parameters)
    if wanted is None:
        name = "expected_answer"
        nothing = "every expected answer is blank" if case.expected_answers else NO_EXPECTED_ANSWER
        expected = [(number, text) for number, text in enumerate(case.expected_answers, 1) if text.strip()]
    else:
        name, nothing, expected = "reference_context", NO_REFERENCE_CONTEXTS, list(wanted.items())
    if not expected:
        return not_applicable(nothing)
    asked = await steps.together(_useful(case, text, judge, certain=wanted is not None) for _, text in expected)
    contexts = []
    for number, replies in enumerate(zip(*asked, strict=True), 1):
        useful = [place for place, reply in enumerate(replies) if reply.verdict == "yes"]
        reason, met = replies[useful[0] if useful else 0].reason, {name: expected[useful[0]][0]} if useful else {}
        words = "useful", "useless"
        contexts.append(Verdict.of(f"Context {number}", bool(useful), words, reason, [number], facts=met))
    value = average_precision([context.holds == "yes" for context in contexts])
    facts = {} if wanted is None else AGAINST_CONTEXTS
    return CaseScore({"context_precision": value}, evidence=Evidence({"contexts": contexts}, facts))


async def _useful(case: Case, expected: str, judge: Judge, *, certain: bool) -> tuple[steps.YesNoReply, ...]:
    """Return for each context whether it is useful for what is expected.

    `certain`: a context that holds the expected text, or is a part of it, is useful without asking.
    """
    whole = steps.YesNoReply(
        id=0, verdict="yes", reason="it holds the reference context, or a part of it, word for word"
    )
    known = {
        place
        for place, context in enumerate(case.retrieved_contexts)
        if certain and context.strip() and (holds(context, expected) or holds(expected, context))
    }
    left = ["" if place in known else context for place, context in enumerate(case.retrieved_contexts)]
    data = {"QUESTION": case.question, "EXPECTED": expected}
    replies = await steps.each_context(
        judge, USEFUL, left, data, blank=BLANK_CONTEXT, decides=steps.says_yes, divided="EXPECTED"
    )
    return tuple(whole if place in known else reply for place, reply in enumerate(replies))


EINSTEIN = {
    "question": "Who was Einstein?",
    "expected_answers": ["Einstein was born in Ulm in 1879 and won the Nobel Prize."],
    "retrieved_contexts": ["Albert Einstein was born in Ulm on 14 March 1879.", "Ulm lies on the Danube."],
}
CLAIMED = ["Einstein was born in Ulm.", "Einstein was born in 1879.", "Einstein won the Nobel Prize."]
GOLD = ["Ulm, on the Danube, is where he was born.", "Einstein won the Nobel Prize in 1921, for physics."]
TWO_OF_THREE = entailment_reply([1], [1], [])


@evaluator(
    inputs=("expected_answers", "retrieved_contexts"),
    instead={"expected_answers": "reference_contexts"},
    prompts=(steps.CLAIMS, steps.ENTAILMENT),
    metrics=Metric("context_recall", "Share of the expected answer's claims that follow from the retrieved contexts."),
    sources=("Valor, after RAGAS", "H2O Eval Studio"),
    standards=("valid and reliable", "outcomes analysis"),
    examples=(
        _recall("two of three claims are in the contexts", EINSTEIN, 2 / 3, claims_reply(*CLAIMED), TWO_OF_THREE),
        _recall(
            "the best of several expected answers counts",
            {**EINSTEIN, "expected_answers": ["I do not know.", *EINSTEIN["expected_answers"], "He lived in Ulm."]},
            2 / 3,
            claims_reply(text="I do not know."),
            claims_reply("Einstein lived in Ulm.", text="He lived in Ulm."),
            claims_reply(*CLAIMED),
            entailment_reply([], CLAIMS="lived in Ulm"),
            TWO_OF_THREE,
        ),
        _recall("the contexts are blank", {**EINSTEIN, "retrieved_contexts": ["", " "]}, 0.0, claims_reply(*CLAIMED)),
        _recall("nothing was retrieved", {**EINSTEIN, "retrieved_contexts": []}, 0.0, claims_reply(*CLAIMED)),
        Example(
            "the contexts hold the first reference context word for word, and one of two claims of the second",
            {**EINSTEIN, "reference_contexts": GOLD, "retrieved_contexts": [f"Born in Ulm: {GOLD[0]}", "Nobel Prize."]},
            {"context_recall": (1 + 1 / 2) / 2},
            judge=(claims_reply("Einstein won the Nobel Prize.", "It was for physics."), entailment_reply([2], [])),
        ),
        Example(
            "the reference contexts are not used",
            {**EINSTEIN, "reference_contexts": GOLD},
            {"context_recall": 2 / 3},
            parameters={"against": "expected_answers"},
            judge=(claims_reply(*CLAIMED), TWO_OF_THREE),
        ),
        Example(
            "the reference contexts suffice",
            {"retrieved_contexts": GOLD[:1], "reference_contexts": GOLD},
            {"context_recall": 1 / 2},
            judge=(claims_reply("Einstein won the Nobel Prize."), entailment_reply([])),
        ),
        Example.not_applicable(
            "expected answers are wanted, and there are none",
            {"retrieved_contexts": GOLD, "reference_contexts": GOLD},
            parameters={"against": "expected_answers"},
        ),
        Example.not_applicable(
            "reference contexts are wanted, and there are none", EINSTEIN, parameters={"against": "reference_contexts"}
        ),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**EINSTEIN, "expected_answers": ["It depends."]},
            judge=(claims_reply(),),
        ),
    ),
    differs_from="faithfulness checks the answer's claims against the contexts, this one the expected answer's: it "
    "judges the retrieval and never sees the answer. context_precision considers the order of the contexts.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompts are worded by Assay. Where a case has reference contexts, "
    "they suffice and take the place of the expected answer, which the sources know only; RAGAS compares them by "
    "likeness of characters in a metric of its own. A claim that is listed twice counts once. Contexts that are all "
    "blank give 0, and expected answers that make no claim are left out; Valor mentions neither. The threshold .75 is "
    "H2O's.",
    version=4,
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

    If all contexts are blank, or nothing was retrieved, the score is 0. Expected answers that make no claim are left
    out; if none makes any, the case is not applicable.
    Evidence: which expected answer counted (or of which reference context a claim is), each claim with verdict, the
    judge's reason and quote, and the supporting contexts (numbers from 1).
    """
    wanted = reference_contexts(case, parameters)
    if wanted is not None:
        return await _against_contexts(case, wanted, judge)
    if not case.expected_answers:
        return not_applicable(NO_EXPECTED_ANSWER)
    expected = await steps.references(judge, case.expected_answers, case.question)
    if not expected:
        return not_applicable(steps.NO_REFERENCE_CLAIMS)
    entailed = await steps.together(
        steps.entailment(judge, reference.claims, case.retrieved_contexts) for reference in expected
    )
    judged = [
        steps.entailed_verdicts(reference.claims, held, case.retrieved_contexts)
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
    found = await steps.together(_judge_recall(case, number, text, judge) for number, text in wanted.items())
    scored = [verdicts for verdicts in found if verdicts]
    if not scored:
        return not_applicable("no reference context makes a claim")
    shares = [expected_share(verdicts) for verdicts in scored]
    weighted = next((fact for _, fact in shares if fact), {})
    evidence = Evidence(
        {"reference_claims": [verdict for verdicts in scored for verdict in verdicts]},
        {**AGAINST_CONTEXTS, "reference_contexts": len(scored), **weighted},
    )
    return CaseScore({"context_recall": exact_sum(share for share, _ in shares) / len(shares)}, evidence=evidence)


async def _judge_recall(case: Case, number: int, text: str, judge: Judge) -> list[Verdict]:
    """Return a verdict on a reference context that is retrieved whole, else one on each of its claims."""
    holding = [place for place, context in enumerate(case.retrieved_contexts, 1) if holds(context, text)]
    if holding:
        links = tuple(("contexts", place) for place in holding)
        return [Verdict(f"Reference context {number}", "yes", "retrieved whole", rests_on=links)]
    stated = await steps.claims(judge, text, case.question)
    entailed = await steps.entailment(judge, stated, case.retrieved_contexts)
    judged = steps.entailed_verdicts(stated, entailed, case.retrieved_contexts)
    return [replace(verdict, facts={**verdict.facts, "reference_context": number}) for verdict in judged]
