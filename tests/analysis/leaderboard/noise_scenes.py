"""Runs whose scores differ from case to case and from repeat to repeat."""

from typing import Any

import numpy as np

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import WORDS, finished

MODELS = ("calm", "moody")


def noisy_run(
    workspace: Workspace, cases: int = 40, repeats: int = 3, group: int = 0, cost: float | None = None, **options: Any
) -> Run:
    """Answers that have the first words of the expected one: `calm` as many in each repeat, `moody` not.

    Every `group` cases after each other are of one group.
    """
    rng = np.random.default_rng(0)
    text = " ".join(WORDS)
    rows, answers = [], []
    for place in range(cases):
        rows.append({"case_id": f"c{place}", "question": f"What of {place}?", "expected_answers": [text]})
        if group:
            rows[-1]["group"] = f"g{place // group}"
        usual = 4 + place % 9
        for model in MODELS:
            for repeat in range(repeats):
                words = usual + (int(rng.integers(-3, 4)) if model == "moody" else 0)
                answers.append(
                    {
                        "case_id": f"c{place}",
                        "model": model,
                        "run": repeat + 1,
                        "answer": " ".join(WORDS[:words]),
                        "cost_usd": cost,
                    }
                )
    suite = Suite.from_rows("noisy", "text", rows)
    return finished(workspace, suite, Outputs.from_rows(answers), "rouge", **options)
