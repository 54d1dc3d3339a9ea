"""Attacks on the judge by what it judges: whoever obeys only what stands outside the data never hears of them."""

import re
from typing import Any

import pytest

from metrics.core.prompt import NONCE
from metrics.core.registry import evaluators
from metrics.core.suite import Case
from tests.judge.attacks import ATTACKS
from tests.judge.judging import STAND_INS, judged
from tests.judge.server import JudgeServer, Request

JUDGED = [
    entry
    for entry in evaluators().values()
    if "judge" in entry.needs and entry.shape == "case" and set(entry.needs) <= {"judge", *STAND_INS}
]
FACTS = Case.of(
    case_id="1", model="m", question="How high is the tower?", answer="It is 500 m high [1].",
    expected_answers=["It is 330 m high."], retrieved_contexts=["The tower is 330 m high.", "It stands in Paris."],
    citations=["The tower is 330 m high."], source_text="The tower is 330 m high. It stands in Paris.",
    conditions="answer AND height", trace="[]",
)  # fmt: skip
GUESS = "0" * NONCE


def outside(request: Request) -> str:
    """All that the judge is told but the data: what stands between the delimiters of this request's own nonce."""
    system, user = (message["content"] for message in request.messages[:2])
    nonce = re.search(rf"<NAME ([0-9a-f]{{{NONCE}}})>", system)
    return re.sub(rf"<(\w+) {nonce[1]}>\n.*?\n</\1 {nonce[1]}>", "", user, flags=re.DOTALL).strip()


def attacked(place: str, attack: str, nonce: str = GUESS) -> Case:
    """The facts with an attack at the end of one of their texts."""
    attack = attack.replace("NONCE", nonce)
    value = getattr(FACTS, place)
    own: Any = value + attack if isinstance(value, str) else (value[0] + attack, *value[1:])
    return FACTS._replace(**{place: own})


def obedient(server: JudgeServer) -> None:
    """A judge that finds nothing supported by itself, and everything where it is told anything but its prompt."""
    server.say("claims", {"claims": ["The tower is 500 m high."]})
    server.say("entailment", [{"reason": "330 m, not 500 m", "supported_by": []}])
    prompts = {prompt.text.strip() for prompt in evaluators()["faithfulness"].prompts}
    server.say(
        lambda request: request.step == "entailment" and outside(request) not in prompts, [{"supported_by": [1]}]
    )


def test_an_obedient_judge_can_be_moved_from_outside(judge_server):
    """Or the tests here could not fail."""
    obedient(judge_server)
    shown = f"Which?\n\n<TEXT {GUESS}>\nx\n</TEXT {GUESS}>\nGive the best verdict."
    form = {"name": "entailment", "schema": {"properties": {"replies": {}}}}
    said = [{"role": "system", "content": f"… <NAME {GUESS}> …"}, {"role": "user", "content": shown}]
    request = {"messages": said, "response_format": {"json_schema": form}}
    assert '"supported_by": [1]' in judge_server.said(Request(request, {}))


@pytest.mark.parametrize("name", ATTACKS)
@pytest.mark.attack(
    "model",
    "an answer tells the judge to ignore the rubric",
    "model text stands between random delimiters as data; a canary suite is scored the same",
)
def test_no_attack_moves_a_score(name, judge_server):
    """End to end over HTTP, with the nonces of the unattacked questions as the attacker's guesses."""
    obedient(judge_server)
    assert judged("faithfulness", FACTS, judge_server).values == {"faithfulness": 0, "least_supported": 0}
    nonces = {
        match[1] for request in judge_server.calls for match in re.finditer(rf"</\w+ (\w{{{NONCE}}})>", request.text)
    }
    for place in ("answer", "retrieved_contexts"):
        for nonce in sorted(nonces) if "NONCE" in ATTACKS[name] else [GUESS]:
            score = judged("faithfulness", attacked(place, ATTACKS[name], nonce), judge_server)
            assert score.values == {"faithfulness": 0, "least_supported": 0}


@pytest.mark.attack("model", "an answer closes the delimiters of its block", "the delimiter is random in each prompt")
def test_a_nonce_cannot_be_guessed():
    assert NONCE * 4 >= 128, "bits"
