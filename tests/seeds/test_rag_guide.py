"""The guide to RAG generator metrics: its examples, its perfect and its worst answers, asked as users ask."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from metrics import evaluators
from metrics.core.evaluator import ScriptedReply
from tests.models import tiny
from tests.models.trained import trained
from tests.seeds.public_door import run_of, values_of

pytestmark = pytest.mark.usefixtures("units_here", "workspace")


def claims(text: str, *found: str) -> ScriptedReply:
    return ScriptedReply("claims", {"claims": list(found)}, {"TEXT": text})


def entailed(claim: str, context: str, *supported_by: list[int]) -> ScriptedReply:
    """Which contexts support each claim, asked about these claims and contexts."""
    replies = [{"reason": "", "quote": "", "supported_by": numbers} for numbers in supported_by]
    return ScriptedReply("entailment", replies, {"CLAIMS": claim, "CONTEXTS": context})


class Worked(NamedTuple):
    """An example: what the judge says to it, and the number and the verdicts that come of it."""

    evaluator: str
    row: Mapping[str, Any]
    said: Sequence[ScriptedReply]
    value: float
    verdicts: str  # yes, no or unknown, one a claim


BOWL = {
    "question": "When was the first Super Bowl held?",
    "retrieved_contexts": [
        "The First AFL–NFL World Championship Game, later known as Super Bowl I, was played on January 15, 1967, at "
        "the Los Angeles Memorial Coliseum."
    ],
}
HELD = "The first Super Bowl was held on January 15, 1967, in Florida."
DATE, PLACE = "The first Super Bowl was held on January 15, 1967.", "The first Super Bowl was held in Florida."
CHECKED = [claims(HELD, DATE, PLACE), entailed(PLACE, "Coliseum", [1], [])]
DATED = [claims(DATE, DATE), entailed(DATE, "Coliseum", [1])]
PLACED = [claims(PLACE, PLACE), entailed(PLACE, "Coliseum", [])]
CAPITAL = "The capital of Brazil is Florida."
BRAZIL = {
    "question": "What is the capital of Brazil?", "answer": CAPITAL,
    "retrieved_contexts": ["Brazil is a country in South America. Its capital is Brasília."],
}  # fmt: skip
CITY = [
    "The capital city of Brazil is Brasília.", "It replaced Rio de Janeiro as the capital in 1960.",
    "Florida is a state in the USA.",
]  # fmt: skip


def relevant(stated: Sequence[str], verdicts: str) -> tuple[dict[str, str], list[ScriptedReply]]:
    answer = " ".join(stated)
    rated = [{"reason": "", "verdict": verdict} for verdict in verdicts.split()]
    about = {"QUESTION": "What is the capital city of Brazil?", "CLAIMS": stated[-1]}
    said = [claims(answer, *stated), ScriptedReply("answer_relevance.relevant", rated, about)]
    return {"question": "What is the capital city of Brazil?", "answer": answer}, said


LEONARDO, CENTURY = "Leonardo da Vinci painted the Mona Lisa", "It was painted in the 15th century"
ERA = "It was painted in the 16th century"
BOTH = "Leonardo da Vinci painted the Mona Lisa, and it was painted in the 15th century."
LISA = {
    "question": "Who painted the Mona Lisa and in what century was it painted?",
    "expected_answers": ["Leonardo da Vinci painted the Mona Lisa in the 16th century."],
    "retrieved_contexts": [
        "The Mona Lisa is a famous portrait painted by Leonardo da Vinci. It is believed to have been started in the "
        "early 1500s. Some art historians date its completion to around 1519, placing it firmly in the 15th century "
        "according to certain periodizations."
    ],
}
TRUTH = claims(LISA["expected_answers"][0], LEONARDO, ERA)
RELEVANT = entailed(ERA, "famous portrait", [1], [])


def painted(answer: str, *made: tuple[str, list[int], list[int]]) -> tuple[dict[str, Any], list[ScriptedReply]]:
    """An answer's claims, each with the claims of the truth and the chunks that support it."""
    texts, true, held = zip(*made, strict=True)
    said = [TRUTH, RELEVANT, claims(answer, *texts), entailed(texts[-1], ERA, *true)]
    return LISA | {"answer": answer}, [*said, entailed(texts[-1], "famous portrait", *held)]


BRONTE, EYRE = "Charlotte Brontë wrote 'Pride and Prejudice,'", "Charlotte Brontë is famous for 'Jane Eyre.'"
AUSTEN = "Jane Austen wrote 'Pride and Prejudice.'"
WROTE = "Charlotte Brontë wrote 'Pride and Prejudice,' and she is famous for 'Jane Eyre.'"
PRIDE = {
    "question": "Who wrote the novel 'Pride and Prejudice'?", "expected_answers": [AUSTEN],
    "retrieved_contexts": [
        "Jane Austen published 'Pride and Prejudice' in 1813, a classic romance novel.",
        "Charlotte Brontë, a renowned author, is best known for her novel 'Jane Eyre,' published in 1847.",
    ],
}  # fmt: skip


def written(answer: str, *made: tuple[str, list[int], list[int]]) -> tuple[dict[str, Any], list[ScriptedReply]]:
    texts, true, held = zip(*made, strict=True)
    said = [claims(AUSTEN, AUSTEN), entailed(AUSTEN, "classic romance", [1]), claims(answer, *texts)]
    said += [entailed(texts[-1], "] " + AUSTEN, *true), entailed(texts[-1], "classic romance", *held)]
    return PRIDE | {"answer": answer}, said


RNS, INS = "relevant_noise_sensitivity", "irrelevant_noise_sensitivity"
WORKED = {
    "Super Bowl": Worked("faithfulness", BOWL | {"answer": HELD}, CHECKED, 1 / 2, "yes no"),
    "every claim is supported": Worked("faithfulness", BOWL | {"answer": DATE}, DATED, 1, "yes"),
    "no claim is supported": Worked("faithfulness", BOWL | {"answer": PLACE}, PLACED, 0, "no"),
    "Brazil": Worked(
        "hallucination_claims", BRAZIL, [claims(CAPITAL, CAPITAL), entailed(CAPITAL, "Brasília", [])], 1, "no"
    ),
    "half is made up": Worked("hallucination_claims", BOWL | {"answer": HELD}, CHECKED, 1 / 2, "yes no"),
    "nothing is made up": Worked("hallucination_claims", BOWL | {"answer": DATE}, DATED, 0, "yes"),
    "Brasília": Worked("answer_relevance", *relevant(CITY, "yes yes no"), 2 / 3, "yes yes no"),
    "all to the point": Worked("answer_relevance", *relevant(CITY[:1], "yes"), 1, "yes"),
    "nothing to the point": Worked("answer_relevance", *relevant(CITY[2:], "no"), 0, "no"),
    "Mona Lisa": Worked(RNS, *painted(BOTH, (LEONARDO, [1], [1]), (CENTURY, [], [1])), 1 / 2, "yes no"),
    "no claim is wrong": Worked(RNS, *painted(f"{LEONARDO}.", (LEONARDO, [1], [1])), 0, "yes"),
    "no relevant chunk says what is wrong": Worked(RNS, *painted(f"{CENTURY}.", (CENTURY, [], [])), 0, "no"),
    "a relevant chunk says all that is wrong": Worked(RNS, *painted(f"{CENTURY}.", (CENTURY, [], [1])), 1, "no"),
    "Pride and Prejudice": Worked(INS, *written(WROTE, (BRONTE, [], []), (EYRE, [], [2])), 1 / 2, "no no"),
    "nothing is wrong": Worked(INS, *written(AUSTEN, (AUSTEN, [1], [1])), 0, "yes"),
    "only a relevant chunk says what is wrong": Worked(INS, *written(f"{BRONTE}!", (BRONTE, [], [1])), 0, "no"),
    "an irrelevant chunk says all that is wrong": Worked(INS, *written(f"{EYRE}!", (EYRE, [], [2])), 1, "no"),
}


@pytest.mark.parametrize("worked", WORKED.values(), ids=WORKED)
def test_worked_numbers(worked: Worked) -> None:
    run = run_of(worked.evaluator, [worked.row], worked.said)
    assert values_of(run, worked.evaluator)[worked.evaluator] == pytest.approx(worked.value, abs=1e-9)
    (made,) = json.loads(run.scores["evidence"][0])["verdicts"].values()
    assert " ".join(claim["holds"] for claim in made) == worked.verdicts


@pytest.fixture(scope="module")
def inference(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A model that was taught what follows from the guide's context, and what does not."""
    (context,) = BOWL["retrieved_contexts"]
    folder, labels = tmp_path_factory.mktemp("models") / "inference", ("entailment", "neutral", "contradiction")
    return str(trained(folder, labels, [(context, DATE), (context, PLACE)], [0, 2]))


@pytest.mark.parametrize("evaluator", ["faithfulness", "hallucination_claims"])
def test_claims_are_checked_by_an_inference_model(evaluator: str, inference: str) -> None:
    row = BOWL | {"answer": f"{DATE} {PLACE}"}
    run = run_of(evaluator, [row], (), {"checker": "classifier", "classifier": inference})
    assert values_of(run, evaluator)[evaluator] == pytest.approx(0.5)
    (made,) = json.loads(run.scores["evidence"][0])["verdicts"].values()
    assert {claim["text"]: claim["holds"] for claim in made} == {DATE: "yes", PLACE: "no"}


SUPER_BOWL = "When was the first Super Bowl?"
ASKED = [
    "When did the first Super Bowl occur?", "What was the date of the first Super Bowl?",
    "On which day was the first Super Bowl held?",
]  # fmt: skip
SPORT = ["What is a popular sport?", "Why do people like football?", "What makes football famous?"]
GIVEN = {  # the guide's simplified embeddings, whose cosines are not the .98, .99, .97 that it then assumes
    SUPER_BOWL: (0.9, 0.4, 0.1), ASKED[0]: (0.85, 0.38, 0.09), ASKED[1]: (0.88, 0.39, 0.11),
    ASKED[2]: (0.87, 0.41, 0.10),
}  # fmt: skip


def at(cosines: Sequence[float], questions: Sequence[str]) -> dict[str, tuple[float, ...]]:
    """Embeddings with these cosines to that of the user's question."""
    placed = zip(questions, cosines, strict=True)
    return {SUPER_BOWL: (1.0, 0.0)} | {text: (cosine, (1 - cosine**2) ** 0.5) for text, cosine in placed}


@pytest.mark.parametrize(("answer", "vectors", "value"), [
    pytest.param("The first Super Bowl was held on Jan 15, 1967.", at((0.98, 0.99, 0.97), ASKED), 0.98, id="relevant"),
    pytest.param("Football is a popular sport.", at((0.2, 0.1, 0.15), SPORT), 0.15, id="far"),
    pytest.param("The first Super Bowl was held on Jan 15, 1967.", GIVEN, None, id="the embeddings given"),
    pytest.param("Anything.", at((-1, -1, -1), SPORT), -1, id="opposite"),
    pytest.param("The first Super Bowl was held on Jan 15, 1967.", at((0.4, 0.2), ASKED[:2]), 0.3, id="two questions"),
])  # fmt: skip
def test_relevancy_by_questions(answer: str, vectors: dict[str, Any], value: float | None, tmp_path: Path) -> None:
    user, *asked = vectors
    said = ScriptedReply("answer_relevancy.questions", [{"question": text, "evasive": "no"} for text in asked])
    number = {} if len(asked) == 3 else {"questions": len(asked)}  # 3 is the default
    embedder = {"embedder": str(tiny.placed_texts(tmp_path / "model", vectors))}
    row = {"question": user, "answer": answer}
    run = run_of("answer_relevancy", [row], [said], number, resources=embedder)
    rows = np.array(list(vectors.values()))
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    expected = float((rows[1:] @ rows[0]).mean())
    assert value is None or expected == pytest.approx(value)
    assert values_of(run, "answer_relevancy")["answer_relevancy"] == pytest.approx(expected, abs=1e-6)


def test_ranges_and_directions() -> None:
    """0 to 1 but for the cosine; noise and hallucination are better low."""
    known = {name: evaluators()[name].metric(name) for name in {worked.evaluator for worked in WORKED.values()}}
    assert {(metric.low, metric.high) for metric in known.values()} == {(0, 1)}
    assert {name for name, metric in known.items() if metric.direction == "lower"} == {"hallucination_claims", RNS, INS}
    relevancy = evaluators()["answer_relevancy"].metric("answer_relevancy")
    assert (relevancy.low, relevancy.high, relevancy.direction) == (-1, 1, "higher")
