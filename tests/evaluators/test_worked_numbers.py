"""The worked numbers that the sources of the judged metrics print, each asked of a judge over HTTP.

Every row gives the judge's replies in the source's own counts; the number must come out as printed there.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest

from metrics.core.evaluator import ScriptedReply, Status
from metrics.core.suite import Case
from tests.evaluators.test_claim_based import Cosines
from tests.judge import judging
from tests.judge.scripted import as_said
from tests.judge.server import JudgeServer

QUESTION, ANSWER, EXPECTED = "What is asked?", "The answer.", "The expected answer."


class Worked(NamedTuple):
    """A worked number: the evaluator, what the judge replies, and the values printed in the source."""

    name: str
    evaluator: str
    case: Mapping[str, Any]
    judge: Sequence[ScriptedReply]
    values: Mapping[str, float | None]
    cosines: Mapping[str, float] = {}
    parameters: Mapping[str, Any] = {}


def case(contexts: int = 1, **others: Any) -> dict[str, Any]:
    passages = [f"Passage {number}." for number in range(1, contexts + 1)]
    return {
        "question": QUESTION,
        "answer": ANSWER,
        "expected_answers": [EXPECTED],
        "retrieved_contexts": passages,
        **others,
    }


def claims(of: str, *made: str) -> ScriptedReply:
    return ScriptedReply("claims", {"claims": list(made)}, {"TEXT": of})


def entailed(about: Mapping[str, str], *supported: Sequence[int]) -> ScriptedReply:
    return ScriptedReply("entailment", [{"reason": "", "supported_by": list(numbers)} for numbers in supported], about)


def verdicts(prompt: str, *said: str, **about: str) -> ScriptedReply:
    return ScriptedReply(prompt, [{"reason": "", "verdict": verdict} for verdict in said], about)


def grades(*marks: int) -> list[ScriptedReply]:
    return [
        ScriptedReply(
            "umbrela.grade", {"intent": "", "match": mark, "trust": 3, "grade": mark}, {"PASSAGE": f"Passage {number}."}
        )
        for number, mark in enumerate(marks, 1)
    ]


def nuggets(importance: str, assignment: Sequence[str]) -> list[ScriptedReply]:
    full = {"v": "vital", "o": "okay", "s": "support", "p": "partial_support", "n": "not_support"}
    return [
        *grades(3),
        ScriptedReply(
            "autonuggetizer.nuggets", {"nuggets": [f"nugget {letter}" for letter in "abcde"[: len(importance)]]}
        ),
        ScriptedReply("autonuggetizer.importance", [{"importance": full[letter]} for letter in importance]),
        ScriptedReply("autonuggetizer.assignment", [{"assignment": full[letter]} for letter in assignment]),
    ]


def rated(*levels: str) -> ScriptedReply:
    return ScriptedReply("rubric.levels", [{"reason": "", "level": level} for level in levels])


def accurate(level: str) -> list[ScriptedReply]:
    return [
        claims(ANSWER, "One claim."),
        ScriptedReply("rubric.accuracy", [{"reason": "", "importance": "major", "accuracy": level}]),
    ]


# tp 3, fp 1, fn 2: of four claims made three are expected, of five expected ones two are not made
CORRECT = [
    claims("The answer.", "A.", "B.", "C.", "X."),
    claims("The expected answer.", "A.", "B.", "C.", "D.", "E."),
    entailed({"CLAIMS": "X."}, [1], [2], [3], []),
    entailed({"CLAIMS": "E."}, [1], [2], [3], [], []),
]
WRITTEN = ScriptedReply("answer_relevancy.questions", [{"question": f"Q {name}", "evasive": "no"} for name in "abc"])
TWO_REFERENCES = {"expected_answers": [EXPECTED, "Another one."]}
CITED = case(2, answer="First part [1, 2]. Second part [1]. Third part.")
NOISE = case(2)
MADE = claims("The answer.", "Right.", "Wrong.")

WORKED = (
    Worked("context precision of yes, no, no, yes", "context_precision", case(4),
           [verdicts("context_precision.useful", "yes", "no", "no", "yes")], {"context_precision": 0.75}),
    Worked("context precision of no, yes, no, yes", "context_precision", case(4),
           [verdicts("context_precision.useful", "no", "yes", "no", "yes")], {"context_precision": 0.5}),
    Worked("context precision where all are useless", "context_precision", case(4),
           [verdicts("context_precision.useful", "no", "no", "no", "no")], {"context_precision": 0.0}),
    Worked("context precision over two references", "context_precision", case(4, **TWO_REFERENCES),
           [verdicts("context_precision.useful", "yes", "no", "no", "no", EXPECTED=EXPECTED),
            verdicts("context_precision.useful", "no", "no", "no", "yes", EXPECTED="Another")],
           {"context_precision": 0.75}),
    Worked("answer correctness of 3, 1 and 2", "answer_correctness", case(), CORRECT, {"answer_correctness": 2 / 3}),
    Worked("answer correctness without a true positive", "answer_correctness", case(),
           [claims("The answer.", "X."), claims("The expected", "A."), entailed({}, [])], {"answer_correctness": 0.0}),
    Worked("answer correctness weighted with a similarity of .9", "answer_correctness_weighted", case(), CORRECT,
           {"answer_correctness_weighted": 0.725}, {"expected": 0.9}),
    Worked("faithfulness of the first Super Bowl", "faithfulness", case(),
           [claims("The answer.", "A.", "X."), entailed({}, [1], [])], {"faithfulness": 0.5}),
    Worked("unsupported claims of the first Super Bowl", "hallucination_claims", case(),
           [claims("The answer.", "A.", "X."), entailed({}, [1], [])], {"hallucination_claims": 0.5}),
    Worked("the capital of Brazil", "hallucination_claims", case(),
           [claims("The answer.", "X."), entailed({}, [])], {"hallucination_claims": 1.0}),
    Worked("contexts that agree, contradict and agree", "hallucination_contexts", case(3),
           [verdicts("hallucination_contexts.contradiction", "agree", "contradict", "agree")],
           {"hallucination_contexts": 1 / 3}),
    Worked("two of three statements are relevant", "answer_relevance", case(),
           [claims("The answer.", "A.", "B.", "X."), verdicts("answer_relevance.relevant", "yes", "yes", "no")],
           {"answer_relevance": 2 / 3}),
    Worked("cosines of .98, .99 and .97", "answer_relevancy", case(), [WRITTEN], {"answer_relevancy": 0.98},
           {"Q a": 0.98, "Q b": 0.99, "Q c": 0.97}),
    Worked("cosines of .2, .1 and .15", "answer_relevancy", case(), [WRITTEN], {"answer_relevancy": 0.15},
           {"Q a": 0.2, "Q b": 0.1, "Q c": 0.15}),
    Worked("noise of a relevant context", "relevant_noise_sensitivity", NOISE,
           [MADE, claims("The expected", "Right.", "True."), entailed({"CONTEXTS": "True."}, [1], []),
            entailed({"CLAIMS": "Wrong."}, [1], [1]), entailed({"CLAIMS": "True."}, [1], [])],
           {"relevant_noise_sensitivity": 0.5}),
    Worked("noise of an irrelevant context", "irrelevant_noise_sensitivity", NOISE,
           [claims("The answer.", "Wrong.", "False."), claims("The expected", "True."),
            entailed({"CONTEXTS": "True."}, [], []), entailed({"CLAIMS": "Wrong."}, [], [2]),
            entailed({"CLAIMS": "True."}, [1])],
           {"irrelevant_noise_sensitivity": 0.5}),
    Worked("UMBRELA grades 3, 0, 2, 1 and 2", "umbrela", case(5), grades(3, 0, 2, 1, 2),
           {"precision_at_1": 1.0, "precision_at_3": 2 / 3, "precision_at_5": 0.6, "average_precision_at_3": 5 / 6,
            "average_precision_at_5": 34 / 45, "mrr": 1.0, "umbrela": 1.6}),
    Worked("nuggets: three vital, two okay", "autonuggetizer", case(), nuggets("vvvoo", "spnsp"),
           {"all": 0.6, "vital": 0.5, "weighted": 0.5625, "all_strict": 0.4, "vital_strict": 1 / 3,
            "weighted_strict": 0.375}),
    Worked("nuggets: two vital ones alone", "autonuggetizer", case(), nuggets("vv", "ss"),
           {"all": 1.0, "vital": 1.0, "weighted": 1.0}),
    Worked("citations: full and partial, full, none", "citation", CITED,
           [ScriptedReply("citation.support", {"support": "partial"}, {"PASSAGE": "Passage 2."}),
            ScriptedReply("citation.support", {"support": "full"})],
           {"citation_precision": 0.75, "citation_recall": 7 / 12, "citation_f1": 0.65625}),
    Worked("the harmonic mean of .9, .8, .75 and .5", "ragas", case(4),
           [claims("The answer.", *(f"Claim {letter}." for letter in "abcdefghij")), claims("The expected", "A.", "B."),
            entailed({"CLAIMS": "Claim j."}, *([1],) * 9, []), entailed({"CLAIMS": "B."}, [1], []), WRITTEN,
            verdicts("context_precision.useful", "yes", "no", "no", "yes")],
           {"ragas": 0.702439024}, {"Q ": 0.8}),
    Worked("a rubric of 1, .8, .6, .3 and 1", "rubric", case(trace='{"steps": [{"tool": "search"}]}'),
           [*accurate("excellent"), rated("good", "acceptable", "poor", "excellent")], {"rubric": 0.82, "passed": 1.0}),
    Worked("a rubric of .6 and .3 alone", "rubric", case(0),
           [*accurate("acceptable"), rated("poor")], {"rubric": 0.463636364, "passed": 0.0}),
)  # fmt: skip


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as running:
        yield running


@pytest.mark.parametrize("worked", [pytest.param(worked, id=worked.name) for worked in WORKED])
def test_the_number_in_the_source_comes_out(
    worked: Worked, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(judging.STAND_INS, "embedder", Cosines(worked.cosines))
    server.clear()
    server.say(lambda request: True, as_said(worked.judge))
    score = judging.judged(worked.evaluator, Case.of(**worked.case), server, **worked.parameters)
    assert score.status is Status.OK, score.reason
    assert server.calls
    assert {name: score.values[name] for name in worked.values} == pytest.approx(worked.values, abs=1e-6)
