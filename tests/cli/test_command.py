"""python -m metrics …: what each command prints, writes and exits with."""

import json
import subprocess
import sys
from argparse import SUPPRESS, ArgumentParser, _SubParsersAction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from metrics.cli.main import main, parser
from metrics.core.registry import evaluators
from metrics.store import Workspace
from tests.ingest.files import packed
from tests.ingest.test_mask_images import mask

SUITE = "case_id,question,expected_answer,tags\n007,Who?,NA,a\n8,What?,the cat sat on the mat,a;b\n9,Where?,here,b\n"
ONE = "case_id,answer\n007,NA\n8,the cat is on the mat\n"
MANY = "case_id,model,answer\n007,x,NA\n8,x,a dog\n007,y,none\n8,y,the cat sat on the mat\n"


@pytest.fixture
def files(tmp_path, workspace):
    for name, text in (("suite.csv", SUITE), ("one.csv", ONE), ("many.csv", MANY)):
        (tmp_path / name).write_text(text)
    return tmp_path


def run(files: Path, *arguments: str) -> int:
    return main([str(files / text) if text.endswith((".csv", ".pdf", ".xml")) else text for text in arguments])


def test_evaluate_prints_the_leaderboard_and_the_id_last(files, capsys):
    assert run(files, "evaluate", "suite.csv", "many.csv", "--evaluators", "rouge") == 0
    out = capsys.readouterr().out
    assert "rouge · rougeL ↑" in out
    assert out.splitlines()[-1] == Workspace().run("latest").id


def test_missing_models_are_reported_before_the_run(files, capsys):
    arguments = ("evaluate", "suite.csv", "one.csv", "--evaluators", "rouge,perplexity,toxicity_classifier")
    assert run(files, *arguments, "--language-model", "/no/such/model") == 0
    *receipt, missing, first, second = capsys.readouterr().err.splitlines()[:5]
    assert receipt == ["suite.csv: 3 rows, 4 parts used", "one.csv: 2 rows, 2 parts used"]
    assert missing == "one has no answer to 1 of 3 cases: these are unscored"
    assert first.startswith("perplexity will be skipped: there is no folder '/no/such/model'; name one with")
    assert second.startswith("toxicity_classifier will be skipped: no classifier is chosen")
    assert second.endswith("such as unitary/toxic-bert")
    assert Workspace().run("latest").spec.resources == {"language_model": "/no/such/model"}
    assert run(files, *arguments, "--quiet", "--param", "toxicity_classifier.classifier=/no/such/one") == 0
    assert capsys.readouterr().err == ""
    scores = Workspace().run("latest").scores.query("evaluator == 'toxicity_classifier'")
    assert scores["reason"].iloc[0].startswith("there is no folder '/no/such/one'")


def test_thresholds_of_any_metric(files, capsys):
    more = ("--evaluators", "rouge,bleu", "--param", "rouge.threshold=0.4", "--quiet")
    assert run(files, "evaluate", "suite.csv", "one.csv", *more, "--threshold", "rouge2=0.2") == 0
    values = Workspace().run("latest").evaluators
    assert (values["rouge"]["threshold"], values["rouge"]["thresholds"]) == (0.4, {"rouge2": 0.2})
    assert values["bleu"]["thresholds"] == {}
    assert run(files, "evaluate", "suite.csv", "one.csv", *more, "--threshold", "rouge.rouge9=0.2") == 2
    assert "--threshold: found 'rouge.rouge9'; expected one of rouge.rouge1, rouge.rouge2" in capsys.readouterr().err
    assert run(files, "evaluate", "suite.csv", "one.csv", *more, "--threshold", "rouge2=high") == 2
    assert "found 'high'; expected a number" in capsys.readouterr().err


@pytest.mark.parametrize(("gate", "code"), [
    pytest.param("rougeL=0.1", 0, id="met"),
    pytest.param("rouge.rougeL=0.99", 1, id="missed"),
    pytest.param("longest_repeated_substring=1", 0, id="lower-is-better-met"),
    pytest.param("longest_repeated_substring=0", 1, id="lower-is-better-missed"),
])  # fmt: skip
def test_fail_under(files, gate, code):
    """Law: JUnit reports a failure exactly where the command exits with 1, whatever the default thresholds say."""
    chosen = ("--evaluators", "rouge,bleu,looping_detection", "--threshold", "bleu4=0.75")
    arguments = ("evaluate", "suite.csv", "one.csv", *chosen)
    assert run(files, *arguments, "--fail-under", gate, "--junit", "gates.xml", "--quiet") == code
    root = ET.parse(files / "gates.xml").getroot()
    assert len(root.findall(".//testcase")) == 1
    assert len(root.findall(".//failure")) == int(root.attrib["failures"]) == code
    assert any(entry.attrib["value"].startswith("missed") for entry in root.iter("property"))


def test_model_names_maps_and_parameters(files):
    (files / "other.csv").write_text("id,said\n8,The CAT sat on the mats\n")
    code = run(
        files, "evaluate", "suite.csv", "other.csv", "--model-name", "mine", "--map", "answer=said", "--evaluators",
        "rouge", "--param", "rouge.use_stemmer=true", "--param", "rouge.threshold=0.5", "--name", "a try", "--quiet",
    )  # fmt: skip
    assert code == 0
    latest = Workspace().run("latest")
    assert (latest.models, latest.name) == (("mine",), "a try")
    assert latest.evaluators["rouge"]["use_stemmer"] is True
    scored = latest.scores.query("case_id == '8' and metric == 'rouge1'")["value"].tolist()
    assert scored == [1.0]


def test_masks_are_evaluated_from_zips(tmp_path, workspace, capsys):
    rows = [[0, 0, 1, 1], [0, 0, 1, 1]]
    truth = packed(tmp_path / "gt.zip", {"a.png": mask(rows), "b.png": mask(rows), "labels.txt": "road\nsky\n"})
    model = packed(tmp_path / "model_a.zip", {"a.png": mask(rows), "b.png": mask([[0, 0, 0, 1]] * 2)})
    assert main(["evaluate", str(truth), str(model), "--evaluators", "segmentation_iou"]) == 0
    out = capsys.readouterr().out
    assert "segmentation_iou · miou ↑\n  model_a  0.775" in out  # (8/10 + 6/8) / 2
    run = Workspace().run("latest")
    by_label = run.aggregates.query("metric == 'iou'").set_index("label")["value"].to_dict()
    assert by_label == pytest.approx({"road": 8 / 10, "sky": 6 / 8})
    assert run.scores.query("metric == 'image_miou'")["value"].tolist() == pytest.approx([1.0, (4 / 6 + 2 / 4) / 2])
    assert run.curves("segmentation_iou")["count"].sum() == 16


class TestBadInput:
    @pytest.mark.parametrize(("arguments", "said"), [
        pytest.param(("suite.csv", "one.csv", "--evaluators", "rogue"), "found 'rogue'", id="evaluator"),
        pytest.param(("suite.csv", "one.csv", "--param", "rouge=1"), "EVALUATOR.NAME=VALUE", id="param"),
        pytest.param(
            ("suite.csv", "one.csv", "--evaluators", "rouge", "--fail-under", "bleu4=1"), "rouge.rougeL", id="gate"
        ),
        pytest.param(("suite.csv", "one.csv", "--fail-under", "rougeL=high"), "METRIC=NUMBER", id="gate-number"),
        pytest.param(("suite.csv", "absent.csv"), "absent.csv", id="no-file"),
        pytest.param(("suite.csv",), "suite.csv: found cases without answers", id="no-answers"),
        pytest.param(("suite.csv", "one.csv", "--map", "answer"), "CANONICAL=COLUMN", id="map"),
        pytest.param(("suite.csv", "--model-name", "m"), "--model-name", id="nothing-to-name"),
        pytest.param(("suite.csv", "one.csv", "--pdf", "report.doc"), "the ending 'doc'", id="report-ending"),
    ])  # fmt: skip
    def test_is_reported_on_standard_error_and_nothing_is_written(self, files, workspace, capsys, arguments, said):
        assert run(files, "evaluate", *arguments) == 2
        captured = capsys.readouterr()
        assert said in captured.err
        assert "Traceback" not in captured.err
        assert (captured.out, list(workspace.iterdir())) == ("", [])

    def test_every_bad_row_is_listed(self, files, capsys):
        (files / "one.csv").write_text("case_id,answer\n007,a\n007,b\nnowhere,c\n")
        assert run(files, "evaluate", "suite.csv", "one.csv") == 2
        *lines, advice = capsys.readouterr().err.splitlines()
        assert ["row 3" in line or "row 4" in line for line in lines] == [True, True]
        assert advice == "--keep-good-rows skips these rows and takes the good ones"

    def test_rows_that_skipping_does_not_mend_are_no_advice(self, files, capsys):
        (files / "one.csv").write_text("case_id,remark\n007,a\n")
        assert run(files, "evaluate", "suite.csv", "one.csv") == 2
        assert "--keep-good-rows" not in capsys.readouterr().err


def test_every_option_is_documented():
    def check(command: ArgumentParser, name: str) -> None:
        for action in command._actions:
            if isinstance(action, _SubParsersAction):
                for sub, inner in action.choices.items():
                    check(inner, f"{name} {sub}")
                assert all(choice.help for choice in action._choices_actions), name
            else:
                assert action.help, f"{name} {action.dest}"
                assert action.help != SUPPRESS, f"{name} {action.dest}"

    check(parser(), "")


def test_report_runs_and_what_cannot_be_done_to_a_finished_run(files, capsys):
    run(files, "evaluate", "suite.csv", "many.csv", "--evaluators", "rouge", "--quiet")
    run_id = capsys.readouterr().out.strip()
    assert main(["report", run_id, "-o", str(files / "report.pdf")]) == 0
    assert (files / "report.pdf").read_bytes().startswith(b"%PDF")
    assert main(["report", run_id, "-o", str(files / "report.html"), "--sections", "summary, methods"]) == 0
    page = (files / "report.html").read_text(encoding="utf-8")
    assert "What to do next" in page
    assert "How is each number computed?" in page
    assert "What was evaluated, and how can it be repeated?" not in page
    assert main(["report", run_id, "-o", str(files / "report.html"), "--sections", "all"]) == 2
    assert "report sections: found 'all'; expected some of summary" in capsys.readouterr().err
    assert (main(["report", run_id, "-o", str(files / "report.doc")]), main(["runs"])) == (2, 0)
    assert run_id in capsys.readouterr().out
    for command in ("resume", "cancel"):
        assert main([command, run_id]) == 2
        assert "is finished" in capsys.readouterr().err


def test_evaluators_lists_what_the_registry_has(capsys):
    assert main(["evaluators", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [entry["id"] for entry in listed] == list(evaluators())
    assert set(listed[0]["metrics"][0]) >= {"name", "range", "direction", "threshold"}
    main(["evaluators"])
    assert "rouge" in capsys.readouterr().out


def test_it_runs_as_a_module_without_heavy_imports(project):
    code = (
        "import sys; from metrics.cli.main import main; main(['evaluators']); "
        "heavy = ('torch', 'litellm', 'sklearn', 'streamlit', 'sentence_transformers'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_agents_with_their_traces_and_files(files, capsys):
    (files / "tasks.jsonl").write_text(
        '{"case_id": "a", "question": "Plot it."}\n{"case_id": "b", "question": "Count it."}\n'
    )
    (files / "agent.jsonl").write_text(
        '[{"role": "user", "content": "Plot it."}, {"role": "assistant", "content": "Saved /mnt/plot.json."}]\n'
        '[{"role": "user", "content": "Count it."}, {"role": "assistant", "content": "There are 3."}]\n'
    )
    made = packed(files / "made.zip", {"a/plot.json": '{"bars": 3}', "a/notes.md": " ", "b/count.csv": "n\n3\n"})
    suite, outputs = str(files / "tasks.jsonl"), str(files / "agent.jsonl")
    assert main(["evaluate", suite, outputs, "--artifacts", str(made), "--evaluators", "agent_sanity"]) == 0
    assert "agent  0.750" in capsys.readouterr().out
    scores = Workspace().run("latest").scores.set_index("case_id")
    assert scores["value"].to_dict() == {"a": 0.5, "b": 1.0}
    packed(made, {"a/plot.json": "{}", "../x.json": "{}"})
    assert main(["evaluate", suite, outputs, "--artifacts", str(made), "--evaluators", "agent_sanity"]) == 2
    assert "made.zip: found entry '../x.json': a path that leaves the archive" in capsys.readouterr().err
