"""The core in a fresh environment: what runs without any extra, and what each missing extra is called."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from metrics import __version__
from tests.install.conftest import PROJECT, Installed

SAMPLES = PROJECT / "data" / "samples"
RAG = [str(SAMPLES / "rag" / name) for name in ("suite.csv", "outputs.csv")]
LABELS = [str(SAMPLES / "classification" / name) for name in ("suite.csv", "minnow-linear.csv")]
BOXES = [str(SAMPLES / "detection" / name) for name in ("instances.json", "results/skua-nano.json")]
# runs commands in one process, as `assay` does, and prints the exit code and error output of each
DRIVER = """
import contextlib, io, json, sys
from metrics.cli.main import main

def said(arguments):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        code = main(arguments)
    return code, errors.getvalue()

if __name__ == "__main__":
    print(json.dumps({name: said(arguments) for name, arguments in json.loads(sys.argv[1]).items()}))
"""


class Said(NamedTuple):
    """What a command ended with."""

    code: int
    errors: str


def drive(core: Installed, folder: Path, commands: Mapping[str, list[str]]) -> dict[str, Said]:
    """Run commands of the command line in the core environment, by name."""
    script = folder / "driver.py"
    script.write_text(DRIVER)
    done = core.run("python", script, json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return {name: Said(*pair) for name, pair in json.loads(done.stdout).items()}


def evaluate(files: list[str], workspace: Path, *options: str) -> list[str]:
    return ["evaluate", *files, "--workspace", str(workspace), *options]


def test_the_command_says_its_version(core: Installed) -> None:
    assert core.run("assay", "--version").stdout == f"assay {__version__}\n"


def test_formulas_labels_boxes_export_and_report(core: Installed, tmp_path: Path) -> None:
    """Text, classification and detection are scored; a table and an HTML report come of it."""
    runs, table, report = tmp_path / "runs", tmp_path / "a.csv", tmp_path / "r.html"
    latest = ["latest", "--workspace", str(runs)]
    made = drive(core, tmp_path, {
        "text": evaluate(RAG, runs, "--evaluators", "text_matching,rouge"),
        "export": ["export", *latest, "--what", "aggregates", "--format", "csv", "-o", str(table)],
        "classification": evaluate(LABELS, runs, "--evaluators", "classification"),
        "detection": evaluate(BOXES, runs, "--evaluators", "average_precision"),
        "report": ["report", *latest, "-o", str(report)],
    })  # fmt: skip
    assert {name: said.code for name, said in made.items()} == dict.fromkeys(made, 0), made
    assert re.search(r"^heron-small,rouge,rougeL,,,0\.\d+", table.read_text(), re.MULTILINE)
    assert "skua-nano" in report.read_text()


MESSAGES = {  # what needs an extra: the command, and what is said
    "a judge of a provider": (
        ["complete", RAG[0], "--target", "model:gpt-4o-mini", "-o", "answers.jsonl"],
        "the target model:gpt-4o-mini needs assay[judge]: pip install 'assay[judge]'",
    ),
    "a target behind an address": (
        ["complete", RAG[0], "--target", "http://127.0.0.1:9/", "-o", "answers.jsonl"],
        "a target behind an address needs assay[judge]: pip install 'assay[judge]'",
    ),
    "servers": (["judge", "list", "--servers"], "a search for servers needs assay[judge]: pip install 'assay[judge]'"),
    "studio": (["studio"], "the studio needs assay[studio]: pip install 'assay[studio]'"),
    "PDF": (["report", "latest", "-o", "r.pdf"], "typesetting needs assay[pdf]: pip install 'assay[pdf]'"),
}
MODELS = ["answer_semantic_similarity", "toxicity_classifier", "perplexity", "consistency_bertscore"]
RUNS = {  # evaluators without what they need: the options of a run
    "judge": ["--evaluators", "faithfulness", "--judge", "gpt-4o-mini"],
    "local judge": ["--evaluators", "faithfulness", "--judge", "local"],
    "models": [
        "--evaluators", ",".join(MODELS), "--classifier", "some/classifier", "--language-model", "some/model",
        "--token-encoder", "some/encoder",
    ],
}  # fmt: skip
SKIPPED = {  # what is said of each: the run, and the text
    "judge": ("judge", "faithfulness will be skipped: the judge gpt-4o-mini needs assay[judge]: pip install"),
    "local judge": (
        "local judge",
        "faithfulness will be skipped: the local judge needs assay[local-judge]: pip install",
    ),
    "embedder": ("models", "answer_semantic_similarity will be skipped: an embedding model needs assay[models]: pip"),
    "classifier": ("models", "toxicity_classifier will be skipped: a classifier needs assay[models]: pip install"),
    "language model": ("models", "perplexity will be skipped: a language model needs assay[models]: pip install"),
    "token encoder": (
        "models",
        "consistency_bertscore will be skipped: a token encoder needs assay[models]: pip install",
    ),
}


@pytest.fixture(scope="module")
def said(core: Installed, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Said]:
    """What every command of MESSAGES and SKIPPED says, in a workspace with a run."""
    folder = tmp_path_factory.mktemp("messages")
    (folder / "s.csv").write_text("case_id,question,expected_answers\n1,What is 1 + 1?,two\n")
    (folder / "o.csv").write_text(
        'case_id,model,answer,retrieved_contexts\n1,small,two,"[""One and one make two.""]"\n'
    )
    files, runs = [str(folder / "s.csv"), str(folder / "o.csv")], folder / "runs"
    commands = {"a run": evaluate(files, runs, "--evaluators", "text_matching", "--quiet")}
    commands |= {name: evaluate(files, runs, *options) for name, options in RUNS.items()}
    for name, (arguments, _) in MESSAGES.items():
        commands[name] = arguments if name == "servers" else [*arguments, "--workspace", str(runs)]
    return drive(core, folder, commands)


@pytest.mark.parametrize("name", MESSAGES)
def test_a_command_names_the_extra_that_it_needs(said: dict[str, Said], name: str) -> None:
    assert said[name].code == 2
    assert MESSAGES[name][1] in said[name].errors
    assert "Traceback" not in said[name].errors


@pytest.mark.parametrize("name", SKIPPED)
def test_an_evaluator_names_the_extra_that_it_needs(said: dict[str, Said], name: str) -> None:
    run, text = SKIPPED[name]
    assert text in said[run].errors
    assert "Traceback" not in said[run].errors
