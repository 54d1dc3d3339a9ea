"""Tables in other wrappings: gzip, YAML, Arrow, data sets of Hugging Face, promptfoo's configuration; hostile ones too."""
# ruff: noqa: E501 - a table reads better with one line a case

import gzip
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metrics.core.errors import InputError
from metrics.ingest import Reading, inspect, load_suite, read_combined, read_outputs, read_suite
from tests.ingest.files import packed, read_refusal, unpacked, write

RECORDS = [{"case_id": "007", "question": "q1", "expected": "NA"}, {"case_id": "2", "question": "q2", "expected": "x"}]
CSV = "case_id,question,expected\n007,q1,NA\n2,q2,x\n"
FEATURES = {
    "case_id": {"dtype": "string", "_type": "Value"}, "question": {"dtype": "string", "_type": "Value"},
    "label": {"names": ["no", "yes"], "_type": "ClassLabel"},
    "topics": {"feature": {"names": ["a", "b"], "_type": "ClassLabel"}, "_type": "List"},
}  # fmt: skip


def dataset(*ids: str, labels: tuple[int | None, ...] = (1, 0), features: Any = FEATURES) -> pa.Table:
    columns = {
        "case_id": ids or ("1", "2"), "question": [f"q{one}" for one in ids or ("1", "2")],
        "label": pa.array((labels * 9)[: len(ids) or 2], pa.int64()),
        "topics": pa.array([[0, 1], None] * 9, pa.list_(pa.int64())).slice(0, len(ids) or 2),
    }  # fmt: skip
    described = {"huggingface": json.dumps({"info": {"features": features}})}
    return pa.table(columns).replace_schema_metadata(described)


def stream(table: pa.Table, file: bool = False) -> bytes:
    buffer = io.BytesIO()
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(buffer, table.schema) as writer:
        writer.write_table(table)
    return buffer.getvalue()


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table, buffer)
    return buffer.getvalue()


YAML = "- case_id: 007\n  question: q1\n  expected: NA\n- &two {case_id: 2, question: q2, expected: x}\n"
SAME = {  # file → content, of which every form says the same
    "csv.gz": ("s.csv.gz", gzip.compress(CSV.encode())),
    "windows-1252.gz": ("s.csv.gz", gzip.compress(CSV.encode("cp1252"))),
    "jsonl.gz": ("s.jsonl.gz", gzip.compress("\n".join(map(json.dumps, RECORDS)).encode())),
    "json.gz": ("s.json.gz", gzip.compress(json.dumps(RECORDS).encode())),
    "yaml": ("s.yaml", YAML),
    "yaml, an object with a list": ("s.yml", "cases:\n" + "".join("  " + line + "\n" for line in YAML.splitlines())),
    "yaml.gz": ("s.yaml.gz", gzip.compress(YAML.encode())),
    "parquet.gz": ("s.parquet.gz", gzip.compress(parquet(pa.Table.from_pylist(RECORDS)))),
    "arrow stream": ("s.arrow", stream(pa.Table.from_pylist(RECORDS))),
    "arrow file": ("s.feather", stream(pa.Table.from_pylist(RECORDS), file=True)),
}


@pytest.mark.parametrize(("name", "content"), SAME.values(), ids=SAME)
def test_the_same_table_in_every_wrapping(tmp_path, name, content):
    path = write(tmp_path, name, content)
    seen = inspect(path)
    assert (seen.role, seen.file) == ("suite", name)
    assert seen.mapping == {"case_id": "case_id", "question": "question", "expected_answers": "expected"}
    suite = read_suite(path)
    assert (suite.name, suite.cases["case_id"].to_pylist()) == ("s", ["007", "2"])
    assert suite.cases["expected_answers"].to_pylist() == [["NA"], ["x"]]
    answers = write(tmp_path, "model.csv.gz", gzip.compress(b"case_id,answer\n007,a\n2,b\n"))
    outputs = read_outputs(answers, suite=suite)
    assert (outputs.models, outputs.outputs["answer"].to_pylist()) == (("model",), ["a", "b"])


NESTED = b"".join(
    b"%c: &%c [%s]\n" % (98 + place, 98 + place, b",".join([b"*%c" % (97 + place)] * 9)) for place in range(9)
)
MERGED = b"".join(
    b"%c: &%c {<<: [%s]}\n" % (98 + place, 98 + place, b",".join([b"*%c" % (97 + place)] * 9)) for place in range(9)
)
HOSTILE = {
    "gzip of nothing": ("a.csv.gz", gzip.compress(b""), "a.csv.gz: found an empty file in gzip; expected a file with content"),
    "gzip, cut off": ("a.csv.gz", gzip.compress(CSV.encode())[:-9], "a.csv.gz: found gzip that cannot be read (Compressed file ended before the end-of-stream marker was reached); expected a complete .gz file"),
    "gzip, damaged": ("a.csv.gz", gzip.compress(CSV.encode())[:10] + b"\xff" * 40, "a.csv.gz: found gzip that cannot be read"),
    "gzip, a bomb": ("a.csv.gz", gzip.compress(bytes(20_000_000)), "a.csv.gz: found 19,465 bytes that unpack to more than 10,485,760; expected at most 200 times the size of the file (10 MiB where that is less, 4 GiB for any); or a smaller file, or one that is not compressed"),
    "gzip in gzip": ("a.csv.gz", gzip.compress(gzip.compress(CSV.encode())), "a.csv.gz: found a gzip archive; expected a CSV"),
    "gzip of a picture": ("a.csv.gz", gzip.compress(b"\x89PNG\r\n\x1a\n"), "a.csv.gz: found a PNG image; expected a CSV"),
    "gzip of no text": ("a.csv.gz", gzip.compress(bytes(range(256))), "a.csv.gz"),
    "gzip by another name": ("a.csv", gzip.compress(CSV.encode()), "a.csv: found a gzip archive; expected a CSV"),
    "YAML, aliases that grow": ("a.yaml", b"a: &a [x,x,x,x,x,x,x,x,x]\n" + NESTED, "a.yaml, row 7: found more than 2,000,000 values, with aliases (*name) written out"),
    "YAML, merges that grow": ("a.yaml", b"a: &a {k: v}\n" + MERGED, "a.yaml, row 8: found more than 2,000,000 values, with aliases (*name) written out"),
    "YAML, too deep": ("a.yaml", b"[" * 200_000, "a.yaml, row 1: found YAML that is nested too deeply; expected at most 100 levels"),
    "YAML, too deep by aliases": ("a.yaml", b"- &a0 [x]\n" + b"".join(b"- &a%d [*a%d]\n" % (place + 1, place) for place in range(200)), "a.yaml, row 101: found YAML that is nested too deeply"),
    "YAML, an alias of itself": ("a.yaml", b"&a [*a]", "a.yaml, row 1: found an alias of what it is part of"),
    "YAML, a call": ("a.yaml", b"!!python/object/apply:os.system ['ls']", "a.yaml, row 1: found a value with the tag tag:yaml.org,2002:python/object/apply:os.system; expected plain values, lists and mappings"),
    "YAML, two documents": ("a.yaml", b"a: 1\n---\nb: 2", "a.yaml, row 2: found YAML that cannot be read: but found another document; expected one valid YAML document"),
    "YAML, a name twice": ("a.yaml", b"- id: 1\n  id: 2", "a.yaml, row 1: found the name 'id' twice in one mapping; expected every name once"),
    "YAML, a comment": ("a.yaml", b"# nothing", "a.yaml: found no YAML value; expected a list of cases"),
    "YAML, no list": ("a.yaml", b"a: 1", "a.yaml: found an object with a; expected an array of objects"),
    "Arrow, cut off": ("a.arrow", stream(pa.Table.from_pylist(RECORDS))[:-100], "a.arrow: found Arrow that cannot be read"),
    "Arrow, only its mark": ("a.arrow", b"ARROW1\0\0" + bytes(30), "a.arrow: found Arrow that cannot be read"),
    "a class beyond the names": ("a.arrow", stream(dataset(labels=(0, 7))), "a.arrow, column label: found a value that is no class; expected a number from 0 to 1"),
    "pictures": ("a.parquet", parquet(dataset(features={"question": {"_type": "Image"}})), "a.parquet, column question: found a column of the Hugging Face feature Image; expected columns of text and numbers"),
}  # fmt: skip


@pytest.mark.attack(
    "suite author",
    "YAML aliases, merges or tags that grow, recurse or call; gzip that is a bomb",
    "aliases are counted written out, depth and tags are limited, gzip is counted while it unpacks",
)
@pytest.mark.parametrize(("name", "content", "text"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(tmp_path, name, content, text):
    path = write(tmp_path, name, content)
    for read in (read_suite, read_combined):
        assert read_refusal(read, path).startswith(text)


STATE = {"state.json": {"_split": None}, "dataset_info.json": {"features": FEATURES}}
DATA_SETS = {
    "save_to_disk": {**STATE, "data-00000-of-00001.arrow": stream(dataset())},
    "save_to_disk, shards": {**STATE, "data-00001-of-00002.arrow": stream(dataset("2", labels=(0,))), "data-00000-of-00002.arrow": stream(dataset("1"))},
    "save_to_disk, splits": {"dataset_dict.json": {"splits": ["train", "test"]}, "train/data-00000-of-00001.arrow": stream(dataset("3")), "test/data-00000-of-00001.arrow": stream(dataset())},
    "Parquet shards": {"README.md": "text", "data/test-00000-of-00002.parquet": parquet(dataset("1")), "data/test-00001-of-00002.parquet": parquet(dataset("2", labels=(0,))), "data/train-00000-of-00001.parquet": parquet(dataset("3"))},
}  # fmt: skip


@pytest.mark.parametrize("files", DATA_SETS.values(), ids=DATA_SETS)
def test_data_sets_of_hugging_face(tmp_path, files):
    """Classes have their names, splits are offered, and a folder is read as a zip is."""
    for path in (packed(tmp_path / "d.zip", files), unpacked(tmp_path / "d", files)):
        loaded = load_suite(path, task="classification")
        assert loaded.value.cases["case_id"].to_pylist() == ["1", "2"]
        assert loaded.value.cases["label"].to_pylist() == ["yes", "no"]
        assert loaded.value.cases["metadata.topics"].to_pylist()[0] == '["a","b"]'
        seen = inspect(path)
        assert (seen.format, seen.role) == ("hugging_face", "suite")
        if seen.sheets:
            assert (set(seen.sheets), seen.sheet) == ({"train", "test"}, "test")
            assert loaded.notes == (f"{path.name}: split test was read, not train.",)
            other = load_suite(path, task="classification", reading=Reading(sheet="train")).value
            assert other.cases["case_id"].to_pylist() == ["3"]
            with pytest.raises(InputError, match=r"found no split 'x'; expected one of "):
                read_suite(path, reading=Reading(sheet="x"))


def test_shards_that_are_missing_or_differ(tmp_path):
    lone = {**STATE, "data-00001-of-00002.arrow": stream(dataset())}
    with pytest.raises(
        InputError, match=r"d\.zip: found 1 of 2 files of the split data; expected all files, from 00000 to 00001"
    ):
        read_suite(packed(tmp_path / "d.zip", lone))
    other = pa.table({"case_id": pa.array([["1"]])})
    differ = {**STATE, "data-00000-of-00002.arrow": stream(dataset()), "data-00001-of-00002.arrow": stream(other)}
    with pytest.raises(InputError, match=r"d\.zip: found files whose columns differ"):
        read_suite(packed(tmp_path / "d.zip", differ))


CONFIG = "providers: [openai:gpt-4o]\nprompts: ['{{question}}']\n"
TEST = "- description: capital\n  vars: {question: Capital?, topic: towns}\n  assert: [{type: equals, value: 7}]\n"


def test_the_configuration_of_promptfoo_is_a_suite(tmp_path):
    path = write(tmp_path, "promptfooconfig.yaml", CONFIG + "defaultTest: {vars: {tone: mild}}\ntests:\n" + TEST)
    seen = inspect(path)
    assert (seen.format, seen.role, seen.rows) == ("promptfoo_config", "suite", 1)
    (case,) = read_suite(path).cases.to_pylist()
    assert {name: value for name, value in case.items() if value is not None} == {
        "case_id": "0", "question": "Capital?", "expected_answers": ["7"], "metadata.description": "capital",
        "metadata.topic": "towns", "metadata.tone": "mild", "conditions": 'regexp("\\A7\\z")',
        "metadata.promptfoo.assert": '[{"type":"equals","value":7}]',
    }  # fmt: skip


NOT_READ = {
    "tests in a file": ("tests: file://tests.csv\n", "c.yaml: found promptfoo tests that are elsewhere: 'file://tests.csv'; expected tests in the file itself, or the results of `promptfoo eval -o results.json`"),
    "a test in a file": ("tests: [file://a.yaml]\n", "c.yaml: found promptfoo tests that are elsewhere: 'file://a.yaml'"),
    "no test": ("tests: []\n", "c.yaml: found no promptfoo test"),
    "scenarios without data": ("scenarios: [{config: [], tests: [{vars: {question: q}}]}]\n", "c.yaml: found no promptfoo test"),
    "a scenario in a file": ("scenarios: file://s.yaml\n", "c.yaml: found promptfoo tests that are elsewhere: 'file://s.yaml'"),
    "variables in a file": ("tests: [{vars: file://v.yaml}]\n", "c.yaml: found promptfoo tests that are elsewhere: {'vars'"),
    "no tests at all": ("", "c.yaml: found no promptfoo test"),
    "code": ("tests:\n- vars: {question: 'file://q.txt'}\n", "c.yaml, row 1, column vars.question: found 'file://q.txt'; expected plain text"),
}  # fmt: skip


@pytest.mark.parametrize(("tests", "text"), NOT_READ.values(), ids=NOT_READ)
def test_what_promptfoo_would_open_or_expand_is_refused(tmp_path, tests, text):
    assert read_refusal(read_suite, write(tmp_path, "c.yaml", CONFIG + tests)).startswith(text)
