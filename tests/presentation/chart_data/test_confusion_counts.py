"""The confusion matrix as numbers."""

import pandas as pd
import pytest

from metrics.presentation.chart_data import confusion_counts

MARGINS = ("background", "missed")
OBJECTS = pd.DataFrame(
    [("cat", "cat", 6), ("cat", "dog", 1), ("cat", "missed", 3), ("dog", "dog", 2), ("background", "dog", 3)],
    columns=["label", "predicted", "count"],
)


def counts(*cells: tuple[str | None, str | None, int]) -> pd.DataFrame:
    return pd.DataFrame(cells, columns=["label", "predicted", "count"])


def test_the_matrix_is_ordered_and_filled():
    matrix = confusion_counts.confusion_matrix(counts(("b", "a", 2), ("a", "a", 5), (None, "b", 1)))
    assert list(matrix.index) == ["(none)", "a", "b"]
    assert matrix.to_numpy().tolist() == [[0, 0, 1], [0, 5, 0], [0, 2, 0]]


def test_the_margins_are_last():
    matrix = confusion_counts.confusion_matrix(OBJECTS, MARGINS)
    assert (list(matrix.index), list(matrix.columns)) == (["cat", "dog", "background"], ["cat", "dog", "missed"])
    assert matrix.to_numpy().tolist() == [[6, 1, 3], [0, 2, 0], [0, 3, 0]]


@pytest.mark.parametrize("margins", [None, MARGINS])
def test_what_does_not_fit_is_summed(margins):
    frame = counts(*((f"l{i}", f"l{i}", 1) for i in range(60)), *([("l0", "missed", 9)] if margins else []))
    matrix = confusion_counts.confusion_matrix(frame, margins)
    assert matrix.to_numpy().sum() == 60 + (9 if margins else 0)
    assert matrix.loc[confusion_counts.OTHERS, confusion_counts.OTHERS] == 60 - confusion_counts.MOST_LABELS
    assert len(matrix) == confusion_counts.MOST_LABELS + 1 + bool(margins)


@pytest.mark.parametrize(("cells", "margins"), [
    ([("a", "a", 1)], ("background", "missed")),
    ([("(background)", "a", 1), ("background", "(missed)", 1)], ("(background)", "(missed)")),
], ids=["free names", "classes called so"])  # fmt: skip
def test_the_names_of_the_margins(cells, margins):
    assert confusion_counts.margins_of(counts(*cells)) == margins


def test_the_most_frequent_mistakes():
    found = confusion_counts.confusions(OBJECTS, MARGINS)
    assert found.to_dict("records") == [{"label": "cat", "predicted": "dog", "count": 1, "share": 0.1}]
    assert confusion_counts.confusions(counts(("a", "a", 1))).empty


def test_shares_are_of_the_row_and_in_the_margin_of_the_column():
    assert confusion_counts.cell_shares([[6, 1, 3], [0, 2, 0], [0, 3, 0]], True) == [
        [0.6, 0.1, 0.3], [0.0, 1.0, 0.0], [0.0, 0.5, 0.0],
    ]  # fmt: skip
    assert confusion_counts.cell_shares([[0, 0], [1, 3]], False) == [[0.0, 0.0], [0.25, 0.75]]


def test_the_largest_share_of_a_mistake_has_the_full_colour():
    right = confusion_counts.right_cells(["a", "b"], ["a", "b"])
    assert right == [[True, False], [False, True]]
    assert confusion_counts.full_share([[0.9, 0.1], [0.4, 0.6]], right) == 0.4
    assert confusion_counts.full_share([[0.9, 0.1], [0.0, 1.0]], right) == confusion_counts.LEAST_SCALE
