"""Gates on the command line: exit code, JUnit, Markdown and printed lines are one."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from metrics.cli.main import main
from metrics.ingest import load_outputs, read_suite
from metrics.store import Workspace
from tests.engine.engine_scenes import finished

SUITE = "case_id,question,expected_answer\n" + "".join(f"c{n},q{n},the answer is number {n}\n" for n in range(16))
GOOD = "case_id,model,answer\n" + "".join(f"c{n},m,the answer is number {n}\n" for n in range(16))
POOR = "case_id,model,answer\n" + "".join(f"c{n},m,the answer {'is nowhere' * (n % 4 > 0)}\n" for n in range(16))


@pytest.fixture
def folder(tmp_path, workspace):
    for name, text in (("suite", SUITE), ("good", GOOD), ("poor", POOR)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def evaluate(folder: Path, outputs: str, *more: str) -> int:
    files = [str(folder / "suite.csv"), str(folder / f"{outputs}.csv")]
    return main(["evaluate", *files, "--evaluators", "rouge,looping_detection", *more])


def scored(folder: Path, outputs: str) -> str:
    """The id of a run of these outputs, made in this process."""
    suite = read_suite(folder / "suite.csv")
    answers = load_outputs([folder / f"{outputs}.csv"], suite=suite).value
    return finished(Workspace(), suite, answers, "rouge", "looping_detection").id


@pytest.mark.parametrize(("outputs", "gates", "code", "failed"), [
    pytest.param("good", ["--fail-if-worse"], 0, 0, id="the same"),
    pytest.param("poor", ["--fail-if-worse"], 1, 1, id="significantly worse"),
    pytest.param("poor", ["--fail-if-worse", "looping", "--quiet"], 0, 0, id="a metric that is not"),
    pytest.param("poor", ["--fail-if-worse", "rouge1,rouge2", "looping"], 1, 2, id="several metrics"),
    pytest.param("poor", ["--fail-under", "rougeL=1", "--fail-under", "rougeL=0"], 1, 1, id="a limit"),
    pytest.param("good", ["--fail-under", "rougeL.lower=0.999"], 1, 1, id="a bound"),
    pytest.param("good", ["--fail-under", "rougeL.lower=0.5"], 0, 0, id="a bound that is met"),
    pytest.param("poor", [], 0, 0, id="a baseline without a gate"),
    pytest.param("good", ["--non-inferior", "rougeL=0.3", "--non-inferior", "looping=.3"], 0, 0, id="within margins"),
    pytest.param("good", ["--non-inferior", "rougeL=0.01"], 1, 1, id="too few cases"),
    pytest.param("poor", ["--non-inferior", "rouge1=0.1", "--fail-if-worse", "looping"], 1, 1, id="beyond a margin"),
    pytest.param("poor", ["--fail-if-worse", "rougeL", "--quiet"], 1, 1, id="quietly"),
    pytest.param("poor", ["--fail-if-worse", "rougeL", "--anytime-valid"], 0, 0, id="too few cases for many looks"),
])  # fmt: skip
def test_one_decision(outputs, gates, code, failed, folder, capsys):
    """Law: as many failures in JUnit, Markdown and lines as make the exit code."""
    before, run = scored(folder, "good"), scored(folder, outputs)
    written = ["--junit", str(folder / "gates.xml"), "--markdown", str(folder / "report.md")]
    assert main(["gate", run, "--baseline", before, *gates, *written]) == code
    out, errors = capsys.readouterr()
    root = ET.parse(folder / "gates.xml").getroot()
    text = (folder / "report.md").read_text(encoding="utf-8")
    assert len(root.findall(".//failure")) == len(re.findall(r"\| ❌ \| `(fail|non)-", text)) == failed
    assert len(root.findall(".//testcase")) == len(re.findall(r"\| `(fail|non)-", text))
    assert f"against baseline `{before}`" in text
    assert (errors if "--quiet" in gates else out).count("FAILED: ") == failed
    if "--quiet" not in gates:
        assert f"m against baseline {before}" in out


def test_models_are_ranked_by_weights(folder, capsys):
    """On the terminal and in the report."""
    run = scored(folder, "poor")
    assert main(["gate", run, "--weight", "rougeL=7", "--weight", "looping_detection.looping=3"]) == 0
    told = "With ROUGE-L 0.7 and Looping detection: Looping 0.3, the score is m 0."
    assert told in capsys.readouterr().out
    report = str(folder / "report.html")
    weights = ["--weight", "rougeL=7", "--weight", "looping=3", "--scale", "looping=1:0"]
    assert main(["report", run, "--output", report, *weights]) == 0
    assert told in Path(report).read_text(encoding="utf-8")


@pytest.mark.parametrize(("options", "said"), [
    (["--weight", "rougeL"], "--weight: found 'rougeL'; expected METRIC=WEIGHT"),
    (["--weight", "rougeL=0"], "WEIGHT a number above 0"),
    (["--weight", "rougeL=1", "--scale", "rougeL=1"], "--scale: found 'rougeL=1'; expected METRIC=WORST:BEST"),
    (["--weight", "rougeL=1", "--scale", "rouge1=0:1"], "of a metric with a --weight"),
    (["--weight", "rougeX=1"], "--weight: found 'rougeX'"),
    (["--weight", "cost_usd=1"], "--weight: found 'cost_usd'"),
])  # fmt: skip
def test_weights_that_mean_nothing(options, said, folder, capsys):
    run = scored(folder, "good")
    assert main(["gate", run, *options]) == 2
    assert said in capsys.readouterr().err


def test_with_weights_the_front_is_told(folder, capsys):
    (folder / "both.csv").write_text(GOOD + POOR.replace(",m,", ",poor,").partition("\n")[2])
    run = scored(folder, "both")
    assert main(["gate", run, "--weight", "rougeL=1", "--weight", "rouge1=1"]) == 0
    out = capsys.readouterr().out
    assert "With ROUGE-L 0.5 and ROUGE-1 0.5, m leads: m 1.00" in out
    assert "By ROUGE-L and ROUGE-1, m is on the Pareto front; poor is dominated by m." in out


def test_whether_it_may_replace_the_baseline_is_told_in_a_sentence(folder, capsys):
    """On the terminal, in Markdown and in JUnit: where the gate passes, too."""
    before, run = scored(folder, "good"), scored(folder, "good")
    written = ["--junit", str(folder / "gates.xml"), "--markdown", str(folder / "report.md")]
    gates = ["--non-inferior", "rougeL=0.3", "--non-inferior", "rouge1=0.1"]
    assert main(["gate", run, "--baseline", before, *gates, *written]) == 1
    may = "m may replace the baseline: ROUGE-L is equivalent, 20.6 points lower to 20.6 points higher (95 %), within "
    few = "Not enough cases to let m replace the baseline: ROUGE-1 may be 20.6 points lower (95 %), more than the 10 "
    out, text = capsys.readouterr().out, (folder / "report.md").read_text(encoding="utf-8")
    root = ET.parse(folder / "gates.xml").getroot()
    assert f"passed: m rouge.rougeL {may}the 30 points that you allow, wanted at most 0.3 worse than {before}" in out
    for told in (f"{may}the 30 points that you allow", f"{few}points that you allow; about 20 more cases needed"):
        assert told in out
        assert told in text
    assert "Not enough cases to let m replace the baseline in 1 of 2 metrics: about 20 more needed." in text
    assert [may in (case.findtext("system-out") or "") for case in root.findall(".//testcase")] == [False, True]
    assert few in (root.findtext(".//failure") or "")


def test_latest_is_the_run_before_the_new_one(folder, capsys):
    """And `gate` says of the new run what `evaluate` said, to the byte of JUnit."""
    before = scored(folder, "good")
    gates = ["--fail-if-worse", "--fail-under", "rougeL=0.1"]
    assert evaluate(folder, "poor", "--baseline", "latest", *gates, "--junit", str(folder / "one.xml")) == 1
    assert f"m against baseline {before}" in capsys.readouterr().out
    assert main(["gate", "latest", "--baseline", before, *gates, "--junit", str(folder / "two.xml")]) == 1
    assert (folder / "one.xml").read_bytes() == (folder / "two.xml").read_bytes()


@pytest.mark.parametrize(("arguments", "told"), [
    (["--fail-if-worse"], "--fail-if-worse: found no --baseline; expected --baseline RUN"),
    (["--non-inferior", "rougeL=0.1"], "--non-inferior: found no --baseline; expected --baseline RUN"),
    (["--anytime-valid"], "--anytime-valid: found no --baseline; expected --baseline RUN"),
    (["--baseline", "latest", "--non-inferior", "rougeL"], "--non-inferior: found 'rougeL'; expected METRIC=MARGIN"),
    (["--baseline", "latest", "--non-inferior", "rougeL=0"], "how much worse it may be, above 0"),
    (["--baseline", "latest"], "there is no finished run"),
    (["--baseline", "gone.zip"], "--baseline: found no file 'gone.zip'"),
    (["--baseline", "20200101"], "there is no run '20200101'"),
])  # fmt: skip
def test_before_anything_is_computed(arguments, told, folder, capsys):
    assert evaluate(folder, "good", *arguments) == 2
    assert told in capsys.readouterr().err
    assert Workspace().runs() == []


def test_a_baseline_of_another_suite_or_metric(folder, capsys):
    scored(folder, "good")
    (folder / "suite.csv").write_text(SUITE.replace("number", "figure"))
    assert evaluate(folder, "good", "--baseline", "latest") == 2
    assert "a run of a suite that shares no case" in capsys.readouterr().err
    (folder / "suite.csv").write_text(SUITE)
    assert evaluate(folder, "good", "--baseline", "latest", "--fail-if-worse", "ruogeL") == 2
    assert "did you mean 'rouge.rougeL'" in capsys.readouterr().err
    assert len(Workspace().runs()) == 1


def test_a_baseline_of_a_changed_suite_is_paired_on_the_cases_that_both_have(folder, capsys):
    before = scored(folder, "good")
    (folder / "suite.csv").write_text(SUITE.replace("number 3", "number three").replace("c5,", "new,"))
    (folder / "poor.csv").write_text(POOR.replace("c5,", "new,"))
    report = folder / "report.md"
    assert evaluate(folder, "poor", "--baseline", before, "--fail-if-worse", "rougeL", "--markdown", str(report)) == 1
    out = capsys.readouterr().out
    line = "The suite has changed: paired on the 14 cases that both runs have unchanged; 1 new, 1 gone, 1 changed."
    assert line in out
    assert "n 14" in out
    assert line in report.read_text(encoding="utf-8")


@pytest.mark.parametrize(("evaluator", "gates"),
    [("perplexity", ["--fail-under", "perplexity=1"]), ("consistency_bertscore", []), ("ranking", [])],
    ids=["cases without a model, and a gate", "a data set without a model", "what fits no case"])  # fmt: skip
def test_no_value_is_3_whatever_the_gates_say(folder, evaluator, gates):
    files = [str(folder / "suite.csv"), str(folder / "good.csv")]
    xml = str(folder / "gates.xml")
    arguments = ["evaluate", *files, "--evaluators", evaluator, "--quiet", "--junit", xml, "--markdown", xml + ".md"]
    assert (main([*arguments, *gates]), ET.parse(xml).getroot().attrib["errors"]) == (3, "1")
    assert re.search("❌ no (case|evaluator) has a value", Path(xml + ".md").read_text(encoding="utf-8"))
    assert main(["gate", "latest", "--quiet"]) == 3
