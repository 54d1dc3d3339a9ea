"""The reliability diagram."""

import pandas as pd
import pytest

from components.charts import reliability


def bins(*series: str) -> pd.DataFrame:
    rows = [
        (name, 0.0, 0.5, 0, None, None, None, None) if empty else (name, 0.5, 1.0, 4, 0.8, 0.75, 0.3, 0.95)
        for name in series
        for empty in (True, False)
    ]
    columns = ["series", "bin_low", "bin_high", "n", "mean_confidence", "accuracy", "low", "high"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[4:], float))


def test_a_bin_has_a_point_a_whisker_and_its_count_below() -> None:
    figure = reliability.reliability_figure(bins("ann"), {"ann": "#0f6b78"})
    _, line, bars = figure.data
    assert (list(line.x), list(line.y)) == ([0.8], [0.75])  # the empty bin is left out
    assert (line.error_y.array[0], line.error_y.arrayminus[0]) == pytest.approx((0.2, 0.45))
    assert list(bars.y) == [4]


@pytest.mark.parametrize("models", [1, 5])
def test_panels_of_models(models: int) -> None:
    names = [f"<b>{index}</b>" for index in range(models)]
    figure = reliability.reliability_figure(bins(*names), dict.fromkeys(names, "#0f6b78"))
    assert len(figure.data) == 3 * models
    assert [note.text for note in figure.layout.annotations if note.text] == [
        f"&lt;b&gt;{index}&lt;/b&gt;" for index in range(models)
    ]
