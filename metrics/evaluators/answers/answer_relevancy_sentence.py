"""Answer relevancy (sentence similarity): how similar the closest sentence of the answer is to the question."""

from collections.abc import Sequence

from metrics.core.evaluator import CaseScore, Example, Metric, Parameters, not_applicable
from metrics.core.evaluator_decorator import evaluator
from metrics.core.evidence import Evidence
from metrics.core.suite import Case
from metrics.models.embedder import Embedder, compare, provenance
from metrics.text.sentences import worded_sentences

QUESTION = "What is the capital of France?"


@evaluator(
    id="answer_relevancy_sentence",
    title="Answer relevancy (sentence similarity)",
    inputs=("question", "answer"),
    metrics=(
        Metric("answer_relevancy_sentence", "Cosine of the question and the answer sentence closest to it.", low=-1.0),
    ),
    sources=("H2O Eval Studio",),
    standards=("NIST AI RMF: valid and reliable",),
    examples=(
        Example(
            "a sentence of the answer repeats the question",
            {"question": QUESTION, "answer": f"Good question. {QUESTION} That is Paris."},
            {"answer_relevancy_sentence": 1.0},
        ),
        Example("an empty answer", {"question": QUESTION, "answer": ""}, {"answer_relevancy_sentence": 0.0}),
        Example.not_applicable("the question is blank", {"question": " ", "answer": "Paris."}),
    ),
    differs_from="The other answer relevance evaluators ask a judge for relevant statements, or for questions that the "
    "answer would answer. This one measures similarity only, and an answer that repeats the question scores high.",
    differs_from_source=(
        "The default embedder is the bundled all-MiniLM-L6-v2, for the same scores on every machine and offline, "
        "instead of H2O's BAAI/bge-small-en, to which its threshold .75 belongs; each model gets its own by "
        "calibration. The range is −1 to 1, that of the cosine, where H2O states 0 to 1. An empty answer scores 0."
    ),
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
