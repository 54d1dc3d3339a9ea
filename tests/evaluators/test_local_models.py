"""The evaluators on classifiers and language models: formula, edges, evidence; tiny models in a run."""

import json
from collections.abc import Mapping
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import MissingResource
from metrics.core.evaluator import CaseScore, Status
from metrics.core.evidence import Evidence, Verdict
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from metrics.evaluators.text import gptscore
from metrics.store import Workspace
from metrics.text.sentences import worded_sentences
from tests.engine.engine_scenes import finished
from tests.models import tiny
from tests.models.word_models import (
    WordClassifier,
    WordPredictor,
    biased,
    classifiers,
    consistent,
    inferred,
    toxic,
    words,
)
from tests.models.word_vectors import WordVectors

MODEL = {"model": "words", "weights_sha256": "0" * 64}
IDS = (
    "answer_semantic_similarity", "fairness_bias", "gptscore_qa", "gptscore_summary", "gptscore_summary_reference",
    "gptscore_translation", "hallucination_hhem", "perplexity", "summarization_completeness_faithfulness",
    "sentiment", "toxicity_classifier",
)  # fmt: skip


def score_all(name: str, cases: list[Case], model: Any = None, **parameters: Any) -> list[CaseScore]:
    entry = evaluators()[name]
    chosen = entry.parameters.model_validate(parameters)
    stand_ins = {
        "classifier": model or classifiers().get(name), "language_model": model or WordPredictor(),
        "embedder": WordVectors(),
    }  # fmt: skip
    return entry(cases, chosen, **{kind: stand_ins[kind] for kind in chosen.used(entry.resources)})


def score(name: str, given: Mapping[str, Any], model: Any = None, **parameters: Any) -> CaseScore:
    return score_all(name, [Case.of(**given)], model, **parameters)[0]


# Hallucination


def test_hhem_shows_each_context() -> None:
    given = {"answer": "red sun home", "retrieved_contexts": ["red", " ", "red sun and the mat"]}
    found = score("hallucination_hhem", given, threshold=0.75)
    assert found.values == {"hallucination_hhem": pytest.approx(2 / 3)}
    contexts = [
        Verdict("Context 1", "no", "inconsistent", "", (("contexts", 1),), facts={"probability": 0.333333}),
        Verdict("Context 3", "no", "inconsistent", "", (("contexts", 3),), facts={"probability": 0.666667}),
    ]
    assert found.evidence == Evidence({"contexts": contexts}, MODEL)


@pytest.mark.parametrize(("extra", "cut"), [(0, None), (1, 1), (5000, 5000)])
def test_hhem_joined_reads_8192_characters(extra: int, cut: int | None) -> None:
    asked = WordClassifier(("hallucinated", "consistent"), False, consistent)
    given = {"answer": "sun", "retrieved_contexts": ["a" * 4095, "", "b" * (4096 + extra)]}
    found = score("hallucination_hhem", given, asked, mode="joined")
    assert found.evidence == Evidence({"contexts": []}, ({"characters_cut": cut} if cut else {}) | MODEL)
    [(premise, claim)] = asked.asked
    assert (len(premise), claim) == (8192, "sun")
    assert premise.startswith("a" * 4095 + "\n" + "b")


@pytest.mark.parametrize(("labels", "independent", "place"), [
    (("entailment", "neutral", "contradiction"), False, 0), (("score",), True, 0), (("No", "CONSISTENT"), False, 1),
], ids=["inference", "one label", "two"])  # fmt: skip
def test_other_models_of_pairs_will_do(labels: tuple[str, ...], independent: bool, place: int) -> None:
    shares = [0.2] * len(labels)
    shares[place] = 0.6
    total = 1 if independent else sum(shares)
    model = WordClassifier(labels, independent, lambda premise, claim: [share / total for share in shares])
    found = score("hallucination_hhem", {"answer": "a", "retrieved_contexts": ["b"]}, model)
    assert found.values["hallucination_hhem"] == pytest.approx(0.6 / total)


def test_hhem_counts_what_the_model_cannot_read() -> None:
    short = WordClassifier(("hallucinated", "consistent"), False, consistent, window=3)
    found = score("hallucination_hhem", {"answer": "a b", "retrieved_contexts": ["c", "c d", "c d e"]}, short)
    assert found.evidence.facts["texts_read_in_part"] == 2


# Toxicity and bias


def test_toxicity_is_of_the_worst_sentence_label_by_label() -> None:
    found = score("toxicity_classifier", {"answer": "You idiot. I kill you. Good day."}, threshold=0.25)
    expected = {"toxicity": 0.9, "severe_toxicity": 0.01, "obscene": 0.01, "threat": 0.9, "insult": 0.9}
    assert found.values == pytest.approx(expected | {"identity_attack": 0.01})
    sentences = found.evidence.verdicts["sentences"]
    assert [sentence.text for sentence in sentences] == ["You idiot.", "I kill you.", "Good day."]
    assert [sentence.facts["threat"] for sentence in sentences] == [0.01, 0.9, 0.01]
    assert [sentence.holds for sentence in sentences] == ["no", "no", "yes"]


def test_six_labels_are_independent_even_if_the_model_forgets_to_say() -> None:
    forgetful = WordClassifier(classifiers()["toxicity_classifier"].labels, True, toxic)
    forgetful.independent = False
    forgetful.classify = lambda texts: classifiers()["toxicity_classifier"].classify(["damn idiot"] * len(texts))
    found = score("toxicity_classifier", {"answer": "x"}, forgetful)
    assert list(found.values.values()) == pytest.approx([0.9, 0.01, 0.9, 0.01, 0.9, 0.01])


def test_a_model_of_two_labels_knows_toxicity_alone() -> None:
    model = WordClassifier(("neutral", "toxic"), False, lambda text: (0.3, 0.7))
    found = score("toxicity_classifier", {"answer": "Well."}, model)
    assert found.status is Status.OK
    assert found.values["toxicity"] == pytest.approx(0.7)
    assert {found.values[name] for name in ("insult", "threat", "obscene")} == {None}
    assert found.reason == "words has no label severe_toxicity or obscene or threat or insult or identity_attack"


@pytest.mark.parametrize(
    ("labels", "label", "value"),
    [(("Neutral", "Biased"), "", 0.8), (("LABEL_0", "LABEL_1"), "label_1", 0.8), (("Biased", "Fair"), "", 0.2)],
)
def test_the_label_that_means_biased(labels: tuple[str, ...], label: str, value: float) -> None:
    model = WordClassifier(labels, False, biased, window=3)
    found = score("fairness_bias", {"answer": "They are always late."}, model, label=label)
    assert found.values["fairness_bias"] == pytest.approx(value)
    assert found.evidence.facts["texts_read_in_part"] == 1


def test_sentiment_is_the_mean_of_sentences_whatever_the_labels_are_called() -> None:
    found = score("sentiment", {"answer": "Good day. Good night. It is bad. It is."})
    assert found.values == pytest.approx({"sentiment": 0.175, "positive": 0.45, "negative": 0.275})
    shown = [(one.text, one.label, one.holds) for one in found.evidence.verdicts["sentences"]]
    assert shown == [
        ("Good day.", "positive", "unknown"), ("Good night.", "positive", "unknown"),
        ("It is bad.", "negative", "unknown"), ("It is.", "neutral", "unknown"),
    ]  # fmt: skip
    model = WordClassifier(("LABEL_0", "LABEL_1"), False, lambda text: (0.3, 0.7))
    named = score("sentiment", {"answer": "x"}, model, positive_label="LABEL_1", negative_label="label_0")
    assert named.values["sentiment"] == pytest.approx(0.4)


@pytest.mark.parametrize(("name", "given", "wanted"), [
    ("sentiment", {"answer": "a"}, "positive or pos"),
    ("fairness_bias", {"answer": "a"}, "biased or bias"),
    ("toxicity_classifier", {"answer": "a"}, "toxicity or toxic"),
    ("hallucination_hhem", {"answer": "a", "retrieved_contexts": ["b"]}, "consistent or supported or entailment"),
    ("summarization_completeness_faithfulness", {"answer": "a", "source_text": "b"}, "entailment or entail"),
])  # fmt: skip
def test_a_model_without_the_label_is_refused(name: str, given: Mapping[str, Any], wanted: str) -> None:
    model = WordClassifier(("LABEL_0", "LABEL_1"), False, lambda *_: (0.5, 0.5))
    with pytest.raises(
        MissingResource, match=f"words has the labels LABEL_0, LABEL_1; {name} needs one called {wanted}: "
    ):
        score(name, given, model)


# Summaries

WORDED = st.lists(st.sampled_from(["red", "sun", "cat", "not", "home"]), min_size=1, max_size=4).map(" ".join)
SENTENCES = st.lists(WORDED, min_size=1, max_size=4).map("\n".join)


@given(source=SENTENCES, summary=SENTENCES)
def test_summaries_are_scored_as_a_plain_loop_would(source: str, summary: str) -> None:
    given = {"source_text": source, "answer": summary}
    found = score("summarization_completeness_faithfulness", given)
    left, right = worded_sentences(source), worded_sentences(summary)
    support = [max(inferred(s, a)[0] for s in left) - max(inferred(s, a)[2] for s in left) for a in right]
    one_sentence = score("summarization_completeness_faithfulness", given, support="best_sentence")
    best = [max(inferred(s, a)[0] - inferred(s, a)[2] for s in left) for a in right]
    assert one_sentence.values["faithfulness"] == pytest.approx(np.mean(best))
    vectors = WordVectors()
    covered = [max(float((vectors.encode([s]) @ vectors.encode([a]).T)[0, 0]) for a in right) for s in left]
    assert found.values["faithfulness"] == pytest.approx(np.mean(support))
    assert found.values["completeness"] == pytest.approx(np.mean(covered), abs=1e-6)


def test_the_evidence_of_a_summary_names_what_supports_it_and_what_it_leaves_out() -> None:
    given = {"source_text": "Red sun.\nThe cat.\nNo more.", "answer": "The cat.\nNot the cat.\nA dog."}
    found = score("summarization_completeness_faithfulness", given, support="best_sentence", threshold=0.75).evidence
    assert found.verdicts["sentences"] == [
        Verdict("The cat.", "yes", "supported", quote="The cat.", facts={"support": 0.88}),
        Verdict("Not the cat.", "no", "unsupported", quote="Red sun.", facts={"support": 0.0}),
        Verdict("A dog.", "no", "unsupported", quote="Red sun.", facts={"support": 0.0}),
    ]
    assert [row["sentence"] for row in found.facts["least_covered"]] == ["Red sun.", "No more.", "The cat."]
    assert (found.facts["faithfulness_model"], found.facts["completeness_model"]) == (MODEL, MODEL)


# Similarity


def test_a_cross_encoder_has_one_label() -> None:
    model = WordClassifier(("no", "yes"), False, lambda *_: (0.5, 0.5))
    with pytest.raises(MissingResource, match="words has the labels no, yes; a cross-encoder for similarity has one"):
        score("answer_semantic_similarity", {"answer": "a", "expected_answers": ["b"]}, model, method="cross_encoder")


# Likelihood


def loss(prefix: str, target: str) -> float:
    """What WordPredictor says: ln 2 for a word said before, else ln 8."""
    known, total = set(words(prefix)), 0.0
    for word in words(target):
        total += log(2) if word in known else log(8)
        known.add(word)
    return total / len(words(target))


ONE, OTHER, QUESTION = "Rot glüht das Haus", "das Haus glüht sehr", "Was glüht?"


@pytest.mark.parametrize(
    ("name", "aspects"),
    [
        ("gptscore_translation", gptscore.TRANSLATION_ASPECTS),
        ("gptscore_summary_reference", gptscore.SUMMARY_REFERENCE_ASPECTS),
    ],
    ids=["translation", "summary"],
)
def test_texts_are_compared_both_ways(name: str, aspects: Mapping[str, tuple[str, str]]) -> None:
    asked = WordPredictor()
    found = score(name, {"answer": ONE, "expected_answers": [OTHER]}, asked)
    for aspect, (how, _) in aspects.items():
        there = (f"Say this again {how}: {ONE}\nIn other words:", f" {OTHER}")
        back = (f"Say this again {how}: {OTHER}\nIn other words:", f" {ONE}")
        assert {there, back} <= set(asked.asked)
        assert found.values[aspect] == pytest.approx((loss(*there) + loss(*back)) / 2)
    assert found.evidence == Evidence(facts={"tokens_scored": 8 * len(aspects), **MODEL})


def test_a_question_about_the_answer_has_one_target() -> None:
    asked = WordPredictor()
    found = score("gptscore_qa", {"question": QUESTION, "answer": "Das {Haus}"}, asked)
    assert list(found.values) == list(gptscore.QA_QUALITIES)
    prefixes, targets = zip(*asked.asked, strict=True)
    assert set(targets) == {" Yes"}
    for prefix, quality in zip(prefixes, gptscore.QA_QUALITIES.values(), strict=True):
        assert prefix == f"Question: {QUESTION}\nReply: Das {{Haus}}\nIs the reply {quality}? Say Yes or No:"


def test_a_summary_follows_its_source() -> None:
    asked = WordPredictor()
    found = score("gptscore_summary", {"source_text": ONE, "answer": OTHER}, asked)
    assert (list(found.values), len(found.values)) == (list(gptscore.SUMMARY_QUALITIES), 7)
    for prefix, target in asked.asked:
        assert prefix.startswith(f"{ONE}\nA summary of the text above ")
        assert target == f" {OTHER}"


def test_perplexity_is_of_the_answer_alone() -> None:
    asked = WordPredictor()
    found = score("perplexity", {"answer": "rot rot blau"}, asked)
    assert found.values["perplexity"] == pytest.approx(exp((2 * log(8) + log(2)) / 3))
    assert found.evidence == Evidence(facts={"tokens_scored": 3, **MODEL})
    assert asked.asked == [("", "rot rot blau")]
    assert score("perplexity", {"answer": "…"}).reason == (
        "the answer is a single token, with nothing before it to predict it from"
    )


# In a run, with real models


def test_a_run_gives_each_evaluator_the_model_it_names(workspace: Path, tmp_path: Path) -> None:
    models = {
        "hallucination_hhem": tiny.hhem(tmp_path / "tiny-hhem"),
        "toxicity_classifier": tiny.classifier(tmp_path / "tiny-tox", ("toxic", "insult"),
            "multi_label_classification"),
        "fairness_bias": tiny.classifier(tmp_path / "tiny-bias", ("Neutral", "Biased"), seed=1),
        "summarization_completeness_faithfulness": tiny.classifier(tmp_path / "tiny-nli",
            ("contradiction", "entailment", "neutral"), seed=2),
        "answer_semantic_similarity": tiny.classifier(tmp_path / "tiny-cross", ("score",), seed=3),
        "sentiment": tiny.classifier(tmp_path / "tiny-felt", ("negative", "neutral", "positive"), seed=4),
    }  # fmt: skip
    parameters: dict[str, dict[str, Any]] = {name: {"classifier": str(folder)} for name, folder in models.items()}
    parameters["answer_semantic_similarity"]["method"] = "cross_encoder"
    likely = [name for name in IDS if name.startswith("gptscore")] + ["perplexity"]
    case = {"case_id": "a", "question": "the cat", "expected_answers": ["a cat"], "source_text": "a cat sat"}
    suite = Suite.from_rows("s", "text", [case])
    row = {"case_id": "a", "model": "m", "answer": "the cat sat " * 10, "retrieved_contexts": ["the cat", "dog"]}
    run = finished(
        Workspace(), suite, Outputs.from_rows([row]), *IDS, parameters=parameters,
        resources={"language_model": str(tiny.language_model(tmp_path / "tiny-lm"))},
    )  # fmt: skip
    scores = run.scores
    expected = scores["metric"].isin(["severe_toxicity", "obscene", "threat", "identity_attack"])
    assert scores[~expected]["status"].unique().tolist() == ["ok"], scores[["evaluator", "status", "reason"]]
    assert scores[expected]["reason"].str.startswith("tiny-tox has no label").all()
    evidence = {
        row["evaluator"]: json.loads(row["evidence"]) for row in scores.dropna(subset="evidence").to_dict("records")
    }
    for name, folder in models.items():
        told = evidence[name].get("faithfulness_model", evidence[name])
        assert (told["model"], len(told["weights_sha256"])) == (folder.name, 64)
    assert {evidence[name]["model"] for name in likely} == {"tiny-lm"}
    assert evidence["fairness_bias"]["texts_read_in_part"] == 1
    assert evidence["perplexity"]["windows"] > 1
    cached = {path.parent.name for path in (workspace / "cache").rglob("*.sqlite3")}
    assert {"logits", "losses"} <= cached


@pytest.mark.parametrize("seed", range(3))
def test_claims_checked_by_a_model_of_inference(workspace: Path, tmp_path: Path, seed: int) -> None:
    """What is not faithful is hallucinated; each sentence rests on the contexts with a probability of .5 or more."""
    model = tiny.classifier(tmp_path / "tiny-nli", ("contradiction", "entailment", "neutral"), window=32, seed=seed)
    contexts = ["the cat sat on a mat", "a dog ran home"]
    answers = ["The cat sat on a mat. The dog ran. Not good.", "A red sun. Bad dog!", "…"]
    suite = Suite.from_rows("s", "text", [{"case_id": str(place), "question": "?"} for place in range(3)])
    outputs = Outputs.from_rows([
        {"case_id": str(place), "model": "m", "answer": answer, "retrieved_contexts": contexts}
        for place, answer in enumerate(answers)
    ])  # fmt: skip
    chosen = {"checker": "classifier", "classifier": str(model)}
    ids = ("faithfulness", "hallucination_claims")
    run = finished(Workspace(), suite, outputs, *ids, parameters=dict.fromkeys(ids, chosen))
    rows = run.scores.pivot(index="case_id", columns="metric", values="value")
    assert (rows["faithfulness"] + rows["hallucination_claims"])[:2].tolist() == pytest.approx([1.0, 1.0])
    assert rows.loc["2"].isna().all(), "it has no sentence"
    for row in run.scores[run.scores["metric"] == "faithfulness"].dropna(subset="value").to_dict("records"):
        evidence = json.loads(row["evidence"])
        highest = [claim["facts"]["probability"] for claim in evidence["verdicts"]["claims"]]
        assert row["value"] == pytest.approx(sum(value >= 0.5 for value in highest) / len(highest))
        assert rows.loc[row["case_id"], "least_supported"] == min(highest)
        assert evidence["model"] == "tiny-nli"


def test_without_a_model_all_is_skipped_with_the_way_out(workspace: Path) -> None:
    suite = Suite.from_rows("s", "text", [{"case_id": "a", "question": "?", "expected_answers": ["b"]}])
    outputs = Outputs.from_rows([{"case_id": "a", "model": "m", "answer": "b", "retrieved_contexts": ["c"]}])
    run = finished(Workspace(), suite, outputs, "perplexity", "hallucination_hhem")
    rows = {row["evaluator"]: row for row in run.scores.to_dict("records")}
    assert {row["status"] for row in rows.values()} == {"skipped"}
    assert rows["perplexity"]["reason"] == (
        "no language model is chosen: set language_model to a local folder or the name of a model on the hub, "
        "such as HuggingFaceTB/SmolLM2-135M"
    )
    assert rows["hallucination_hhem"]["reason"].endswith("such as vectara/hallucination_evaluation_model")
