"""Scores weighted by the judge's probabilities: expected shares and grades, over HTTP, and as shown."""

from typing import Any

import pytest

from metrics.core.evaluator import CaseScore
from metrics.core.evidence import Evidence, Verdict
from metrics.core.suite import Case
from metrics.evaluators._judged_items import WEIGHTED, expected_share
from metrics.presentation.verdict_rows import verdict_groups
from tests.judge.judging import judged
from tests.judge.server import JudgeServer

CASE = Case.of(
    case_id="1", model="m", question="How high is it?", answer="It is 330 m high. It is in Paris.",
    expected_answers=["It is 330 m high."], retrieved_contexts=["It is 330 m high.", " "], source_text="It is 330 m.",
)  # fmt: skip
CLAIMS = {"claims": ["It is 330 m high.", "It is in Paris."]}
VERDICTS = {"yes": 0.9, "no": 0.1}
SUPPORT = {"1": 0.7, "]": 0.3}  # what can follow "supported_by": [
ENTAILED = [{"supported_by": [1]}, {"supported_by": []}]


def scored(server: JudgeServer, evaluator: str, *, asks: bool | None = True, **parameters: Any) -> CaseScore:
    server.say("claims", CLAIMS)
    server.say("entailment", ENTAILED)
    server.say("answer_relevance.relevant", [{"verdict": "yes"}, {"verdict": "no"}])
    server.say("context_relevance.relevant", [{"verdict": "yes"}])
    server.shares = {
        "verdict": VERDICTS, "supported_by": SUPPORT, "coherence": {"4": 0.5, "5": 0.3, "3": 0.2},
        "level": {"good": 0.75, "poor": 0.25}, "score": {"4": 0.5, "5": 0.3, "3": 0.2},
    }  # fmt: skip
    return judged(evaluator, CASE, server, judge={"probabilities": asks}, **parameters)


@pytest.mark.parametrize(("evaluator", "weighted", "counted"), [
    ("faithfulness", 0.7, 0.5),  # (.7 + .7) / 2: of the empty list, too, P(any) is .7
    ("hallucination_claims", 0.3, 0.5), ("answer_relevance", 0.9, 0.5),
    ("context_relevance", 0.45, 0.5),  # the blank context is irrelevant for certain
])  # fmt: skip
def test_an_expected_share(evaluator: str, weighted: float, counted: float, judge_server: JudgeServer) -> None:
    score = scored(judge_server, evaluator)
    assert (score.values[evaluator], score.evidence.facts["share"]) == (pytest.approx(weighted), WEIGHTED)
    plain = scored(judge_server, evaluator, asks=None)
    assert plain.values[evaluator] == pytest.approx(counted)
    assert "share" not in plain.evidence.facts
    labels = [[one.holds for one in group] for made in (score, plain) for group in made.evidence.verdicts.values()]
    assert labels[: len(labels) // 2] == labels[len(labels) // 2 :], "verdicts are the labels that the judge chose"


def test_an_expected_grade(judge_server: JudgeServer) -> None:
    """.5 · 4 + .3 · 5 + .2 · 3 = 4.1, where the judge chose 4."""
    judge_server.say("summary_coherence", {"reason": "", "coherence": 4})
    score = scored(judge_server, "summary_coherence")
    assert score.values == {"summary_coherence": pytest.approx(4.1)}
    (verdict,) = score.evidence.verdicts["summary"]
    assert (verdict.label, verdict.holds) == ("4 of 5", "yes")
    assert verdict.facts["probabilities"] == pytest.approx({"4": 0.5, "5": 0.3, "3": 0.2})
    (row,) = verdict_groups(score.evidence)[0].rows
    assert row.notes == ("probabilities: 4 0.500, 5 0.300, 3 0.200",)


def test_expected_levels_of_a_rubric_and_of_a_prompt(judge_server: JudgeServer) -> None:
    """.75 · 1 + .25 · .2 = .8."""
    judge_server.say("rubric.own_levels", [{"reason": "", "level": "good"}])
    judge_server.say("byop", {"reason": "", "level": "good"})
    levels = {"good": 1.0, "poor": 0.2}
    dimensions = [{"name": "tone", "weight": 1, "description": "Kind.", "levels": levels}]
    assert scored(judge_server, "rubric", dimensions=dimensions).values["tone"] == pytest.approx(0.8)
    byop = {"prompt": "Is {actual_answer} kind?", "mode": "graded", "levels": levels, "check_contexts": False}
    assert scored(judge_server, "byop", **byop).values["grade"] == pytest.approx(0.8)
    assert scored(judge_server, "byop", asks=None, **byop).values["grade"] == 1.0


def test_a_score_by_a_criterion_is_weighted_by_the_probabilities(judge_server: JudgeServer) -> None:
    """(4.1 − 1) / 4 = .775, where the judge chose 4; of several samples the mean counts."""
    judge_server.say("g_eval", {"reason": "", "score": 4})
    own = {"criterion": "Kind answers thank.", "steps": ["Look for thanks."]}
    score = scored(judge_server, "g_eval", **own)
    assert score.values == {"g_eval": pytest.approx(0.775)}
    assert score.evidence.facts["score"] == pytest.approx(4.1)
    assert scored(judge_server, "g_eval", asks=None, **own).values["g_eval"] == 0.75
    drawn = scored(judge_server, "g_eval", **own, samples=3)
    assert (len(drawn.evidence.verdicts["ratings"]), drawn.values) == (3, {"g_eval": pytest.approx(0.775)})


def test_probabilities_can_be_left_unused(judge_server: JudgeServer) -> None:
    """With `probabilities` false labels count, and the provider is not asked for more."""
    assert scored(judge_server, "answer_relevance", asks=False).values == {"answer_relevance": 0.5}
    assert not any("logprobs" in request.body for request in judge_server.calls)


def test_one_verdict_without_a_probability_makes_a_plain_share() -> None:
    known = Verdict("a", "yes", probability=0.6)
    assert expected_share([known, Verdict("b", "no")]) == (0.5, {})
    assert expected_share([known, Verdict("b", "no", probability=0.0)]) == (0.3, {"share": WEIGHTED})
    assert expected_share([known, Verdict("b", "no", probability=0.0)], "no")[0] == pytest.approx(0.7)


def test_the_record_keeps_a_probability_of_zero_and_none_apart() -> None:
    given = Evidence({"claims": (Verdict("a", "no", probability=0.0), Verdict("b", "no"))})
    assert given.record["verdicts"]["claims"] == [
        {"text": "a", "holds": "no", "probability": 0.0},
        {"text": "b", "holds": "no"},
    ]
    assert Evidence.of_record(given.record) == given
