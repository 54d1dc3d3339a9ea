"""Pictures, sounds and files in messages: the text beside them is read, and the receipt says what is not."""
# ruff: noqa: E501 - tables read better with one line a case

import json

import pytest

from metrics.ingest import read_combined
from tests.ingest.files import write

DATA = "data:image/png;base64,iVBORw0KGgo="
PARTS = {
    "OpenAI": ({"type": "image_url", "image_url": {"url": DATA}}, "image"),
    "Responses": ({"type": "input_image", "image_url": DATA}, "image"),
    "Anthropic": ({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}, "image"),
    "a document": ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBE"}}, "document"),
    "Gemini": ({"inline_data": {"mime_type": "image/png", "data": "iVBORw0KGgo="}}, "image"),
    "Gemini, camel case": ({"inlineData": {"mimeType": "audio/wav", "data": "UklG"}}, "audio"),
    "Gemini, a file": ({"fileData": {"mimeType": "video/mp4", "fileUri": "gs://a/b.mp4"}}, "video"),
    "Bedrock": ({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}}, "image"),
    "a sound": ({"type": "input_audio", "input_audio": {"data": "UklG", "format": "wav"}}, "audio"),
    "a file": ({"type": "file", "file": {"file_id": "file-1"}}, "file"),
    "Vercel": ({"type": "file", "mediaType": "image/png", "url": DATA}, "image"),
}  # fmt: skip


def chat(part, where):
    asked = [{"type": "text", "text": "What is this?"}]
    said = [{"type": "text", "text": "A cat"}]
    (asked if where == "question" else said).append(part)
    return [{"role": "user", "content": asked}, {"role": "assistant", "content": said}]


def inspect_log(part, where):
    asked, said = chat(part, where)
    sample = {"id": "1", "epoch": 1, "input": [asked], "target": "A cat", "output": {"choices": [{"message": said}]}}
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [sample]}


def langsmith(part, where):
    asked, said = chat(part, where)
    return [
        {
            "id": "r",
            "inputs": {"messages": [asked]},
            "outputs": {"messages": [said]},
            "reference_outputs": {"output": "A cat"},
        }
    ]


DOORS = {
    "a table of chats": ("a.jsonl", lambda *given: [{"messages": chat(*given), "expected_answer": "A cat"}]),
    "chats as JSON text": ("a.jsonl", lambda *given: [{"messages": json.dumps(chat(*given)), "expected_answer": "A cat"}]),
    "Inspect": ("a.json", inspect_log), "LangSmith": ("a.jsonl", langsmith),
}  # fmt: skip


@pytest.mark.parametrize("where", ["question", "answer"])
@pytest.mark.parametrize(("name", "content"), DOORS.values(), ids=DOORS.keys())
@pytest.mark.parametrize(("part", "kind"), PARTS.values(), ids=PARTS.keys())
def test_media_are_said_to_be_unread(tmp_path, part, kind, name, content, where):
    suite, outputs = read_combined(write(tmp_path, name, content(part, where)))
    assert suite.cases["question"].to_pylist() == ["What is this?"]
    assert suite.cases["expected_answers"].to_pylist() == [["A cat"]]
    assert outputs.outputs["answer"].to_pylist() == ["A cat"]
    (line,) = [line for line in suite.receipt if line.use == "unused" and "parts" in line.place]
    assert (line.count, f"{kind} parts" in line.place, line.meaning[:7]) == (1, True, "no text")


def test_a_question_that_is_only_a_picture_says_so(tmp_path):
    asked = {"role": "user", "content": [PARTS["OpenAI"][0]]}
    said = {"role": "assistant", "content": "A cat"}
    records = [{"id": "r", "inputs": {"messages": [asked]}, "outputs": {"messages": [said]}}]
    suite, _ = read_combined(write(tmp_path, "a.jsonl", records))
    assert suite.cases["question"].to_pylist() == ["[image]"]
