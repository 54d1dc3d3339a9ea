"""Noise sensitivity: the wrong claims of an answer, by the kind of contexts that they come from."""

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Input, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._scripted import claims_reply, entailment_reply
from metrics.judge import steps
from metrics.judge.asking import Judge

INPUTS: tuple[Input, ...] = ("answer", "expected_answers", "retrieved_contexts")
PROMPTS = (steps.CLAIMS, steps.ENTAILMENT)
STANDARDS = (
    "valid and reliable",
    "secure and resilient",
    "LLM08 vector and embedding weaknesses",
    "LLM09 misinformation",
)


async def noise_sensitivity(
    judge: Judge, case: Case, metric: str, *, relevant: bool, exclusive: bool = False
) -> CaseScore:
    """Return the share of the answer's claims that are incorrect and entailed by a relevant (or an irrelevant) context.

    A claim is correct if the claims of any expected answer support it; a context is relevant if it supports a claim of
    any expected answer. `exclusive`: a claim that contexts of the other kind entail too does not count. The questions
    to the judge are those of answer_correctness, context_recall and faithfulness.
    """
    stated, expected = await steps.answer_and_references(judge, case.answer, case.expected_answers, case.question)
    if not stated:
        return not_applicable(steps.NO_CLAIMS)
    if not expected:
        return not_applicable(steps.NO_REFERENCE_CLAIMS)
    entailed, *others = await steps.together(
        [
            steps.entailment(judge, stated, case.retrieved_contexts),
            *(steps.entailment(judge, stated, reference.claims) for reference in expected),
            *(steps.entailment(judge, reference.claims, case.retrieved_contexts) for reference in expected),
        ]
    )
    by_references, by_contexts = others[: len(expected)], others[len(expected) :]
    useful = {number for entries in by_contexts for entry in entries for number in entry.supported_by}
    claims = []
    for claim, entry, answers in zip(stated, entailed, zip(*by_references, strict=True), strict=True):
        decisive = next((answer for answer in answers if answer.supported_by), answers[0])
        correct = bool(decisive.supported_by)
        kinds = {(number in useful) is relevant for number in entry.supported_by}
        noise = not correct and (kinds == {True} if exclusive else True in kinds)
        words, facts = ("correct", "incorrect"), {"noise": noise}
        verdict = Verdict.of(claim, correct, words, decisive.reason, entry.supported_by, facts=facts)
        named = [case.retrieved_contexts[number - 1] for number in entry.supported_by]
        claims.append(steps.with_quote(verdict, entry.quote, named))
    misled = sum(claim.facts["noise"] for claim in claims)
    numbers = range(1, len(case.retrieved_contexts) + 1)
    told = {
        "misled": misled,
        "relevant_contexts": [number for number in numbers if number in useful],
        "irrelevant_contexts": [number for number in numbers if number not in useful],
    }
    return CaseScore({metric: misled / len(claims)}, evidence=Evidence({"claims": claims}, told))


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
            claims_reply(WROTE, FAMOUS, text="Charlotte"),
            claims_reply(TRUTH, text="Jane Austen wrote"),
            entailment_reply([], [], CONTEXTS=TRUTH),
            entailment_reply([1, 2], [2], CLAIMS=WROTE),
            entailment_reply([1], CLAIMS=TRUTH),
        ),
    )


@evaluator(
    inputs=INPUTS,
    prompts=PROMPTS,
    metrics=Metric.lower(
        "irrelevant_noise_sensitivity",
        "Share of the answer's claims that are incorrect and follow from an irrelevant context.",
    ),
    sources=("RAG generator metrics, after RAGChecker",),
    standards=STANDARDS,
    examples=(
        Example(
            "Jane Austen: one of two incorrect claims is in the irrelevant context",
            AUSTEN,
            {"irrelevant_noise_sensitivity": 0.5},
            judge=(
                claims_reply(WROTE, FAMOUS, text="Charlotte"),
                claims_reply(TRUTH, text="Jane Austen wrote"),
                entailment_reply([], [], CONTEXTS=TRUTH),
                entailment_reply([], [2], CLAIMS=WROTE),
                entailment_reply([1], CLAIMS=TRUTH),
            ),
        ),
        _both_kinds(1.0, exclusive=False),
        _both_kinds(0.5, exclusive=True),
        Example(
            "every context is relevant",
            {**AUSTEN, "retrieved_contexts": AUSTEN["retrieved_contexts"][:1]},
            {"irrelevant_noise_sensitivity": 0.0},
            judge=(
                claims_reply(WROTE, text="Charlotte"),
                claims_reply(TRUTH),
                entailment_reply([], CONTEXTS=TRUTH),
                entailment_reply([], CLAIMS=WROTE),
                entailment_reply([1]),
            ),
        ),
        Example.not_applicable(
            "no expected answer makes a claim",
            {**AUSTEN, "expected_answers": ["It depends.", " "]},
            judge=(claims_reply(WROTE, text="Charlotte"), claims_reply()),
        ),
    ),
    differs_from="relevant_noise_sensitivity counts wrong claims from contexts that contain a part of the expected "
    "answer; hallucination_claims counts claims that no context supports, right or wrong.",
    differs_from_source="The formula does not differ; RAGChecker's own program leaves out claims that a relevant "
    "context entails too, which `exclusive` does. A claim that is listed twice counts once. The prompts are worded by "
    "Assay. Answers and expected answers without a claim are not applicable. The source sets no threshold; .25 is "
    "Assay's.",
    version=3,
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


PAINTED = "Leonardo da Vinci painted the Mona Lisa in the 16th century."
MONA_LISA = {
    "question": "Who painted the Mona Lisa and in what century was it painted?",
    "expected_answers": [PAINTED],
    "answer": "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century.",
    "retrieved_contexts": [
        "The Mona Lisa is a famous portrait painted by Leonardo da Vinci. It is believed to have been started in the "
        "early 1500s. Some art historians date its completion to around 1519, placing it firmly in the 15th century "
        "according to certain periodizations."
    ],
}
ANSWERED = claims_reply(
    "Leonardo da Vinci painted the Mona Lisa.",
    "The Mona Lisa was painted in the 15th century.",
    text="and it was painted",
)


@evaluator(
    inputs=INPUTS,
    prompts=PROMPTS,
    metrics=Metric.lower(
        "relevant_noise_sensitivity",
        "Share of the answer's claims that are incorrect and follow from a relevant context.",
    ),
    sources=("RAG generator metrics, after RAGChecker",),
    standards=STANDARDS,
    examples=(
        Example(
            "the Mona Lisa: one of two claims is wrong, and it is in the context that names the painter",
            MONA_LISA,
            {"relevant_noise_sensitivity": 0.5},
            judge=(
                ANSWERED,
                claims_reply(
                    "Leonardo da Vinci is its painter.", "The Mona Lisa dates from the 16th century.", text=PAINTED
                ),
                entailment_reply([1], [], CLAIMS="15th century", CONTEXTS="16th century"),
                entailment_reply([1], [1], CLAIMS="15th century", CONTEXTS="famous portrait"),
                entailment_reply([1], [], CLAIMS="16th century", CONTEXTS="famous portrait"),
            ),
        ),
        Example(
            "a claim is correct if the second expected answer makes it",
            {**MONA_LISA, "expected_answers": [PAINTED, "It is of the 15th century."]},
            {"relevant_noise_sensitivity": 0.0},
            judge=(
                ANSWERED,
                claims_reply("Leonardo da Vinci painted the Mona Lisa.", text=PAINTED),
                claims_reply("The Mona Lisa is of the 15th century.", text="It is of the 15th"),
                entailment_reply([], [1], CLAIMS="[2]", CONTEXTS="is of the 15th century"),
                entailment_reply([1], [], CLAIMS="[2]", CONTEXTS="[1] L"),
                entailment_reply([1], [1], CLAIMS="[2]"),
                entailment_reply([1]),
            ),
        ),
        Example.not_applicable(
            "a refusal makes no claim", {**MONA_LISA, "answer": "I do not know."}, judge=(claims_reply(),)
        ),
    ),
    differs_from="irrelevant_noise_sensitivity counts wrong claims from contexts that contain nothing of the expected "
    "answer; hallucination_claims counts claims that no context supports, right or wrong.",
    differs_from_source="The formula does not differ. A claim that is listed twice counts once. The prompts are worded "
    "by Assay. Answers and expected answers without a claim are not applicable. The source sets no threshold; .25 is "
    "Assay's.",
    version=3,
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
