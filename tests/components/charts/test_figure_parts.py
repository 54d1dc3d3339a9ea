"""What the charts share."""

import pytest

from components.charts import figure_parts


@pytest.mark.parametrize(("state", "data"), [
    (None, None), ({"selection": {"points": []}}, None),
    ({"selection": {"points": [{"customdata": ["a", 1]}]}}, ["a", 1]),
    ({"selection": {"points": [{"customdata": {"0": "a", "1": 2}}]}}, ["a", 2]),
    ({"selection": {"points": [{"x": 1}]}}, None),
], ids=["nothing yet", "no point", "list", "mapping", "without data"])  # fmt: skip
def test_selected(state: object, data: list[object] | None) -> None:
    assert figure_parts.selected(state) == data


@pytest.mark.parametrize(("text", "drawn"), [
    ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"), ("a & b", "a &amp; b"), ("&lt;", "&amp;lt;"),
    ("%{customdata[0]}", "&#37;{customdata[0]}"), ("5 % {x}", "5 % {x}"),
])  # fmt: skip
def test_names_are_drawn_literally(text: str, drawn: str) -> None:
    assert figure_parts.plain(text) == drawn


@pytest.mark.parametrize(("a", "b", "share", "mixed"), [
    ("#000000", "#ffffff", 0, "#000000"), ("#000000", "#ffffff", 1, "#ffffff"), ("#102030", "#304050", 0.5, "#203040"),
])  # fmt: skip
def test_mix(a: str, b: str, share: float, mixed: str) -> None:
    assert figure_parts.mix(a, b, share) == mixed


def test_spread_keeps_names_apart() -> None:
    ordered, heights = figure_parts.spread([("b", 0, 0.51), ("a", 0, 0.5), ("c", 0, 0.9)])
    assert [name for name, *_ in ordered] == ["a", "b", "c"]
    assert heights == pytest.approx([0.5, 0.5 + figure_parts.CLEARANCE, 0.9])
