"""python -m metrics suites from-documents and approve."""

import json

import pytest

from metrics import models
from metrics.cli.main import main
from metrics.ingest import read_suite
from metrics.questions import Review, drafts, read_draft, review
from metrics.store import Workspace
from tests.models.word_vectors import WordVectors
from tests.questions.question_scenes import serve_questions, write_documents


@pytest.fixture
def arguments(tmp_path, workspace, judge_server, monkeypatch):
    """A command that writes four questions."""
    monkeypatch.setattr(models, "provide", lambda *_: {"embedder": WordVectors()})
    serve_questions(judge_server)
    return [
        "suites", "from-documents", str(write_documents(tmp_path / "docs")), "-o", str(tmp_path / "questions.jsonl"),
        "--number", "4", "--kinds", "factoid=3,summary=1", "--duplicate", "1", "--words", "5-60", "--chunk-size", "150",
        "--judge", "scripted", "--judge-base-url", judge_server.url,
    ]  # fmt: skip


def test_questions_are_proposed_and_approved_in_the_file(arguments, tmp_path, workspace, capsys):
    assert main(arguments) == 0
    told = capsys.readouterr()
    (draft,) = drafts(workspace)
    assert told.out == f"4 questions in {tmp_path / 'questions.jsonl'}, draft {draft}\n"
    assert told.err.splitlines()[-2:] == ["factoid: 3", "summary: 1"]
    assert "Writing 100 %: 4 of 4 done" in told.err
    assert "\r" not in told.err
    lines = (tmp_path / "questions.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["metadata.status"] for row in rows} == {"proposed"}
    approve = ["suites", "approve", str(tmp_path / "questions.jsonl"), "-o", str(tmp_path / "suite.jsonl")]
    assert main(approve) == 2
    assert "found 4 proposed; expected questions with the status approved, or --all" in capsys.readouterr().err
    for row, status in zip(rows, ("approved", "dropped", "proposed", "approved"), strict=True):
        row["metadata.status"] = status
    rows[0]["question"] = "What would a reader ask?"
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main([*approve, "--name", "mine"]) == 0
    assert capsys.readouterr().err == "2 cases approved; stored as 'mine'\n"
    suite = read_suite(tmp_path / "suite.jsonl")
    assert suite.cases["question"].to_pylist()[0] == "What would a reader ask?"
    assert (Workspace().suites()[0]["fingerprint"], main([*approve, "--all"])) == (suite.fingerprint, 0)
    assert len(read_suite(tmp_path / "suite.jsonl")) == 3


def test_a_draft_that_was_reviewed_on_the_page_becomes_a_suite(arguments, workspace, capsys):
    assert main([*arguments, "--quiet"]) == 0
    (draft,) = drafts(workspace)
    names = [entry.id for entry in read_draft(workspace, draft)[0].questions]
    review(workspace, draft, {names[2]: Review(status="approved", answer="Better.")})
    capsys.readouterr()
    assert main(["suites", "approve", draft, "--quiet"]) == 0
    (row,) = Workspace().suite(capsys.readouterr().out.strip()).cases.to_pylist()
    assert (row["case_id"], row["expected_answers"]) == (names[2], ["Better."])


def test_documents_that_cannot_be_read_stop_it_unless_they_are_skipped(arguments, tmp_path, capsys, judge_server):
    (tmp_path / "docs" / "broken.pdf").write_bytes(b"%PDF-")
    (tmp_path / "docs" / "binary.txt").write_bytes(b"\0")
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert "broken.pdf: found a damaged PDF" in told
    assert "binary.txt: found a binary file" in told
    assert not judge_server.calls
    assert main([*arguments, "--skip-unreadable"]) == 0
    assert "passed over: binary.txt: found a binary file" in capsys.readouterr().err


@pytest.mark.parametrize(("more", "told"), [
    (["-o", "questions.txt"], "found the ending 'txt'; expected one of jsonl, csv, parquet"),
    (["--kinds", "trivia=1"], "'trivia': no kind of question"),
    (["--kinds", "factoid"], "--kinds: found 'factoid'; expected KIND=WEIGHT"),
    (["--kinds", "factoid=some"], "--kinds: found 'some'; expected a number"),
    (["--words", "9-3"], "the fewest words are more than the most"),
    (["--words", "few"], "--words: found 'few'; expected a number"),
    (["--number", "0"], "column number: found 0"),
    (["no-such-folder"], "no-such-folder: found no such file or folder"),
], ids=["format", "kind", "no weight", "no number", "lengths", "words", "none", "folder"])  # fmt: skip
def test_bad_input_is_told_before_the_judge_is_asked(arguments, capsys, judge_server, more, told):
    command = [*arguments[:2], *more, *arguments[2:]] if more[0] == "no-such-folder" else [*arguments, *more]
    assert main(command) == 2
    assert told in capsys.readouterr().err
    assert not judge_server.calls


def test_nothing_that_holds_is_an_error_with_the_reasons(arguments, capsys, judge_server, tmp_path):
    judge_server.say("questions.check", {"verdict": "wrong"})
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert "dropped: its answer does not follow from its passages" in told
    assert "found no question that holds" in told
    assert not (tmp_path / "questions.jsonl").exists()


def test_a_draft_or_a_file_that_is_none(workspace, tmp_path, capsys):
    assert main(["suites", "approve", "0" * 16]) == 2
    assert "there is no draft '0000000000000000'" in capsys.readouterr().err
    (tmp_path / "suite.csv").write_text("id,question\n1,Who?\n")
    assert main(["suites", "approve", str(tmp_path / "suite.csv")]) == 2
    assert "found no status; expected the column metadata.status" in capsys.readouterr().err


def test_approve_all_writes_a_suite_at_once(arguments, tmp_path):
    assert main([*arguments, "--approve-all", "--quiet"]) == 0
    suite = read_suite(tmp_path / "questions.jsonl")
    assert suite.cases["metadata.status"].to_pylist() == ["approved"] * 4
