"""The same evaluation asked at every door is the same evaluation, with the same refusals in the door's own words."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrics.cli.main import parser
from metrics.cli.options import arguments_of
from metrics.cli.run_command import evaluation_in, read_evaluations
from metrics.core.errors import InputError
from metrics.engine.evaluation import Evaluation, option_name
from metrics.library.evaluate import as_evaluation
from metrics.library.input_data import read_data
from metrics.library.prepare import Prepared, prepare

ASKED: dict[str, tuple[list[str], str, dict[str, Any]]] = {  # by flags, in assay.toml, in Python
    "nothing else": ([], "", {}),
    "evaluators": (["--evaluators", "rouge,bleu"], 'evaluators = ["rouge", "bleu"]', {"evaluators": ["rouge", "bleu"]}),
    "a preset": (["--preset", "quick"], 'preset = "quick"', {"preset": "quick"}),
    "a parameter": (
        ["--param", "rouge.use_stemmer=true"], "param.rouge.use_stemmer = true",
        {"parameters": {"rouge": {"use_stemmer": True}}},
    ),
    "a threshold": (
        ["--threshold", "rouge.rougeL=0.4"], 'threshold = {"rouge.rougeL" = 0.4}', {"threshold": {"rouge.rougeL": 0.4}},
    ),
    "a judge": (
        ["--judge", "gpt@http://localhost:1/v1", "--judge-budget", "calls=3"],
        'judge = "gpt@http://localhost:1/v1"\njudge_budget = {calls = 3}',
        {"judge": "gpt@http://localhost:1/v1", "judge_budget": {"calls": 3}},
    ),
    "a seed and a limit": (
        ["--seed", "7", "--case-timeout", "9"], "seed = 7\ncase_timeout = 9", {"seed": 7, "case_timeout": 9},
    ),
    "a result beside the run": (["--save-llm-result"], "save_llm_result = true", {"save_llm_result": True}),
    "a budget of cases": (["--budget-cases", "1"], "budget_cases = 1", {"budget_cases": 1}),
    "as in a system": (
        ["--as-in", "h2o", "--preset", "h2o"], 'as_in = "h2o"\npreset = "h2o"', {"as_in": "h2o", "preset": "h2o"},
    ),
    "a condition and a class": (
        ["--where", "case_id!=2", "--label-map", "Lima=capital", "--evaluators", "classification_text"],
        'where = "case_id!=2"\nlabel_map = {Lima = "capital"}\nevaluators = ["classification_text"]',
        {"where": ["case_id!=2"], "label_map": {"Lima": "capital"}, "evaluators": ["classification_text"]},
    ),
    "consistency": (["--run-consistency"], "run_consistency = true", {"run_consistency": True}),
    "a column and an encoding": (
        ["--map", "out.csv=answer=said", "--encoding", "out.csv=windows-1252"],
        'map = {"out.csv=answer" = "said"}\nencoding = {"out.csv" = "windows-1252"}',
        {"map": {"out.csv=answer": "said"}, "encoding": "out.csv=windows-1252"},
    ),
    "a model's name": (["--model-name", "mine"], 'model_name = "mine"', {"model_name": ["mine"]}),
    "bad rows": (["--keep-good-rows"], "keep_good_rows = true", {"keep_good_rows": True}),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workspace: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [("1", "Capital of Peru?", "Lima", "Lima"), ("2", "And of Chile?", "Santiago", "Lima, señor")]
    Path("suite.csv").write_text(
        "case_id,question,expected_answer\n" + "".join(f"{a},{b},{c}\n" for a, b, c, _ in rows)
    )
    Path("out.csv").write_bytes(
        ("case_id,said,answer\n" + "".join(f'{a},"{d}","{d}"\n' for a, _, _, d in rows)).encode("windows-1252")
    )
    Path("both.csv").write_text(
        "case_id,question,expected_answer,model,answer\n" + "".join(f'{a},{b},{c},m,"{d}"\n' for a, b, c, d in rows)
    )
    return tmp_path


@pytest.mark.parametrize(("flags", "keys", "arguments"), ASKED.values(), ids=ASKED)
def test_the_same_is_asked_at_every_door(folder, flags, keys, arguments):
    (folder / "assay.toml").write_text(f'[evaluate.a]\nsuite = "suite.csv"\noutputs = "out.csv"\n{keys}\n')
    values = read_evaluations(folder / "assay.toml")["a"]
    by_command = Evaluation.of(parser().parse_args(["evaluate", "suite.csv", "out.csv", "--name", "a", *flags]))
    in_file = evaluation_in(values)
    chosen = arguments.get("evaluators")
    rest = {name: value for name, value in arguments.items() if name != "evaluators"}
    in_python = as_evaluation("suite.csv", "out.csv", chosen, {"name": "a", **rest})
    assert by_command == in_file == Evaluation.of(in_python)
    assert Evaluation.of(parser().parse_args(arguments_of(values))) == by_command

    def facts(prepared: Prepared) -> Any:
        data = prepared.data
        return (
            prepared.evaluators,
            prepared.parameters,
            prepared.resources,
            data.suite.fingerprint,
            data.outputs.fingerprint,
        )

    assert facts(prepare(by_command, "command")) == facts(prepare(in_file, "command")) == facts(prepare(in_python))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a threshold of nothing": ({"evaluators": ["rouge"], "threshold": ["x=1"]}, "{threshold}: found 'x'"),
    "an encoding of another file": ({"encoding": ["x=utf-8"]}, "{encoding}: found the file 'x'"),
    "too many names": ({"model_name": ["a", "b"]}, "{model_name}: found 2 names; expected at most one a file: 1"),
    "a fix of texts": ({"fix": ["m=xyxy"]}, "{fix}: found a suite of text; expected a suite of detection"),
    "a judge's option alone": ({"panel": "mean"}, "{judge}: found no judge, but options for one"),
    "a budget of nothing": ({"judge": ["m"], "judge_budget": ["x=1"]}, "{judge_budget}: found 'x=1'"),
    "a condition on nothing": ({"where": ["x=1"]}, "{where}: found 'x'; expected one of"),
    "a class of nothing": ({"label_map": ["x"]}, "{label_map}: found 'x'; expected NAME=CLASS"),
    "outputs and a target": ({"target": ["m"]}, "{target}: found OUTPUTS out.csv; expected outputs or targets"),
}


@pytest.mark.parametrize(("values", "told"), REFUSED.values(), ids=REFUSED)
def test_refusals_are_the_same_in_the_words_of_the_door(folder, values, told):
    evaluation = Evaluation(suite="suite.csv", outputs="out.csv", **values)
    names = list(Evaluation.model_fields)
    words = {
        "command": {name: "--" + name.replace("_", "-") for name in names}, "python": {name: name for name in names},
        "page": {name: option_name(name, "page") for name in names},
    }  # fmt: skip
    for door, named in words.items():
        with pytest.raises(InputError) as refused:
            prepare(evaluation, door)  # type: ignore[arg-type]
        assert told.format(**named) in str(refused.value)


def test_a_file_with_cases_and_answers_needs_no_outputs(folder):
    data = read_data(as_evaluation("both.csv", None, None, {}), "python")
    assert (len(data.suite), data.outputs.models) == (2, ("m",))
    records = [{"case_id": "1", "question": "a?", "expected_answers": ["b"], "model": "m", "answer": "b"}]
    data = read_data(as_evaluation(records, None, None, {}), "python")
    assert (len(data.suite), data.outputs.models, data.outputs.outputs["answer"].to_pylist()) == (1, ("m",), ["b"])
    with pytest.raises(InputError, match="neither"):
        as_evaluation(data.suite, None, None, {})


def test_an_argument_that_is_none_says_which_may_be_meant():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'tresholds'; did you mean 'threshold'\?"):
        as_evaluation("suite.csv", None, None, {"tresholds": {}})
    with pytest.raises(InputError, match="column seed: found 'x'; expected a whole number"):
        as_evaluation("suite.csv", None, None, {"seed": "x"})


def test_boxes_of_another_numbering_are_named_with_their_fix(tmp_path):
    image = {"width": 100, "height": 100}
    boxes = [[10, 10 + n, 40, 30] for n in range(10)]
    truth = {
        "images": [{"id": n + 1, "file_name": f"{n}.png", **image} for n in range(10)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": n + 1, "image_id": n + 1, "category_id": 1 + n % 2, "bbox": box, "area": 1200, "iscrowd": 0}
            for n, box in enumerate(boxes)
        ],
    }
    found = [{"image_id": n + 1, "category_id": n % 2, "bbox": box, "score": 0.9} for n, box in enumerate(boxes)]
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    (tmp_path / "m.json").write_text(json.dumps(found))
    with pytest.raises(InputError) as refused:
        prepare(as_evaluation(tmp_path / "truth.json", tmp_path / "m.json", None, {}))
    assert "add fix=['m=classes+1']" in str(refused.value)
    fixed = prepare(as_evaluation(tmp_path / "truth.json", tmp_path / "m.json", None, {"fix": ["m=classes+1"]}))
    assert [change["change"] for change in fixed.data.outputs.changes] == ["classes+1"]
