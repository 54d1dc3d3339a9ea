"""The heatmap's payload: what the browser is told to draw, from plain values."""

import json
import math

import pytest

from components.viewers import heatmap
from metrics.presentation import format, palette

HOSTILE = "<img src=x onerror=alert(1)> **m**"


def column(key: str, direction: str = "higher", **other: object) -> dict:
    evaluator, _, metric = key.partition("/")
    return {
        "key": key, "evaluator": evaluator, "evaluator_title": evaluator.title(), "family": "text", "metric": metric,
        "title": metric, "description": f"what {metric} is", "direction": direction, "low": 0.0, "high": 1.0,
        "threshold": 0.5, "unit": "", "primary": True, "minor": False,
    } | other  # fmt: skip


def cell(value: float | None, **other: object) -> dict:
    return {
        "value": value, "low": None, "high": None, "interval": None, "n": 10, "unscored": 0, "counts": {},
        "goodness": value, "rank": 1, "best": False, "problem": False, "reason": None,
        "last_rank": 2, "ranked": 3, "untested": None, "if_worst": None, "if_best": None,
    } | other  # fmt: skip


def board(values: dict[str, dict[str, float | None]], *columns: dict) -> dict:
    cells = {(model, key): cell(value) for model, row in values.items() for key, value in row.items()}
    for one in columns:
        scored = [row[one["key"]] for row in values.values() if row.get(one["key"]) is not None]
        best = (min if one["direction"] == "lower" else max)(scored, default=None)
        for model, row in values.items():
            if row.get(one["key"]) == best is not None:
                cells[model, one["key"]]["best"] = True
    return {"models": list(values), "columns": list(columns), "cells": cells, "tags": []}


@pytest.fixture
def three() -> dict:
    return board(
        {
            "a": {"rouge/l": 0.2, "speed/s": 0.9},
            "B": {"rouge/l": 0.8, "speed/s": 0.5},
            HOSTILE: {"rouge/l": None, "speed/s": 0.1},
        },
        column("rouge/l"),
        column("speed/s", "lower", threshold=None),
    )


@pytest.mark.parametrize(
    ("sort", "down", "expected"),
    [
        pytest.param("rouge/l", True, ["B", "a", HOSTILE], id="best-first-none-last"),
        pytest.param("rouge/l", False, ["a", "B", HOSTILE], id="worst-first-none-last"),
        pytest.param("speed/s", True, [HOSTILE, "B", "a"], id="lower-is-better"),
        pytest.param(heatmap.NAME, True, [HOSTILE, "a", "B"], id="by-name"),
        pytest.param(None, True, ["a", "B", HOSTILE], id="as-given"),
        pytest.param("no/such", True, ["a", "B", HOSTILE], id="unknown-column"),
    ],
)
def test_order(three: dict, sort: str | None, down: bool, expected: list[str]) -> None:
    assert heatmap.order_models(three, three["models"], sort, down) == expected


def test_columns_by_evaluator_and_minor_on_demand() -> None:
    columns = [column("rouge/l"), column("rouge/1", minor=True), column("bleu/b")]
    keys = lambda found: [one["key"] for one in found]  # noqa: E731
    assert keys(heatmap.select_columns(columns, [], False)) == ["rouge/l", "bleu/b"]
    assert keys(heatmap.select_columns(columns, ["rouge"], True)) == ["rouge/l", "rouge/1"]


def payload(given: dict, columns: list[dict], models: list[str], sort: str | None = None, **view: object) -> dict:
    return heatmap.payload(columns, heatmap.cells(given, columns), models, "the answer", sort, False, **view)


class TestPayload:
    def test_a_cell_has_value_interval_n_and_marks(self, three: dict) -> None:
        three["cells"]["B", "rouge/l"] |= {
            "low": 0.7, "high": 0.9, "unscored": 2, "problem": True, "counts": {"ok": 8, "parse_failure": 2},
            "reason": "two replies could not be read", "interval": "wilson", "if_worst": 0.64, "if_best": 0.84,
        }  # fmt: skip
        drawn = payload(three, three["columns"], ["B", "a"])
        text, step, interval, size, marks, note, rank = drawn["cells"][0][0]
        assert (text, step, interval, size) == ("0.800", 16, "0.700–0.900", "n 10 · ∅ 2")
        assert marks == heatmap.BEST | heatmap.PROBLEM
        assert note == (
            "two replies could not be read\nreply unreadable: 2\n"
            "If every unscored case were the worst: 0.640; the best: 0.840"
        )
        assert rank == "1–2 of 3"

    @pytest.mark.parametrize(
        ("places", "expected"),
        [((1, 3, 3), "1–3 of 3"), ((2, 2, 3), "2 of 3"), ((None, None, 3), ""), ((1, 1, 1), "")],
        ids=["range", "certain", "unranked", "alone"],
    )
    def test_rank(self, three: dict, places: tuple, expected: str) -> None:
        three["cells"]["a", "rouge/l"] |= dict(zip(("rank", "last_rank", "ranked"), places, strict=True))
        assert payload(three, three["columns"], ["a"])["cells"][0][0][-1] == expected

    def test_goodness_not_magnitude_gives_the_colour(self, three: dict) -> None:
        three["cells"]["a", "speed/s"]["goodness"] = 0.1
        drawn = payload(three, three["columns"], ["a"])
        assert drawn["cells"][0][1][1] == round(0.1 * palette.STEPS)

    def test_no_value_has_no_colour_of_the_scale(self, three: dict) -> None:
        drawn = payload(three, three["columns"], [HOSTILE])
        assert drawn["cells"][0][0][:2] == [format.MISSING, None]

    def test_a_model_without_the_metric_is_told_so(self, three: dict) -> None:
        del three["cells"]["a", "rouge/l"]
        drawn = payload(three, three["columns"], ["a"])
        assert drawn["cells"][0][0] == [format.MISSING, None, "", "", 0, "Not computed for this model.", ""]

    def test_headers(self, three: dict) -> None:
        columns = [*three["columns"], column("speed/t", high=math.inf)]
        drawn = payload(three, columns, three["models"], "speed/s", run="r 1", tag="a&b")
        assert drawn["groups"] == [["Rouge", 1], ["Speed", 2]]
        assert [one["arrow"] for one in drawn["columns"]] == ["↑", "↓", "↑"]
        assert drawn["columns"][0]["behind"] == "cases?run=r+1&tag=a%26b&evaluator=rouge&metric=l"
        assert "Range 0 … ∞" in drawn["columns"][2]["about"]
        assert "Threshold 0.5" in drawn["columns"][0]["about"]
        assert "Threshold" not in drawn["columns"][1]["about"]
        assert drawn["sort"] == {"key": "speed/s", "down": False}

    def test_it_is_plain_json_and_keeps_hostile_text_as_text(self, three: dict) -> None:
        drawn = payload(three, three["columns"], three["models"])
        assert json.loads(json.dumps(drawn)) == drawn
        assert HOSTILE in drawn["models"]


def test_the_style_has_a_readable_class_for_every_step() -> None:
    css = heatmap.colour_css()
    assert all(f".s{step} {{" in css for step in range(palette.STEPS + 1))


def test_the_script_never_parses_text_as_html() -> None:
    script = (heatmap.FOLDER / "heatmap.js").read_text(encoding="utf-8")
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert sink not in script


def test_two_hundred_models_by_sixty_metrics_are_a_megabyte_and_a_half_at_most() -> None:
    columns = [column(f"e{index // 6}/m{index}") for index in range(60)]
    values = {f"model {row}": {one["key"]: (row * 7 % 97) / 97 for one in columns} for row in range(200)}
    large = board(values, *columns)

    ordered = heatmap.order_models(large, large["models"], columns[3]["key"], True)
    assert len(json.dumps(payload(large, columns, ordered, columns[3]["key"], run="r"))) < 1_500_000
