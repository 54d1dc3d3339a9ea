"""Inspect's logs as .eval (Deflate and Zstandard) and JSON: samples, epochs, scores, tools, attachments, bad samples."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from metrics.core.errors import InputError
from metrics.ingest import inspect, load_combined, load_suite, read_combined, read_outputs, read_suite
from tests.ingest.files import list_problems, packed, read_refusal, write

HASH = "0123456789abcdef" * 2


def sample(number: Any = 1, epoch: Any = 1, answer: str = "4", **more: Any) -> dict:
    said = {"role": "assistant", "content": answer, "source": "generate"}
    return {
        "id": number, "epoch": epoch, "input": "2 + 2?", "target": "4", "metadata": {"topic": "sums"},
        "messages": [{"role": "user", "content": "2 + 2?", "source": "input"}, said],
        "output": {"model": "m", "choices": [{"message": said, "stop_reason": "stop"}], "usage": {"total_tokens": 12}, "time": 1.5},
        "scores": {"match": {"value": "C", "answer": answer, "explanation": "because"}},
    } | more  # fmt: skip


def header(**more: Any) -> dict:
    return {"version": 2, "status": "success", "eval": {"task": "sums", "model": "openai/gpt-4o", "dataset": {}}} | more


def log(*samples: Any, **more: Any) -> dict:
    return header(**more) | {"samples": list(samples)}


def entries(*samples: Any, **more: Any) -> dict:
    return {"header.json": header(**more), "_journal/start.json": header()} | {
        f"samples/{number}.json": one for number, one in enumerate(samples)
    }


def zstandard(path: Path, files: dict[str, Any], declared: int | None = None, crc: int | None = None) -> Path:
    """A zip whose entries are compressed with method 93, as Inspect writes them; the library cannot write it."""
    body, directory = b"", b""
    for name, content in files.items():
        data = json.dumps(content).encode()
        small = pa.compress(data, codec="zstd", asbytes=True)
        size, check = (declared or len(data)), (zlib.crc32(data) if crc is None else crc)
        facts = struct.pack("<HHHHIIIHH", 0, 93, 0, 33, check, len(small), size, len(name), 0)
        place = struct.pack("<HHHII", 0, 0, 0, 0, len(body))
        directory += b"PK\x01\x02" + struct.pack("<HH", 63, 63) + facts + place + name.encode()
        body += b"PK\x03\x04" + struct.pack("<H", 63) + facts + name.encode() + small
    end = struct.pack("<HHHHIIH", 0, 0, len(files), len(files), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
    return path


@pytest.mark.parametrize("kind", ["json", "deflate", "zstandard"])
def test_a_log_is_suite_and_outputs(tmp_path, kind):
    samples = sample(), sample(1, 2, "5"), sample("b", target=["4", "four"], choices=["3", "4"])
    if kind == "json":
        path = write(tmp_path, "log.json", log(*samples))
    else:
        path = (packed if kind == "deflate" else zstandard)(tmp_path / "log.eval", entries(*samples))
    seen = inspect(path)
    assert seen.format == ("inspect_json" if kind == "json" else "inspect_eval")
    assert (seen.role, seen.rows, seen.questions) == ("combined", 3, ())
    suite, outputs = read_combined(path)
    assert (suite.name, suite.cases["case_id"].to_pylist(), outputs.models) == ("log", ["1", "b"], ("openai/gpt-4o",))
    assert suite.cases["expected_answers"].to_pylist() == [["4"], ["4", "four"]]
    assert [choices or None for choices in suite.cases["choices"].to_pylist()] == [None, ["3", "4"]]
    rows = outputs.outputs.to_pylist()
    assert [(row["case_id"], row["run"], row["answer"], row["tokens"], row["duration_s"]) for row in rows] == [
        ("1", 1, "4", 12, 1.5), ("1", 2, "5", 12, 1.5), ("b", 1, "4", 12, 1.5),
    ]  # fmt: skip
    assert [row["metadata.inspect.match.answer"] for row in rows] == ["4", "5", "4"]
    alone = read_suite(path)
    assert alone.cases["case_id"].to_pylist() == ["1", "b"]
    assert read_outputs(path, suite=alone).outputs["run"].to_pylist() == [1, 2, 1]


def test_calls_of_tools_become_a_trace_and_usage_is_that_of_the_sample(tmp_path):
    last = {"role": "assistant", "content": "4", "source": "generate"}
    calls = [{"id": "c", "function": "add", "arguments": {"x": 2}, "type": "function"}]
    result = {"role": "tool", "content": "4", "tool_call_id": "c"}
    messages = [{"role": "user", "content": "2 + 2?"}, last | {"content": "", "tool_calls": calls}, result, last]
    usage = {"openai/gpt-4o": {"total_tokens": 40, "total_cost": 0.25}, "judge": {"total_tokens": 9}}
    used = sample(messages=messages, model_usage=usage, working_time=3.5)
    _, outputs = read_combined(write(tmp_path, "log.json", log(used)))
    (row,) = outputs.outputs.to_pylist()
    assert (row["tokens"], row["duration_s"], row["cost_usd"]) == (40, 3.5, 0.25)
    steps = json.loads(row["trace"])["steps"]
    called = [(step["tool"], step.get("arguments"), step.get("result")) for step in steps if step.get("tool")]
    assert called == [("add", {"x": 2}, "4")]


INPUTS = {
    "a text": ("2 + 2?", "2 + 2?"),
    "one message": ([{"role": "system", "content": "Be short."}, {"role": "user", "content": "2 + 2?"}], "2 + 2?"),
    "parts": ([{"role": "user", "content": [{"type": "text", "text": "2 +"}, {"type": "text", "text": "2?"}]}], "2 +\n2?"),
    "a conversation": ([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}, {"role": "user", "content": "2 + 2?"}], "user: Hi\nassistant: Hello\nuser: 2 + 2?"),
    "an attachment": (f"attachment://{HASH}", "a long question"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "question"), INPUTS.values(), ids=INPUTS)
def test_questions(tmp_path, given, question):
    one = sample(input=given, attachments={HASH: "a long question"})
    assert read_suite(write(tmp_path, "log.json", log(one))).cases["question"].to_pylist() == [question]


def test_an_error_a_limit_and_a_score_without_a_value(tmp_path):
    scores = {"match": {"value": float("nan"), "explanation": "unreadable"}, "parts": {"value": {"a": 1, "b": 0.5}}}
    failed = sample(
        output={"model": "m", "choices": []},
        error={"message": "timeout", "traceback": "…"},
        limit={"type": "token", "limit": 9},
        scores=scores,
    )
    for path in (write(tmp_path, "log.json", log(failed)), packed(tmp_path / "log.eval", entries(failed))):
        suite, outputs = read_combined(path)
        (row,) = outputs.outputs.to_pylist()
        assert (row["answer"], row["error"]) == (None, "timeout")
        (case,) = suite.cases.to_pylist()
        kept = {name: value for name, value in case.items() if name.startswith("metadata.inspect")}
        assert kept == {
            "metadata.inspect.match.explanation": "unreadable", "metadata.inspect.parts.a": "1",
            "metadata.inspect.parts.b": "0.5", "metadata.inspect.limit": "token",
        }  # fmt: skip


def test_a_run_that_did_not_end_is_noted(tmp_path):
    ended = {"status": "cancelled"}
    for path in (
        write(tmp_path, "log.json", log(sample(), **ended)), packed(tmp_path / "log.eval", entries(sample(), **ended))
    ):  # fmt: skip
        said = f"{path.name}: the status of the log is “cancelled”, samples may be missing."
        assert load_suite(path).notes == (said,)


def test_thoughts_beside_the_answer_are_kept(tmp_path):
    said = [{"type": "reasoning", "reasoning": "It may be 5."}, {"type": "text", "text": "4"}]
    _, outputs = read_combined(write(tmp_path, "log.json", log(sample(answer=said))))
    (row,) = outputs.outputs.to_pylist()
    assert (row["answer"], row["metadata.reasoning"]) == ("4", "It may be 5.")


PROBLEMS = {
    "no object": ([1], "found [1]; expected a sample with id, epoch, input, target and output"),
    "no id": (sample(None), "expected a sample with id, epoch, input, target and output"),
    "epoch": (sample(epoch=0), "column epoch: found 0; expected a whole number of at least 1"),
    "a huge epoch": (sample(epoch=1.5), "column epoch: found 1.5; expected a whole number of at least 1"),
    "output": (sample(output="4"), "column output: found '4'; expected an object with choices"),
}  # fmt: skip


@pytest.mark.parametrize(("wrong", "text"), PROBLEMS.values(), ids=PROBLEMS)
def test_a_bad_sample_is_listed_and_can_be_left_out(tmp_path, wrong, text):
    path = write(tmp_path, "log.json", log(sample("good"), wrong))
    (problem,) = list_problems(read_combined, path)
    assert problem.startswith("log.json, row 2")
    assert text in problem
    zipped = packed(tmp_path / "log.eval", entries(sample("good"), wrong))
    for each in (path, zipped):
        loaded = load_combined(each, keep_good_rows=True)
        assert (loaded.value[0].cases["case_id"].to_pylist(), len(loaded.problems)) == (["good"], 1)
    assert loaded.problems[0].file == "log.eval/samples/1.json"


HOSTILE = {
    "no samples": (entries(), "log.eval: found an Inspect log without samples; expected a log with its samples"),
    "no header": ({"header.json": [], "samples/1.json": sample()}, "log.eval/header.json: found no object eval; expected the header of an Inspect log"),
    "a broken header": ({"header.json": "{", "samples/1.json": sample()}, "log.eval/header.json: found "),
    "a broken sample": (entries() | {"samples/1.json": '{"id": '}, "log.eval/samples/1.json: found "),
    "a path that leaves the zip": (entries(sample()) | {"../samples/2.json": sample()}, "log.eval: found entry '../samples/2.json': a path that leaves the archive"),
    "an archive inside": (entries(sample()) | {"samples/2.json.gz": "x"}, "log.eval: found entry 'samples/2.json.gz': an archive in the archive"),
    "a bomb": (entries() | {"samples/1.json": " " * 30_000_000 + "{}"}, "log.eval: found entry 'samples/1.json': compressed more than 200 : 1"),
    "too deep": (entries() | {"samples/1.json": '{"id": 1, "input": ' + "[" * 3000 + "]" * 3000 + "}"}, "log.eval/samples/1.json: found "),
}  # fmt: skip


@pytest.mark.parametrize(("files", "text"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_logs(tmp_path, files, text):
    path = packed(tmp_path / "log.eval", files)
    for read in (inspect, read_suite, read_combined):
        assert read_refusal(read, path).startswith(text)


def test_entries_in_zstandard_that_are_not_what_they_declare(tmp_path):
    """More bytes than declared are not unpacked, and a wrong checksum is found."""
    for facts in ({"declared": 5}, {"crc": 1}):
        path = zstandard(tmp_path / "log.eval", entries(sample()), **facts)
        with pytest.raises(InputError, match=r"header.json: found a file that cannot be read"):
            read_suite(path)
    damaged = bytearray(zstandard(tmp_path / "log.eval", entries(sample())).read_bytes())
    damaged[45:70] = bytes(25)
    for data, text in ((bytes(damaged), "cannot be read"), (b"PK\x03\x04" + bytes(200), "a damaged zip archive")):
        assert text in read_refusal(read_suite, write(tmp_path, "log.eval", data))
