"""Artifacts: where they are found, what is wrong with each kind, hostile content in bounded time."""

import base64
import io
import json

import pytest
from PIL import Image

from metrics.text.agents.artifacts import Artifact, ArtifactError, artifacts_of, complaints
from tests.text.agents.test_pdf_pages import TEXT, pdf

GIF = base64.b64decode("R0lGODdhAQABAIAAAAAAAAAAACwAAAAAAQABAAACAkQBADs=")


def png(width: int = 4, height: int = 3) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(file, "PNG")
    return file.getvalue()


def wrong(name: str, content: str | bytes, **options: object) -> list[str]:
    raw = content.encode() if isinstance(content, str) else content
    text = json.dumps({"name": name, "content_base64": base64.b64encode(raw).decode()})
    (artifact,) = artifacts_of([text], None)
    return complaints(artifact, **options)[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "content", "expected"), [
    ("a.json", '{"a": 1}', []), ("a.json", "[1, 2,]", ["not JSON: "]), ("a.json", "{}", ["it holds no data"]),
    ("a.jsonl", '{"a": 1}\n{"a": 2}\n', []), ("a.jsonl", '{"a": 1}\n{"a": }\n', ["not JSON: "]),
    ("a.csv", 'id,name\n1,"a, b"\n', []), ("a.csv", "id,name\n", ["a header without rows"]),
    ("a.csv", "id,name\n1,2\n3\n", ["row 3 has 1 cells, the header has 2"]),
    ("a.csv", 'id\n"x"y\n', ["not CSV: "]), ("a.tsv", "id\tname\n1\t2,3\n", []),
    ("a.html", "<!doctype html><html><body><p>One<p>two<br></body></html>", []),
    ("a.html", "<div><span>text</div>", ["</div> closes nothing", "<span> is not closed"]),
    ("a.html", "<html><head><title>T</title><script>if (a < b) {}</script></head><body></body></html>",
        ["nothing visible on the page"]),
    ("a.html", "just text", ["no element"]), ("a.html", '<img src="a.png" alt="a > b">', []),
    ("a.py", "import os\nos.remove('/')\n", []), ("a.py", "def f(:\n", ["not Python: "]),
    ("a.py", "\x00", ["not Python"]), ("a.png", png(), []), ("a.gif", GIF, []),
    ("a.png", png(400, 300)[:200], ["not a readable image: "]), ("a.pdf", pdf(TEXT, TEXT), []),
    ("a.pdf", pdf(TEXT, None, TEXT), ["nothing is drawn on page 2 of 3"]),
    ("a.pdf", pdf(*[None] * 12), ["nothing is drawn on page 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … of 12"]),
    ("a.pdf", pdf(), ["no page"]),
    ("a.pdf", b"%PDF-1.7\n...\n%%EOF\n", ["not a readable PDF: "]),
    ("a.pdf", pdf(TEXT)[:300], ["the PDF is cut short"]), ("a.pdf", b"<html>", ["no PDF header"]),
    ("a.txt", " \n", ["it is empty"]), ("a.json", b"\xff\xfe\x00", ["not UTF-8 at byte 1"]), ("a.xyz", b"\x00\x01", []),
    ("../a.txt", "x", ["the name points outside the archive"]),
    ("/etc/passwd", "x", ["the name points outside the archive"]),
    ("C:\\a.txt", "x", ["the name points outside the archive"]),
])  # fmt: skip
def test_what_is_wrong(name: str, content: str | bytes, expected: list[str]) -> None:
    found = wrong(name, content)
    assert len(found) == len(expected), found
    assert all(text.startswith(start) for text, start in zip(found, expected, strict=True)), found


def test_structure() -> None:
    assert wrong("a.json", '{"a": 1}', required_fields=["a", "b"]) == ["fields are missing: b"]
    assert wrong("a.csv", "a,b\n1,2\n", required_fields=["c"]) == ["columns are missing: c"]
    (found,) = wrong("a.json", '{"a": 1}', schema='{"properties": {"a": {"type": "string"}}}')
    assert found.startswith("$.a: ")


def test_remarks_on_what_was_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert complaints(Artifact("a.pdf", "pdf", pdf(TEXT, password="secret"))) == (
        [],
        ["its pages are behind a password"],
    )
    monkeypatch.setattr("metrics.text.agents.artifacts.MOST_PAGES", 1)
    remarks = ["the first 1 of 2 pages were checked"]
    assert complaints(Artifact("a.pdf", "pdf", pdf(TEXT, None))) == ([], remarks)


def test_what_is_missing_or_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    (artifact,) = artifacts_of(['{"name": "a.json", "missing": true}'], None)
    assert complaints(artifact) == (["it is not among the files"], [])
    monkeypatch.setattr("metrics.text.agents.artifacts.MOST_BYTES", 3)
    assert wrong("a.json", "[1, 2]") == ["6 bytes, more than the 3 that are checked"]


def test_only_names_of_ours_are_stored_files() -> None:
    ours = "0123456789abcdef" * 2
    told = [json.dumps({"name": name, "stored": name}) for name in (ours, "../" + ours, ours.upper(), ours + "0", "")]
    with pytest.raises(ArtifactError, match="an artifact has no name"):
        artifacts_of(told, None)
    assert [artifact.stored for artifact in artifacts_of(told[:-1], None)] == [ours, None, None, None]


def test_nothing_is_executed(tmp_path: object) -> None:
    assert wrong("a.py", f"open({str(tmp_path) + '/made'!r}, 'w')\nraise SystemExit") == []
    assert not list(tmp_path.iterdir())  # type: ignore[attr-defined]


def test_where_artifacts_are_found() -> None:
    trace = json.dumps({"artifacts": ["a.txt"], "steps": [{"artifacts": [{"path": "b.txt", "content": "x"}]}, "odd"]})
    assert artifacts_of(["c.md", '{"name": "a.txt", "content": "old"}'], trace) == [
        Artifact("c.md", "text"), Artifact("a.txt", "text", b"old"),  # a name alone does not hide what is known
        Artifact("b.txt", "text", b"x"),
    ]  # fmt: skip
    (artifact,) = artifacts_of(['{"name": "a", "kind": "JSON", "content": {"b": [1]}}'], None)
    assert artifact == Artifact("a", "json", b'{"b": [1]}')


@pytest.mark.parametrize(("column", "trace", "message"), [
    ((), "{", "the trace is not JSON"),
    (('{"name": 1}',), None, "an artifact has no name"),
    (("{'a'",), None, "an artifact is not a path and not JSON"),
    (('{"name": "a", "content_base64": "?"}',), None, "the content_base64 of 'a' is not base64"),
    (("a",) * 1001, None, "1,001 artifacts, more than 1,000"),
])  # fmt: skip
def test_what_cannot_be_read(column: tuple[str, ...], trace: str | None, message: str) -> None:
    with pytest.raises(ArtifactError, match=message):
        artifacts_of(column, trace)
