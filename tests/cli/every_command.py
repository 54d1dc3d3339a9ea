"""Every command, once, in a folder whose texts are given: for laws over all of them."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from metrics.cli.main import parser

# in the order in which they find what they need; what a command needs and the folder has not makes it fail in its words
COMMANDS = {
    "evaluate": "suite.jsonl outputs.jsonl --evaluators rouge,text_matching --fail-under rougeL=0.1 --markdown -",
    "run": "a", "complete": "suite.jsonl --target command:cat -o answers.csv",
    "export": "latest --what scores --format csv", "report": "latest -o report.md", "bundle": "latest -o bundle",
    "gate": "latest --fail-under rougeL=0.1 --markdown -", "over-suites": "latest latest --metric rougeL",
    "plot": "latest -o plot.svg", "board": "",
    "monitor": "log.jsonl --name chat --evaluators pii_leakage", "perturb": "suite.jsonl -o variants.jsonl",
    "suites list": "", "suites merge": "suite.jsonl suite.jsonl", "suites diff": "suite.jsonl other.jsonl",
    "suites duplicates": "suite.jsonl", "suites history": "suite.jsonl", "suites from-documents": "text.md",
    "suites approve": "suite.jsonl", "cache stats": "", "cache export": "cache.zip", "cache import": "cache.zip",
    "cache clear": "", "judge list": "", "judge bias": "latest",
    "judge preferences": "latest", "labels add": "latest labels.jsonl",
    "labels next": "latest --criterion rouge --metric rougeL", "labels list": "latest",
    "labels export": "latest", "labels agreement": "latest", "labels means": "latest", "labels raters": "latest",
    "labels replacement": "latest", "labels acceptance": "latest", "labels remove": "latest labels.jsonl",
    "preferences add": "latest preferences.jsonl", "preferences list": "latest", "preferences export": "latest",
    "preferences ranking": "latest", "preferences remove": "latest 1", "calibrate": "latest --metric rougeL",
    "rubric": "text.md",
    "evaluators": "", "check-evaluator": "absent.py:x", "explain-map": "suite.jsonl outputs.jsonl", "runs": "",
    "resume": "latest",
    "describe": "latest", "verify": "", "merge": "workspace", "archive": "latest -o run.zip", "import": "run.zip",
    "push": "latest file:remote", "pull": "file:remote", "sample-size": "share", "models list": "",
    "models check": "absent", "completion": "bash", "cancel": "latest", "delete": "latest", "restore": "latest",
    "eval": "suite.jsonl outputs.jsonl --evaluators rouge",
}  # fmt: skip
# becomes another process; loads every library; downloads a model; makes runs for a minute; is what lets plugins run
APART = {"studio", "warm-up", "judge install", "samples", "plugins allow"}


def leaves(command: argparse.ArgumentParser, words: tuple[str, ...] = ()) -> Iterator[str]:
    """Each command that does something, with the words before it."""
    nested = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    if not nested:
        yield " ".join(words)
    for name, child in nested[0].choices.items() if nested else ():
        yield from leaves(child, (*words, name))


def every_command() -> list[list[str]]:
    """The arguments of every command, each with what it may be given in the folder of `write_folder`."""
    there = set(leaves(parser()))
    assert there == COMMANDS.keys() | APART, there ^ (COMMANDS.keys() | APART)
    return [[*name.split(), *given.split()] for name, given in COMMANDS.items()]


def write_folder(folder: Path, text: str = "") -> None:
    """Write what the commands read; every name and text in it begins with `text`."""
    files = {
        "suite.jsonl": [
            {"case_id": f"{text}c{n}", "question": f"{text}who?", "expected_answers": ["a b"], "tags": [f"{text}t"]}
            for n in range(2)
        ],
        "outputs.jsonl": [
            {"case_id": f"{text}c{n}", "model": f"{text}m{m}", "answer": f"{text}a b\n{text}c"}
            for n in range(2)
            for m in range(2)
        ],
        "labels.jsonl": [{"case_id": f"{text}c0", "model": f"{text}m0", "rater": f"{text}r", "label": f"{text}good"}],
        "preferences.jsonl": [
            {"case_id": f"{text}c0", "model_a": f"{text}m0", "model_b": f"{text}m1", "winner": "a", "rater": f"{text}r"}
        ],
        "log.jsonl": [{"id": f"{text}1", "time": 1_763_700_000, "answer": f"{text}x", "question": f"{text}y"}],
    }
    files["other.jsonl"] = [row | {"question": f"{text}what?"} for row in files["suite.jsonl"]]
    for name, rows in files.items():
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "text.md").write_text(f"# {text}Mills\n\n{text}The mill stands on the river.\n")
