"""Points of curves by score threshold."""

import pandas as pd
import pytest

from metrics.presentation.chart_data import curve_points


def points(*rows: tuple[str, str, float, int, int, int]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["series", "label", "threshold", "tp", "fp", "fn"])
    frame["precision"] = (frame.tp / (frame.tp + frame.fp)).where(frame.tp + frame.fp > 0)
    frame["recall"] = frame.tp / (frame.tp + frame.fn)
    frame["f1"] = 2 * frame.tp / (2 * frame.tp + frame.fp + frame.fn)
    return frame


POINTS = points(
    ("ann", "cat", 0.25, 8, 4, 2), ("ann", "cat", 0.5, 6, 1, 4), ("ann", "cat", 0.75, 0, 0, 10),
    ("ann", "<i>dog</i>", 0.25, 5, 5, 5), ("ann", "<i>dog</i>", 0.5, 5, 0, 5), ("ben", "cat", 0.25, 9, 1, 1),
    ("ben", "cat", 0.5, 9, 0, 1),
)  # fmt: skip


RANKED = ["series", "label", "recall", "precision"]


@pytest.mark.parametrize(("wanted", "found"), [(0.0, 0.25), (0.3, 0.25), (0.4, 0.5), (0.625, 0.5), (1, 0.75)])
def test_nearest_threshold(wanted, found):
    assert curve_points.nearest([0.5, 0.25, 0.75], wanted) == found


def test_pooled_is_the_micro_average():
    row = curve_points.pooled(POINTS, ["cat", "<i>dog</i>"]).query("series == 'ann' and threshold == 0.25").iloc[0]
    assert (row.tp, row.fp, row.fn) == (13, 9, 7)
    assert (row.precision, row.recall, row.f1) == pytest.approx((13 / 22, 13 / 20, 26 / 42))


def test_mean_f1_is_the_macro_average():
    row = curve_points.mean_f1(POINTS, "mean").query("series == 'ann' and threshold == 0.25").iloc[0]
    assert (row.f1, row.tp) == (pytest.approx((16 / 22 + 0.5) / 2), 13)


def test_pooled_has_no_precision_without_predictions():
    row = curve_points.pooled(POINTS, ["cat"]).query("series == 'ann' and threshold == 0.75").iloc[0]
    assert pd.isna(row.precision)
    assert row.recall == 0


def test_best_threshold_is_that_of_the_highest_f1():
    best = curve_points.best_threshold(POINTS)
    assert best["threshold"].to_dict() == {("ben", "cat")[::-1]: 0.5, ("cat", "ann"): 0.25, ("<i>dog</i>", "ann"): 0.5}


def test_the_area_of_the_mean_curve_is_the_mean_of_the_interpolated_areas():
    """cat: precision 1 up to recall .5, then .5 up to 1; dog: .8 up to .25. Beyond the last recall it is 0."""
    rows = [("m", "cat", 0.5, 1.0), ("m", "cat", 1.0, 0.5), ("m", "cat", 0.25, 0.4), ("m", "dog", 0.25, 0.8)]
    mean = curve_points.mean_curve(pd.DataFrame(rows, columns=RANKED), *RANKED[2:])
    at = dict(zip(mean["recall"].round(2), mean["precision"], strict=True))
    found = {recall: at[recall] for recall in (0.0, 0.25, 0.26, 0.5, 0.51, 1.0)}
    assert found == pytest.approx({0.0: 0.9, 0.25: 0.9, 0.26: 0.5, 0.5: 0.5, 0.51: 0.25, 1.0: 0.25})
    assert mean["precision"].mean() == pytest.approx((51 + 50 * 0.5 + 26 * 0.8) / 2 / 101)


def test_the_mean_of_one_label_is_its_curve():
    rows = [("m", "cat", 0.5, 1.0), ("m", "cat", 0.25, 0.4)]
    one = curve_points.mean_curve(pd.DataFrame(rows, columns=RANKED), *RANKED[2:])
    assert one[["recall", "precision"]].to_numpy().tolist() == [[0.25, 0.4], [0.5, 1.0]]


def test_filled_bins_rise_and_leave_out_empty_ones():
    bins = pd.DataFrame({"series": "ann", "bin_low": [0.5, 0.0, 0.25], "n": [3, 2, 0]})
    assert curve_points.filled_bins(bins, "ann")["bin_low"].tolist() == [0.0, 0.5]


def test_the_worst_label_comes_first():
    rows = [("a", "x", 0.9), ("a", "x", 0.2), ("b", "x", 0.6), ("b", "y", 0.4), ("c", "x", None)]
    points = pd.DataFrame(rows, columns=["label", "series", "f1"])
    assert curve_points.worst_first(points) == ["b", "a", "c"]
    assert curve_points.worst_first(points.rename(columns={"f1": "precision"})) == ["b", "a", "c"]


def test_the_mean_of_interpolated_precision():
    rows = [("a", "x", 0.0, 1.0), ("a", "x", 1.0, 0.5), ("b", "x", 0.0, 0.5), ("b", "x", 1.0, 0.0)]
    points = pd.DataFrame(rows, columns=["label", "series", "recall", "precision"])
    found = curve_points.mean_ranks(points, "mean")
    assert found[["label", "series", "recall", "precision"]].to_numpy().tolist() == [
        ["mean", "x", 0.0, 0.75],
        ["mean", "x", 1.0, 0.25],
    ]
