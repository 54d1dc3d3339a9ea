"""Probabilities of labels: from the tokens of a reply, through the cache, to the reply that an evaluator reads."""
# ruff: noqa: E501 - a table reads better with one line a case

import asyncio
import json
import math
from pathlib import Path
from typing import Any, Literal

import pytest

from metrics.core.prompt import Prompt
from metrics.judge.asking import ItemReply, Reply, schema_of
from metrics.judge.cache import Cache, Stored
from metrics.judge.client import CaseJudge
from metrics.judge.label_probabilities import Token, keep_shares, shares_of, tokens_of
from metrics.judge.open_judges import open_judges
from metrics.judge.replies import by_number, items_of
from metrics.judge.steps import Entailment, YesNoReply
from tests.judge.server import Fault, JudgeServer

QUESTION = Prompt("shares_test", "Is TEXT true?")
ITEMS = schema_of(items_of(YesNoReply, "CLAIMS"))


class Verdict(Reply):
    reason: str = ""
    verdict: Literal["yes", "no"]


class Graded(Reply):
    match: Literal[3, 2, 1, 0]
    grade: Literal[3, 2, 1, 0]


class Level(Reply):
    level: Literal["good", "goodish", "poor"]


def tokens(*given: str | dict[str, float]) -> list[Token]:
    """Tokens: a sure one, or what could stand in its place, the written one first, with probabilities."""
    made = []
    for one in given:
        shares = {one: 1.0} if isinstance(one, str) else one
        logs = [(text.encode(), math.log(share)) for text, share in shares.items()]
        made.append(Token(*logs[0], tuple(logs)))
    return made


def read(form: type[Reply], *given: str | dict[str, float]) -> tuple[dict[str, float], ...]:
    made = tokens(*given)
    return shares_of(b"".join(token.text for token in made).decode(), made, schema_of(form))


YES = {"yes": 0.8, "no": 0.2}
CASES: dict[str, tuple[type[Reply], list[str | dict[str, float]], list[dict[str, float]]]] = {
    "a word": (Verdict, ['{"verdict": "', {"yes": 0.8, "no": 0.2}, '"}'], [YES]),
    "quote and word in one token": (Verdict, ['{"verdict":', {' "yes': 0.8, ' "no': 0.2}, '"}'], [YES]),
    "key's end, quote and word in one token": (Verdict, ['{"verdict', {'": "yes"': 0.8, '": "no"': 0.2}, "}"], [YES]),
    "only the beginning of each": (Verdict, ['{"verdict": "', {"y": 0.8, "n": 0.2}, "es", '"}'], [YES]),
    "another case": (Verdict, ['{"verdict": "', {"Yes": 0.5, "yes": 0.3, "NO": 0.2}, '"}'], [YES]),
    "what is no label is left out": (Verdict, ['{"verdict": "', {"yes": 0.76, "no": 0.19, "may": 0.05}, '"}'], [YES]),
    "the reason holds a verdict": (Verdict, ['{"reason": "he said \\"verdict\\": \\"no\\"", "verdict": "', {"yes": 0.8, "no": 0.2}, '"}'], [YES]),
    "thoughts hold a verdict": (Verdict, ['<think>{"verdict": "no"}</think>{"verdict": "', {"yes": 0.8, "no": 0.2}, '"}'], [YES]),
    "two labels begin alike": (Level, ['{"level": "', {"good": 0.9, "poor": 0.1}, {'"': 0.5, "ish": 0.5}, "}"], [{"good": 0.45, "goodish": 0.45, "poor": 0.1}]),
    "a token that could become either": (Level, ['{"level": "', {"poor": 0.6, "good": 0.4}, '"}'], []),
    "numbers": (Graded, ['{"match":', {" 2": 0.75, " 3": 0.25}, ', "grade": ', {"1": 0.9, "0": 0.1}, "}"], [{"3": 0.25, "2": 0.75, "1": 0, "0": 0}, {"3": 0, "2": 0, "1": 0.9, "0": 0.1}]),
    "a number in quotes": (Graded, ['{"match":"', "2", '","grade":"', "1", '"}'], [{"3": 0, "2": 1, "1": 0, "0": 0}, {"3": 0, "2": 0, "1": 1, "0": 0}]),
    "fields in another order": (Graded, ['{"grade": ', "1", ', "match": ', "2", "}"], []),
    "a missing field": (Graded, ['{"match": ', "1", "}"], []),
    "too little belongs to labels": (Verdict, ['{"verdict": "', {"yes": 0.5, "maybe": 0.5}, '"}'], []),
    "more than certain": (Verdict, ['{"verdict": "', {"yes": 0.9, "no": 0.9}, '"}'], []),
    "contexts listed": (Entailment, ['{"id": 1, "supported_by": [', {"1": 0.7, "]": 0.3}, "]}"], [{"yes": 0.7, "no": 0.3}]),
    "an empty list": (Entailment, ['{"id": 1, "supported_by":', {" []": 0.6, " [": 0.4}, "}"], []),
    "an empty list, certain": (Entailment, ['{"id": 1, "supported_by": ', {"[]": 0.6, "[2": 0.4}, "}"], [{"yes": 0.4, "no": 0.6}]),
    "letters of several bytes before it": (Verdict, ['{"reason": "„Größe“ 字", "verdict": "', YES, '"}'], [YES]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_shares_from_tokens(name):
    form, given, expected = CASES[name]
    assert read(form, *given) == tuple(pytest.approx(own) for own in expected)


def test_a_list_has_shares_for_every_item_and_only_probabilities_count():
    given = tokens('{"replies": [{"id": 1, "verdict": "', YES, '"}, {"id": 2, "verdict": "', {"no": 1.0}, '"}]}')
    text = b"".join(token.text for token in given).decode()
    assert shares_of(text, given, ITEMS) == (pytest.approx(YES), pytest.approx({"yes": 0, "no": 1}))
    assert shares_of(text + " ", given, ITEMS) == (), "the tokens are not those of the text"

    def sent(logprob: Any) -> Any:
        return {"content": [{"token": "a", "logprob": logprob, "top_logprobs": []}]}

    assert tokens_of(sent(-0.5)) == [Token(b"a", -0.5, ())]
    for bad in (float("nan"), 3.0, "x", None, [1]):
        assert tokens_of(sent(bad)) == []
    for bad in (None, {}, {"content": None}, {"content": ["a"]}, {"content": [{"token": "a"}]}, "x"):
        assert tokens_of(bad) == []


def test_shares_of_the_judges_own_or_that_do_not_fit_are_dropped():
    written = {"verdict": "yes", "shares": {"verdict": {"yes": 1}}, "_shares": {"verdict": {"yes": 1}}}
    assert Verdict.model_validate(written).shares == {}
    assert "shares" not in json.dumps(schema_of(Verdict))
    reply = Verdict(verdict="yes")
    for other in ([], [YES, YES], [{"yes": 1.0}], [{"1": 0.5, "2": 0.5}]):
        keep_shares(reply, other)
        assert reply.shares == {}
    keep_shares(reply, [YES])
    assert reply.shares == {"verdict": YES}
    assert reply.model_copy(update={"reason": "x"}).shares == {"verdict": YES}
    assert reply.model_dump() == {"reason": "", "verdict": "yes"}


async def asked(server: JudgeServer, cache: Path, **settings: Any) -> tuple[Any, ...]:
    """One question, and one about each of two items."""
    (client,) = open_judges({"model": "m", "base_url": server.url, "backoff": 0.01, **settings}, cache)
    judge = CaseJudge(client)
    try:
        return (
            await judge.ask(QUESTION, Verdict, {"TEXT": "x"}),
            *await judge.each(QUESTION, YesNoReply, ["a", "b"], name="CLAIMS"),
        )
    finally:
        await client.close()


@pytest.mark.parametrize("hosted", [False, True], ids=["server", "litellm"])
def test_shares_come_from_the_provider_and_from_the_cache(hosted, judge_server, tmp_path, monkeypatch):
    judge_server.shares = {"verdict": YES}
    for name, value in {"OPENAI_API_KEY": "none-is-needed", "OPENAI_BASE_URL": judge_server.url}.items():
        monkeypatch.setenv(name, value)
    way: dict[str, Any] = {"model": "openai/gpt-4o-mini", "base_url": None} if hosted else {}
    for calls in (2, 2):  # the second time from the cache
        for reply in asyncio.run(asked(judge_server, tmp_path, **way, probabilities=True)):
            assert reply.shares == {"verdict": pytest.approx(YES)}
        assert len(judge_server.calls) == calls
    assert {request.body["top_logprobs"] for request in judge_server.calls} == {20}
    for reply in asyncio.run(asked(judge_server, tmp_path, **way)):
        assert reply.shares == {}, "not asked for"
    assert "logprobs" not in judge_server.calls[-1].body


def test_a_provider_that_refuses_them_is_asked_without(judge_server, tmp_path):
    refusal = Fault(400, body='{"error": {"message": "logprobs is not supported with response_format"}}')
    judge_server.fail_by(lambda request: refusal if "logprobs" in request.body else None)
    for reply in asyncio.run(asked(judge_server, tmp_path, probabilities=True)):
        assert reply.shares == {}
    assert ["logprobs" in request.body for request in judge_server.calls] == [True, False, False]
    assert all("response_format" in request.body for request in judge_server.calls)


def test_items_asked_again_keep_their_own_shares(judge_server, tmp_path):
    judge_server.shares = {"verdict": YES}
    judge_server.say(lambda request: "b" in request.data.get("CLAIMS", ""), [{"verdict": "yes"}])  # one of two
    first = asyncio.run(asked(judge_server, tmp_path, probabilities=True))
    assert [reply.shares for reply in first] == [{"verdict": pytest.approx(YES)}] * 3


def test_rows_without_shares_are_as_before(tmp_path):
    cache = Cache(tmp_path / "judge")
    old, new = Stored("j", "s", "{}"), Stored("j", "s", "{}", shares=({"yes": 0.25, "no": 0.75},))
    cache.put("0" * 64, old)
    cache.put("1" * 64, new)
    assert (cache.get("0" * 64), cache.get("1" * 64)) == (old, new)
    cache.export(tmp_path / "replies.jsonl")
    assert [("shares" in line) for line in (tmp_path / "replies.jsonl").read_text().splitlines()] == [
        False, False, True,
    ]  # fmt: skip
    other = Cache(tmp_path / "other")
    assert (other.take(tmp_path / "replies.jsonl"), other.get("1" * 64)) == (2, new)
    cache.close()
    other.close()


def test_two_verdicts_alike_contradict_by_their_words_alone():
    class Item(ItemReply):
        verdict: Literal["yes", "no"]

    one, two = Item(id=1, verdict="yes"), Item(id=1, verdict="yes")
    keep_shares(one, [YES])
    keep_shares(two, [{"yes": 0.6, "no": 0.4}])
    assert by_number([one, two], 1) == {1: one}
