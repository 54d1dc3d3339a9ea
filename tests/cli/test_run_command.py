"""`run`: assay.toml becomes the arguments of evaluate; what is wrong in it is told at once."""

import json
from pathlib import Path

import jsonschema
import pytest

from metrics import Workspace
from metrics.cli.main import main, parser
from metrics.cli.options import arguments_of
from metrics.cli.run_command import evaluation_in, read_evaluations, schema
from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.engine.evaluation import Evaluation
from tests.library.plugin_scenes import write_data, write_plugin

WHOLE = """
plugins = ["evals.py:brevity"]

[defaults]
evaluators = ["rouge", "brevity"]
threshold = { "rouge.rougeL" = 0.5 }

[evaluate.nightly]
suite = "suite.csv"
outputs = ["outputs.csv"]
fail_under = { "rouge.rougeL" = 0.1, brevity.words_over = 1 }
threshold.brevity.words_over = 4
junit = "j.xml"
pdf = "r.html"
keep_good_rows = true
accept_findings = false

[evaluate.nightly.param.rouge]
use_stemmer = true
variants = ["rouge1", "rougeL"]

[evaluate.smoke]
suite = "suite.csv"
outputs = "outputs.csv"
evaluators = "rouge"
name = "Smoke test"
seed = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("ASSAY_ALLOW_PLUGINS", "1")
    write_data(tmp_path)
    write_plugin(tmp_path / "evals.py")
    return tmp_path


def project(folder: Path, text: str, name: str = "assay.toml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_is_the_arguments_of_the_command(folder):
    found = read_evaluations(project(folder, WHOLE))
    assert list(found) == ["nightly", "smoke"]
    asked = evaluation_in(found["nightly"])
    assert (asked.suite, asked.outputs, asked.evaluators) == ("suite.csv", ("outputs.csv",), ("rouge", "brevity"))
    assert asked.plugin == ("evals.py:brevity",)
    assert asked.fail_under == ("rouge.rougeL=0.1", "brevity.words_over=1")
    assert asked.threshold == ("rouge.rougeL=0.5", "brevity.words_over=4"), "tables are merged with the defaults"
    assert asked.param == {"rouge": {"use_stemmer": True, "variants": ["rouge1", "rougeL"]}}
    assert (asked.keep_good_rows, asked.accept_findings, asked.name) == (True, False, "nightly")
    smoke = evaluation_in(found["smoke"])
    assert (smoke.evaluators, smoke.name, smoke.seed) == (("rouge",), "Smoke test", 7)


@pytest.mark.parametrize("name", ["nightly", "smoke"])
def test_the_printed_command_asks_the_same(folder, name):
    values = read_evaluations(project(folder, WHOLE))[name]
    assert Evaluation.of(parser().parse_args(arguments_of(values))) == evaluation_in(values)


def test_every_argument_of_evaluate_is_a_key():
    """And the file can say nothing else: what flags cannot say, it cannot."""
    options = vars(parser().parse_args(["evaluate", "suite.csv"]))
    known = schema()["$defs"]["Evaluation"]["properties"]
    assert known.keys() == options.keys() - {"command"}


@pytest.mark.parametrize(("text", "told"), [
    ("[evaluate.a]\nsute = 's'", "column evaluate.a.sute: found the unknown key 'sute'; expected 'suite'; did you"),
    ("[evaluate.a]\nsuite = 's'\nseed = 'x'", "column evaluate.a.seed: found 'x'; expected a whole number"),
    ("[evaluate.a]\nsuite = 's'\ntask = 'x'", "column evaluate.a.task: found 'x'; expected one of text, class"),
    ("[evaluate.a]\nsuite = 's'\nquiet = 'x'", "column evaluate.a.quiet: found 'x'; expected true or false"),
    ("[evaluate.a]\nsuite = 's'\noutputs = 3", "column evaluate.a.outputs: found 3; expected a text or a list of"),
    ("[evaluate.a]\nsuite = 's'\nfail_under = [1]", "column evaluate.a.fail_under: found [1]; expected a table, a"),
    ("[evaluate.a]\noutputs = 's'", "column evaluate.a.suite: found no suite; expected suite = FILE"),
    ("[evaluate]", "column evaluate: found {}; expected a table"),
    ("plugins = []", "column evaluate: found no evaluate; expected [evaluate.NAME]"),
    ("plugins = 3\n[evaluate.a]\nsuite = 's'", "column plugins: found 3; expected a list of MODULE:OBJECT"),
    ("[default]\n[evaluate.a]\nsuite = 's'", "found the unknown key 'default'; expected 'defaults'; did you mean"),
    ("[defaults]\nzzz = 3\n[evaluate.a]\nsuite = 's'", "column defaults.zzz: found the unknown key 'zzz'; exp"),
    ("[evaluate", "TOML that cannot be read"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_key(folder, text, told):
    with pytest.raises(InputError) as failure:
        read_evaluations(project(folder, text))
    assert told in str(failure.value)
    assert len(failure.value.problems) == 1


@pytest.mark.parametrize("name", ["assay.toml", "pyproject.toml"])
def test_all_of_it_is_done_and_the_gates_decide(folder, name, monkeypatch, capsys):
    text = WHOLE if name == "assay.toml" else WHOLE.replace("[", "[tool.assay.").replace('[tool.assay."', '["')
    if name == "pyproject.toml":
        text = '[project]\nname = "x"\n[tool.assay]\n' + WHOLE.replace("\n[", "\n[tool.assay.")
    project(folder, text.replace('variants = ["rouge1", "rougeL"]\n', ""), name)
    monkeypatch.chdir(folder)
    assert main(["run", "--quiet"]) == 1, "brevity is 2 over, and the gate wants at most 1"
    runs = Workspace(folder / "workspace").runs()
    assert sorted(run.name for run in runs) == ["Smoke test", "nightly"]
    assert 'failures="1"' in (folder / "j.xml").read_text(encoding="utf-8")
    assert "Brevity" in (folder / "r.html").read_text(encoding="utf-8")
    assert (main(["run", "smoke", "--quiet"]), Path.cwd()) == (0, folder)
    capsys.readouterr()


def test_files_are_beside_the_project_file_wherever_one_is(folder, tmp_path_factory, monkeypatch):
    monkeypatch.delenv("ASSAY_WORKSPACE")
    file = project(folder, "[evaluate.a]\nsuite = 'suite.csv'\noutputs = 'outputs.csv'\nevaluators = 'rouge'\n")
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert (main(["run", str(file), "--quiet"]), len(Workspace(folder / "workspace").runs())) == (0, 1)
    file.write_text(f'{file.read_text()}\nworkspace = "named-by-the-file"\n')
    assert main(["run", str(file), "--quiet", "--workspace", "mine"]) == 0
    assert len(Workspace(Path("mine")).runs()) == 1
    assert main(["run"]) == 2, "no project file here"


def test_check_prints_the_commands_and_one_that_fails_stops_no_other(folder, capsys):
    assert main(["run", str(project(folder, WHOLE)), "smoke", "--check"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("evaluate ")
    assert "'--name=Smoke test'" in told
    assert "--seed=7" in told
    assert not (folder / "workspace").exists()
    text = "[evaluate.a]\nsuite = 'absent.csv'\n[evaluate.b]\nsuite = 'suite.csv'\noutputs = 'outputs.csv'\n"
    assert main(["run", str(project(folder, text + "evaluators = 'rouge'\n")), "--quiet"]) == 2
    assert "absent.csv" in capsys.readouterr().err
    assert [run.name for run in Workspace(folder / "workspace").runs()] == ["b"]
    assert main(["run", str(folder / "assay.toml"), "c"]) == 2
    assert "found 'c'; expected one of a, b" in capsys.readouterr().err


def test_the_schema_accepts_what_the_reader_accepts(folder, capsys):
    import tomllib

    assert main(["run", "--schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator.check_schema(printed)
    checked = jsonschema.Draft202012Validator(printed)
    assert not list(checked.iter_errors(tomllib.loads(WHOLE)))
    for wrong in (
        "[evaluate.a]\nsute = 's'",
        "[evaluate]",
        "[evaluate.a]\nseed = 'x'",
        "[defaults]\nx = 1\n[evaluate.a]",
    ):
        assert list(checked.iter_errors(tomllib.loads(wrong))), wrong


def test_plugins_of_the_project_file_are_evaluators_in_its_folder(folder, monkeypatch, capsys):
    assert "brevity" not in evaluators()
    project(folder, 'plugins = ["evals.py:brevity", "gone.py:x"]\n[evaluate.a]\nsuite = "suite.csv"\n')
    monkeypatch.chdir(folder)
    assert (evaluators()["brevity"].title, list(evaluators())[-1]) == ("Brevity", "brevity")
    assert main(["evaluators"]) == 0
    printed = capsys.readouterr()
    assert "brevity  " in printed.out
    assert "gone.py:x cannot be loaded: FileNotFoundError" in printed.err
