"""The judge over HTTP: caching, single flight, repair, faults, limits, budget."""

import asyncio
import json
import re
import time
from collections.abc import Iterable
from contextlib import closing
from email.utils import formatdate
from typing import Any

import pytest

from metrics.core.errors import BudgetSpent, InputError, JudgeDown, JudgeError, Unreadable
from metrics.judge.cache import Cache
from metrics.judge.client import CaseJudge, Client
from metrics.judge.limits import Gate
from metrics.judge.open_judges import FOLDER, missing_judge
from metrics.judge.provider import listed_price
from metrics.judge.replies import LONGEST
from metrics.judge.settings import OPTIONS
from tests.judge.bench import GRADE, Bench, Verdict
from tests.judge.server import Fault, Request, in_turn


@pytest.fixture
def hosted(judge_server, tmp_path, monkeypatch):
    """A judge of a provider that litellm knows, whose address is ours for the test."""
    settings = {"KEY": "none-is-needed", "BASE": judge_server.url}
    for name, value in settings.items():
        monkeypatch.setenv(f"OPENAI_API_{name}", value)
    monkeypatch.setenv("OPENAI_BASE_URL", judge_server.url)
    return Bench(judge_server, tmp_path, hosted=True)


@pytest.fixture(params=["server", "litellm"])
def either(request):
    """A judge at an address of one's own, or of a provider."""
    bench: Bench = request.getfixturevalue("bench" if request.param == "server" else "hosted")
    return bench


async def answers(judge: CaseJudge, texts: Iterable[object]) -> list[Any]:
    """The verdicts on several texts, asked about at once, or why there is none."""
    return await asyncio.gather(
        *(judge.ask(GRADE, Verdict, {"TEXT": str(text)}) for text in texts), return_exceptions=True
    )


async def asked_thrice(judge: CaseJudge, client: Client) -> Verdict:
    """The verdict on one text, asked for by three evaluators, two of them at once."""
    others = [CaseJudge(client).ask(GRADE, Verdict, {"TEXT": "x"}) for _ in range(2)]
    assert all(isinstance(one, Unreadable) for one in await asyncio.gather(*others, return_exceptions=True))
    return await judge.ask(GRADE, Verdict, {"TEXT": "x"})


def completion(message: dict[str, Any]) -> dict[str, Any]:
    """The body of a response with this message."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    return {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


class TestAsking:
    def test_a_reply_comes_with_its_tokens(self, either):
        either.server.say("test.grade", {"reason": "It thanks.", "verdict": "yes"})
        assert either.ask() == Verdict(reason="It thanks.", verdict="yes")
        [request] = either.server.calls
        assert request.data == {"TEXT": "Thank you."}
        assert (request.body["temperature"], request.body["max_tokens"]) == (0, 4096)
        assert request.schema["required"] == ["reason", "verdict"]
        [call] = either.judge.calls
        assert (call.step, call.cached, call.error) == ("test.grade", False, None)
        assert call.stored.prompt_tokens == request.characters // 4
        used = call.stored.prompt_tokens, call.stored.completion_tokens or 0
        price = None if "base_url" in either.way else pytest.approx(listed_price("gpt-4o-mini", *used))
        assert call.stored.cost_usd == price, "an unknown price is unknown"

    def test_what_was_answered_is_never_asked_again(self, bench):
        first, second = bench.ask(), bench.ask()
        assert (first, len(bench.server.calls)) == (second, 1)
        assert [call.cached for call in bench.judge.calls] == [True]
        assert bench.client.ledger.spend.as_row() | {"usd": 0, "priced_usd": 0} == {
            "calls": 0, "cached": 1, "replies": 0, "prompt_tokens": 0, "completion_tokens": 0, "usd": 0, "unpriced": 0,
            "priced_usd": 0, "left_out": [],
        }  # fmt: skip

    @pytest.mark.parametrize("change", [
        pytest.param({"text": "Get lost."}, id="data"), pytest.param({"repeat": 1}, id="draw"),
        pytest.param({"temperature": 0.5}, id="temperature"), pytest.param({"max_tokens": 100}, id="token limit"),
        pytest.param({"model": "another"}, id="model"),
        pytest.param({"prompts": {"test.grade": "Is TEXT rude?"}}, id="prompt"),
    ])  # fmt: skip
    def test_whatever_can_change_the_reply_is_a_question_of_its_own(self, bench, change):
        bench.ask()
        bench.ask(**change)
        assert len(bench.server.calls) == 2

    def test_equal_questions_at_once_are_one_request(self, bench):
        bench.server.latency = 0.05

        assert len({reply.verdict for reply in bench.with_judge(lambda judge: answers(judge, ["x"] * 20))}) == 1
        assert len(bench.server.calls) == 1
        assert sorted(call.cached for call in bench.judge.calls) == [False] + [True] * 19

    def test_one_who_gives_up_leaves_the_reply_to_the_others(self, bench):
        bench.server.latency = 0.1

        async def two(judge: CaseJudge) -> Verdict:
            first = asyncio.create_task(judge.ask(GRADE, Verdict, {"TEXT": "x"}))
            second = asyncio.create_task(judge.ask(GRADE, Verdict, {"TEXT": "x"}))
            await asyncio.sleep(0.02)
            first.cancel()
            return await second

        bench.with_judge(two)
        assert len(bench.server.calls) == 1

    def test_a_server_without_schemas_gets_them_in_the_prompt_from_then_on(self, either):
        either.server.accepts_schema = False
        either.server.say(lambda _: True, {"verdict": "no"})

        async def twice(judge: CaseJudge) -> list[str]:
            return [(await judge.ask(GRADE, Verdict, {"TEXT": text})).verdict for text in ("a", "b")]

        assert either.with_judge(twice) == ["no", "no"]
        assert [request.schema is None for request in either.server.calls] == [False, True, True]
        assert '"enum": ["yes", "no"]' in either.server.calls[-1].messages[0]["content"]

    def test_a_refused_temperature_is_left_out(self, either):
        either.server.fail(Fault(400, body='{"error": {"message": "temperature is not supported with this model"}}'))
        either.ask()
        assert ["temperature" in request.body for request in either.server.calls] == [True, False]
        assert either.client.ledger.spend.left_out == ["temperature"]

    def test_options_are_sent_where_they_are_set(self, either):
        either.ask()
        assert not set(OPTIONS) & either.server.calls[0].body.keys()
        given = {"top_p": 0.9, "seed": 42, "presence_penalty": 0.5, "frequency_penalty": -0.5, "max_tokens": 77}
        either.ask(**given)  # type: ignore[arg-type]
        assert {name: either.server.calls[1].body[name] for name in given} == given
        assert len(either.server.calls) == 2, "other options are another question"

    def test_an_option_that_the_provider_refuses_ends_the_run_with_its_name(self, either):
        either.server.fail_by(lambda _: Fault(400, body='{"error": {"message": "Unsupported parameter: seed"}}'))
        with pytest.raises(JudgeError, match="the provider refuses seed = 7; change or remove it in the judge's sett"):
            either.ask(seed=7, tries=1)
        assert len(either.server.calls) == 1

    @pytest.mark.parametrize(("asked", "told"), [
        ({"reasoning_effort": "low"}, "the provider refuses reasoning_effort = low; change or remove it"),
        ({"model": "mystery"}, "litellm knows no model 'mystery'; name its provider too, as in openai/"),
    ])  # fmt: skip
    def test_what_litellm_refuses_is_told_before_anything_is_sent(self, hosted, asked, told):
        with pytest.raises(JudgeError, match=told):
            hosted.ask(tries=1, **asked)  # type: ignore[arg-type]
        assert not hosted.server.calls


class TestReading:
    def test_a_bad_reply_is_shown_with_the_complaint_and_asked_for_once_more(self, bench):
        bench.server.say("test.grade", in_turn(["Certainly!", {"verdict": "no"}]))
        assert bench.ask().verdict == "no"
        said, complaint = bench.server.calls[1].messages[-2:]
        assert said == {"role": "assistant", "content": "Certainly!"}
        assert "is not JSON: Expecting value" in complaint["content"]
        assert [bool(call.error) for call in bench.judge.calls] == [True, False]
        bench.ask()
        assert len(bench.server.calls) == 2, "the repair is kept as well"

    def test_after_one_repair_it_is_unreadable(self, bench):
        bench.server.say("test.grade", '{"verdict": "perhaps"}')
        with pytest.raises(Unreadable, match="does not fit: verdict: Input should be 'yes' or 'no'"):
            bench.ask()
        assert len(bench.server.calls) == 2

    @pytest.mark.parametrize("reply", [
        "Certainly!", "", "I'm sorry, but I can't help with that.", '{"verdict": "perhaps"}', "x" * (LONGEST + 1),
    ], ids=["words", "nothing", "a refusal", "another verdict", "an endless reply"])  # fmt: skip
    def test_what_an_earlier_run_could_not_read_is_asked_again(self, bench, reply):
        bench.server.say("test.grade", reply)
        for run in (1, 2):
            with pytest.raises(Unreadable):
                bench.with_judge(lambda judge: asked_thrice(judge, bench.client))
            assert len(bench.server.calls) == 2 * run, "a question and its repair a run"
            assert all(call.error and call.stored for call in bench.judge.calls)
        bench.server.say("test.grade", {"verdict": "no"})
        assert bench.ask("x").verdict == "no"
        assert len(bench.server.calls) == 5
        assert [(call.cached, call.error) for call in bench.judge.calls] == [(False, None)], (
            "the score rests on it alone"
        )
        assert bench.ask("x").verdict == "no"
        assert len(bench.server.calls) == 5, "a verdict is kept"

    def test_an_exported_cache_replays_what_could_not_be_read(self, bench, tmp_path):
        bench.server.say("test.grade", in_turn(['{"verdict": "perhaps"}', "Perhaps."]))
        with pytest.raises(Unreadable) as first:
            bench.ask()
        with closing(Cache(tmp_path / FOLDER)) as cache:
            assert cache.export(tmp_path / "replies.jsonl") == 2
        for _ in range(2):
            with pytest.raises(Unreadable) as again:
                bench.ask(replay=str(tmp_path / "replies.jsonl"))
            assert str(again.value) == str(first.value)
        assert len(bench.server.calls) == 2

    def test_a_reply_cut_by_the_token_limit_is_not_repaired(self, bench):
        bench.server.fail(Fault(text='{"verdict": "yes', cut=True))
        with pytest.raises(Unreadable, match="cut by the limit of 64 tokens: raise max_tokens"):
            bench.ask(max_tokens=64)
        with pytest.raises(Unreadable, match="cut by the limit of 64 tokens: raise max_tokens"):
            bench.ask(max_tokens=64)
        assert len(bench.server.calls) == 1, "nor asked for again: another limit makes another question"

    def test_a_tool_call_or_parts_are_a_reply(self, either, bench):
        call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"verdict": "no"}'}}
        either.server.fail(Fault(body=json.dumps(completion({"content": None, "tool_calls": [call]}))))
        assert either.ask().verdict == "no"
        texts = [("reasoning", "Hm."), ("text", '{"verdict":'), ("text", '"no"}')]
        parts = [{"type": kind, "text": text} for kind, text in texts]
        bench.server.fail(Fault(body=json.dumps(completion({"content": parts}))))
        assert bench.ask().verdict == "no"


class TestFaults:
    @pytest.mark.parametrize("fault", [
        pytest.param(Fault(500), id="500"), pytest.param(Fault(503), id="503"), pytest.param(Fault(429), id="429"),
        pytest.param(Fault(429, headers={"Retry-After": "0"}), id="429 with Retry-After"),
        pytest.param(Fault(drop=True), id="dropped connection"),
        pytest.param(Fault(body="{half a rep"), id="half a body"), pytest.param(Fault(body="{}"), id="no choices"),
    ])  # fmt: skip
    def test_what_may_pass_is_tried_again(self, either, fault):
        either.server.fail(fault, fault)
        assert (either.ask().verdict, len(either.server.calls)) == ("yes", 3)

    def test_a_late_reply_is_a_failure_and_never_kept(self, either):
        either.server.fail(*[Fault(delay=60)] * 2)
        with pytest.raises(JudgeDown, match=r"does not answer: no reply in 0\.5 s"):
            either.ask(timeout=0.5, tries=2)
        assert (either.ask().verdict, len(either.server.calls)) == ("yes", 3)

    @pytest.mark.parametrize("written", [str, lambda seconds: formatdate(time.time() + seconds, usegmt=True)])
    def test_retry_after_holds_everybody_back(self, either, written, monkeypatch):
        told: list[float | None] = []
        monkeypatch.setattr(Gate, "busy", lambda _, seconds: told.append(seconds))
        either.server.fail(Fault(429, headers={"Retry-After": written(200)}))
        either.ask()
        assert (told, len(either.server.calls)) == ([pytest.approx(200, abs=60)], 2)

    @pytest.mark.parametrize("status", [401, 404])
    def test_a_hopeless_judge_is_down_at_once(self, either, status):
        either.server.fail_by(lambda _: Fault(status))

        async def two(judge: CaseJudge) -> list[Any]:
            return [*await answers(judge, "a"), *await answers(judge, "b")]

        for failure in either.with_judge(two):
            assert isinstance(failure, JudgeDown)
            assert re.search(rf"not answer: .*scripted {status}.*check its address, key or", str(failure))
        assert len(either.server.calls) == 1

    def test_three_failed_calls_in_a_row_open_the_circuit(self, either):
        async def many(judge: CaseJudge) -> list[Any]:
            await judge.ask(GRADE, Verdict, {"TEXT": "hello"})
            either.server.fail_by(lambda _: Fault(500))
            return await answers(judge, range(10))

        failures = either.with_judge(many, tries=2, concurrency=1)
        assert sorted(type(failure).__name__ for failure in failures) == ["JudgeDown"] * 8 + ["JudgeError"] * 2
        assert len(either.server.calls) < 1 + 2 * 10

    def test_a_refused_question_is_the_trouble_of_that_question(self, either):
        either.server.fail_by(lambda request: Fault(400) if "too long" in request.text else None)
        with pytest.raises(JudgeError, match=r"gave no reply: .*scripted 400"):
            either.ask("too long")
        assert (either.ask("short").verdict, len(either.server.calls)) == ("yes", 2)

    def test_an_endless_reply_is_unreadable_and_small_in_the_cache(self, either):
        either.server.say("test.grade", "x" * 10_000_000)
        with pytest.raises(Unreadable, match="at most 400,000 are read"):
            either.ask()
        assert sum(file.stat().st_size for file in either.folder.rglob("cache.db*")) < 6_000_000


class TestBudget:
    def several(self, bench: Bench, count: int, **settings: Any) -> list[Any]:
        return bench.with_judge(lambda judge: answers(judge, range(count)), **settings)

    def test_calls_count_those_in_vain_too(self, bench):
        found = self.several(bench, 8, budget={"calls": 3})
        assert len(bench.server.calls) == 3
        assert [str(one) for one in found if isinstance(one, Exception)] == [
            "the budget of 3 judge calls is used up"
        ] * 5
        assert all(isinstance(one, BudgetSpent | Verdict) for one in found)
        bench.server.clear()
        bench.server.fail_by(lambda _: Fault(500))
        self.several(bench, 8, budget={"calls": 4}, tries=10)
        assert len(bench.server.calls) == 4

    def test_tokens_are_never_overspent(self, bench):
        self.several(bench, 40, budget={"tokens": 3000}, max_tokens=100)
        spend = bench.client.ledger.spend
        assert 1000 < spend.prompt_tokens + spend.completion_tokens <= 3000
        assert len(bench.server.calls) == spend.calls

    def test_dollars_need_a_price_and_are_never_overspent(self, bench, hosted):
        with pytest.raises(InputError, match=r"found usd=1; expected calls or tokens: the price of scripted at 127"):
            bench.ask(budget={"usd": 1})
        found = self.several(hosted, 40, budget={"usd": 0.001}, max_tokens=100)
        assert 0.0005 < hosted.client.ledger.spend.usd <= 0.001
        assert "the budget of 0.001 dollars has" in str(found[-1])

    def test_time(self, bench):
        bench.server.latency = 0.1
        found = self.several(bench, 6, budget={"seconds": 0.15}, concurrency=1)
        assert any("seconds for judge calls are over" in str(one) for one in found)
        assert len(bench.server.calls) < 6


class TestSettings:
    def test_a_missing_key_is_named(self, monkeypatch):
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        assert missing_judge("gpt-4o-mini") == "the judge gpt-4o-mini needs OPENAI_API_KEY in the environment"
        monkeypatch.setenv("OPENAI_API_KEY", "anything")
        assert missing_judge("gpt-4o-mini") is None

    @pytest.mark.parametrize(("given", "complaint"), [
        ({"model": ""}, "judge, column model: found ''; expected String should have at least 1 character"),
        ({"model": "m", "api_key": "sk-1"}, "expected Extra inputs are not permitted"),
        ({"model": "m", "base_url": "localhost"}, "expected a base_url like http://localhost:8000/v1"),
        ({"model": "m", "base_url": "http://me:secret@host/"}, "expected a base_url without a password"),
        ({"model": "m", "panel": [{"model": "m"}]}, "expected different judges in a panel: two are the same"),
        (
            {"model": "local", "reasoning_effort": "low"},
            "expected a reasoning_effort only for other judges: the local one has none",
        ),
        ({"model": "m", "reasoning_effort": "much"}, "expected Input should be 'none', 'minimal'"),
        ({"model": "m", "temperature": 3}, "judge, column temperature: found 3"),
    ])  # fmt: skip
    def test_settings_that_cannot_be_are_refused(self, given, complaint):
        assert complaint in str(missing_judge(given))


def test_many_at_once_but_no_more_than_allowed(bench):
    bench.server.latency = 0.05
    bench.with_judge(lambda judge: answers(judge, range(30)), concurrency=7)
    assert bench.server.busiest == 7


def test_the_cache_key_is_pinned(bench):
    """A key that changes by accident would have every user's cache asked anew."""
    bench.ask(model="m")
    assert json.loads(bench.client.identity).keys() == {"model", "base_url", "temperature", "max_tokens"}
    [call] = bench.judge.calls

    def said(_: Request) -> dict[str, str]:
        raise AssertionError("asked again")

    bench.server.say("test.grade", said)
    bench.ask(model="m", concurrency=3)
    assert bench.judge.calls[0].key == call.key


def test_recorded_seconds_leave_out_the_wait_for_a_turn(bench):
    """Ten questions at once, sent one after the other: together they cannot take longer than all of it."""
    bench.server.latency = 0.02
    begun = time.perf_counter()
    bench.with_judge(lambda judge: answers(judge, range(10)), concurrency=1)
    seconds = [call.stored.seconds for call in bench.judge.calls if call.stored is not None]
    assert len(seconds) == 10
    assert min(seconds) > 0
    assert sum(seconds) <= time.perf_counter() - begun + 0.01  # they are rounded
