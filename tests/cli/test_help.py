"""What a newcomer meets first at the command: its help, the cases alone, a run without a value, a mistyped name."""

import json
import sys

import pytest

import metrics
from metrics.cli.main import FIRST, main, parser

SUITE = "id,question,expected_answer\n1,a?,yes\n2,b?,no\n"
COCO = {
    "images": [{"id": 1, "width": 9, "height": 9}], "categories": [{"id": 1, "name": "cat"}], "annotations": [],
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.csv").write_text(SUITE)
    (tmp_path / "out.csv").write_text("id,answer\n1,yes\n2,yes\n")
    (tmp_path / "truth.json").write_text(json.dumps(COCO))
    (tmp_path / "found.json").write_text(
        json.dumps([{"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "score": 0.5}])
    )
    return tmp_path


def help_of(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 0
    return capsys.readouterr().out


def test_the_help_explains_ten_commands_and_names_the_others(capsys):
    known = {action.dest for action in parser()._subparsers._group_actions[0]._choices_actions}
    text = help_of(capsys, "--help")
    listed = [line.split()[0] for line in text.split("COMMAND\n")[1].split("\n\n")[0].splitlines() if line[4] != " "]
    assert listed == FIRST
    assert len(FIRST) == 10
    more = text.split("more: ")[1].split(" (--all")[0].replace("-\n", "-")
    assert {*listed, *(name.strip() for name in more.split(","))} == known
    assert all(f"    {name}" in help_of(capsys, "--help", "--all") for name in known)
    assert help_of(capsys, "--all") == help_of(capsys, "--help", "--all")


@pytest.mark.parametrize("name", ["suite.csv", "truth.json"])
def test_cases_alone_say_what_is_to_be_done(folder, name, capsys):
    assert main(["evaluate", name]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{name}: found cases without answers; expected answers beside them, `evaluate {name} OUTPUTS`, or --target "
        "MODEL, which is asked"
    ]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("suit.csv out.csv", "suit.csv: found no such file in {folder}; expected a file (did you mean 'suite.csv'"),
        ("suite.csv out.csv --map answr=answer", "(did you mean 'answer'?)"),
        ("suite.csv out.csv --map answer=anwser", "did you mean 'answer'?"),
        ("suite.csv tilde.csv", "only the column 'id~answer', in which '~' may separate columns"),
        ("suite.csv out.csv --evaluators faithfulness --judge m@localhost:1", "m@http://localhost:1"),
    ],
)
def test_usual_mistakes_say_the_way_on(folder, arguments, told, capsys):
    (folder / "tilde.csv").write_text("id~answer\n1~yes\n2~yes\n")
    assert main(["evaluate", *arguments.split(), "--quiet"]) == 2
    assert told.format(folder=folder) in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"), [("evaluate", "required: SUITE\n"), ("evaluate a b --seed x", "found 'x'; expected a whole")]
)
def test_wrong_arguments_are_told_in_words(arguments, told, capsys):
    with pytest.raises(SystemExit):
        main(arguments.split())
    assert told in capsys.readouterr().err


def test_metrics_of_the_data_set_without_a_value_are_3(folder, capsys):
    given = ["evaluate", "truth.json", "found.json", "--quiet", "--accept-findings", "--evaluators"]
    assert main([*given, "average_precision"]) == 3
    assert "has a value" in capsys.readouterr().err


def test_a_module_of_the_same_name_is_named(folder, monkeypatch):
    (folder / "metrics.py").write_text("def my_f1(): ...\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    assert not hasattr(metrics, "my_f1")
    with pytest.raises(AttributeError, match=r"Assay's package, .*, which hides .*metrics\.py; rename that file"):
        _ = metrics.my_f1
    with pytest.raises(ImportError, match="which hides"):
        from metrics import my_f1  # noqa: F401
