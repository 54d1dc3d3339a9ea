"""Uploads: kept under our names, bounded."""

import gzip
import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from components.data import uploaded_files
from metrics.core.errors import InputError
from metrics.ingest import read_suite


def test_kept_under_our_name_and_found_again(tmp_path: Path) -> None:
    token = uploaded_files.keep(io.BytesIO(b"a,b\n1,2\n"), "../../etc/My suite.CSV", tmp_path)
    assert uploaded_files.TOKEN.fullmatch(token)
    path = uploaded_files.path_of(token, tmp_path)
    assert path is not None
    assert path.parent == tmp_path
    assert path.read_bytes() == b"a,b\n1,2\n"
    assert uploaded_files.name_of(token, tmp_path) == "My suite.CSV"


def test_equal_files_are_kept_once_unless_their_names_differ(tmp_path: Path) -> None:
    tokens = [uploaded_files.keep(io.BytesIO(b"x"), name, tmp_path) for name in ("a.csv", "a.csv", "b.csv")]
    assert tokens[0] == tokens[1] != tokens[2]
    assert len(list(tmp_path.iterdir())) == 4


@pytest.mark.parametrize(("filename", "content", "message"), [
    ("run.exe", b"MZ", r"run\.exe ends in 'exe'; a file ends in one of csv"),
    ("noending", b"x", "ends in 'nothing'"), ("a.csv", b"", r"a\.csv is empty"),
    ("a.csv", b"12345", r"a\.csv is larger than 0 MiB"),
], ids=["kind", "no kind", "empty", "too large"])  # fmt: skip
def test_refused(tmp_path: Path, filename: str, content: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        uploaded_files.keep(io.BytesIO(content), filename, tmp_path, most=4)
    assert list(tmp_path.iterdir()) == []


def test_annotations_are_kept_and_one_with_entities_is_refused_by_its_reader(tmp_path: Path) -> None:
    plain = b"<?xml version='1.0'?>\n<annotations></annotations>"
    assert uploaded_files.keep(io.BytesIO(plain), "a.xml", tmp_path).endswith(".xml")
    with pytest.raises(ValueError, match=r"a\.csv is an XML document, not a CSV table"):
        uploaded_files.keep(io.BytesIO(plain), "a.csv", tmp_path)
    bomb = b"<?xml version='1.0'?><!DOCTYPE annotations [<!ENTITY a 'lol'>]><annotations>&a;</annotations>"
    path = tmp_path / uploaded_files.keep(io.BytesIO(bomb), "a.xml", tmp_path)
    with pytest.raises(InputError, match=r"XML that is refused.*without a DTD or entities"):
        read_suite(path)


@pytest.mark.parametrize("name", ["a.eval", "a.jsonl.gz", "a.arrow", "a.feather", "a.yaml", "a.yml"])
def test_files_of_tools_are_kept_and_read_under_their_names(tmp_path: Path, name: str) -> None:
    """The name that the user gave decides, not the one under which the file is stored."""
    table = pa.Table.from_pylist([{"case_id": "7", "question": "q"}])
    stream = io.BytesIO()
    if name.endswith("eval"):
        sample = {"id": "7", "epoch": 1, "input": "q", "target": "t", "output": {"choices": []}}
        with zipfile.ZipFile(stream, "w") as log:
            log.writestr("header.json", json.dumps({"status": "success", "eval": {"model": "m"}}))
            log.writestr("samples/7_epoch_1.json", json.dumps(sample))
    elif name.endswith(("arrow", "feather")):
        with pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)
    else:
        text = b'{"case_id": "7", "question": "q"}' if name.endswith("gz") else b"- {case_id: 7, question: q}"
        stream.write(gzip.compress(text) if name.endswith("gz") else text)
    stream.seek(0)
    token = uploaded_files.keep(stream, name, tmp_path)
    assert uploaded_files.TOKEN.fullmatch(token)
    path = uploaded_files.path_of(token, tmp_path)
    assert path is not None
    suite = read_suite(path, filename=uploaded_files.name_of(token, tmp_path))
    assert (suite.name, suite.cases["case_id"].to_pylist(), suite.cases["question"].to_pylist()) == ("a", ["7"], ["q"])


@pytest.mark.parametrize("token", ["", "../secret.csv", "a.csv", "0" * 32 + ".csv/..", "0" * 32 + ".csv"])
def test_no_other_name_reaches_a_file(tmp_path: Path, token: str) -> None:
    assert uploaded_files.path_of(token, tmp_path) is None


@pytest.mark.parametrize(("filename", "shown"), [
    ("C:\\data\\a.csv", "a.csv"), ("a\x00\x1b[31m.csv", "a[31m.csv"), ("", "upload"),
    ("x" * 300 + ".csv", "x" * 100 + "….csv"),
], ids=["folders", "control characters", "empty", "long"])  # fmt: skip
def test_shown_name(filename: str, shown: str) -> None:
    assert uploaded_files.shown_name(filename) == shown


@pytest.mark.parametrize(("filename", "model"), [
    ("gpt-4.csv", "gpt-4"), ("gpt-4.jsonl.gz", "gpt-4"), ("outputs_llama 3.jsonl", "llama 3"),
    ("out_llama-3-8b.csv", "llama-3-8b"), ("outcome.csv", "outcome"), ("outputs.csv", "outputs"),
    ("results-a.json", "a"),
])  # fmt: skip
def test_model_name(filename: str, model: str) -> None:
    assert uploaded_files.model_name(filename) == model


def test_no_spinner_is_drawn_over_what_reading_says() -> None:
    """A cache's spinner lies over the line with the seconds."""
    folder = Path(uploaded_files.__file__).parent
    readers = [text for path in folder.glob("*.py") if "read_upload(" in (text := path.read_text(encoding="utf-8"))]
    assert len(readers) > 4
    assert [text for text in readers if 'show_spinner="' in text] == []
