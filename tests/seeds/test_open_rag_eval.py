"""Open RAG Eval: its formulas, asked as its users ask for them.

Expected numbers are made by the formulas of its text, written out here.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import pytest

from metrics import evaluate
from metrics.core.evaluator import ScriptedReply
from tests.models import tiny
from tests.seeds.public_door import at, judge_saying, run_of, values_of

pytestmark = pytest.mark.usefixtures("units_here", "workspace")

QUERY = "What did Marie Curie win?"


def graded(passage: str, grade: int) -> ScriptedReply:
    return ScriptedReply(
        "umbrela.grade", {"intent": "", "match": grade, "trust": 3, "grade": grade}, {"PASSAGE": passage}
    )


def expected_of(grades: Sequence[int], ks: Sequence[int], threshold: int = 2) -> dict[str, float]:
    relevant = [grade >= threshold for grade in grades]
    ranks = [rank for rank, holds in enumerate(relevant, 1) if holds]
    found = {"umbrela": fmean(grades), "mrr": 1 / ranks[0] if ranks else 0}
    for k in ks:
        found[f"precision_at_{k}"] = sum(relevant[:k]) / k
        own = [sum(relevant[:rank]) / rank for rank in ranks if rank <= k]
        found[f"average_precision_at_{k}"] = fmean(own) if own else 0
    return found


@pytest.mark.parametrize(("grades", "given"), [
    pytest.param((3, 0, 2, 1, 2), {}, id="every grade"),
    pytest.param((0, 1, 2, 3, 3, 2), {}, id="the third is the first relevant one"),
    pytest.param((0, 1, 0, 1, 1), {}, id="none is relevant"),
    pytest.param((2, 0, 3), {}, id="fewer than k"),
    pytest.param((3, 0, 2, 1, 2), {"k_values": [2, 4]}, id="k of one's own"),
    pytest.param((3, 0, 2, 1, 2), {"relevant_grade": 1}, id="another threshold"),
    pytest.param((3, 0, 2, 1, 2), {"relevant_grade": 3}, id="only the exact answer"),
])  # fmt: skip
def test_retrieval_by_its_formulas(grades: tuple[int, ...], given: dict[str, Any]) -> None:
    passages = [f"Passage {number}." for number in range(len(grades))]
    said = [graded(passage, grade) for passage, grade in zip(passages, grades, strict=True)]
    run = run_of("umbrela", [{"question": QUERY, "retrieved_contexts": passages}], said, given)
    expected = expected_of(grades, given.get("k_values", (1, 3, 5)), given.get("relevant_grade", 2))
    assert values_of(run, "umbrela") == pytest.approx(expected)


def test_the_model_is_asked_with_umbrelas_settings() -> None:
    kwargs = {"temperature": 0.0, "top_p": 1.0, "presence_penalty": 0.5, "frequency_penalty": 0.0, "seed": 42}
    row = {"case_id": "1", "question": QUERY, "retrieved_contexts": ["Two prizes."], "answer": "Two."}
    with judge_saying([graded("Two prizes.", 3)]) as server:
        evaluate([row], evaluators=["umbrela"], judge=at(server) | kwargs)
    assert [{name: call.body[name] for name in kwargs} for call in server.calls] == [kwargs]


def nuggets_of(*rated: tuple[str, str]) -> list[ScriptedReply]:
    """The replies about nuggets with these importances and assignments."""
    texts = [f"nugget {number}" for number in range(1, len(rated) + 1)]
    first = sorted(range(len(rated)), key=lambda place: rated[place][0] != "vital")
    return [
        graded("It holds much.", 3), graded("It is only related.", 1), graded("It is about something else.", 0),
        ScriptedReply("autonuggetizer.nuggets", {"nuggets": texts}, {"PASSAGES": "It holds much."}),
        ScriptedReply(
            "autonuggetizer.importance", [{"reason": "", "importance": importance} for importance, _ in rated]
        ),
        ScriptedReply(
            "autonuggetizer.assignment", [{"reason": "", "assignment": rated[place][1]} for place in first],
            {"ANSWER": "Two prizes."},
        ),
    ]  # fmt: skip


CREDIT = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
NUGGETS = {
    "every kind": [
        ("vital", "support"), ("okay", "support"), ("vital", "partial_support"), ("vital", "not_support"),
        ("okay", "partial_support"),
    ],
    "vital alone": [("vital", "support"), ("vital", "partial_support")],
    "okay alone": [("okay", "support"), ("okay", "not_support"), ("okay", "partial_support")],
    "all": [("vital", "support"), ("okay", "support")],
    "nothing": [("vital", "not_support"), ("okay", "not_support")],
}  # fmt: skip
PASSAGES = ["It holds much.", "It is about something else.", "It is only related."]


@pytest.mark.parametrize("rated", NUGGETS.values(), ids=NUGGETS)
def test_nuggets_by_its_formulas(rated: list[tuple[str, str]]) -> None:
    row = {"question": QUERY, "answer": "Two prizes.", "retrieved_contexts": PASSAGES}
    run = run_of("autonuggetizer", [row], nuggets_of(*rated))
    expected: dict[str, float] = {}
    for end, credit in {"": CREDIT, "_strict": CREDIT | {"partial_support": 0.0}}.items():
        vital, okay = ([credit[said] for importance, said in rated if importance == own] for own in ("vital", "okay"))
        expected["all" + end] = fmean(vital + okay)
        expected["vital" + end] = fmean(vital) if vital else float("nan")
        expected["weighted" + end] = (sum(vital) + 0.5 * sum(okay)) / (len(vital) + 0.5 * len(okay))
    assert values_of(run, "autonuggetizer") == pytest.approx(expected, nan_ok=True)


def test_nuggets_are_made_of_passages_graded_1_or_more_weighed_by_tens_and_cut() -> None:
    """30 of 35 are kept, weighed ten at a time, and the first 20 by importance are looked for in the answer."""
    texts = [f"nugget {number}" for number in range(1, 36)] + ["a nugget " + "of many words " * 4]
    vital = [{"reason": "", "importance": "vital" if place % 2 else "okay"} for place in range(10)]
    said = [
        *nuggets_of()[:3], ScriptedReply("autonuggetizer.nuggets", {"nuggets": texts}),
        ScriptedReply("autonuggetizer.importance", vital),
        ScriptedReply("autonuggetizer.assignment", [{"reason": "", "assignment": "support"}] * 10),
    ]  # fmt: skip
    row = {"case_id": "1", "question": QUERY, "answer": "Two prizes.", "retrieved_contexts": PASSAGES}
    with judge_saying(said) as server:
        run = evaluate([row], evaluators=["autonuggetizer"], judge=at(server))
    asked = {step: [call for call in server.calls if call.step == step] for step in server.steps}
    (made,) = asked["autonuggetizer_nuggets"]
    assert [passage in made.data["PASSAGES"] for passage in PASSAGES] == [True, False, True]
    assert [len(asked[f"autonuggetizer_{step}"]) for step in ("importance", "assignment")] == [3, 2]
    evidence = json.loads(run.scores.query("metric == 'weighted'")["evidence"].iloc[0])
    found = [nugget["facts"]["importance"] for nugget in evidence["verdicts"]["nuggets"]]
    assert found == ["vital"] * 15 + ["okay"] * 5
    assert evidence["dropped"] == [texts[-1].strip()]


def test_nuggets_are_refined_in_five_rounds_on_request() -> None:
    """Every round sees the passages and the list so far."""
    rounds = [
        ScriptedReply("autonuggetizer.nuggets", {"nuggets": [f"nugget {n}"]}, {"NUGGETS": f"nugget {n - 1}"})
        for n in range(2, 9)
    ]
    first = ScriptedReply("autonuggetizer.nuggets", {"nuggets": ["nugget 1"]})
    said = [*nuggets_of()[:3], *rounds, first, *nuggets_of(("vital", "support"))[-2:]]
    row = {"case_id": "1", "question": QUERY, "answer": "Two prizes.", "retrieved_contexts": PASSAGES}
    refined = {"autonuggetizer": {"refine": True}}
    with judge_saying(said) as server:
        run = evaluate([row], evaluators=["autonuggetizer"], judge=at(server), parameters=refined)
    asked = [call.data for call in server.calls if call.step == "autonuggetizer_nuggets"]
    assert len({call["NUGGETS"] for call in asked}) == len(asked) == 5
    assert len({call["PASSAGES"] for call in asked}) == 1
    evidence = json.loads(run.scores.query("metric == 'weighted'")["evidence"].iloc[0])
    assert [nugget["text"] for nugget in evidence["verdicts"]["nuggets"]] == ["nugget 5"]


# Citations, consistency with the sources, answers that are none


SUPPORT = {"full": 1.0, "partial": 0.5, "none": 0.0}
CITED: dict[str, dict[str, dict[int, str]]] = {  # parts of an answer, and the support of each by the passages it cites
    "every level": {"Alpha": {1: "full", 2: "partial"}, "Beta": {1: "none"}, "Gamma": {3: "full"}, "Delta": {}},
    "all in full": {"Alpha": {1: "full"}, "Beta": {2: "full"}},
    "none": {"Alpha": {1: "none"}, "Beta": {1: "none"}},
}


@pytest.mark.parametrize("credits", [None, (0.9, 0.4, 0.1)], ids=["1, .5, 0", "credits of one's own"])
@pytest.mark.parametrize("parts", CITED.values(), ids=CITED)
def test_citations_by_its_formulas(parts: dict[str, dict[int, str]], credits: tuple[float, ...] | None) -> None:
    credit = dict(zip(SUPPORT, credits, strict=True)) if credits else SUPPORT
    names = ("full_credit", "partial_credit", "no_credit")
    said = [
        ScriptedReply("citation.support", {"reason": "", "quote": "", "support": level}, about)
        for part, cited in parts.items()
        for number, level in cited.items()
        for about in [{"STATEMENT": part, "PASSAGE": f"Passage {number}"}]
    ]
    answer = " ".join(f"{part} {''.join(f'[{number}]' for number in cited)}." for part, cited in parts.items())
    row = {"question": QUERY, "answer": answer, "retrieved_contexts": [f"Passage {number}" for number in (1, 2, 3)]}
    given = dict(zip(names, credits, strict=True)) if credits else {}
    found = values_of(run_of("citation", [row], said, given), "citation")
    citations = sorted({number for cited in parts.values() for number in cited})
    precision = fmean(fmean(credit[c[n]] for c in parts.values() if n in c) for n in citations)
    recall = fmean(fmean(credit[level] for level in cited.values()) if cited else 0 for cited in parts.values())
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
    expected = {"citation_precision": precision, "citation_recall": recall, "citation_f1": f1}
    assert found == pytest.approx(expected)


def test_hhem_reads_8192_characters_of_the_joined_passages(tmp_path: Path) -> None:
    """What stands beyond them changes nothing; the last word within them does."""
    model = str(tiny.hhem(tmp_path / "hhem"))
    last = "the cat sat".ljust(8192 - len("mat")) + "mat"
    texts = {"whole": [last], "longer": [last + " bad bad"], "two passages": [last, "bad dog"], "shorter": [last[:-3]]}
    rows = [
        {"case_id": name, "question": QUERY, "answer": "the cat sat", "retrieved_contexts": contexts}
        for name, contexts in texts.items()
    ]
    run = run_of("hallucination_hhem", rows, (), {"mode": "joined", "classifier": model})
    found = run.scores.set_index("case_id")["value"]
    assert found["whole"] == found["longer"] == found["two passages"] != pytest.approx(found["shorter"])
    assert found.between(0, 1).all()


def test_questions_answered() -> None:
    """yes: attempted, even if it is wrong; no: unable, or not enough information."""
    answers = {"It was Mary Shelley.": "yes", "Bram Stoker.": "yes", "There is too little information.": "no"}
    said = [
        ScriptedReply("no_answer", {"reason": "", "attempted": verdict}, {"ANSWER": answer, "QUESTION": QUERY})
        for answer, verdict in answers.items()
    ]
    run = run_of("no_answer", [{"case_id": answer, "question": QUERY, "answer": answer} for answer in answers], said)
    assert run.scores["value"].tolist() == [1, 1, 0]
    assert values_of(run, "no_answer")["no_answer"] == pytest.approx(2 / 3)


# Consistency


ANSWERS = ("Two Nobel Prizes, in 1903 and 1911.", "She won two Nobel Prizes.", "A prize in physics in 1903.")
REPEATS = [{"case_id": "1", "question": QUERY, "run": n, "answer": text} for n, text in enumerate(ANSWERS, 1)]
PAIRS = [(0, 1), (0, 2), (1, 2)]


def test_consistency_of_words_is_of_all_pairs() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    names = ("rouge1", "rouge2", "rougeL")
    pairs = [RougeScorer(names).score(ANSWERS[i], ANSWERS[j]) for i, j in PAIRS]
    expected = {
        f"{name}_{part}": fmean(getattr(pair[name], attribute) for pair in pairs)
        for name in names
        for part, attribute in {"precision": "precision", "recall": "recall", "f1": "fmeasure"}.items()
    }
    assert values_of(run_of("consistency_rouge", REPEATS), "consistency_rouge") == pytest.approx(expected)


@pytest.mark.parametrize("baseline", [None, 0.3], ids=["raw", "rescaled"])
def test_consistency_of_meaning_is_of_all_pairs(baseline: float | None) -> None:
    """F1 by greedy cosines, computed apart; rescaled by (F − b) / (1 − b)."""
    from transformers import AutoModel, AutoTokenizer

    from metrics.models.embedder import bundled_folder

    tokenizer, model = (kind.from_pretrained(bundled_folder()) for kind in (AutoTokenizer, AutoModel))
    states = []
    for text in ANSWERS:
        last = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].detach().numpy().astype(float)
        states.append(last / (last**2).sum(1, keepdims=True) ** 0.5)
    cosines = [states[i] @ states[j].T for i, j in PAIRS]
    rates = [(own.max(1)[1:-1].mean(), own.max(0)[1:-1].mean()) for own in cosines]  # without [CLS] and [SEP]
    f1 = [2 * p * r / (p + r) for p, r in rates]
    b = baseline or 0
    run = run_of("consistency_bertscore", REPEATS, (), {"baseline": baseline} if baseline else {})
    found = values_of(run, "consistency_bertscore")["consistency_bertscore"]
    assert found == pytest.approx(fmean((value - b) / (1 - b) for value in f1), abs=1e-4)
    (score,) = run.scores.query("value.notna()")["evidence"]
    assert len(json.loads(score)["pairs"]) == 3


def test_consistency_of_scores() -> None:
    """Mean, variance and coefficient of variation of the grades 3, 2 and 1 of three runs."""
    rows = [row | {"retrieved_contexts": [f"Passage {row['run']}."]} for row in REPEATS]
    said = [graded(f"Passage {number}.", grade) for number, grade in ((1, 3), (2, 2), (3, 1))]
    followed = {"metrics_to_run_consistency": ["umbrela.umbrela"]}
    run = run_of(["consistency_statistics", "umbrela"], rows, said, followed)
    found = values_of(run, "consistency_statistics")
    grades = (3, 2, 1)
    expected = {"mean": fmean(grades), "variance": pvariance(grades), "cv": pvariance(grades) ** 0.5 / fmean(grades)}
    assert {name: found[f"{name}_of_umbrela"] for name in expected} == pytest.approx(expected)
    through = values_of(run_of("umbrela", rows, said, run_consistency=True), "consistency_statistics")
    assert {name: through[name] for name in found} == pytest.approx(found)
