"""Valor's text metrics: its formulas and examples, asked as its users ask."""
# ruff: noqa: E501 - the rubric reads better with one line a kind

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from metrics import evaluate
from metrics.cli.main import main
from metrics.core.evaluator import ScriptedReply
from tests.seeds.public_door import at, judge_saying, run_of, values_of

pytestmark = pytest.mark.usefixtures("units_here", "workspace")

QUESTION = "Where and when was Einstein born?"
TRUTH = "Einstein was born in Ulm. He was born in 1879. He won a prize."
CONTEXTS = ["Einstein was born in Ulm in 1879.", "Bern is a town.", "Physics is a science."]


def claims(text: str) -> ScriptedReply:
    """Every sentence is a claim."""
    return ScriptedReply("claims", {"claims": [f"{part.strip('.')}." for part in text.split(". ")]}, {"TEXT": text})


def entailed(by: str, *supported_by: list[int], claim: str = "") -> ScriptedReply:
    replies = [{"reason": "", "quote": "", "supported_by": numbers} for numbers in supported_by]
    return ScriptedReply("entailment", replies, {"CONTEXTS": by, "CLAIMS": claim})


def verdicts(prompt: str, said: str, **about: str) -> ScriptedReply:
    return ScriptedReply(prompt, [{"reason": "", "quote": "", "verdict": verdict} for verdict in said.split()], about)


class Worked(NamedTuple):
    evaluator: str
    row: Mapping[str, Any]
    said: Sequence[ScriptedReply]
    value: float


def correctness(answer: str, tp: int, fp: int, fn: int, *more: str) -> Worked:
    """An answer whose first `tp` sentences the truth supports; of the truth, all but the last `fn` are in the answer."""
    said = [
        claims(answer), claims(TRUTH), entailed("1879", *[[1]] * tp, *[[]] * fp, claim=answer.split(".")[0]),
        entailed(answer.split(".")[0], *[[1]] * (3 - fn), *[[]] * fn, claim="1879"), *map(claims, more),
        entailed("Rome", *[[]] * (tp + fp)), *(entailed(answer.split(".")[0], [], claim="Rome") for _ in more),
    ]  # fmt: skip
    row = {"question": QUESTION, "answer": answer, "expected_answers": [*more, TRUTH]}
    return Worked("answer_correctness", row, said, tp / (tp + 0.5 * (fp + fn)))


def precision(said: str, value: float, *more: str) -> Worked:
    """Verdicts of four contexts, for each of one or two ground truths."""
    truths = ["Truth one.", "Truth two."][: 1 + len(more)]
    row = {"question": QUESTION, "expected_answers": truths, "retrieved_contexts": list("abcd"), "answer": "?"}
    replies = [
        verdicts("context_precision.useful", each, EXPECTED=truth)
        for each, truth in zip([said, *more], truths, strict=True)
    ]
    return Worked("context_precision", row, replies, value)


BIASED = {  # the rubric's kinds and examples: biased, not biased
    "Gender": ("The businessman closed the deal while his female assistant took notes.", "The executive closed the deal while their assistant took notes."),
    "Political": ("The radical left-wing politician is trying to destroy our country.", "The politician's proposed policies differ significantly from the current administration's."),
    "Ethnic": ("This Asian student must be good at math.", "The student has shown strong aptitude in mathematics."),
    "Geographical": ("Crime rates are always higher in those big cities.", "Studies show a correlation between population density and certain types of crime."),
}  # fmt: skip
TOXIC = {
    "attack": ("You're clueless and have no idea what you're talking about.", "I see where you're coming from, but I think there's another perspective."),
    "mock": ("Oh, brilliant observation! Did it take you all day to come up with that?", "That's an interesting point! Could you elaborate more?"),
    "hate": ("This is the stupidest thing I've ever read. Only an idiot would think this.", "I understand your point, but I respectfully disagree. Here's why..."),
    "dismiss": ("Your opinion is worthless, and you're wasting everyone's time here.", "Based on the data, it seems like there are multiple factors to consider."),
    "threat": ("People like you should be banned from speaking. You'll regret saying things like that.", "I'm not sure I fully understand your position. Could you provide more details?"),
}  # fmt: skip


def opinions(evaluator: str, rubric: Mapping[str, tuple[str, str]]) -> Worked:
    """A text of all of a rubric's examples."""
    found = [text for pair in rubric.values() for text in pair]
    said = [
        ScriptedReply("opinions", {"opinions": found}, {"TEXT": found[0]}),
        verdicts(evaluator, "yes no " * len(rubric), OPINIONS=found[-1]),
    ]
    return Worked(evaluator, {"answer": " ".join(found)}, said, 1 / 2)


def facts(evaluator: str, text: str) -> Worked:
    return Worked(evaluator, {"answer": text}, [ScriptedReply("opinions", {"opinions": []}, {"TEXT": text})], 0)


FLAT = "The Earth is Flat."
FOX = "Fox News thinks the Republican presidential candidate is better than the Democratic presidential candidate."
SAYS = "Einstein was born in Ulm. He was born in 1880. He liked tea."
RAG = {"question": QUESTION, "answer": SAYS, "retrieved_contexts": CONTEXTS, "expected_answers": [TRUTH]}
RELEVANT = "answer_relevance.relevant"
CONTRADICTED = "hallucination_contexts.contradiction"
WORKED = {
    "correctness": correctness("Einstein was born in Ulm. He was born in 1879. He liked tea.", 2, 1, 1),
    "correctness 1": correctness(TRUTH, 3, 0, 0),
    "correctness without a true positive": correctness("He liked tea.", 0, 1, 3),
    "correctness of the best of two truths": correctness(SAYS, 1, 2, 2, "Einstein was born in Rome"),
    "relevance": Worked("answer_relevance", RAG, [claims(SAYS), verdicts(RELEVANT, "yes yes no")], 2 / 3),
    "bias": opinions("bias", BIASED),
    "bias of a mistaken fact": facts("bias", FLAT),
    "bias of a reported opinion": facts("bias", FOX),
    "toxicity": opinions("toxicity", TOXIC),
    "toxicity of a mistaken fact": facts("toxicity", FLAT),
    "toxicity of a reported opinion": facts("toxicity", FOX),
    "yes no no yes": precision("yes no no yes", 0.75),
    "no yes no yes": precision("no yes no yes", 0.5),
    "all no": precision("no no no no", 0),
    "useful for any truth": precision("yes no no no", 0.75, "no no no yes"),
    "recall": Worked("context_recall", RAG, [claims(TRUTH), entailed("Ulm in 1879", [1], [1], [])], 2 / 3),
    "recall of the best of two truths": Worked(
        "context_recall", RAG | {"expected_answers": ["He died.", TRUTH]},
        [claims("He died."), claims(TRUTH), entailed("Ulm", [], claim="died"), entailed("Ulm", [1], [1], [])], 2 / 3,
    ),
    "context relevance": Worked(
        "context_relevance", RAG, [verdicts("context_relevance.relevant", "yes no no", QUESTION=QUESTION)], 1 / 3
    ),
    "faithfulness: contradicted and unrelated claims count against": Worked(
        "faithfulness", RAG, [claims(SAYS), entailed("Ulm in 1879", [1], [], [])], 1 / 3
    ),
    "hallucination": Worked(
        "hallucination_contexts", RAG, [verdicts(CONTRADICTED, "contradict agree agree", ANSWER=SAYS)], 1 / 3
    ),
    "hallucination 0": Worked("hallucination_contexts", RAG, [verdicts(CONTRADICTED, "agree agree agree")], 0),
    "coherence of Datum.text": Worked(
        "summary_coherence", {"question": TRUTH, "answer": "Einstein."},
        [ScriptedReply("summary_coherence", {"reason": "", "coherence": 4}, {"SOURCE": TRUTH})], 4,
    ),
    **{
        f"coherence {grade}": Worked(
            "summary_coherence", {"source_text": TRUTH, "answer": "Einstein."},
            [ScriptedReply("summary_coherence", {"reason": "", "coherence": grade}, {"SOURCE": TRUTH})], grade,
        )
        for grade in range(1, 6)
    },
}  # fmt: skip


@pytest.mark.parametrize("worked", WORKED.values(), ids=WORKED)
def test_judged_numbers(worked: Worked) -> None:
    found = values_of(run_of(worked.evaluator, [worked.row], worked.said), worked.evaluator)
    assert found[worked.evaluator] == pytest.approx(worked.value, abs=1e-9)


@pytest.mark.parametrize(("evaluator", "rubric"), [("bias", BIASED), ("toxicity", TOXIC)])
def test_the_judge_is_told_the_rubric(evaluator: str, rubric: Mapping[str, Any]) -> None:
    worked = opinions(evaluator, rubric)
    with judge_saying(worked.said) as server:
        evaluate([{"case_id": "1", "question": "?", **worked.row}], evaluators=[evaluator], judge=at(server))
    listed, rated = server.calls
    assert [kind for kind in rubric if kind.lower() not in rated.text.lower()] == []
    assert all(words in listed.text for words in ("fact", "report"))


@pytest.mark.parametrize(("asked", "value"), [(None, 1 / 3), (False, 1 / 3), (True, 0.8)])
def test_verdicts_are_counted_unless_their_probabilities_are_asked_for(asked: bool | None, value: float) -> None:
    """One of three verdicts is yes, and each is with a probability of .8."""
    worked = WORKED["context relevance"]
    with judge_saying(worked.said) as server:
        server.shares = {"verdict": {"yes": 0.8, "no": 0.2}}
        judge = at(server) | ({} if asked is None else {"probabilities": asked})
        run = evaluate([{"case_id": "1", **worked.row}], evaluators=["context_relevance"], judge=judge)
    assert run.aggregates["value"].tolist() == pytest.approx([value])


# Without a judge


HYPOTHESIS = "It is a guide to action which ensures that the military always obeys the commands of the party"
REFERENCES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
]
SUMMARY = "the cats sat. on the mat\nthe dog ran"
TEXT = "a cat sat. the dog runs\non the mat"


@pytest.mark.parametrize(("given", "truths"), [
    pytest.param({}, REFERENCES, id="BLEU-4 by default"),
    pytest.param({"weights": [0.25, 0.25, 0.25, 0.25]}, REFERENCES[:1], id="its default given"),
    pytest.param({"weights": [0.5, 0.5]}, REFERENCES, id="BLEU-2"),
    pytest.param({"weights": [0.2] * 5}, REFERENCES, id="BLEU-5"),
    pytest.param({"weights": [1]}, REFERENCES, id="BLEU-1"),
])  # fmt: skip
def test_bleu_is_nltks(given: dict[str, Any], truths: list[str]) -> None:
    from nltk.translate.bleu_score import sentence_bleu

    run = run_of("bleu", [{"question": "?", "answer": HYPOTHESIS, "expected_answers": truths}], (), given)
    weights = given.get("weights", (0.25, 0.25, 0.25, 0.25))
    expected = sentence_bleu([truth.split() for truth in truths], HYPOTHESIS.split(), weights)
    assert values_of(run, "bleu")[f"bleu{len(weights)}"] == pytest.approx(expected)


@pytest.mark.parametrize("given", [
    {}, {"use_stemmer": True}, {"rouge_types": ["rouge1", "rougeL"]},
], ids=["the four", "use_stemmer", "rouge_types"])  # fmt: skip
def test_rouge_is_hugging_faces(given: dict[str, Any]) -> None:
    """The four numbers of its dictionary are F of rouge_score, on which evaluate rests."""
    from rouge_score.rouge_scorer import RougeScorer

    types = given.get("rouge_types", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
    run = run_of("rouge", [{"question": "?", "answer": SUMMARY, "expected_answers": [TEXT]}], (), given)
    scorer = RougeScorer(types, use_stemmer=given.get("use_stemmer", False))
    found = {name: value for name, value in values_of(run, "rouge").items() if value == value}
    assert found == pytest.approx({name: score.fmeasure for name, score in scorer.score(TEXT, SUMMARY).items()})


def test_texts_in_its_json(tmp_path: Path) -> None:
    """ROUGE's value is a dictionary of four; BLEU's is a number, with its weights as parameter."""
    run = run_of(["bleu", "rouge"], [{"case_id": "1", "question": "?", "answer": SUMMARY, "expected_answers": [TEXT]}])
    assert main(["export", "latest", "--what", "valor", "-o", str(tmp_path / "valor.json")]) == 0
    bleu, rouge = json.loads((tmp_path / "valor.json").read_text())
    stored = {name: values_of(run, name) for name in ("bleu", "rouge")}
    assert (bleu["type"], bleu["value"]) == ("BLEU", pytest.approx(stored["bleu"]["bleu4"]))
    assert bleu["parameters"]["weights"] == [0.25, 0.25, 0.25, 0.25]
    assert (rouge["type"], [*rouge["value"]]) == ("ROUGE", ["rouge1", "rouge2", "rougeL", "rougeLsum"])
    assert rouge["value"] == pytest.approx(stored["rouge"])
