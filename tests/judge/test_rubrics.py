"""Rubrics of one's own: read from files, saved, chosen by name, and scored with a metric for each dimension."""

import json
import re
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


SOURCES_ALONE = [
    one.model_copy(update={"needs_any": ("retrieved_contexts",)} if one.name == "source_quality" else {}).model_dump()
    for one in DIMENSIONS
]


@pytest.mark.parametrize(("parameters", "expected", "said"), [
    pytest.param({}, {"cited": (0.8, 1), "uncited": (0.6, 0), "unsourced": (0.8, 1)}, ["citation", "source"],
                 id="missing-citations-and-sources-fail"),
    pytest.param({"zero_if_missing": False}, {"cited": (0.8, 1), "uncited": (0.8, 1), "unsourced": (0.8, 1)}, [],
                 id="left-out"),
    pytest.param({"dimensions": SOURCES_ALONE}, {"cited": (0.8, 1), "uncited": (0.6, 0), "unsourced": (0.72, 1)},
                 ["citation", "source"], id="sources-alone-are-a-tenth"),
    pytest.param({"dimensions": SOURCES_ALONE, "zero_if_missing": False, "threshold": 0.75},
                 {"cited": (0.8, 1), "uncited": (0.8, 1), "unsourced": (0.8, 1)}, [], id="left-out-they-raise-it"),
])  # fmt: skip
def test_what_an_answer_leaves_out_does_not_raise_its_score(
    workspace, tmp_path, judge_server, parameters, expected, said
):
    """An agent that is good (.8) in all that it does; it cites its sources, nothing, or what it does not show."""
    judge_server.say("claims", {"claims": ["It opened in 1889."]})
    judge_server.say("rubric.accuracy", [{"importance": "major", "accuracy": "good"}])
    judge_server.say(
        "rubric.levels",
        lambda request: [{"level": "good"}] * len(re.findall(r"(?m)^\[\d\]", request.data["DIMENSIONS"])),
    )
    (tmp_path / "suite.csv").write_text("case_id,question,expected_answer\n1,When?,1889\n")
    rows = [
        {"case_id": "1", "model": "cited", "answer": "In 1889.", "citations": ["a"], "retrieved_contexts": ["1889."]},
        {"case_id": "1", "model": "uncited", "answer": "In 1889."},
        {"case_id": "1", "model": "unsourced", "answer": "In 1889 [1]."},
    ]
    trace = json.dumps({"steps": [{"tool": "search"}]})
    (tmp_path / "outputs.jsonl").write_text("".join(json.dumps(row | {"trace": trace}) + "\n" for row in rows))
    judge = {"model": "m", "base_url": judge_server.url}
    run = evaluate(tmp_path / "suite.csv", tmp_path / "outputs.jsonl", ["rubric"], judge=judge,
                   parameters={"rubric": parameters})  # fmt: skip
    scores = run.scores.set_index(["model", "metric"])
    assert {
        model: (pytest.approx(scores.loc[(model, "rubric"), "value"]), scores.loc[(model, "passed"), "value"])
        for model in expected
    } == expected
    evidence = json.loads(scores.loc[("uncited", "rubric"), "evidence"])
    missing = [row for row in evidence["verdicts"]["dimensions"] if row["label"] == "missing"]
    assert [row["text"].partition("_")[0] for row in missing if "which scores 0" in row["reason"]] == said


def test_the_dimensions_of_an_earlier_version_are_the_same_metrics():
    """A run or a monitor of then has all dimensions written out, none of which scores 0 for what is missing."""
    before = [one.model_dump() | {"zero_if_missing": False} for one in DIMENSIONS]
    now, then = (choose(["rubric"], {"rubric": values})["rubric"][0] for values in ({}, {"dimensions": before}))
    assert then.metrics == now.metrics


@pytest.mark.parametrize(("own", "zero"), [
    ({}, True), ({"needs_any": ["citations"]}, False), ({"zero_if_missing": False}, False),
    ({"needs_any": ["citations"], "zero_if_missing": True}, True),
], ids=["as-the-usual-one", "says-what-it-needs", "says-no", "says-yes"])  # fmt: skip
def test_a_dimension_keeps_what_it_says_of_missing_data(own, zero):
    content = {"citation_accuracy": {"weight": 1, "description": "Right.", **own}}
    assert read_rubric(json.dumps(content), "x.json").dimensions[0].zero_if_missing is zero


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
