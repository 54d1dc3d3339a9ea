"""Judges and targets at one's own address: parameters that it refuses, errors in good replies, a short address."""
# ruff: noqa: E501 - tables read better with one line a case

import json

import pytest

from metrics import evaluate
from metrics.core.errors import JudgeError
from metrics.core.suite import Suite
from metrics.targets import complete
from tests.judge.bench import GRADE, Bench, Verdict
from tests.judge.server import Fault

LIMIT = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
TEMPERATURE = (
    "Unsupported value: 'temperature' does not support 0.0 with this model. Only the default (1) is supported."
)


@pytest.fixture(params=["server", "litellm"])
def either(request, judge_server, tmp_path, monkeypatch):
    for name, value in {
        "API_KEY": "none-is-needed",
        "API_BASE": judge_server.url,
        "BASE_URL": judge_server.url,
    }.items():
        monkeypatch.setenv(f"OPENAI_{name}", value)
    return Bench(judge_server, tmp_path, hosted=request.param == "litellm")


def refusal(text, status=400):
    return Fault(status, body=json.dumps({"error": {"message": text, "type": "invalid_request_error"}}))


def refuse_old(request):
    """What a reasoning model's server says of the parameters of older models."""
    if "max_tokens" in request.body:
        return refusal(LIMIT)
    return refusal(TEMPERATURE) if "temperature" in request.body else None


def test_refused_parameters_are_renamed_or_left_out_and_remembered(either):
    either.server.fail_by(refuse_old)

    async def twice(judge):
        return [await judge.ask(GRADE, Verdict, {"TEXT": text}) for text in "ab"]

    either.with_judge(twice, max_tokens=77)
    sent = [[name for name in ("max_tokens", "max_completion_tokens", "temperature") if name in request.body]
            for request in either.server.calls]  # fmt: skip
    newer = ["max_completion_tokens"]
    assert sent == [["max_tokens", "temperature"], [*newer, "temperature"], newer, newer]
    assert either.server.calls[-1].body["max_completion_tokens"] == 77
    assert either.client.ledger.spend.left_out == ["temperature"]


def test_a_limit_that_is_too_high_is_not_renamed(either):
    either.server.fail_by(lambda _: refusal("max_tokens must be at most 1024"))
    with pytest.raises(JudgeError, match="max_tokens must be at most 1024"):
        either.ask(tries=1)
    assert len(either.server.calls) == 1


STOPPED = {
    "an error in a good reply": (Fault(body='{"error": {"message": "The model is asleep", "code": 503}}'), "The model is asleep"),
    "an error that is a text": (Fault(body='{"error": "The model is asleep"}'), "The model is asleep"),
    "an error of the choice": (
        Fault(body=json.dumps({"choices": [{"index": 0, "finish_reason": "error", "message": {"role": "assistant", "content": ""},
                                            "error": {"code": 502, "message": "The model is asleep"}}]})), "The model is asleep"),
    "a content filter": (
        Fault(body=json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [
            {"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant", "content": ""}}]})),
        "the provider's content filter stopped the reply"),
}  # fmt: skip


@pytest.mark.parametrize(("fault", "told"), STOPPED.values(), ids=STOPPED.keys())
def test_what_the_provider_says_in_a_good_reply_is_told(either, fault, told):
    if "base_url" not in either.way and "code" not in str(fault.body) and "choices" not in str(fault.body):
        told = "Error in response object"  # litellm drops an error that is a text
    either.server.fail_by(lambda _: fault)
    with pytest.raises(JudgeError, match=told):
        either.ask(tries=1)


TOLD = {  # what a server's reply is → what is told of it
    "a detail": ('{"detail": "The model is asleep"}', "The model is asleep"),
    "a message": ('{"code": 400, "message": "The model is asleep"}', "HTTP 400: The model is asleep"),
    "a page": ("<html>Please log in</html>", "not a chat completion: <html>Please log in"),
    "another filter": ('{"choices": [{"finish_reason": "SAFETY", "message": {"content": ""}}]}', "content filter stopped the reply"),
    "an error in a stream": ('data: {"choices": [{"delta": {"content": "Li"}}]}\n\ndata: {"error": {"message": "asleep"}}\n\n', "asleep"),
    "a stream without an end": ('data: {"choices": [{"delta": {"content": "Li"}}]}\n\n', "not a chat completion"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "told"), TOLD.values(), ids=TOLD)
def test_what_is_no_completion_is_told(bench, body, told):
    bench.server.fail_by(lambda _: Fault(body=body))
    with pytest.raises(JudgeError, match=told):
        bench.ask(tries=1)


@pytest.mark.parametrize("end", ["data: [DONE]\n\n", 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'])
def test_the_chunks_of_a_stream_are_one_answer(judge_server, workspace, end):
    parts = ({"role": "assistant", "reasoning_content": "I "}, {"reasoning_content": "think"}, {"content": "Li"}, {"content": "ma"})  # fmt: skip
    body = "".join(f"data: {json.dumps({'choices': [{'index': 0, 'delta': part}]})}\n\n" for part in parts)
    judge_server.fail_by(lambda _: Fault(body=body + end))
    target = {"model": "m", "base_url": judge_server.url}
    (row,) = complete(Suite.from_rows("one", "text", SUITE), target).outputs.to_pylist()
    assert (row["answer"], row["metadata.reasoning"]) == ("Lima", "I think")


@pytest.mark.parametrize(("status", "text"), [
    (500, "{} is not supported"), (400, "the model does not support {}"), (422, "Extra inputs are not permitted: {}"),
    (400, "Unrecognized request argument supplied: {}"),
])  # fmt: skip
def test_a_refusal_in_other_words_is_understood(bench, status, text):
    old = ("temperature", "max_tokens")
    bench.server.say(lambda _: True, {"reason": "", "verdict": "yes"})
    bench.server.fail_by(
        lambda request: next((refusal(text.format(name), status) for name in old if name in request.body), None)
    )
    bench.ask(tries=1, max_tokens=77)
    sent = bench.server.calls[-1].body
    assert (sent.get("max_completion_tokens"), "temperature" in sent) == (77, False)


@pytest.mark.parametrize(("fault", "named"), [
    (Fault(404, body='{"detail": "Not Found"}'), True),
    (Fault(200, body='{"error": "Unexpected endpoint or method. (POST /chat/completions)"}'), True),
    (Fault(404, body='{"error": {"message": "the model m does not exist"}}'), False),
])  # fmt: skip
def test_an_address_without_its_version_is_named(bench, fault, named):
    bench.server.fail_by(lambda _: fault)
    short = bench.server.url.removesuffix("/v1") if named else bench.server.url
    with pytest.raises(JudgeError) as failure:
        bench.ask(tries=1, base_url=short)
    assert (f"the address has no /v1; servers of this kind are at {short}/v1" in str(failure.value)) is named


SUITE = [{"case_id": "1", "question": "Capital of Peru?", "expected_answers": ["Lima"]}]


def test_a_target_is_asked_again_without_what_it_refuses(judge_server, workspace):
    judge_server.fail_by(refuse_old)
    judge_server.say(lambda _: True, "Lima")
    outputs = complete(
        Suite.from_rows("one", "text", SUITE), {"model": "m", "base_url": judge_server.url, "temperature": 0}
    )
    assert outputs.outputs["answer"].to_pylist() == ["Lima"]
    assert outputs.outputs["metadata.left_out"].to_pylist() == ["temperature: refused by the model"]


@pytest.mark.usefixtures("units_here")
def test_thoughts_of_a_target_are_kept_beside_its_answer(judge_server, workspace):
    judge_server.say(lambda _: True, "Which one? Lima, I think.\n</think>\n\nLima")
    run = evaluate(
        Suite.from_rows("one", "text", SUITE),
        target={"model": "m", "base_url": judge_server.url},
        evaluators=["exact_match"],
    )
    assert run.outputs.outputs["answer"].to_pylist() == ["Lima"]
    assert run.outputs.outputs["metadata.reasoning"].to_pylist() == ["Which one? Lima, I think."]
    assert run.aggregates.query("metric == 'exact_match' and slice.isna()")["value"].tolist() == [1.0]


@pytest.mark.parametrize("message", [
    {"content": "Lima", "reasoning_content": "Lima, I think."}, {"content": "Lima", "reasoning": "Lima, I think."},
    {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "Lima, I think."}]}, {"type": "text", "text": "Lima"}]},
], ids=["reasoning_content", "reasoning", "parts"])  # fmt: skip
def test_thoughts_that_a_provider_tells_beside_the_answer_are_kept(judge_server, workspace, message):
    body = {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}]}
    judge_server.fail_by(lambda _: Fault(body=json.dumps(body)))
    (row,) = complete(
        Suite.from_rows("one", "text", SUITE), {"model": "m", "base_url": judge_server.url}
    ).outputs.to_pylist()
    assert (row["answer"], row["metadata.reasoning"]) == ("Lima", "Lima, I think.")


@pytest.mark.parametrize("text", [
    'Perhaps.</think>{"reason": "", "verdict": "no"}', '</think>\n\n{"reason": "", "verdict": "no"}',
    'I could say {"verdict": "yes"}, but no.\n</think>\n\n```json\n{"reason": "", "verdict": "no"}\n```',
    'So {"a": 1} it is </think> {"reason": "It says </think>", "verdict": "no"}',
])  # fmt: skip
def test_a_lone_closing_mark_ends_a_judges_thoughts(bench, text):
    bench.server.say("test.grade", text)
    assert (bench.ask().verdict, len(bench.server.calls)) == ("no", 1)


def test_a_mark_that_a_reply_quotes_ends_nothing(bench):
    bench.server.say("test.grade", '{"reason": "It says </think>{\\"verdict\\": \\"yes\\"}", "verdict": "no"}')
    assert (bench.ask().verdict, len(bench.server.calls)) == ("no", 1)
