"""Answer relevance: by the answer's statements, by questions that it would answer, by its sentences."""

import asyncio
from collections.abc import Sequence

from pydantic import Field

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, ScriptedReply, not_applicable, output_failure
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence, Verdict
from metrics.core.prompt import Pair, Prompt
from metrics.core.rounding import exact_sum
from metrics.core.suite import Case
from metrics.evaluators._judged_items import RELEVANCE, SHARE_IS_EXPECTED, item_verdicts, share_score
from metrics.evaluators._scripted import claims_reply, verdicts_reply
from metrics.judge.asking import ItemReply, Judge
from metrics.judge.steps import CLAIMS, NO_CLAIMS, YesNo, YesNoReply, beginning, claims, each
from metrics.models.embedder import Embedder, compare, provenance
from metrics.text.sentences import worded_sentences

RELEVANT = Prompt(
    "answer_relevance.relevant",
    "The CLAIMS are those of an answer to QUESTION. For each say whether it is relevant. yes: it answers QUESTION or a "
    "part of it, or tells something about what is asked that helps whoever asks (a condition, a reason, a detail, a "
    "caveat). no: it is about something else, though it share words with QUESTION. Whether the claim is true does not "
    "matter.",
    (
        Pair(
            {
                "QUESTION": "When does the Kestrel sail to Skerra?",
                "CLAIMS": [
                    "The Kestrel sails to Skerra at eight and at four.",
                    "In storms the Kestrel stays in port.",
                    "Skerra has a school with ninety pupils.",
                ],
            },
            {
                "replies": [
                    {"id": 1, "reason": "The times that were asked for.", "verdict": "yes"},
                    {"id": 2, "reason": "A condition of its sailing.", "verdict": "yes"},
                    {"id": 3, "reason": "The school is another subject.", "verdict": "no"},
                ]
            },
        ),
    ),
    {"query": "QUESTION", "statements": "CLAIMS"},
)
QUESTION = "What is the capital city of Brazil?"
CONTEXT_OF_BRAZIL = [
    "The capital city of Brazil is Brasília.",
    "Brasília replaced Rio de Janeiro as the capital in 1960.",
    "Florida is a state in the USA.",
]


@evaluator(
    inputs=("question", "answer"),
    prompts=(CLAIMS, RELEVANT),
    metrics=Metric("answer_relevance", "Share of the answer's statements that are relevant to the question."),
    sources=("Valor, after DeepEval", "RAG generator metrics: response relevancy, LLM based"),
    standards=("valid and reliable",),
    examples=(
        Example(
            "two of three statements are relevant",
            {
                "question": QUESTION,
                "answer": "The capital city of Brazil is Brasília. It replaced Rio de Janeiro as the capital in 1960. "
                "Florida is a state in the USA.",
            },
            {"answer_relevance": 2 / 3},
            judge=(claims_reply(*CONTEXT_OF_BRAZIL), verdicts_reply(RELEVANT.id, "yes", "yes", "no")),
        ),
        Example(
            "a wrong answer can be relevant",
            {"question": QUESTION, "answer": "Rio."},
            {"answer_relevance": 1.0},
            judge=(claims_reply("The capital city of Brazil is Rio."), verdicts_reply(RELEVANT.id, "yes")),
        ),
        Example.not_applicable(
            "a refusal makes no statement", {"question": QUESTION, "answer": "I do not know."}, judge=(claims_reply(),)
        ),
        Example.not_applicable("the question is blank", {"question": " ", "answer": "Brasília."}),
    ),
    differs_from="One of three answer relevance evaluators. This one counts statements and does not notice what the "
    "answer lacks; answer_relevancy embeds questions that the answer would answer; answer_relevancy_sentence embeds "
    "the answer's sentences. None of them checks whether the answer is right: answer_correctness does.",
    differs_from_source=SHARE_IS_EXPECTED + "The prompts are worded by Assay. A blank answer has 0; one that states "
    "nothing, such as a refusal, is not applicable; sources mention neither. Valor sets no threshold; .75 is Assay's.",
    version=2,
)
async def answer_relevance(case: Case, parameters: Parameters, judge: Judge) -> CaseScore:
    """The share of the answer's statements that are relevant to the question.

        relevance = relevant statements / statements

    From 0 to 1. A judge lists the claims of the answer, then decides for each whether it answers the question or helps
    to answer it. Padding lowers the score, mistakes do not.

    A blank answer has 0; one that states nothing, such as a refusal, and a blank question are not applicable.
    Evidence: each statement with its verdict and the judge's reason.
    """
    if not (case.question or "").strip():
        return not_applicable("the question is blank")
    stated = await claims(judge, case.answer, case.question)
    if not stated:
        return not_applicable(NO_CLAIMS) if (case.answer or "").strip() else output_failure(NO_CLAIMS)
    replies = await each(judge, RELEVANT, YesNoReply, stated, {"QUESTION": case.question}, name="CLAIMS")
    return share_score("answer_relevance", "claims", item_verdicts(stated, replies, RELEVANCE), "relevant")


QUESTIONS = Prompt(
    "answer_relevancy.questions",
    "Somebody asked a question and got ANSWER. For each of the DRAWS write one question, complete and in the language "
    "of ANSWER, to which ANSWER as a whole would be the fitting reply; word each draw anew. evasive: yes if ANSWER "
    "is noncommittal: it refuses, does not know or is not sure, dodges, only asks back, or is so vague or ambiguous "
    "that it commits to nothing; else no.",
    published={"response": "ANSWER"},
)


class _Draw(ItemReply):
    question: str
    evasive: YesNo


class RelevancyParameters(Parameters):
    """How many questions the judge writes."""

    questions: int = Field(3, ge=1, le=10, description="How many questions the judge writes for each answer.")


ASKED = "When was the first Super Bowl?"
ANSWER = "The first Super Bowl was held on Jan 15, 1967."


@evaluator(
    inputs=("question", "answer"),
    prompts=(QUESTIONS,),
    metrics=Metric(
        "answer_relevancy", "Mean cosine of the question with questions that the judge writes for the answer.", low=-1.0
    ),
    sources=("H2O Eval Studio, after RAGAS", "RAG generator metrics: response relevancy, string based"),
    standards=("valid and reliable",),
    examples=(
        Example(
            "every written question is the one that was asked",
            {"question": ASKED, "answer": ANSWER},
            {"answer_relevancy": 1.0},
            judge=(ScriptedReply(QUESTIONS.id, [{"question": ASKED, "evasive": "no"}] * 3),),
        ),
        Example(
            "one evasive draw of two does not make the answer evasive",
            {"question": ASKED, "answer": ANSWER},
            {"answer_relevancy": 1.0},
            parameters={"questions": 2},
            judge=(
                ScriptedReply(
                    QUESTIONS.id, [{"question": ASKED, "evasive": "no"}, {"question": ASKED, "evasive": "yes"}]
                ),
            ),
        ),
        Example(
            "every draw is evasive",
            {"question": ASKED, "answer": "I could not say when the first Super Bowl was."},
            {"answer_relevancy": 0.0},
            judge=(ScriptedReply(QUESTIONS.id, [{"question": ASKED, "evasive": "yes"}] * 3),),
        ),
        Example("an empty answer", {"question": ASKED, "answer": " "}, {"answer_relevancy": 0.0}),
        Example.not_applicable("the question is blank", {"question": " ", "answer": ANSWER}),
    ),
    differs_from="One of three answer relevance evaluators. answer_relevance is the share of relevant statements; "
    "answer_relevancy_sentence compares the question with the answer's own sentences, without a judge. This one drops "
    "both when the answer adds other subjects and when it leaves out what was asked.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of a BGE model such as H2O uses, to which its threshold .75 belongs; each model gets its own "
    "by calibration. The prompt is worded by Assay. The judge writes all N questions in one call, where the sources "
    "ask several times. Where every question is marked evasive the score is 0, as in RAGAS; the sources do not mention "
    "it.",
    version=2,
)
async def answer_relevancy(case: Case, parameters: RelevancyParameters, judge: Judge, embedder: Embedder) -> CaseScore:
    """How well the question could be guessed from the answer: its mean cosine with N questions written for the answer.

        relevancy = 1/N · Σ cos(emb(question), emb(g_i)),  N = 3;  0 where every g_i is marked evasive

    From −1 to 1; unrelated questions are near 0, hardly any below. A judge that sees only the answer writes all N
    questions in one call. What counts as similar depends on the embedding model: compare scores of one model only.
    Whether the answer is right does not matter.

    Of an answer that is longer than the judge's window the beginning is read, which the evidence says. An empty answer
    is evasive and scores 0 without a call. A blank question is not applicable.
    Evidence: each written question with its cosine and whether it was marked evasive, the embedding model and the
    sha256 of its weights.
    """
    question = case.question or ""
    if not question.strip():
        return not_applicable("the question is blank")
    if not case.answer or not case.answer.strip():
        return CaseScore({"answer_relevancy": 0.0}, evidence=Evidence(facts={"note": "the answer is empty"}))
    draws = [f"draw {number}" for number in range(1, parameters.questions + 1)]
    replies = await judge.each(QUESTIONS, _Draw, draws, {"ANSWER": beginning(judge, case.answer)}, name="DRAWS")
    written = [reply.question for reply in replies]
    [compared] = await asyncio.to_thread(list, compare(embedder, [([question], written)]))
    cosines = [float(value) for value in compared.cosines[0]]
    questions = [
        Verdict.of(reply.question, reply.evasive == "no", ("answered", "evasive"), facts={"cosine": round(cosine, 6)})
        for reply, cosine in zip(replies, cosines, strict=True)
    ]
    evasive = all(reply.evasive == "yes" for reply in replies)
    value = 0.0 if evasive else exact_sum(cosines) / len(cosines)
    evidence = Evidence({"questions": questions}, provenance(embedder, compared))
    return CaseScore({"answer_relevancy": value}, evidence=evidence)


CAPITAL = "What is the capital of France?"


@evaluator(
    title="Answer relevancy (sentence similarity)",
    inputs=("question", "answer"),
    metrics=Metric(
        "answer_relevancy_sentence", "Cosine of the question and the answer sentence closest to it.", low=-1.0
    ),
    sources=("H2O Eval Studio",),
    standards=("valid and reliable",),
    examples=(
        Example(
            "a sentence of the answer repeats the question",
            {"question": CAPITAL, "answer": f"Good question. {CAPITAL} That is Paris."},
            {"answer_relevancy_sentence": 1.0},
        ),
        Example("an empty answer", {"question": CAPITAL, "answer": ""}, {"answer_relevancy_sentence": 0.0}),
        Example.not_applicable("the question is blank", {"question": " ", "answer": "Paris."}),
    ),
    differs_from="The other answer relevance evaluators ask a judge for relevant statements, or for questions that the "
    "answer would answer. This one measures similarity only, and an answer that repeats the question scores high.",
    differs_from_source="The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine "
    "and offline, instead of H2O's BAAI/bge-small-en, to which its threshold .75 belongs; each model gets its own by "
    "calibration. The range is −1 to 1, that of the cosine, where H2O states 0 to 1. An empty answer scores 0.",
    version=2,
)
def answer_relevancy_sentence(cases: Sequence[Case], parameters: Parameters, embedder: Embedder) -> list[CaseScore]:
    """How close the answer comes to the subject of the question: the cosine of its most similar sentence.

        relevancy = max over sentences a of the answer of  cos(emb(question), emb(a))

    From −1 to 1. Only the beginning of a question longer than the model's window is compared; the evidence says so.

    An empty answer scores 0. A blank question is not applicable.
    Evidence: each sentence with its cosine, the embedding model and the sha256 of its weights.
    """
    questions = [[case.question] if case.question and case.question.strip() else [] for case in cases]
    answers = [worded_sentences(case.answer or "") for case in cases]
    compared = compare(embedder, zip(questions, answers, strict=True))
    scores = []
    for question, answer, pair in zip(questions, answers, compared, strict=True):
        if not question:
            scores.append(not_applicable("the question is blank"))
            continue
        if not answer:
            evidence = Evidence(facts={"note": "the answer is empty"})
            scores.append(CaseScore({"answer_relevancy_sentence": 0.0}, evidence=evidence))
            continue
        sentences = [
            {"sentence": sentence, "cosine": round(float(value), 6)}
            for sentence, value in zip(answer, pair.cosines[0], strict=True)
        ]
        evidence = Evidence(facts={"sentences": sentences, **provenance(embedder, pair)})
        scores.append(CaseScore({"answer_relevancy_sentence": float(pair.cosines[0].max())}, evidence=evidence))
    return scores
