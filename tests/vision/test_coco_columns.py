"""What is wrong with COCO's columns, the places of ids, and the lines of the summary."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.vision import coco_columns as coco
from metrics.vision.coco_lines import summary_lines
from metrics.vision.masks import LARGEST_IMAGE


def wrong(faults: Iterator[coco.Fault]) -> list[tuple[str, list[int]]]:
    """The keys of faults with the records that they are in."""
    return [(fault.key, np.flatnonzero(fault.wrong).tolist()) for fault in faults]


FAULTS = [
    ("image ids", coco.id_faults(np.array([4, -1, 0, 4, -1])), [("id", [1, 4]), ("id", [3])]),
    ("annotation ids", coco.id_faults(np.array([0, 1, 2])), [("id", []), ("id", [])]),
    ("annotation ids twice", coco.id_faults(np.array([0, -1, 0, 0])), [("id", [1]), ("id", [2, 3])]),
    ("sizes", coco.size_faults(np.array([[1, 1], [0, 5], [5, -1]])), [("height", [1]), ("width", [2])]),
    ("pixels", coco.pixel_faults(np.array([[1, LARGEST_IMAGE], [2, LARGEST_IMAGE // 2 + 1]])), [("width", [1])]),
    (
        "categories",
        coco.category_faults(np.array([-1, 0, 1, 1, 2]), np.array(["a", "b", "", "b", ""])),
        [("id", [0]), ("id", [3]), ("name", [2, 4]), ("name", [3])],
    ),
    ("crowds", coco.crowd_faults(np.array([0, 1, 2, -1])), [("iscrowd", [2, 3])]),
    ("scores", coco.score_faults(np.array([0.5, np.nan, np.inf, -3.0])), [("score", [1, 2])]),
    (
        "boxes",
        coco.box_faults(
            np.array(
                [
                    [0, 0, 1, 0], [np.nan, 0, 1, 1], [np.nan] * 4, [0, 0, -1, 1], [0, 0, 1, -1], [0, np.inf, 1, 1],
                    [0, 0, 1e15, 1], [0, -1.1e15, 1, 1],
                ]
            ),
            np.array([False, False, True, False, False, False, False, False]),
        ),
        [("bbox", [1, 5]), ("bbox", [3, 4]), ("bbox", [7])],
    ),
    ("areas", coco.area_faults(np.array([0.0, -0.5, np.nan, np.inf])), [("area", [1, 3])]),
    ("members", coco.member_faults("image_id", np.array([0, -1], np.int32), "an image"), [("image_id", [1])]),
]  # fmt: skip


@pytest.mark.parametrize(("faults", "expected"), [row[1:] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_the_records_that_break_a_rule(faults: Iterator[coco.Fault], expected: list[tuple[str, list[int]]]) -> None:
    assert wrong(faults) == expected


def test_a_repeated_id_tells_where_it_came_first() -> None:
    _, repeated = coco.id_faults(np.array([7, 3, 7, 3, 5]))
    assert repeated.first is not None
    assert repeated.first.tolist() == [0, 1, 0, 1, 4]
    _, once = coco.id_faults(np.array([7, 3, 5]))
    assert once.first is not None
    assert once.first.tolist() == [0, 1, 2]


@given(
    st.lists(st.integers(-60, 60), max_size=20),
    st.lists(st.integers(-50, 50), max_size=20, unique=True),
    st.integers(1, 99),
)
def test_codes_are_places_in_what_is_known(values: list[int], known: list[int], apart: int) -> None:
    """Close together or far apart: from a table or by search."""
    known = sorted(apart * one for one in known)
    values = [apart * value if value % 3 else value for value in values]
    found = coco.codes_of(np.array(values, np.int64), np.array(known, np.int64))
    assert found.tolist() == [known.index(value) if value in known else -1 for value in values]
    assert found.dtype == np.int32


@pytest.mark.parametrize("values", [[1000, 2000, 3000], [999, 3001, 1001], [2000] * 3], ids=str)
def test_codes_at_the_ends(values: list[int]) -> None:
    places = {1000: 0, 2000: 1, 3000: 2}
    found = coco.codes_of(np.array(values), np.array([*places]))
    assert found.tolist() == [places.get(value, -1) for value in values]


@pytest.mark.parametrize(
    ("limits", "more"),
    [((1, 10, 100), []), ((1, 10, 300), ["AR"]), ((5,), ["AR"]), ((5, 100, 200), ["AR", "AR"])],
    ids=str,
)
def test_the_lines_of_the_summary(limits: tuple[int, ...], more: list[str]) -> None:
    lines = summary_lines(limits)
    names = ["AP", "AP50", "AP75", "AP_small", "AP_medium", "AP_large", "AR_1", "AR_10", "AR_100"]
    assert [line.metric for line in lines] == [*names, "AR_small", "AR_medium", "AR_large", *more]
    assert [line.max_dets for line in lines[12:]] == [limit for limit in limits if limit not in (1, 10, 100)]
    assert {line.max_dets for line in lines[:6] + lines[9:12]} == {limits[-1]}
    assert [line.max_dets for line in lines[6:9]] == [1, 10, 100]
    assert [line.precision for line in lines[:12]] == [True] * 6 + [False] * 6
    assert [line.iou for line in lines[:12]] == [None, 0.5, 0.75] + [None] * 9
    assert [line.area for line in lines[3:6]] == [line.area for line in lines[9:12]] == ["small", "medium", "large"]


def test_a_line_is_of_one_iou_or_the_mean_of_all() -> None:
    precision, recall = np.arange(12.0).reshape(1, 2, 6), -np.arange(12.0).reshape(1, 2, 6)
    thresholds = np.array([0.5, 0.55, 0.6, 0.65, 0.7, 0.75])
    lines = {line.metric: line.of((precision, recall), thresholds).tolist() for line in summary_lines([100])}
    assert lines["AP"] == [[2.5, 8.5]]
    assert lines["AP50"] == [[0.0, 6.0]]
    assert lines["AP75"] == [[5.0, 11.0]]
    assert lines["AR_100"] == [[-2.5, -8.5]]
    with pytest.raises(KeyError):
        summary_lines([100])[1].of((precision, recall), thresholds + 0.01)
