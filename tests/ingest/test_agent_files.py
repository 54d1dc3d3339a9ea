"""Files that agents made, from folders and zips: found by name, stored under ours, everything hostile refused."""
# ruff: noqa: E501 - a table reads better with one line a case

import hashlib
import json
import zipfile
from typing import Any

import pytest

from metrics.core.cases import join_cases
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.ingest import attach_files
from metrics.store import Workspace
from metrics.text.agents.artifacts import artifacts_of
from tests.ingest.files import packed, read_refusal, unpacked

SUITE = Suite.from_rows("s", "agent", [{"case_id": "c1", "question": "Q?"}, {"case_id": "c2", "question": "R?"}])


def outputs(*rows: dict[str, Any]) -> Outputs:
    return Outputs.from_rows([{"case_id": "c1", "model": "m", **row} for row in rows])


def stored(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def found(attached: Outputs) -> list[dict[str, str | None]]:
    """Of each output the artifacts by name: our name of the file, "missing", or None."""
    return [
        {
            artifact.name: "missing" if artifact.missing else artifact.stored
            for artifact in artifacts_of(row["artifacts"] or [], row["trace"])
        }
        for row in attached.outputs.to_pylist()
    ]


ENTRIES = {"c1/report.json": '{"a": 1}', "c1/deep/plot.csv": "a,b\n1,2\n", "c2/notes.md": "hi", "shared/x.txt": "x"}
REPORT, PLOT, NOTES, SHARED = (stored(content) for content in ENTRIES.values())
TRACE = json.dumps({"steps": [{"tool": "write", "artifacts": ["report.json", {"name": "in.txt", "content": "y"}]}]})
NAMED: dict[str, tuple[dict[str, Any], dict[str, str | None]]] = {
    "by the folder of its case": ({}, {"report.json": REPORT, "deep/plot.csv": PLOT}),
    "by its whole name": ({"artifacts": ["c2/notes.md"]}, {"c2/notes.md": NOTES, "report.json": REPORT, "deep/plot.csv": PLOT}),
    "by its name in the case's folder": ({"artifacts": ["deep/plot.csv"]}, {"deep/plot.csv": PLOT, "report.json": REPORT}),
    "by the path on the agent's machine": ({"artifacts": ["/mnt/data/report.json", "C:\\out\\plot.csv"]}, {"/mnt/data/report.json": REPORT, "C:\\out\\plot.csv": PLOT}),
    "in a trace": ({"trace": TRACE}, {"report.json": REPORT, "in.txt": None, "deep/plot.csv": PLOT}),
    "and not there": ({"artifacts": ["gone.pdf", "../../etc/passwd"]}, {"gone.pdf": "missing", "../../etc/passwd": "missing", "report.json": REPORT, "deep/plot.csv": PLOT}),
}  # fmt: skip


@pytest.mark.parametrize(("row", "expected"), NAMED.values(), ids=NAMED.keys())
@pytest.mark.parametrize("make", [packed, unpacked], ids=["zip", "folder"])
def test_which_file_is_whose(tmp_path, make, row, expected):
    source = make(tmp_path / "made.zip", ENTRIES)
    attached = attach_files(outputs(row), source, destination=tmp_path / "kept").value
    (artifacts,) = found(attached)
    assert (artifacts, attached.files) == (expected, tmp_path / "kept")
    held = {path.name for path in (tmp_path / "kept").iterdir()}
    assert held == {name for name in expected.values() if name not in (None, "missing")}


def test_each_model_has_its_folder_and_a_claim_to_be_stored_is_not_believed(tmp_path):
    entries = {"org/a/c1/x.txt": "1", "b/c1/x.txt": "2", "b/c1/y.txt": "3", "c1/x.txt": "4"}
    rows = [{"model": "org/a", "artifacts": ["x.txt"]}, {"model": "b", "artifacts": ["x.txt"]}]
    attached = attach_files(outputs(*rows), packed(tmp_path / "made.zip", entries)).value
    assert found(attached) == [{"x.txt": stored("1")}, {"x.txt": stored("2"), "y.txt": stored("3")}]
    unclear = attach_files(outputs({"model": "z", "artifacts": ["x.txt"]}, {"model": "b"}), tmp_path / "made.zip").value
    assert found(unclear)[0] == {"x.txt": "missing"}
    claims = ['{"name": "a", "stored": "../../../etc/passwd"}', '{"name": "b", "stored": "' + "0" * 32 + '"}']
    attached = attach_files(outputs({"artifacts": claims}), packed(tmp_path / "made.zip", ENTRIES)).value
    assert found(attached)[0]["a"] == "missing"
    (case,) = join_cases(SUITE, attached)
    from metrics.core.registry import evaluators

    entry = evaluators()["agent_sanity"]
    assert entry(case, entry.parameters()).reason == "a stored artifact cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("entry", "why"),
    [("../x.txt", "a path that leaves the archive"), ("c1/link", "a symbolic link"),
     ("c1/report.json", "the same name twice")],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_hostile_zips(tmp_path, entry, why):
    path = packed(tmp_path / "made.zip", ENTRIES)
    info = zipfile.ZipInfo(entry)
    info.filename = entry
    if why == "a symbolic link":
        info.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(info, "x")
    with pytest.raises(InputError) as caught:
        attach_files(outputs({}), path, destination=tmp_path / "kept")
    assert [problem.found for problem in caught.value.problems] == [f"entry {entry!r}: {why}"]
    kept = attach_files(outputs({}), path, destination=tmp_path / "kept", keep_good_rows=True)
    assert (len(kept.problems), kept.value.files, found(kept.value)) == (1, None, [{}])
    assert not (tmp_path / "kept").exists()
    assert not (tmp_path.parent / "x.txt").exists()


def test_a_link_in_a_folder_is_not_followed(tmp_path):
    folder = unpacked(tmp_path / "made", ENTRIES)
    (tmp_path / "secret").write_text("secret")
    (folder / "c1" / "secret.txt").symlink_to(tmp_path / "secret")
    attached = attach_files(outputs({"artifacts": ["secret.txt"]}), folder).value
    assert found(attached)[0]["secret.txt"] == "missing"


def test_damaged_files_and_sources(tmp_path):
    path = packed(tmp_path / "made.zip", ENTRIES)
    data = bytearray(path.read_bytes())
    place = data.find(b"report.json") + len("report.json") + 2
    data[place] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"c1/report.json: a file that cannot be read .*; expected a complete file"):
        attach_files(outputs({}), path)
    kept = attach_files(outputs({}), path, keep_good_rows=True)
    assert found(kept.value) == [{"deep/plot.csv": PLOT}]
    for name, content, message in (("no.zip", None, "no such file"), ("x.zip", b"PK\3\4", "no readable zip")):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=message):
            attach_files(outputs({}), tmp_path / name)


def test_files_of_nobody_and_too_many_of_a_case(tmp_path, monkeypatch):
    path = packed(tmp_path / "made.zip", {"else/a.txt": "1", "else/b.txt": "2", ".DS_Store": "x", "x": "", "y": ""})
    assert read_refusal(attach_files, outputs({"artifacts": ["c.txt"]}), path) == (
        "made.zip: found 5 files (else/a.txt, else/b.txt, .DS_Store, …), none of which is named by an output; "
        "expected names that are in the column artifacts or in the traces, or a folder named like the case id"
    )
    monkeypatch.setattr("metrics.ingest.media.agent_files.MOST_ARTIFACTS", 1)
    with pytest.raises(InputError, match=r"found 2 files of case 'c1'; expected at most 1 artifacts of a case"):
        attach_files(outputs({}), packed(tmp_path / "made.zip", ENTRIES))


def test_they_are_stored_with_the_outputs_and_their_content_is_fingerprinted(tmp_path):
    workspace = Workspace(tmp_path / "ws")
    attached = attach_files(outputs({}), packed(tmp_path / "made.zip", ENTRIES)).value
    other = attach_files(outputs({}), packed(tmp_path / "other.zip", ENTRIES | {"c1/report.json": "{}"})).value
    assert attached.fingerprint != other.fingerprint
    fingerprint = workspace.save_outputs(attached, SUITE)
    again = workspace.outputs(fingerprint)
    assert again.files == workspace.outputs_files(fingerprint) == tmp_path / "ws/outputs" / fingerprint / "artifacts"
    assert {path.name for path in again.files.iterdir()} == {REPORT, PLOT}
    (case,) = join_cases(SUITE, again.restricted("m"))
    assert (case.files / REPORT).read_text() == ENTRIES["c1/report.json"]
    assert workspace.outputs_files(workspace.save_outputs(outputs({"answer": "none"}), SUITE)) is None
