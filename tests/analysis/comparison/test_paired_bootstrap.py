"""Metrics of a whole data set paired over resamples: planted differences are found, equal models differ by 0."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metrics.analysis import Resampled, compare, compare_labels, leaderboard
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

IMAGES = 60
FEW = {"resamples": 200}
RECALL_OF = {"A": (0.7, 0.7), "B": (0.95, 0.7)}  # of cats and of dogs; B finds what A finds, and more cats


def suite(tags: bool = False) -> Suite:
    """Images of two cats and a dog each; the first ten are tagged."""
    cases = [
        {"case_id": f"i{index:02}", "image_width": 100, "image_height": 100, "tags": ["early"] * (tags and index < 10)}
        for index in range(IMAGES)
    ]
    annotations = [
        {"case_id": f"i{index:02}", "annotation_id": 3 * index + place + 1, "label": label, "area": 400.0, **box(place)}
        for index in range(IMAGES)
        for place, label in enumerate(("cat", "cat", "dog"))
    ]
    return Suite.from_rows("pets", "detection", cases, annotations)


def box(place: int) -> dict[str, float]:
    return {"x": 30.0 * place, "y": 10.0, "width": 20.0, "height": 20.0}


def outputs(models: Mapping[str, tuple[float, float]] = RECALL_OF, repeats: int = 1) -> Outputs:
    """What the models find, by one draw for all: who has the higher recall finds the same and more."""
    luck = np.random.default_rng(0).random((IMAGES, 3))
    answers = [
        {"case_id": f"i{index:02}", "model": model, "run": repeat + 1}
        for model in models for index in range(IMAGES) for repeat in range(repeats)
    ]  # fmt: skip
    found: list[dict[str, Any]] = [
        answer | {"label": label, "score": 0.9, **box(place)}
        for answer in answers
        for place, label in enumerate(("cat", "cat", "dog"))
        if luck[int(answer["case_id"][1:]), place] < models[answer["model"]][label == "dog"]
    ]
    return Outputs.from_rows(answers, found)


def evaluated(
    given: Outputs, *names: str, of: Suite | None = None, place: Workspace | None = None, **parameters: Any
) -> Run:
    chosen = names or ("coco_summary",)
    return finished(
        place or Workspace(), of or suite(), given, *chosen, parameters=dict.fromkeys(chosen, FEW | parameters)
    )


def metric(rows: tuple[Resampled, ...], name: str) -> Resampled:
    return next(row for row in rows if row.column.metric == name)


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    return evaluated(outputs(), "average_precision", "coco_summary", "average_recall", place=shelf)


def test_a_planted_difference_is_found_and_none_where_none_is(run: Run) -> None:
    row = metric(compare(run, "A", "B").resampled, "AP")
    board = leaderboard(run)
    assert (row.a, row.b) == tuple(board.cells[model, row.column.key].value for model in "AB")
    assert row.difference == row.b - row.a > 0.1
    assert 0 < row.low < row.difference < row.high
    assert row.p < 1 / 201
    assert (row.significance, row.words, row.resamples) == ("better", "B is better", 200)
    cat, dog = compare_labels(run, "A", "B", row.column.key)
    assert (cat.label, cat.significance) == ("cat", "better")
    assert (dog.label, dog.difference, dog.low, dog.high, dog.p) == ("dog", 0.0, 0.0, 0.0, None)
    assert dog.words == "equal in every resample"


def test_every_metric_of_the_data_set_is_paired(run: Run) -> None:
    found, board = compare(run, "A", "B"), leaderboard(run)
    known = {c.key for c in board.columns if all(board.cells[model, c.key].low is not None for model in "AB")}
    assert {row.column.key for row in found.resampled} == known
    assert not known & {entry.column.key for entry in found.unpaired}
    rows = (*found.rows, *found.resampled)
    assert found.tested == sum(row.p is not None and row.column.twin is None for row in rows)
    assert len(known) > len({row.column.key for row in rows if row.column.twin is None}) > 10


def test_equal_models_differ_by_exactly_nothing(workspace: Path) -> None:
    run = evaluated(outputs({"A": (0.8, 0.6), "B": (0.8, 0.6)}), "average_precision", "coco_summary", "average_recall")
    found = compare(run, "A", "B")
    assert found.resampled
    for row in found.resampled:
        assert (row.difference, row.low, row.high, row.p, row.significance) == (0.0, 0.0, 0.0, None, "equal")
    assert found.tested == 0


def test_swapped_models_turn_the_sign(run: Run) -> None:
    there, back = (metric(compare(run, *pair).resampled, "AP") for pair in ("AB", "BA"))
    expected = (-there.difference, -there.high, -there.low, there.p)
    assert (back.difference, back.low, back.high, back.p) == pytest.approx(expected)
    assert back.words == "A is better"


def test_repeats_are_averaged(workspace: Path) -> None:
    once = metric(compare(evaluated(outputs()), "A", "B").resampled, "AP")
    twice = metric(compare(evaluated(outputs(repeats=2)), "A", "B").resampled, "AP")
    assert (twice.difference, twice.low, twice.high) == pytest.approx((once.difference, once.low, once.high))


@pytest.mark.parametrize("other", [{"resamples": 100}, {"seed": 1}, {"resamples": 0}], ids=str)
def test_other_resamples_do_not_pair(workspace: Path, other: dict[str, int]) -> None:
    found = compare(evaluated(outputs()), "A", "B", other=evaluated(outputs(), **other))
    assert found.resampled == ()
    assert "AP" in {entry.column.metric for entry in found.unpaired}


def test_labels_need_a_pair(run: Run) -> None:
    with pytest.raises(InputError, match="has no model 'C'"):
        compare_labels(run, "A", "C", "average_precision/AP")
    assert compare_labels(run, "A", "B", "no/such") == ()


@pytest.mark.parametrize("evaluator", ["corpus_error_rate", "corpus_bleu"])
def test_the_difference_is_that_of_the_data_sets_numbers(tmp_path: Path, evaluator: str) -> None:
    """A long answer weighs more in a corpus number than in the mean of the cases, by which B would be better."""
    cases = [
        {"case_id": f"c{place}", "expected_answers": ["one two three four five " * (8 if place % 4 == 0 else 1)]}
        for place in range(24)
    ]
    given = {"A": lambda place, text: text if place % 4 == 0 else "no", "B": lambda place, text: text[:20]}
    rows = [
        {"case_id": case["case_id"], "model": model, "answer": answer(place, case["expected_answers"][0])}
        for model, answer in given.items()
        for place, case in enumerate(cases)
    ]
    run = finished(Workspace(tmp_path), Suite.from_rows("s", "text", cases), Outputs.from_rows(rows), evaluator)
    board, found = leaderboard(run), compare(run, "A", "B")
    assert {row.column.key for row in found.resampled} == {column.key for column in board.columns}
    for row in found.resampled:
        a, b = (board.cells[model, row.column.key].value for model in "AB")
        assert (row.a, row.b, row.difference) == pytest.approx((a, b, b - a), abs=1e-12)
