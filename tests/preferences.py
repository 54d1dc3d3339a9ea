"""Runs whose models' answers are compared, and votes on them."""

from collections.abc import Sequence
from typing import Any

from metrics.core.schema import preference
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Preferences
from tests.engine.engine_scenes import finished

MODELS = ("amber", "birch", "cedar")


def compared_run(workspace: Workspace, size: int = 30, models: Sequence[str] = MODELS, grouped: bool = False) -> Run:
    """A finished run of rouge: each model answers `size` questions in its own words."""
    cases = [
        {
            "case_id": f"c{index}", "question": f"What passes by, number {index}?", "expected_answers": ["The river."],
            "tags": ["even"] if index % 2 == 0 else [], "group": f"g{index // 4}" if grouped else None,
        }
        for index in range(size)
    ]  # fmt: skip
    rows = [
        {"case_id": f"c{index}", "model": model, "answer": f"Words {len(model) * (place + 2)} on number {index}."}
        for place, model in enumerate(models)
        for index in range(size)
    ]
    return finished(workspace, Suite.from_rows("passing", "text", cases), Outputs.from_rows(rows), "rouge")


def vote(run: Run, index: int, one: str, other: str, outcome: float, rater: str = "ann", **more: Any) -> None:
    """Give a person's preference; `outcome` is that of `one`."""
    Preferences(run).give(preference(f"c{index}", one, other, outcome, rater=rater, **more))


def judgement(run: Run, index: int, one: str, other: str, forth: float, back: float | None, judge: str = "j") -> None:
    """Store what a judge says with `one` first, and with `other` first (None: was not asked), both for `one`."""
    rows = [
        preference(f"c{index}", one, other, outcome, rater=judge, by="judge", shown_first=first)
        for first, outcome in ((one, forth), (other, back))
        if outcome is not None
    ]
    Preferences(run).judged(rows, judge)
