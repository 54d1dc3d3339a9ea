"""What became of each part of the files: in Python, on the command line and with a run."""

from dataclasses import replace

import pandas as pd
import pytest

import metrics
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.receipt import FileQuestion, short_lines
from metrics.ingest.source import Problems
from metrics.library.file_options import with_answers
from metrics.presentation.questions.what_was_read import what_was_read
from metrics.store import Workspace

SUITE = "case_id,question,expected_answer,note\n1,Capital of Peru?,Lima,x\n2,What is 6 x 7?,42,\n"
OUTPUTS = "case_id,answer,expected\n1,Lima,=A1\n2,41,y\n"
SHORT = [
    "suite.csv: 2 rows, 3 parts used, 1 kept as metadata (note)",
    "small.csv: 2 rows, 2 parts used, 1 not used (expected)",
]
COLOUR = FileQuestion("colour", "Which colour is it?", ("red", "blue"))


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "suite.csv", tmp_path / "small.csv"]
    for path, text in zip(paths, (SUITE, OUTPUTS), strict=True):
        path.write_text(text)
    return list(map(str, paths))


def test_a_run_says_what_became_of_each_part(files, tmp_path):
    run = metrics.evaluate(*files, evaluators=["exact_match"], workspace=tmp_path / "w")
    assert short_lines(run.receipt) == SHORT
    (unused,) = [line for line in run.receipt if line.use == "unused"]
    assert (unused.file, unused.place, unused.count, unused.example) == ("small.csv", "expected", 2, "=A1")
    assert Workspace(tmp_path / "w").run(run.id).spec.receipt == run.receipt
    sentence, table = what_was_read(run)
    assert sentence.text == "Of 2 files, 9 parts: 7 used, 1 kept as metadata and 1 not used."
    assert table.rows[0][:3] == ("small.csv", "expected", "not used")


def test_the_command_says_it_in_short_or_in_full(files, tmp_path, capsys):
    asked = ["evaluate", *files, "--evaluators", "exact_match", "--workspace", str(tmp_path / "w")]
    assert main(asked) == 0
    assert capsys.readouterr().err.splitlines()[:2] == SHORT
    assert main([*asked, "--explain"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert "suite.csv: note (1) is kept as metadata.note, such as 'x'" in lines
    assert "suite.csv: expected_answer (2) is expected_answers" in lines
    assert main([*asked, "--quiet", "--explain"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("named", ["{}/b/data.csv", "data (b).csv"])
def test_files_of_one_name_have_receipts_and_answers_of_their_own(tmp_path, capsys, named):
    texts = {
        "s": SUITE,
        "a": "case_id,answer\n1,<think>Hm.</think>Lima\n",
        "b": "case_id,answer\n2,<think>6</think>42\n",
    }
    files = [tmp_path / folder / "data.csv" for folder in texts]
    for path, text in zip(files, texts.values(), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    read, more = (
        f"{named.format(tmp_path)}=reasoning=keep",
        {"evaluators": ["exact_match"], "workspace": tmp_path / "w"},
    )
    run = metrics.evaluate(files[0], list(map(str, files[1:])), read=[read], **more)
    said = {line.file: line.meaning.partition(": ")[2] for line in run.receipt if line.use == "asked"}
    strip = "reasoning=strip, as it seems; else reasoning=keep"
    assert said == {"data (a).csv": strip, "data (b).csv": "reasoning=keep, as you said"}
    assert run.models == ("data",)
    asked = ["evaluate", *map(str, files), "--evaluators", "exact_match", "--workspace", str(tmp_path / "w")]
    assert main([*asked, "--read", read]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["data (s).csv", "data (a).csv"]


def test_tables_in_memory_have_a_receipt(tmp_path):
    suite = pd.DataFrame({"case_id": [1], "question": ["?"], "expected_answer": ["a"], "level": [3]})
    run = metrics.evaluate(suite, [{"case_id": 1, "answer": "a"}], evaluators=["exact_match"], workspace=tmp_path / "w")
    assert ("level", "kept", "metadata.level") in {(line.place, line.use, line.meaning) for line in run.receipt}


def test_rows_that_are_left_out_are_counted(files, tmp_path):
    (tmp_path / "suite.csv").write_text(f"{SUITE},no id,b,\n")
    with pytest.warns(UserWarning, match="rows were skipped"):
        run = metrics.evaluate(*files, evaluators=["exact_match"], keep_good_rows=True, workspace=tmp_path / "w")
    rows = {(line.file, line.use): line.count for line in run.receipt if line.place == "rows"}
    assert rows == {("suite.csv", "used"): 2, ("suite.csv", "unused"): 1, ("small.csv", "used"): 2}


def test_what_was_decided_alike_is_said_once():
    problems = Problems()
    problems.answers["u.csv"] = {"size": "big"}
    for place in "abc":
        problems.ask("u.csv", COLOUR, f"paint {place}", default="red", place=place)
    problems.ask("u.csv", replace(COLOUR, name="size", choices=("big", "small")), "d", place="d")
    assert [line.partition(": ")[2] for line in short_lines(problems.receipt)[1:]] == [
        "a was decided: paint a: colour=red, as it seems; else colour=blue; and so for 2 more",
        "d was decided: d: size=big, as you said",
    ]


def test_an_answer_that_nothing_asks_for_is_refused(files, tmp_path):
    with pytest.raises(InputError, match="an answer to 'colour', which nothing asks"):
        metrics.evaluate(*files, evaluators=["exact_match"], read=["colour=red"], workspace=tmp_path / "w")


@pytest.mark.parametrize(
    ("answers", "default", "chosen", "whose"),
    [
        ({"u.csv": {"colour": "red"}}, None, "red", "as you said"),
        ({"": {"colour": "red"}}, "blue", "red", "as you said"),
        ({"other.csv": {"colour": "red"}}, "blue", "blue", "as it seems; else colour=red"),
    ],
)
def test_questions_are_answered(answers, default, chosen, whose):
    problems = Problems()
    problems.answers.update(answers)
    assert problems.ask("u.csv", COLOUR, "paint", default=default, place="wall") == chosen
    (line,) = problems.receipt
    assert (line.place, line.use, line.question) == ("wall", "asked", "colour")
    assert line.meaning == f"paint: colour={chosen}, {whose}"
    problems.check()


def test_a_question_says_how_it_is_answered_where_it_is_asked(files, tmp_path, capsys):
    wide = tmp_path / "wide.csv"
    wide.write_text("case_id,big,llama 3\n1,Lima,Cusco\n2,42,41\n")
    more = {"evaluators": ["exact_match"], "workspace": str(tmp_path / "w")}
    with pytest.raises(InputError) as refused:
        metrics.evaluate(files[0], str(wide), **more)
    assert "expected an answer, read=['models=big,llama 3'] or read=['models=none']. Which" in str(refused.value)
    assert main(["evaluate", files[0], str(wide), "--workspace", more["workspace"]]) == 2
    assert "an answer, --read 'models=big,llama 3' or --read models=none. Which" in capsys.readouterr().err
    (asked,) = with_answers(refused.value, "page").problems
    assert asked.question.answers == ("models=big,llama 3", "models=none")
    run = metrics.evaluate(files[0], str(wide), read=["models=big,llama 3"], **more)
    assert "was decided: no column of answers" in short_lines(run.receipt)[-1]
    assert short_lines(run.receipt)[-1].endswith("models=big,llama 3, as you said")


def test_a_column_of_two_meanings_says_how_it_is_mapped(tmp_path, capsys):
    (tmp_path / "s.csv").write_text("id,question,answer\n1,Why?,so\n")
    paths = [str(tmp_path / "s.csv"), [{"case_id": "1", "answer": "so"}]]
    with pytest.raises(InputError) as refused:
        metrics.evaluate(*paths, workspace=tmp_path / "w")
    said = "a mapping that says which: {} or {}. Is this"
    assert said.format("map=['expected_answers=answer']", "map=['metadata.answer=answer']") in str(refused.value)
    (tmp_path / "o.csv").write_text("id,answer\n1,so\n")
    assert main(["evaluate", paths[0], str(tmp_path / "o.csv"), "--workspace", str(tmp_path / "w")]) == 2
    assert said.format("--map expected_answers=answer", "--map metadata.answer=answer") in capsys.readouterr().err


def test_a_column_that_is_asked_about_is_used_as_well(tmp_path):
    suite, outputs = ([{"case_id": "1", name: "3,5"}] for name in ("true_value", "predicted_value"))
    run = metrics.evaluate(suite, outputs, workspace=tmp_path / "w")
    uses = [(line.place, line.use) for line in run.receipt if line.place in ("true_value", "predicted_value")]
    assert uses == [(name, use) for name in ("true_value", "predicted_value") for use in ("asked", "used")]


@pytest.mark.parametrize(("given", "found"), [({}, "paint"), ({"colour": "green"}, "the answer 'green'")])
def test_without_a_valid_answer_a_question_is_a_problem_with_its_answers(given, found):
    problems = Problems(keep_good_rows=True)
    problems.answers["u.csv"] = given
    assert problems.ask("u.csv", COLOUR, "paint") is None
    with pytest.raises(InputError) as refused:
        problems.check()
    (problem,) = refused.value.problems
    assert (problem.found, problem.question) == (found, COLOUR)
    assert problem.expected == "an answer, colour=red or colour=blue. Which colour is it?"
