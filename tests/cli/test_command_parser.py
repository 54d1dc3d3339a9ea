"""Mistakes in the arguments of a command: what is told, in two lines, with exit code 2."""

import pytest

from metrics.cli.main import main
from metrics.store import Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

ASSAY = "python -m metrics"


@pytest.mark.parametrize(("arguments", "told"), [
    pytest.param("evalute a b", "COMMAND: found 'evalute'; expected one of 4", id="command"),
    pytest.param("evalute a b", "(did you mean 'evaluate'", id="command meant"),
    pytest.param("evaluate a b --evaluatrs x", "unknown option --evaluatrs: did you mean '--evaluators'", id="flag"),
    pytest.param("evaluate a b --zzz=x", "unknown option --zzz\n", id="flag like none"),
    pytest.param("evaluate a b --task txt", "agent, regression (did you mean 'text'?)", id="value of a flag"),
    pytest.param("export latest --what aggregate", "one of 1", id="value of a flag with many"),
    pytest.param("judge instal", "list, bias, preferences (did you mean 'install'?)", id="action"),
    pytest.param("warm-up extra", "unexpected argument 'extra'", id="too many"),
])  # fmt: skip
def test_mistakes(arguments, told, capsys):
    with pytest.raises(SystemExit) as exit:
        main(arguments.split())
    text = capsys.readouterr().err
    assert (exit.value.code, told in text) == (2, True), text
    assert len(text.splitlines()) == 2
    assert text.splitlines()[1].startswith(f"`{ASSAY}")


@pytest.mark.parametrize(("arguments", "told"), [
    (["--evaluators", "rogue"], "did you mean 'rouge'?; `python -m metrics evaluators` lists them"),
    (["--evaluators", "rouge", "--param", "rouge.tresholds=1"], "column rouge.tresholds: found"),
    (["--evaluators", "rouge", "--param", "rouge.tresholds=1"], "did you mean 'thresholds' or 'threshold'?"),
    (["--preset", "quik"], "did you mean 'quick'?"),
    (["--evaluators", "rouge", "--threshold", "rougel=1"], "did you mean 'rouge.rougeL'?"),
    (["--evaluators", "rouge", "--fail-under", "rouge.ruogeL=1"], "did you mean 'rouge.rougeL'"),
])  # fmt: skip
def test_names(arguments, told, tmp_path, capsys):
    file = tmp_path / "both.csv"
    file.write_text("case_id,question,expected_answer,model,answer\n1,q,yes,m,yes\n")
    assert main(["evaluate", str(file), "--workspace", str(tmp_path / "own"), *arguments]) == 2
    assert told in capsys.readouterr().err


def test_runs(workspace, capsys):
    run = finished(Workspace(), text_suite(), text_outputs(), "rouge")
    assert main(["report", run.id[:-1] + "x", "-o", "report.json"]) == 2
    assert f"did you mean '{run.id}'? `python -m metrics runs` lists" in capsys.readouterr().err
