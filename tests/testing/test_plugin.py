"""The pytest plugin in a project of its own: suites by marker, option and setting, gates that pass and that fail."""

from pathlib import Path

import pytest

from metrics.core.errors import InputError
from metrics.store import Run, Workspace
from metrics.testing import assert_metric
from tests.conftest import PROJECT
from tests.reports.test_gates import made

pytest_plugins = ["pytester"]
SUITE = "case_id,question,expected_answer\n" + "".join(f"c{n},What is {n}?,the answer is {n}\n" for n in range(12))
GOOD = "case_id,model,answer\n" + "".join(f"c{n},m,the answer is {n}\n" for n in range(12))
POOR = "case_id,model,answer\n" + "".join(f"c{n},m,{'nothing' if n < 6 else f'the answer is {n}'}\n" for n in range(12))
INI = "[pytest]\naddopts = -p metrics.testing.plugin -p no:cacheprovider -p no:xdist\nassay_suite = data/suite.csv\n"
TESTS = """
import pytest
from metrics.testing import assert_metric

@pytest.fixture
def run(assay_evaluate):
    return assay_evaluate("data/good.csv", ["rouge"])

def test_good(run):
    assert_metric(run, "rougeL", at_least=0.7, lower_bound=True)
    assert_metric(run, "rouge.rougeL", at_least=1.0, model="m")

def test_poor(assay_evaluate, run):
    poor = assay_evaluate("data/poor.csv", ["rouge"])
    assert_metric(poor, "rougeL", at_least=0.4)
    assert_metric(run, "rougeL", not_worse_than=poor)
    assert_metric(poor, "rougeL", not_worse_than=run)

def test_bound(assay_evaluate):
    assert_metric(assay_evaluate("data/poor.csv", ["rouge"]), "rougeL", at_least=0.4, lower_bound=True)

def test_once(assay_evaluate, run):
    assert assay_evaluate("data/good.csv", ["rouge"]) == run
    assert assay_evaluate("data/good.csv", ["rouge"], seed=1).id != run.id

@pytest.mark.assay_suite("small.csv")
def test_marker(assay_suite):
    assert len(assay_suite) == 1
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a suite, outputs and tests of them."""
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    monkeypatch.delenv("ASSAY_WORKSPACE", raising=False)
    data = pytester.mkdir("data")
    for name, text in (("suite", SUITE), ("good", GOOD), ("poor", POOR)):
        (data / f"{name}.csv").write_text(text)
    (pytester.path / "small.csv").write_text("case_id,question,expected_answer\n1,q,a\n")
    (pytester.path / "pytest.ini").write_text(INI)
    pytester.makepyfile(test_models=TESTS)
    return pytester.path


def test_a_project_is_gated(pytester, project):
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(passed=3, failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    text = result.stdout.str()
    runs = Workspace(project / "workspace").runs()
    assert len(runs) == 3, "good, poor and good with another seed: each once a session"
    poor = runs[1]
    result.stdout.fnmatch_lines(
        [
            "E*FAILED: m rouge.rougeL 0.500, −0.500 (95 % interval *, n 12, adjusted p = 0.0*): worse, wanted not *",
            "E*value 0.500 (*), n 12",
            "E*worst cases:",
            "E*c0  0.00  nothing",
            "E*c1  0.00  nothing",
            "E*c2  0.00  nothing",
            f"E*open the run: python -m metrics report {poor.id} --workspace {project}/workspace -o report.html",
            "E*FAILED: m rouge.rougeL 0.5 with lower bound 0.2* (*, n 12), wanted lower 95 % bound at least 0.4",
        ]
    )
    assert "assertions.py" not in text, "the traceback ends in the test"


def test_the_suite_of_the_option_and_none(pytester, project):
    (project / "pytest.ini").write_text(INI.replace("assay_suite = data/suite.csv\n", ""))
    pytester.makepyfile(test_models="def test_size(assay_suite):\n    assert len(assay_suite) == 12\n")
    pytester.runpytest_subprocess("-q", "--assay-suite", "data/suite.csv").assert_outcomes(passed=1)
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no suite for *mark the test with @pytest.mark.assay_suite('suite.csv')*"])


@pytest.fixture
def run(workspace: Path) -> Run:
    return made(0.5)


@pytest.mark.parametrize(("metric", "more", "told"), [
    ("rougeL", {}, "found no limit; expected at_least, at_most or not_worse_than"),
    ("rougeL", {"lower_bound": True}, "lower_bound without at_least"),
    ("rougeL", {"at_least": 0.5, "upper_bound": True}, "upper_bound without at_most"),
    ("rougeL", {"at_most": 0.5}, "higher is better, so its lower bound must be at least the limit"),
    ("ruogeL", {"at_least": 0.5}, "did you mean 'rouge.rougeL'"),
    ("rougeL", {"at_least": 0.5, "model": "n"}, "model: found 'n'; expected one of m"),
    ("rougeL", {"not_worse_than": "gone.zip"}, "found no file 'gone.zip'"),
    ("rougeL", {"at_least": 0.5, "margin": 0.1}, "margin without not_worse_than"),
    ("rougeL", {"not_worse_than": "latest", "margin": -0.1}, "how much worse it may be, above 0"),
])  # fmt: skip
def test_what_makes_no_sense(run, metric, more, told):
    with pytest.raises(InputError) as failure:
        assert_metric(run, metric, **more)
    assert told in str(failure.value)


def test_lower_is_better(run):
    assert_metric(run, "looping", at_most=0.0)
    assert_metric(run, "looping", at_most=0.2, upper_bound=True)
    with pytest.raises(AssertionError, match=r"looping_detection\.looping 0 with upper bound 0\.1"):
        assert_metric(run, "looping", at_most=0.1, upper_bound=True)


def test_a_margin_asks_for_the_proof_that_it_is_not_worse(run):
    """24 equal cases leave up to 14 points open."""
    before = made(0.5)
    assert_metric(run, "rougeL", not_worse_than=before)
    assert_metric(run, "rougeL", not_worse_than=before, margin=0.15)
    with pytest.raises(AssertionError, match=r"ROUGE-L may be 14\.2 points lower .* more than the 10 points"):
        assert_metric(run, "rougeL", not_worse_than=before, margin=0.1)


def test_the_plugin_is_light():
    """Loading it imports neither pandas nor pyarrow: it is loaded wherever Assay is installed."""
    import subprocess
    import sys

    code = "import sys, metrics.testing.plugin; print([n for n in ('pandas', 'pyarrow', 'numpy') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.attack(
    "suite author", "the project file of a cloned folder runs its plugin when pytest evaluates", "asked once"
)
def test_a_project_file_brings_no_code_of_its_own(project, pytester):
    (project / "evals.py").write_text("import pathlib; pathlib.Path(__file__).with_name('RAN').touch()")
    (project / "assay.toml").write_text(
        'plugins = ["evals.py:brevity"]\n[evaluate.a]\nsuite = "x"\npdf = "../r.html"\n'
    )
    text = 'def test_it(assay_evaluate):\n    assay_evaluate("data/good.csv", ["rouge", "brevity"])\n'
    pytester.makepyfile(test_models=text)
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*what nobody has allowed*"])
    assert not (project / "RAN").exists()
