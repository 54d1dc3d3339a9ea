"""A small run and the people who label it."""

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from metrics.core.schema import LABELS, Sampling, now
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from metrics.store.rating_sets import Labels
from tests.engine.engine_scenes import WORDS, finished

MODELS = ("long", "short")
EXPECTED = " ".join(WORDS)


def answer(index: int, model: str) -> str:
    """The first words of the expected answer: `long` has 3 to 17 of them, `short` 1 to 9."""
    return " ".join(WORDS[: 3 + 2 * (index % 8)] if model == "long" else WORDS[: 1 + index % 9])


def answered(size: int = 40, grouped: bool = False) -> tuple[Suite, Outputs]:
    """`size` cases and the answers of two models; every second case is tagged `even`, four make a `group`."""
    cases = [
        {
            "case_id": f"c{index}", "question": f"What passes by, number {index}?", "expected_answers": [EXPECTED],
            "tags": ["even"] if index % 2 == 0 else [], "group": f"g{index // 4}" if grouped else None,
        }
        for index in range(size)
    ]  # fmt: skip
    rows = [
        {"case_id": f"c{index}", "model": model, "answer": answer(index, model)}
        for model in MODELS
        for index in range(size)
    ]
    return Suite.from_rows("passing", "text", cases), Outputs.from_rows(rows)


def labelled_run(workspace: Workspace, size: int = 40, grouped: bool = False, name: str = "Passing") -> Run:
    """A finished run of rouge, without labels."""
    return finished(workspace, *answered(size, grouped), "rouge", name=name)


def passes(index: int, model: str) -> float:
    """What a person who knows says: an answer of eight words or more is good; every eleventh time the other way."""
    good = len(answer(index, model).split()) >= 8
    return float(good != (index % 11 == 5))


def add_labels(
    run: Run,
    rows: Iterable[tuple[str, str, str, float]],
    criterion: str = "good",
    file: str = "labels.csv",
    **more: Any,
) -> str:
    """Add labels, each case, model, rater and value, of outputs drawn at random unless `more` says otherwise."""
    usual = {"criterion": criterion, "sampling": "random", "given": now()} | more
    names = ("case_id", "model", "rater", "value")
    table = pa.Table.from_pylist([usual | dict(zip(names, row, strict=True)) for row in rows], LABELS)
    return Labels(run).add(table, file)


def label(run: Run, rater: str, indices: range, criterion: str = "good", sampling: Sampling = "random") -> str:
    """Add a person's labels of these cases, of both models; the set's id."""
    rows = [(f"c{index}", model, rater, passes(index, model)) for index in indices for model in MODELS]
    return add_labels(run, rows, criterion, f"{rater}.csv", sampling=sampling)
