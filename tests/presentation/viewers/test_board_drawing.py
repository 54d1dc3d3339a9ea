"""The heatmap's payload: what the browser is told to draw, from plain values."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from metrics.analysis import Column, Leaderboard
from metrics.presentation import format, palette
from metrics.presentation.viewers import board_drawing, case_rows
from tests.components.board_scenes import board, changed, column

HOSTILE = "<img src=x onerror=alert(1)> **m**"


@pytest.fixture
def three() -> Leaderboard:
    return board({
        "a": {"rouge/l": 0.2, "speed/s": 0.9}, "B": {"rouge/l": 0.8, "speed/s": 0.5},
        HOSTILE: {"rouge/l": None, "speed/s": 0.1},
    }, column("rouge/l"), column("speed/s", "lower", threshold=None))  # fmt: skip


@pytest.mark.parametrize(("sort", "down", "expected"), [
    pytest.param("rouge/l", True, ["B", "a", HOSTILE], id="best-first-none-last"),
    pytest.param("rouge/l", False, ["a", "B", HOSTILE], id="worst-first-none-last"),
    pytest.param("speed/s", True, [HOSTILE, "B", "a"], id="lower-is-better"),
    pytest.param(board_drawing.NAME, True, [HOSTILE, "a", "B"], id="by-name"),
    pytest.param(None, True, ["a", "B", HOSTILE], id="as-given"),
    pytest.param("no/such", True, ["a", "B", HOSTILE], id="unknown-column"),
])  # fmt: skip
def test_order(three, sort, down, expected):
    assert board_drawing.order_models(three, three.models, sort, down) == expected


def test_columns_by_evaluator_and_minor_on_demand():
    columns = [column("rouge/l"), column("rouge/1", minor=True), column("bleu/b")]
    keys = lambda found: [one.key for one in found]  # noqa: E731
    assert keys(board_drawing.select_columns(columns, [], False)) == ["rouge/l", "bleu/b"]
    assert keys(board_drawing.select_columns(columns, ["rouge"], True)) == ["rouge/l", "rouge/1"]


def payload(
    given: Leaderboard, columns: Sequence[Column], models: Sequence[str], sort: str | None = None, **view: Any
) -> dict[str, Any]:
    rows = board_drawing.cells(given, columns)
    return board_drawing.payload(columns, rows, models, "the answer", sort, False, **view)


class TestPayload:
    def test_a_cell_has_value_interval_n_and_marks(self, three):
        three = changed(
            three, "B", "rouge/l", low=0.7, high=0.9, unscored=2, problem=True, counts={"ok": 8, "parse_failure": 2},
            reason="two replies could not be read", interval="wilson", if_worst=0.64, if_best=0.84,
        )  # fmt: skip
        text, step, interval, size, marks, note, rank = payload(three, three.columns, ["B", "a"])["cells"][0][0]
        assert (text, step, interval, size) == ("0.800", 16, "0.700–0.900", "n 10 · ∅ 2 · 0.640–0.840")
        assert marks == board_drawing.BEST | board_drawing.PROBLEM
        assert note == (
            "two replies could not be read\nreply unreadable: 2\n"
            "If every case that should have a score and has none were the worst: 0.640; the best: 0.840"
        )
        assert rank == "1–2 of 3"

    @pytest.mark.parametrize(("key", "interval", "low", "high", "expected"), [
        ("rouge/l", "bootstrap", 0.1, 0.3, ""),
        ("rouge/l", "wilson", 0.19, 0.4, ""),
        ("rouge/l", "bootstrap", None, 0.4, ""),
        ("rouge/l", "bootstrap", 0.15, 0.35, "The interval reaches farther up: towards 0 the range leaves less room"),
        ("rouge/l", "bootstrap", 0.17, 0.21, "The interval reaches farther down: resamples of the cases move the value "
         "farther down, as a few extreme cases do"),
        ("rouge/l", "bootstrap", 0.199, 0.203, "The interval reaches farther up: resamples of the cases move the value "
         "farther up, as a few extreme cases do"),
    ], ids=["even", "of-a-share", "one-end", "near-the-end", "down", "one-arm"])  # fmt: skip
    def test_a_lopsided_bootstrap_interval_says_why(self, three, key, interval, low, high, expected):
        three = changed(three, "a", key, interval=interval, low=low, high=high)
        assert payload(three, three.columns, ["a"])["cells"][0][0][5] == expected

    @pytest.mark.parametrize(("places", "expected"), [
        ((1, 3, 3), "1–3 of 3"), ((2, 2, 3), "2 of 3"), ((None, None, 3), ""), ((1, 1, 1), ""),
    ], ids=["range", "certain", "unranked", "alone"])  # fmt: skip
    def test_rank(self, three, places, expected):
        rank, last_rank, ranked = places
        three = changed(three, "a", "rouge/l", rank=rank, last_rank=last_rank, ranked=ranked)
        assert payload(three, three.columns, ["a"])["cells"][0][0][-1] == expected

    def test_no_value_has_no_colour_of_the_scale(self, three):
        assert payload(three, three.columns, [HOSTILE])["cells"][0][0][:2] == [format.MISSING, None]

    def test_a_model_without_the_metric_is_told_so(self, three):
        three = replace(three, cells={key: cell for key, cell in three.cells.items() if key != ("a", "rouge/l")})
        drawn = payload(three, three.columns, ["a"])
        assert drawn["cells"][0][0] == [format.MISSING, None, "", "", 0, "Not computed for this model.", ""]

    def test_headers(self, three):
        columns = [*three.columns, column("speed/t", high=math.inf)]
        drawn = payload(three, columns, three.models, "speed/s", run="r 1", tag="a&b")
        assert drawn["groups"] == [["Rouge", 1], ["Speed", 2]]
        assert [one["arrow"] for one in drawn["columns"]] == ["↑", "↓", "↑"]
        assert drawn["columns"][0]["behind"] == "cases?run=r+1&tag=a%26b&evaluator=rouge&metric=l"
        assert "Range 0 … ∞" in drawn["columns"][2]["about"]
        assert "Threshold ≥ 0.5" in drawn["columns"][0]["about"]
        assert "Threshold" not in drawn["columns"][1]["about"]
        assert drawn["sort"] == {"key": "speed/s", "down": False}

    @pytest.mark.attack("model", "a model's name with a script", "data travel as JSON and are set as text")
    def test_it_is_plain_json_and_keeps_hostile_text_as_text(self, three):
        drawn = payload(three, three.columns, three.models)
        assert json.loads(json.dumps(drawn)) == drawn
        assert HOSTILE in drawn["models"]


def test_the_style_has_a_readable_class_for_every_step():
    assert all(f".s{step} {{" in case_rows.colour_css() for step in range(palette.STEPS + 1))
