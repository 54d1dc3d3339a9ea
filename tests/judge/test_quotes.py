"""The judge's quotes: checked in the contexts that it names, stored as they stand there, counted, never a score."""

from typing import Any

import pytest

from metrics import analysis
from metrics.core.evidence import QUOTE_FOUND
from metrics.core.suite import Case
from tests.judge.judge_scenes import judged_run
from tests.judge.judging import judged
from tests.judge.server import Request, items_of

CONTEXTS = ["The mill was built in 1502, of oak.", "Its wheel turned until 1890."]
CASE = Case.of(answer="Built in 1502.", question="When?", retrieved_contexts=CONTEXTS)


@pytest.fixture
def server(judge_server):
    judge_server.say("claims", {"claims": ["The mill was built in 1502."]})
    return judge_server


@pytest.mark.parametrize(
    ("quote", "supported_by", "stored", "found"),
    [
        ("“the mill was  built in 1502.”", [1], "The mill was built in 1502", True),
        ("The mill … of oak", [1], "The mill … of oak", True),
        ("of oak … until 1890", [1, 2], "of oak … until 1890", True),
        ("The mill was built in 1503", [1], "The mill was built in 1503", False),
        ("Its wheel turned", [1], "Its wheel turned", False), ("x" * 5_000, [1], "x" * 1_000, False),
        ("", [1], "", None), (" ", [1], "", None), ("The mill", [], "", None), ("The mill", [7], "", None),
    ],
    ids=[
        "other marks", "in pieces", "from two contexts", "another number", "of a context not named", "endless", "none",
        "blank", "nothing supports it", "no such context",
    ],
)  # fmt: skip
def test_a_quote_is_looked_up(quote, supported_by, stored, found, server):
    server.say("entailment", [{"reason": "so", "quote": quote, "supported_by": supported_by}])
    score = judged("faithfulness", CASE, server)
    assert [*score.values.values()] == [float(bool(supported_by) and supported_by != [7])] * 2
    (claim,) = score.evidence.verdicts["claims"]
    assert (claim.quote, claim.facts.get(QUOTE_FOUND)) == (stored, found)
    counted = None if found is None else {"given": 1, "not_found": int(not found)}
    assert (score.evidence.judge or {}).get("quotes") == counted


def test_every_question_about_contexts_asks_for_a_quote(server):
    contradiction = {"reason": "1503", "quote": "built in 1502", "verdict": "contradict"}
    server.say("hallucination_contexts.contradiction", [contradiction, {"quote": "Its wheel", "verdict": "agree"}])
    score = judged("hallucination_contexts", CASE, server)
    first, second = score.evidence.verdicts["contexts"]
    assert (first.quote, first.facts[QUOTE_FOUND], second.quote) == ("built in 1502", True, "")
    server.say("citation.support", {"support": "partial", "quote": "built in 1600"})
    score = judged("citation", Case.of(answer="Built in 1502 [1].", retrieved_contexts=CONTEXTS), server)
    (cited,) = score.evidence.verdicts["citations"]
    assert (cited.quote, cited.facts[QUOTE_FOUND]) == ("built in 1600", False)
    noisy = Case.of(answer="a", expected_answers=["b"], retrieved_contexts=CONTEXTS)
    server.say("entailment", [{"quote": "of oak", "supported_by": [1]}])
    score = judged("relevant_noise_sensitivity", noisy, server)
    assert score.evidence.verdicts["claims"][0].quote == "of oak"
    for step in ("entailment", "hallucination_contexts_contradiction", "citation_support"):
        request = next(request for request in server.calls if request.step == step)
        assert "copied letter by letter" in request.text
        assert '"quote"' in str(request.schema).replace("'", '"')


def test_a_run_counts_them(tmp_path, judge_server):
    def entailed(request: Request) -> list[dict[str, Any]]:
        contexts = request.data["CONTEXTS"].removeprefix("[1] ").splitlines()
        return [
            {"quote": contexts[0] if number % 2 else "Nobody said that.", "supported_by": [1]}
            for number in range(items_of(request, "CLAIMS"))
        ]

    judge_server.say("claims", {"claims": ["a", "b", "c"]})
    judge_server.say("entailment", entailed)
    run = judged_run(tmp_path, judge_server.url, "faithfulness", "context_recall", cases=2)
    assert analysis.quotes(run) == (12, 8)
    run = judged_run(tmp_path, judge_server.url, "context_precision", cases=2)
    assert analysis.quotes(run) == (0, 0)
