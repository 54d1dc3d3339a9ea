"""Which classes a confusion matrix shows, and in which order."""

import pandas as pd
import pytest

from metrics.presentation.chart_data import confusion_counts
from tests.presentation.chart_data.test_confusion_counts import MARGINS, OBJECTS, counts

# two pairs that are taken for each other, spelled so that the alphabet parts them, and a class that is never wrong
PAIRS = counts(
    *((name, name, 10) for name in "abcde"), ("a", "d", 6), ("d", "a", 5), ("b", "e", 9), ("e", "b", 1), ("a", "b", 1)
)


def drawn(frame: pd.DataFrame, order: str, margins: tuple[str, str] | None = None, **chosen: object) -> pd.DataFrame:
    names = confusion_counts.chosen_names(frame, margins, order=order, **chosen)
    return confusion_counts.ordered(confusion_counts.confusion_matrix(frame, margins, names=names), order, margins)


def test_what_is_confused_stands_together():
    order = "".join(drawn(PAIRS, "similar").index)
    assert "ad" in order or "da" in order
    assert "be" in order or "eb" in order


@pytest.mark.parametrize(("order", "rows"), [("name", "abcde"), ("worst", "abdec")])
def test_orders(order, rows):
    matrix = drawn(PAIRS, order)
    assert ("".join(matrix.index), "".join(matrix.columns)) == (rows, rows)


@pytest.mark.parametrize("order", confusion_counts.ORDERS)
def test_every_order_keeps_every_count_and_the_margins_last(order):
    matrix = drawn(OBJECTS, order, MARGINS)
    assert matrix.to_numpy().sum() == OBJECTS["count"].sum()
    assert (matrix.index[-1], matrix.columns[-1]) == MARGINS
    assert matrix.loc["cat", "dog"] == 1


@pytest.mark.parametrize("order", confusion_counts.ORDERS)
@pytest.mark.parametrize("classes", [80, 1_200])
def test_many_classes_are_summed_as_others(order, classes):
    frame = counts(
        *((f"l{i:04}", f"l{i:04}", 5) for i in range(classes)),
        *((f"l{i:04}", f"l{i + 1:04}", 3) for i in range(0, 20, 2)),
    )
    matrix = drawn(frame, order, most=20)
    assert (matrix.shape, matrix.to_numpy().sum()) == ((21, 21), 5 * classes + 30)
    assert (matrix.index[-1], set(matrix.index[:-1])) == (confusion_counts.OTHERS, {f"l{i:04}" for i in range(20)})


def test_around_a_class_is_what_it_is_confused_with():
    matrix = drawn(PAIRS, "worst", near="b", most=2)
    assert (list(matrix.index), matrix.loc["b", "e"]) == (["b", "e", confusion_counts.OTHERS], 9)


def test_an_absent_label_is_a_class_like_others():
    assert list(confusion_counts.mistakes_of(counts((None, "a", 2), ("a", "a", 1))).items()) == [
        ("(none)", 2),
        ("a", 2),
    ]


@pytest.mark.parametrize(("frame", "expected"), [
    pytest.param(OBJECTS, [(8 / 15, 15), (1 / 9, 9), (3 / 12, 12), (3 / 12, 12)], id="all-kinds"),
    pytest.param(counts(("cat", "missed", 2)), [(0.0, 2), (None, 0), (None, 0), (1.0, 2)], id="all-missed"),
])  # fmt: skip
def test_shares(frame, expected):
    found = confusion_counts.shares(frame, MARGINS)
    assert (list(found), list(found.values())) == (["agreement", "confused", "hallucinated", "missed"], expected)
