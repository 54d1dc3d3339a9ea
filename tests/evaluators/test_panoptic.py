"""panoptic_quality: the published definition on random maps, rules by hand, and what the matches say."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from metrics.core.classes import ClassFacts
from metrics.core.evaluator import Findings
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.segmentation.panoptic_quality import NO_SEGMENTS, UNSAID
from tests.evaluators.detected import pick, run
from tests.evaluators.panoptic_oracle import Picture, plain_confusion, plain_quality, random_pictures, rows_of
from tests.random_seeds import seeds

THINGS = {"a": ClassFacts(is_thing=True), "b": ClassFacts(is_thing=True), "c": ClassFacts(is_thing=False),
          "d": ClassFacts(is_thing=False)}  # fmt: skip


def panoptic(pictures: list[Picture], classes: dict[str, ClassFacts] | None = None, **parameters: Any) -> Findings:
    rows = rows_of(pictures)
    suite = Suite.from_rows("maps", "segmentation", rows["cases"], rows["annotations"], list("abcd"))
    suite = replace(suite, classes=THINGS if classes is None else classes)
    outputs = Outputs.from_rows(
        [{"case_id": row["case_id"], "model": "m"} for row in rows["cases"]], rows["predictions"]
    )
    return run("panoptic_quality", suite, outputs, **parameters)


def mean(values: list[tuple[float, float, float] | None]) -> list[float | None]:
    known = np.array([value for value in values if value is not None])
    return known.mean(axis=0).tolist() if len(known) else [None] * 3


def test_numbers_and_confusion_are_those_of_the_definition() -> None:
    """On random data sets: void, crowds, wrong classes, merged segments, images without any.

    Rows of the confusion sum to TP + FN of a class, columns to its TP + FP.
    """
    compared = confused = 0
    for seed in seeds(60, 300):
        pictures = random_pictures(np.random.default_rng(seed))
        expected = plain_quality(pictures, 4)
        findings = panoptic(pictures)
        for kind, values in expected.items():
            found = [pick(findings, name, "abcd"[kind]).value for name in ("PQ", "SQ", "RQ")]
            assert found == ([None] * 3 if values is None else pytest.approx(values, abs=1e-12)), (seed, kind)
            compared += values is not None
        for part, kinds in (("", range(4)), ("_things", range(2)), ("_stuff", range(2, 4))):
            found = [pick(findings, f"{name}{part}").value for name in ("PQ", "SQ", "RQ")]
            wanted = mean([expected[kind] for kind in kinds])
            assert found == (wanted if wanted[0] is None else pytest.approx(wanted, abs=1e-12)), (seed, part)
        cells = confusion(findings)
        assert np.array_equal(cells, plain_confusion(pictures, 4)), seed
        facts = [fact for case in findings.cases.values() if case.evidence for fact in case.evidence.facts["segments"]]
        for place, label in enumerate("abcd"):
            right, false, missed = (sum(f[name] for f in facts if f["label"] == label) for name in ("tp", "fp", "fn"))
            assert (cells[place].sum(), cells[:, place].sum()) == (right + missed, right + false)
        confused += int(cells[:4, :4].sum() - np.trace(cells[:4, :4]))
    assert compared > 2 * (seed + 1)
    assert confused > (seed + 1) / 6


def confusion(findings: Findings) -> NDArray[np.int64]:
    """Return the cells of the confusion [5, 5], truth down; the last is none."""
    cells = np.zeros((5, 5), np.int64)
    for row in findings.curves.to_pylist():
        place = ["a", "b", "c", "d", "background"].index(row["label"])
        cells[place, ["a", "b", "c", "d", "missed"].index(row["predicted"])] = row["count"]
    return cells


def test_a_prediction_mostly_on_void_confuses_nothing() -> None:
    """Of a segment of another class it covers two columns of two, and five more of void."""
    picture = Picture(columns((1, 0, 2)), columns((1, 0, 7)), {1: (0, False)}, {1: 1})
    findings = panoptic([picture])
    assert findings.curves.to_pylist() == [{"label": "a", "predicted": "missed", "count": 1}]
    assert findings.matches["kind"].to_pylist() == ["ignored", "fn_no_prediction"]


def columns(*segments: tuple[int, int, int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A map of 10 × 10 pixels: segments as id, first column, column after the last."""
    made = np.zeros((10, 10), np.int64)
    for segment, first, last in segments:
        made[:, first:last] = segment
    return made


def test_an_iou_of_half_does_not_match() -> None:
    half = Picture(columns((1, 0, 10)), columns((1, 0, 5)), {1: (0, False)}, {1: 0})
    assert pick(panoptic([half]), "PQ").value == 0
    more = Picture(columns((1, 0, 10)), columns((1, 0, 6)), {1: (0, False)}, {1: 0})
    assert pick(panoptic([more]), "PQ").value == pytest.approx(0.6)


def test_the_matches_say_what_became_of_each_segment() -> None:
    picture = Picture(
        columns((1, 0, 2), (2, 2, 6), (3, 6, 8), (4, 8, 9)), columns((1, 0, 2), (2, 2, 6), (3, 7, 9), (9, 9, 10)),
        {1: (0, False), 2: (1, False), 3: (2, False), 4: (3, False)}, {1: 0, 2: 2, 3: 2, 9: 0},
    )  # fmt: skip
    matches = panoptic([picture]).matches
    rows = [(row["kind"], row["label"], row["annotation_id"], row["iou"]) for row in matches.to_pylist()]
    assert rows == [
        ("tp", "a", 1, 1.0), ("fp_misclassification", "c", 2, 1.0),
        ("fp_localisation", "c", 3, pytest.approx(1 / 3)), ("ignored", "a", None, None),
        ("fn_misclassification", "b", 2, None), ("fn_no_prediction", "c", 3, None), ("fn_no_prediction", "d", 4, None),
    ]  # fmt: skip


def test_without_facts_there_are_neither_things_nor_stuff() -> None:
    one = Picture(columns((1, 0, 5)), columns((1, 0, 5)), {1: (0, False)}, {1: 0})
    findings = panoptic([one], {})
    assert pick(findings, "PQ").value == 1
    assert (pick(findings, "PQ_things").value, pick(findings, "PQ_things").reason) == (None, UNSAID)


def test_intervals_take_ten_images() -> None:
    one = Picture(columns((1, 0, 5)), columns((1, 0, 4)), {1: (0, False)}, {1: 0})
    missed = Picture(columns((1, 0, 5)), columns(), {1: (0, False)}, {})
    few, enough = ([one, missed] * count for count in (3, 8))
    assert pick(panoptic(few, resamples=50), "PQ").low is None
    row = pick(panoptic(enough, resamples=50), "PQ")
    assert row.low < row.value


def test_several_crowds_excuse_a_prediction() -> None:
    both = Picture(columns((1, 0, 3), (2, 3, 6)), columns((1, 0, 6)), {1: (0, True), 2: (0, True)}, {1: 0})
    findings = panoptic([both])
    assert pick(findings, "PQ", "a").reason == NO_SEGMENTS
    assert findings.matches["kind"].to_pylist() == ["ignored"]
