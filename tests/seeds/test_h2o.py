"""H2O Eval Studio: each evaluator of its reference, asked as users ask, gives the numbers of its formulas.

Embeddings' numbers are those of sentence-transformers itself, asked apart; a judge is asked over HTTP, and refuses what
it is not expected to be asked.
"""

import base64
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import exp, log, nan
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from metrics import evaluators
from metrics.core.evaluator import ScriptedReply
from metrics.models.embedder import bundled_folder
from tests.corpora.pdf_files import pdf
from tests.models import tiny
from tests.seeds.public_door import at, judge_saying, run_of, values_of

pytestmark = pytest.mark.usefixtures("units_here", "workspace")
Cosine = Callable[[str, str], float]


@pytest.fixture(scope="module")
def cosine() -> Cosine:
    """The cosine of two texts' embeddings by the bundled model."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(bundled_folder()), device="cpu")
    return lambda first, second: float(model.encode(first) @ model.encode(second))


def says(prompt: str, reply: Any, **about: str) -> ScriptedReply:
    return ScriptedReply(prompt, reply, about)


def claims(*texts: str, **about: str) -> ScriptedReply:
    return says("claims", {"claims": list(texts)}, **about)


def supported(*by: int, **about: str) -> ScriptedReply:
    """For each claim the context that supports it, 0 for none."""
    return says("entailment", [{"reason": "", "supported_by": [one] if one else []} for one in by], **about)


@dataclass(frozen=True)
class Scene:
    """What an evaluator is given, and what follows by the source's formula."""

    id: str
    row: Mapping[str, Any]
    expected: Mapping[str, float] | Callable[[Cosine], Mapping[str, float]]
    said: tuple[ScriptedReply, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)


Q, A1, A2, E1, E2 = (
    "What is the capital of France?", "Paris is the capital.", "Bread is cheap there.",
    "The capital of France is Paris.", "It lies on the Seine.",
)  # fmt: skip
RAG: dict[str, Any] = {
    "question": Q,
    "answer": f"{A1} {A2}",
    "expected_answers": [f"{E1} {E2}"],
    "retrieved_contexts": [E1, E2],
}
WRITTEN = (Q, "Which city is the capital?", "Where is bread cheap?")
FILES = (  # two are intact; of the others one is no JSON, one blank, one has an empty page, one a wrong field value
    {"name": "person.json", "content": {"age": 3}}, {"name": "out/data.csv", "content": "id,total\n1,3\n"},
    {"name": "raw.json", "content": '{"age": 3,}'}, {"name": "notes.md", "content": " "},
    {"name": "a.pdf", "content_base64": base64.b64encode(pdf(b"0 0 9 9 re f", None)).decode()},
    {"name": "child.json", "content": {"age": -3}},
)  # fmt: skip
PERSON = '{"required": ["age"], "properties": {"age": {"minimum": 0}}}'
LOOP, TAIL = "Stuck in a loop here. ", "Then it ended well."
LOOPED = LOOP * 4 + TAIL
DE, DE2, EN = "Wie lange darf ich ein Buch behalten?", "Bücher dürfen 28 Tage behalten werden.", "Keep it for 28 days."
ASKED = {"prompt": "By {contexts}, does {actual_answer} answer {question} as {expected_answer} does?"}
FALSE, TRUE = {"reason": "", "verdict": False}, {"reason": "", "verdict": True}
UNLIKE, ALIKE = {"question_language": "de", "text_language": "en", "same": "no"}, {"same": "yes"}
CHECKED = says("fact_check", {"answer": "x", "evaluation_score": 0.4, "evaluation_summary": "False."}, ANSWER=A2)
SCENES = {
    "agent sanity: the share of sound artifacts": Scene(
        "agent_sanity",
        {"artifacts": [json.dumps(one) for one in FILES], "json_schema": PERSON, "answer": "Done."},
        {"agent_sanity": 2 / 6},
    ),
    "agent sanity: a missing file of the expected structure": Scene(
        "agent_sanity", {"artifacts": [json.dumps(FILES[1])]}, {"agent_sanity": 1 / 2},
        parameters={"expected": ["out/*.csv", "report.json"]},
    ),
    "answer correctness: 3 statements in both, 1 and 2 in one": Scene(
        "answer_correctness_weighted", RAG,
        lambda cos: {
            "answer_correctness_weighted": 0.75 * 3 / (3 + 0.5 * (1 + 2)) + 0.25 * cos(f"{A1} {A2}", f"{E1} {E2}")
        },
        (claims(*"abcd", TEXT=A2), claims(*"abcef", TEXT=E2), supported(1, 2, 3, 0, CLAIMS="d"),
         supported(1, 2, 3, 0, 0, CLAIMS="f")),
    ),
    "answer relevancy: the mean cosine with questions for the answer": Scene(
        "answer_relevancy", RAG, lambda cos: {"answer_relevancy": mean(cos(Q, one) for one in WRITTEN)},
        (says("answer_relevancy.questions", [{"question": one, "evasive": "no"} for one in WRITTEN]),),
    ),
    "answer relevancy: the most similar sentence": Scene(
        "answer_relevancy_sentence", RAG, lambda cos: {"answer_relevancy_sentence": max(cos(Q, A1), cos(Q, A2))},
    ),
    "semantic similarity: the cosine of the whole texts": Scene(
        "answer_semantic_similarity", RAG, lambda cos: {"answer_semantic_similarity": cos(f"{A1} {A2}", f"{E1} {E2}")},
    ),
    "sentence similarity: mean and minimum": Scene(
        "answer_semantic_sentence_similarity", RAG,
        lambda cos: {
            "mean_similarity": mean(max(cos(a, e) for e in (E1, E2)) for a in (A1, A2)),
            "min_similarity": min(max(cos(a, e) for e in (E1, E2)) for a in (A1, A2)),
        },
    ),
    "groundedness: the least similar sentence": Scene(
        "groundedness", RAG, lambda cos: {"groundedness": min(max(cos(a, c) for c in (E1, E2)) for a in (A1, A2))},
        parameters={"bare_words": 0, "new_words": 0},
    ),
    "fact-check: the agent's score": Scene(
        "fact_check", RAG, {"fact_check": 0.4},
        (CHECKED,),
    ),
    "faithfulness: 2 of 3 claims": Scene(
        "faithfulness", RAG, {"faithfulness": 2 / 3}, (claims(*"abc"), supported(1, 2, 0))
    ),
    "JSON: valid": Scene(
        "json_schema", {"answer": '{"age": 3}'},
        {"passes": 1, "failures": 0, "generation_failures": 0, "retrieval_failures": nan},
        parameters={"json_schema": PERSON},
    ),
    "JSON: against the schema": Scene(
        "json_schema", RAG | {"answer": '{"age": -3}'},
        {"passes": 0, "failures": 1, "generation_failures": 1, "retrieval_failures": nan},
        parameters={"json_schema": PERSON},
    ),
    "JSON: the schema {} asks whether it parses": Scene("json_schema", {"answer": '{"age": -3}'}, {"passes": 1}),
    "JSON: a schema as an object": Scene(
        "json_schema", {"answer": '{"age": -3}'}, {"passes": 0}, parameters={"json_schema": json.loads(PERSON)}
    ),
    "JSON: what does not parse": Scene("json_schema", {"answer": '{"age": 3,}'}, {"passes": 0, "failures": 1}),
    "language: the same": Scene(
        "language_mismatch", {"question": DE, "answer": DE2, "retrieved_contexts": [EN]},
        {"passes": 1, "failures": 0, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
        (says("language_mismatch", ALIKE, TEXT=DE2), says("language_mismatch", UNLIKE, TEXT=EN)), {"detector": "judge"},
    ),
    "language: another one": Scene(
        "language_mismatch", {"question": DE, "answer": EN, "retrieved_contexts": [DE2]},
        {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1, "parse_failures": 0},
        (says("language_mismatch", UNLIKE, TEXT=EN), says("language_mismatch", ALIKE, TEXT=DE2)), {"detector": "judge"},
    ),
    "language: a reply that cannot be parsed": Scene(
        "language_mismatch", {"question": DE, "answer": EN}, {"passes": nan, "failures": nan, "parse_failures": 1},
        (says("language_mismatch", {"same": "vielleicht"}),), {"detector": "judge"},
    ),
    "looping: 2 of 5 sentences, 4 repeats of the longest": Scene(
        "looping_detection", {"answer": LOOPED},
        {
            "unique_sentences": 2 / 5,
            "longest_repeated_substring": 2 * len(LOOP) * 2 / len(LOOPED),
            "compression_ratio": len(zlib.compress(LOOPED.encode(), 9)) / len(LOOPED.encode()),
        },
    ),
    "looping: sentences below ten characters are omitted": Scene(
        "looping_detection", {"answer": "Yes. Yes. It is so, yes. No."}, {"unique_sentences": 1},
    ),
    "BYOP: false for answer and contexts": Scene(
        "byop", RAG,
        {"passes": 0, "failures": 1, "retrieval_failures": 1, "generation_failures": 0, "parse_failures": 0},
        (says("byop", FALSE, ACTUAL_ANSWER=A2), says("byop", FALSE, ACTUAL_ANSWER=E2)), ASKED,
    ),
    "BYOP: false for the answer alone": Scene(
        "byop", RAG,
        {"passes": 0, "failures": 1, "retrieval_failures": 0, "generation_failures": 1, "parse_failures": 0},
        (says("byop", FALSE, ACTUAL_ANSWER=A2), says("byop", TRUE, ACTUAL_ANSWER=E2)), ASKED,
    ),
    "BYOP: true": Scene("byop", RAG, {"passes": 1, "failures": 0}, (says("byop", TRUE),), ASKED),
    "BYOP: neither": Scene(
        "byop", RAG, {"passes": nan, "failures": nan, "parse_failures": 1}, (says("byop", {"verdict": "so"}),), ASKED
    ),
}  # fmt: skip


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_numbers_of_the_formulas(scene: Scene, request: pytest.FixtureRequest) -> None:
    by = scene.expected
    expected = by(request.getfixturevalue("cosine")) if callable(by) else by
    found = values_of(run_of(scene.id, [scene.row], scene.said, scene.parameters), scene.id)
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-5, nan_ok=True)


# Local models: tiny ones with real weights

GPTSCORES = ("gptscore_translation", "gptscore_qa", "gptscore_summary_reference", "gptscore_summary")
REWRITE = "Rewrite the following text with {quality}: {ref_hypo} In other words, {hypo_ref}"


def test_gptscore_is_the_mean_negative_log_likelihood_of_what_follows(tmp_path: Path) -> None:
    """tiny.bigram_model charges a word log Z nats, 2 less where it repeats the one before.

    "sun sun" costs log Z − 1 a word, "red red red" log Z − 4/3: both directions are averaged.
    """
    model = tiny.bigram_model(tmp_path / "model")
    another = log(exp(2) + json.loads((model / "config.json").read_text())["vocab_size"] - 1)
    row = {"answer": "sun sun", "expected_answers": ["red red red"], "source_text": "the cat"}
    prompts = {"prompts": {"gptscore_translation": REWRITE}}
    run = run_of(GPTSCORES, [row], parameters=prompts, language_model=str(model))
    both, aspects = another - (1 + 4 / 3) / 2, ("accuracy", "fluency", "multidimensional_quality")
    assert values_of(run, GPTSCORES[0]) == pytest.approx(dict.fromkeys(aspects, both), abs=1e-3)
    for id, count, expected in zip(GPTSCORES[1:], (8, 6, 7), (another - 2, both, another - 1), strict=True):
        assert [*values_of(run, id).values()] == pytest.approx([expected] * count, abs=1e-3)
    assert run.problems.empty, "no threshold: infinite in the source"


def test_hallucination_is_the_score_of_the_best_context(tmp_path: Path) -> None:
    model, texts = str(tiny.hhem(tmp_path / "hhem")), ["the cat sat on a mat", "the dog ran home"]
    given = [{"answer": "the cat ran", "retrieved_contexts": contexts} for contexts in ([texts[0]], [texts[1]], texts)]
    run = run_of("hallucination_hhem", given, classifier=model)
    first, second, both = run.scores["value"]
    assert 0 < first < second < 1
    assert both == second


PUBLISHED = """\
You are an agent whose role is to evaluate the text of the ACTUAL ANSWER. Return JSon:
{{
 "answer": string,
 "evaluation_score": float,
 "evaluation_summary": string
}}
[BEGIN ACTUAL ANSWER]
{actual_answer}
[END ACTUAL ANSWER]
[BEGIN QUESTION]
{question}
[END QUESTION]"""


def test_the_published_prompt_of_the_fact_check() -> None:
    """The judge is asked its words with the texts of the case as data, of `max_dataset_rows` cases."""
    with judge_saying([CHECKED]) as server:
        parameters, prompts = {"max_dataset_rows": 1}, {"fact_check": PUBLISHED}
        run = run_of("fact_check", [RAG, RAG], parameters=parameters, prompts=prompts, judge=at(server))
    assert run.scores["status"].tolist() == ["ok", "skipped"]
    assert values_of(run, "fact_check") == {"fact_check": pytest.approx(0.4)}
    (asked,) = server.calls
    for part in PUBLISHED.split("\n")[:5]:
        assert part.replace("{{", "{").replace("}}", "}") in asked.text


# The overview: evaluators on which the text has no section

EXAMPLES = {  # the first worked example that each declares
    "bleu", "contact_information", "context_mrr", "context_precision", "context_recall", "context_relevancy_sentences",
    "context_relevancy_soft", "encoding_guardrail", "pii_leakage", "ragas", "rouge", "sensitive_data_leakage", "sexism",
    "step_alignment", "stereotypes", "summarization_judge", "text_matching",
}  # fmt: skip
BY_MODEL = {
    "classification_text", "fairness_bias", "gptscore_qa", "gptscore_summary", "gptscore_summary_reference",
    "perplexity", "summarization_completeness_faithfulness", "toxicity_classifier",
}  # fmt: skip
LABELS = ("toxicity", "severe_toxicity", "obscene", "threat", "insult", "identity_attack")


@pytest.mark.parametrize("id", sorted(EXAMPLES))
def test_evaluators_by_name(id: str) -> None:
    entry = evaluators()[id]
    example = entry.examples[0]
    found = values_of(run_of(id, [example.given], example.judge, example.parameters, task=entry.tasks[0]), id)
    expected = {name: nan if value is None else value for name, value in example.expect.items()}
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize(("id", "labels", "problem", "expected"), [
    ("answer_semantic_similarity", ("similar",), None, ("answer_semantic_similarity",)),
    ("fairness_bias", ("neutral", "biased"), None, (None, "fairness_bias")),
    ("toxicity_classifier", LABELS, "multi_label_classification", LABELS),
])  # fmt: skip
def test_classifiers_by_name(
    id: str, labels: tuple[str, ...], problem: str | None, expected: tuple[str | None, ...], tmp_path: Path
) -> None:
    """What transformers itself makes of the text, or of the pair: a logistic function of each label, or of all."""
    from transformers import pipeline

    model = str(tiny.classifier(tmp_path / "model", labels, problem))
    row = {"answer": "the dog ran home", "expected_answers": ["the cat sat"]}
    given = {"text": row["answer"]} | ({"text_pair": "the cat sat"} if len(labels) == 1 else {})
    made = {one["label"]: one["score"] for one in pipeline("text-classification", model, top_k=None)(given)}
    parameters = {"method": "cross_encoder"} if len(labels) == 1 else {}
    found = values_of(run_of(id, [row], parameters=parameters, classifier=model), id)
    assert found == pytest.approx(
        {name: made[label] for name, label in zip(expected, labels, strict=True) if name}, abs=1e-5
    )


def test_perplexity_classification_and_summaries_by_name(tmp_path: Path) -> None:
    model = str(tiny.bigram_model(tmp_path / "words"))
    another = log(exp(2) + json.loads((tmp_path / "words" / "config.json").read_text())["vocab_size"] - 1)
    found = values_of(run_of("perplexity", [{"answer": "sun sun"}], language_model=model), "perplexity")
    assert found == pytest.approx({"perplexity": exp(another - 1)}, rel=1e-3)
    rows = [{"answer": said, "expected_answers": [true]} for said, true in (("a", "a"), ("b", "a"), ("b", "b"))]
    run = run_of("classification_text", rows)
    whole = run.aggregates.query("label.isna()").drop_duplicates("metric").set_index("metric")["value"]
    assert whole["accuracy"] == pytest.approx(2 / 3)
    model = str(tiny.classifier(tmp_path / "nli", ("contradiction", "entailment", "neutral")))
    summary = {"source_text": f"{E1} {E2}", "answer": f"{E1} {E2}"}
    id = "summarization_completeness_faithfulness"
    assert values_of(run_of(id, [summary], classifier=model), id)["completeness"] == pytest.approx(1)
