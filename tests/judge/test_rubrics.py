"""Rubrics of one's own: read from files, saved, chosen by name, and scored with a metric for each dimension."""

import json
from typing import Any

import pytest

from metrics import evaluate
from metrics.analysis import leaderboard
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.registry import choose
from metrics.judge.rubrics import DIMENSIONS, USUAL, USUAL_RUBRIC, Rubric, named_rubric, read_rubric, rubric_text
from metrics.judge.saved_objects import every, save
from metrics.reports.build import build
from metrics.store import Workspace

LEVELS = {"excellent": 1.0, "good": 0.8, "acceptable": 0.6, "poor": 0.3, "failed": 0.0}
SHARED: dict[str, Any] = {
    "factual_accuracy": {"weight": 0.30, "description": "Claims match ground truth", "levels": LEVELS},
    "tone": {"weight": 0.2, "description": "Friendly", "levels": {"yes": 1, "no": 0}},
}
TWO = """\
title: Support answers
EVALUATION_DIMENSIONS:
  tone:
    weight: 1
    description: Friendly and calm.
    levels: {kind: 1, plain: 0.5, rude: 0}
    meanings: {rude: it insults}
  completeness:
    weight: 3
    description: All asked is answered.
"""


@pytest.mark.parametrize("content", [SHARED, {"EVALUATION_DIMENSIONS": SHARED}], ids=["alone", "under-its-heading"])
def test_dimensions_by_name_are_read(content):
    found = read_rubric(json.dumps(content, indent="\t"), "Agent answers.json")
    assert (found.id, found.title) == ("agent-answers", "Agent answers")
    accuracy, tone = found.dimensions
    assert (accuracy.weight, accuracy.needs_any, accuracy.levels) == (0.3, ("expected_answers",), {})
    assert (tone.needs_any, tone.levels) == ((), {"yes": 1.0, "no": 0.0})


def test_yaml_keeps_words_words():
    text = "tone:\n  weight: 0.2\n  description: Friendly\n  levels: {yes: 1, no: 0}\n  zero_if_missing: true\n"
    (tone,) = read_rubric(text, "tone.yaml").dimensions
    assert (tone.levels, tone.zero_if_missing) == ({"yes": 1.0, "no": 0.0}, True)


@pytest.mark.parametrize("ending", [".json", ".yaml"])
@pytest.mark.parametrize("rubric", [USUAL_RUBRIC, read_rubric(TWO, "usual.yaml")], ids=["usual", "own"])
def test_a_written_rubric_reads_as_the_same(rubric, ending):
    assert read_rubric(rubric_text(rubric, ending), f"usual{ending}") == rubric


def test_every_problem_of_a_file_is_named():
    content = {
        "Tone!": {"weight": 0, "description": "", "levels": {"only": 1}},
        "b": {"weight": 1, "description": "B", "levels": {"up": 1.5, "down": 0}, "meanings": {}},
    }
    with pytest.raises(InputError) as failure:
        read_rubric(json.dumps(content), "bad.json")
    text = str(failure.value)
    assert "bad.json" in text
    for found in (
        "2 to 10 levels, each with its score",
        "a score from 0 to 1 for level 'up', not 1.5",
        "weight",
        "name",
    ):
        assert found in text


@pytest.mark.parametrize(("text", "expected"), [
    pytest.param("a: &a [x]\nb: *a\n", "without aliases", id="alias"),
    pytest.param("- 1\n", "JSON or YAML with the dimensions", id="list"),
    pytest.param("{", "JSON or YAML with the dimensions", id="broken"),
    pytest.param('{"a": 1}', "dimensions by name, each with weight", id="no-dimension"),
    pytest.param("{}", "at least 1 item", id="empty"),
])  # fmt: skip
def test_other_files_are_refused(text, expected):
    with pytest.raises(InputError, match=expected):
        read_rubric(text, "x.yaml")


def test_saved_rubrics_have_versions_and_names(tmp_path):
    own = read_rubric(TWO, "support.yaml")
    assert save(tmp_path, own).version == save(tmp_path, own).version == 1
    changed = own.model_copy(update={"title": "Support"})
    assert save(tmp_path, changed).version == 2
    assert every(tmp_path, Rubric) == [changed.model_copy(update={"version": 2})]
    assert named_rubric(tmp_path, "support", files=False).parameters["rubric"] == "support, version 2"
    assert named_rubric(tmp_path, "usual", files=False).dimensions == DIMENSIONS
    for name in ("nothing", "../support", str(tmp_path / "rubrics" / "support.json")):
        with pytest.raises(InputError, match=r"a rubric saved in the workspace \(usual, support\)"):
            named_rubric(tmp_path, name, files=False)


@pytest.mark.parametrize(("values", "expected"), [
    pytest.param({"levels": {"good": 0.5}}, {**USUAL, "good": 0.5}, id="some-of-the-usual"),
    pytest.param({"levels": {"yes": 1, "no": 0}}, {"yes": 1.0, "no": 0.0}, id="others"),
])  # fmt: skip
def test_levels_of_the_rubric(values, expected):
    _, parameters = choose(["rubric"], {"rubric": values})["rubric"]
    assert parameters.levels_of(DIMENSIONS[0]) == expected  # type: ignore[attr-defined]


@pytest.mark.parametrize(("values", "expected"), [
    ({"rubric": "mine"}, "a rubric saved in the workspace, not 'mine'"),
    ({"levels": {"one": 1}}, "2 to 10 levels"),
    (
        {"dimensions": [{"name": "passed", "weight": 1, "description": "x"}]},
        "another name than passed: a metric has it",
    ),
], ids=["unresolved", "levels", "reserved"])  # fmt: skip
def test_parameters_that_cannot_be_used(values, expected):
    with pytest.raises(InputError, match=expected):
        choose(["rubric"], {"rubric": values})


@pytest.fixture
def scored(workspace, tmp_path, judge_server):
    """Two cases by two models: `calm` is kind and thorough, `curt` plain and poor."""
    judge_server.say(
        "rubric.levels", lambda request: [{"level": "good" if "calm" in request.data["ANSWER"] else "poor"}]
    )
    judge_server.say(
        "rubric.own_levels", lambda request: [{"level": "kind" if "calm" in request.data["ANSWER"] else "plain"}]
    )
    (tmp_path / "support.yaml").write_text(TWO)
    (tmp_path / "suite.csv").write_text("case_id,question\n1,Why?\n2,How?\n")
    answers = "".join(f"{case},{model},{model} {case}\n" for model in ("calm", "curt") for case in (1, 2))
    (tmp_path / "outputs.csv").write_text("case_id,model,answer\n" + answers)
    return evaluate(
        tmp_path / "suite.csv",
        tmp_path / "outputs.csv",
        ["rubric"],
        judge={"model": "m", "base_url": judge_server.url},
        parameters={"rubric": {"rubric": str(tmp_path / "support.yaml")}},
    )


def test_each_dimension_is_a_metric_with_its_mean(scored):
    board = leaderboard(scored)
    assert [column.metric for column in board.columns if not column.minor] == [
        "rubric", "passed", "tone", "completeness",
    ]  # fmt: skip
    values = {(model, key.partition("/")[2]): cell.value for (model, key), cell in board.cells.items()}
    assert (values["calm", "tone"], values["curt", "tone"]) == (1.0, 0.5)
    assert values["calm", "rubric"] == pytest.approx((1 * 1.0 + 3 * 0.8) / 4)
    assert values["curt", "rubric"] == pytest.approx((1 * 0.5 + 3 * 0.3) / 4)
    assert scored.evaluators["rubric"]["rubric"] == "support, version 1"
    method = next(one for one in build(scored).methods if one.evaluator == "rubric")
    assert "tone" in [metric.name for metric in method.metrics]


def test_the_judge_sees_levels_and_meanings(scored, judge_server):
    shown = {call.data["DIMENSIONS"] for call in judge_server.calls}
    assert shown == {
        "[1] tone: Friendly and calm. Levels: kind (1 of 1); plain (0.5 of 1); rude: it insults.",
        "[1] completeness: All asked is answered.",
    }


def test_the_command_lists_shows_and_saves(tmp_path, workspace, capsys):
    (tmp_path / "support.yaml").write_text(TWO)
    assert (main(["rubric", str(tmp_path / "support.yaml"), "--save"]), main(["rubric"])) == (0, 0)
    assert "support  Support answers, version 1: tone 25%, completeness 75%" in capsys.readouterr().out
    assert main(["rubric", "support", "-o", str(tmp_path / "copy.json")]) == 0
    assert read_rubric((tmp_path / "copy.json").read_text(), "support.json") == named_rubric(
        Workspace().path, "support", files=False
    )
    assert main(["rubric", "nothing"]) == 2
    assert (
        "found 'nothing'; expected the id of a rubric saved in the workspace (usual, support)"
        in capsys.readouterr().err
    )
