"""How long a provider may make a question wait: any form of any wait is bounded, for a judge as for a target."""

import time
from email.utils import formatdate

import pytest

from metrics.core.errors import JudgeDown, TargetDown
from metrics.core.suite import Suite
from metrics.judge.completion import CallFailed
from metrics.judge.limits import LONGEST_PAUSE, Gate, send_repeatedly
from metrics.judge.wire import wait_asked_for
from metrics.store import Workspace
from metrics.targets import complete
from tests.engine.engine_scenes import finished
from tests.judge.judge_scenes import rag
from tests.judge.server import Fault
from tests.judge.test_limits import run

YEARS = 3_000_000_000
WRITTEN = {  # headers of a response that asks to wait for years
    "seconds": {"Retry-After": str(YEARS)},
    "exponent": {"Retry-After": "3e9"},
    "infinity": {"Retry-After": "inf"},
    "beyond floats": {"Retry-After": "9" * 400},
    "date": {"Retry-After": formatdate(time.time() + YEARS, usegmt=True)},
    "milliseconds": {"retry-after-ms": f"{YEARS}000"},
    "milliseconds of Azure": {"x-ms-retry-after-ms": f"{YEARS}000"},
    "two that differ": {"Retry-After": str(YEARS), "retry-after-ms": "soon"},
}
NO_WAIT = {  # what asks for none, or says nothing that could be kept to
    "negative": ({"Retry-After": "-1"}, 0.0), "not a number": ({"Retry-After": "nan"}, 0.0),
    "a date long ago": ({"Retry-After": "Mon, 01 Jan 0001 00:00:00 +2359"}, 0.0),
    "words": ({"Retry-After": "soon"}, None), "empty": ({"Retry-After": ""}, None),
    "a list": ({"Retry-After": f"1, {YEARS}"}, None),
    "no date": ({"Retry-After": "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"}, None),
    "no zone": ({"Retry-After": "Mon, 01 Jan 2999 00:00:00 +99999999999999999999"}, None),
    "resets": ({"x-ratelimit-reset-requests": "9000h", "ratelimit-reset": str(YEARS)}, None),
    "the shorter unit first": ({"Retry-After": "2", "Retry-After-Ms": "1500"}, 1.5),
}  # fmt: skip


@pytest.mark.parametrize("headers", WRITTEN.values(), ids=WRITTEN)
def test_a_wait_of_years_is_read_as_one(headers):
    assert wait_asked_for(headers) > YEARS / 2


@pytest.mark.attack("judge", "a Retry-After of numbers that no date or time holds", "no such header is believed")
@pytest.mark.parametrize(("headers", "seconds"), NO_WAIT.values(), ids=NO_WAIT)
def test_what_is_no_wait(headers, seconds):
    assert wait_asked_for(headers) == seconds


@pytest.mark.attack(
    "judge",
    "waits that it asks for, long ones or many, hold a case",
    "in all five minutes, or the time of a case",
)
@pytest.mark.parametrize("wait", [0.0, 1.0, 60.0, LONGEST_PAUSE, LONGEST_PAUSE + 1, float(YEARS), float("inf"), None])
@pytest.mark.parametrize("patience", [25.0, LONGEST_PAUSE])
@pytest.mark.parametrize("limited", [True, False])
def test_all_waits_of_a_question_are_bounded(wait, patience, limited):
    """By the clock of the loop: as many tries as one likes never wait longer than the patience and the back-off."""
    tries = 50

    async def work() -> None:
        gate = Gate("judge", 2, patience=patience)

        async def send() -> None:
            async with gate.turn(1):
                raise CallFailed("later", "busy", wait, limited)

        with pytest.raises(CallFailed, match="asks to wait" if wait and wait * (tries - 1) > patience else "later"):
            await send_repeatedly(send, tries, 0.0, patience)

    assert run(work) <= patience


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("headers", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("way", ["server", "litellm"])
def test_a_judge_that_asks_for_years_is_given_up_at_once(judge_server, workspace, monkeypatch, way, headers, status):
    settings = {"model": "scripted", "base_url": judge_server.url}
    if way == "litellm":
        settings = {"model": "openai/gpt-4o-mini"}
        monkeypatch.setenv("OPENAI_API_KEY", "none-is-needed")
        monkeypatch.setenv("OPENAI_BASE_URL", judge_server.url)
    judge_server.fail_by(lambda _: Fault(status, headers=headers))
    with pytest.raises(JudgeDown, match=r"it asks to wait .* s, of which 25 are allowed"):
        finished(
            Workspace(workspace), *rag(1), "faithfulness", resources={"judge": settings}, case_timeout=25,
        )  # fmt: skip
    assert len({request.text for request in judge_server.calls}) == len(judge_server.calls)  # each once


@pytest.mark.parametrize("headers", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("way", ["endpoint", "model"])
def test_a_target_that_asks_for_years_is_given_up_at_once(judge_server, workspace, way, headers):
    judge_server.fail_by(lambda _: Fault(429, headers=headers))
    target = {"url": judge_server.url + "/chat/completions", "answer": "answer", "body": {"messages": []}}
    if way == "model":
        target = {"model": "m", "base_url": judge_server.url}
    suite = Suite.from_rows("one", "text", [{"case_id": "1", "question": "Who?"}])
    with pytest.raises(TargetDown, match=r"it asks to wait .* s, of which 300 are allowed"):
        complete(suite, target)
    assert len(judge_server.calls) == 1
