"""The shared steps: what is asked, what is not asked, and how replies are read."""

import asyncio
from typing import Any

import pytest

from metrics.core.errors import Unreadable
from metrics.core.prompt import Prompt
from metrics.judge import steps
from tests.judge.scripted import Request, ScriptedJudge, answers
from tests.judge.server import items_of

PROMPT = Prompt("test.step", "Say yes or no to each.")


def judge(script: Any) -> ScriptedJudge:
    return ScriptedJudge(answers(script))


def test_claims_are_stripped_of_blanks_and_of_half_an_emoji():
    asked = judge({"claims": {"claims": [" Paris is in France. ", "", " "]}})
    assert asyncio.run(steps.claims(asked, "It is.", "Is Paris in France?")) == ("Paris is in France.",)
    assert asked.calls[0].data == {"QUESTION": "Is Paris in France?", "TEXT": "It is."}
    asked = judge({"claims": '{"claims": ["Paris \\ud83d is in France \\ud83d\\ude00."]}'})
    assert asyncio.run(steps.claims(asked, "It is.")) == ("Paris \ufffd is in France 😀.",)


@pytest.mark.parametrize("asking", [
    pytest.param(lambda asked: steps.claims(asked, None, "What?"), id="no text"),
    pytest.param(lambda asked: steps.claims(asked, " \n\t", "What?"), id="a blank text"),
    pytest.param(lambda asked: steps.entailment(asked, [], ["x"]), id="no claims"),
])  # fmt: skip
def test_nothing_to_ask_about_costs_nothing(asking):
    asked = judge({})
    assert asyncio.run(asking(asked)) == ()
    assert not asked.calls


def test_references_and_entailment_keep_numbers_that_exist():
    asked = judge(
        {"claims": lambda request: {"claims": [] if "depends" in request.data["TEXT"] else [request.data["TEXT"]]}}
    )
    found = asyncio.run(steps.references(asked, ["", "It depends.", "In Ulm."], "Where?"))
    assert found == (steps.Reference(3, ("In Ulm.",)),)
    assert len(asked.calls) == 2
    asked = judge({"entailment": [{"supported_by": [2, 1, 2, 0, 3, -1]}, {"reason": "no", "supported_by": []}]})
    said = asyncio.run(steps.entailment(asked, ["a", "b"], ["x", "y"]))
    assert [(entry.id, entry.supported_by, entry.reason) for entry in said] == [(1, [1, 2], ""), (2, [], "no")]
    assert asked.calls[0].data == {"CONTEXTS": "[1] x\n[2] y", "CLAIMS": "[1] a\n[2] b"}


@pytest.mark.parametrize("contexts", [[], ["", " "]])
def test_nothing_supports_a_claim_without_contexts(contexts):
    asked = judge({})
    said = asyncio.run(steps.entailment(asked, ["a", "b"], contexts))
    assert [(entry.id, entry.supported_by) for entry in said] == [(1, []), (2, [])]
    assert not asked.calls


def test_long_lists_are_asked_in_batches_and_the_ids_count_through():
    def reply(request: Request) -> Any:
        rows = request.data["CLAIMS"].splitlines()
        return [{"verdict": "yes" if "odd" in row else "no"} for row in rows]

    items = [f"item {number} {'odd' if number % 2 else 'even'}" for number in range(2 * steps.BATCH + 5)]
    asked = judge({"test.step": reply})
    said = asyncio.run(steps.each(asked, PROMPT, steps.YesNoReply, items, name="CLAIMS"))
    assert [items_of(request, "CLAIMS") for request in asked.calls] == [steps.BATCH, steps.BATCH, 5]
    assert [entry.id for entry in said] == list(range(1, len(items) + 1))
    assert [entry.verdict for entry in said] == ["yes" if "odd" in item else "no" for item in items]


def test_a_blank_context_is_not_asked_about_and_a_missing_verdict_is_none():
    asked = judge({"test.step": [{"verdict": "yes"}, {"verdict": "no"}]})
    blank = steps.YesNoReply(id=0, verdict="no", reason="blank")
    asking = steps.each_context(
        asked, PROMPT, ["", "x", " ", "y"], {"QUESTION": "q"}, blank=blank, decides=steps.says_yes
    )
    said = asyncio.run(asking)
    assert [entry.verdict for entry in said] == ["no", "yes", "no", "no"]
    assert said[0] is said[2] is blank
    assert asked.calls[0].data == {"QUESTION": "q", "CONTEXTS": "[1] x\n[2] y"}
    asked = judge({"entailment": [{"supported_by": [1]}]})
    with pytest.raises(Unreadable, match="1 replies for 2 items"):
        asyncio.run(steps.entailment(asked, ["a", "b"], ["x"]))


def test_a_failure_waits_for_the_other_questions():
    """Else they would go on unseen, and be cut off where the loop ends."""
    ended = []

    async def fails() -> str:
        raise Unreadable("no JSON")

    async def takes_its_time() -> str:
        await asyncio.sleep(0.01)
        ended.append("second")
        return "second"

    with pytest.raises(Unreadable, match="no JSON"):
        asyncio.run(steps.together([fails(), takes_its_time()]))
    assert ended == ["second"]
