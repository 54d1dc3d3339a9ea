"""Evaluators of plugins for the tests: files of them, the page's example, data to score, processes of their own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import PROJECT
from tests.docs.blocks import blocks

EXAMPLE = next(block.text for block in blocks(PROJECT / "docs" / "plugins.md") if block.language == "python")
SUITE = "case_id,question,expected_answers\n1,Capital of France?,Paris\n2,Capital of Norway?,Oslo\n"
OUTPUTS = "case_id,model,answer\n1,m,Paris\n2,m,I am not sure at all but perhaps Oslo\n"
PLUGIN = '''
from metrics import Case, CaseScore, Example, Metric, Parameters, evaluator

MOST = {most}


@evaluator(
    id="{id}", title="Brevity", inputs=("answer",),
    metrics=(Metric.lower("words_over", "Words over the limit.", high=99.0, threshold=3.0),),
    examples=(Example("short", {{"answer": "Paris"}}, {{"words_over": 0.0}}),),
)
def brevity(case: Case, parameters: Parameters) -> CaseScore:
    """How many words the answer has over the limit.

    0 where it has fewer.
    """
    return CaseScore({{"words_over": float(max(0, len(case.answer.split()) - MOST))}})
'''


def write_data(folder: Path) -> None:
    """Write suite.csv and outputs.csv."""
    (folder / "suite.csv").write_text(SUITE, encoding="utf-8")
    (folder / "outputs.csv").write_text(OUTPUTS, encoding="utf-8")


def write_plugin(file: Path, id: str = "brevity", most: int = 5) -> Path:
    """Write a file with one evaluator and return it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(PLUGIN.format(id=id, most=most), encoding="utf-8")
    return file


def write_package(site: Path, id: str = "brevity") -> None:
    """Write an installed package with an evaluator as its entry point, as pip would."""
    write_plugin(site / "brief_words" / "evals.py", id)
    (site / "brief_words" / "__init__.py").touch()
    facts = site / "brief_words-1.2.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: brief-words\nVersion: 1.2\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(f"[assay.evaluators]\n{id} = brief_words.evals:brevity\n", encoding="utf-8")
    (facts / "top_level.txt").write_text("brief_words\n", encoding="utf-8")


def python(folder: Path, *arguments: str, path: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run Python in a folder, with the project and `path` on its path."""
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, filter(None, (PROJECT, path)))),
        "ASSAY_WORKSPACE": str(folder / "workspace"),
    }
    return subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)


def command(folder: Path, *arguments: str, path: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """Run `python -m metrics` in a folder."""
    return python(folder, "-m", "metrics", *arguments, path=path)
