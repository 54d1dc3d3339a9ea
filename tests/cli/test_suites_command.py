"""python -m metrics suites."""

import pytest

from metrics.cli.main import main
from metrics.ingest import read_suite
from metrics.store import Workspace
from tests.suites.suite_scenes import ROWS, ids, suite

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "more.csv"
    path.write_text("id,prompt\nb,Another b?\nx,New?\n")
    return path


def run(capsys: Capture, *arguments: object) -> tuple[int, list[str], list[str]]:
    code = main(["suites", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def test_a_file_is_merged_into_a_stored_suite(workspace, file, capsys):
    stored = Workspace().save_suite(suite())
    out = file.with_name("made.jsonl")
    code, told, beside = run(capsys, "merge", stored[:8], file, "--conflicts", "rename", "-o", out)
    assert (code, told) == (0, [f"7 cases in {out}"])
    assert beside == ["2 added", "1 added under new ids: b"]
    assert (ids(read_suite(out)), len(Workspace().suites())) == (["a", "b", "c", "c~copy", "d", "b-2", "x"], 1)


def test_a_merged_suite_is_stored_as_a_version(workspace, file, capsys):
    stored = Workspace().save_suite(suite())
    _, (made,), beside = run(capsys, "merge", stored, file, "--name", "both")
    assert beside == ["1 added", "1 skipped: b"]
    assert [each["name"] for each in Workspace().suites()] == ["both", "desk"]
    assert run(capsys, "history", made[:7])[1] == [
        f"{stored[:12]}        5 cases  desk", f"{made[:12]}        6 cases  +1 -0 ~0  both  more: merged",
    ]  # fmt: skip
    code, told, _ = run(capsys, "diff", stored, made, "--quiet")
    assert (code, told) == (0, ["+ x"])


def test_differences_are_told_by_field(workspace, file, capsys):
    stored = Workspace().save_suite(suite(ROWS[:2]))
    code, told, beside = run(capsys, "diff", stored, file)
    assert (code, beside) == (0, ["1 added, 1 removed, 1 changed"])
    assert told[:3] == ["- a", "+ x", "~ b question: 'How much is it, and why?' → 'Another b?'"]
    assert told[3:] == [
        "~ b tags: ['fees'] → None", "~ b metadata.complexity: 'complex' → None", "~ b metadata.area: 'desk' → None"
    ]  # fmt: skip


def test_duplicates_within_a_suite_and_between_two(workspace, tmp_path, capsys):
    for name, cases in (("one.csv", "abc"), ("two.csv", "xy")):
        rows = "".join(f"{id},{'Who built the gate?' if id in 'abx' else 'Where is it?'}\n" for id in cases)
        (tmp_path / name).write_text("id,prompt\n" + rows)
    within = run(capsys, "duplicates", tmp_path / "one.csv")
    assert within == (0, ["same        1.00  a  b"], ["1 pairs of 3 cases, which are worth 2 independent ones"])
    _, told, beside = run(capsys, "duplicates", tmp_path / "one.csv", tmp_path / "two.csv")
    assert told == ["same        1.00  a  x", "same        1.00  b  x", "same        1.00  c  y"]
    assert beside == ["3 pairs of 3 cases"]


@pytest.mark.parametrize(("arguments", "told"), [
    (("diff", "0000", "0000"), "0000: found 0 stored suites that begin with it; expected a file"),
    (("history", ""), "found too few characters; expected a file"),
    (("merge", "0000", "0000", "-o", "made.txt"), "made.txt: found the ending 'txt'"),
    (("duplicates", "0000", "--least", "0"), "--least: found 0; expected a share over 0, up to 1"),
], ids=["unknown", "too short", "no format", "no share"])  # fmt: skip
def test_what_is_refused(workspace, capsys, arguments, told):
    code, _, beside = run(capsys, *arguments)
    assert code == 2
    assert told in beside[0]
