"""Quality against cost: the Pareto front, and what is marked of it."""

from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from components.charts import tradeoff

VALUES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12)


COST, QUALITY = tradeoff.Axis("Cost", "lower"), tradeoff.Axis("ROUGE ↑", "higher")


def points(pairs: Sequence[tuple[float, float]], kinds: Sequence[str] = ()) -> list[tradeoff.Point]:
    return [
        tradeoff.Point(
            f"<m{place}>", tradeoff.Span(value, value - 0.1, value + 0.1, 10), tradeoff.Span(cost, None, None, 9),
            kind, f"is {kind}",
        )
        for place, ((cost, value), kind) in enumerate(zip(pairs, kinds or ["front"] * len(pairs), strict=True))
    ]  # fmt: skip


@given(VALUES, st.sampled_from(["higher", "lower"]))
def test_the_front_is_what_no_other_model_beats(pairs: list[tuple[int, int]], direction: str) -> None:
    sign = -1 if direction == "lower" else 1
    front = tradeoff.pareto(points(pairs), ("lower", direction))
    for place, (cost, value) in enumerate(pairs):
        beaten = any(
            other_cost <= cost and sign * other >= sign * value and (other_cost, other) != (cost, value)
            for other_cost, other in pairs
        )
        assert (f"<m{place}>" in front) != beaten
    costs = {f"<m{place}>": cost for place, (cost, _) in enumerate(pairs)}
    assert [costs[model] for model in front] == sorted(costs[model] for model in front)


def test_places_differ_in_more_than_colour_and_axes_say_where_better_is() -> None:
    made = points([(1.0, 0.5), (2.0, 0.9), (3.0, 0.7), (4.0, 0.8)], ["front", "front", "dominated", "perhaps"])
    figure = tradeoff.tradeoff_figure(made, {one.model: "#0f6b78" for one in made}, COST, QUALITY)
    line, dominated, perhaps, front = figure.data
    assert [each.marker.symbol for each in (dominated, perhaps, front)] == ["circle", "star-open", "star"]
    assert [list(data) for data in front.customdata] == [["<m0>"], ["<m1>"]]
    assert list(line.x) == [1.0, 2.0]
    assert list(front.text) == ["&lt;m0&gt;", "&lt;m1&gt;"]
    assert list(front.error_y.array) == pytest.approx([0.1, 0.1])
    assert front.hovertext[0] == (
        "<b>&lt;m0&gt;</b><br>ROUGE ↑: 0.500 (95 % 0.400–0.600), n 10<br>Cost: 1.00, n 9<br>is front<br>"
        "click: its cases"
    )
    assert figure.layout.xaxis.title.text == "← better · Cost"
    assert figure.layout.yaxis.title.text == "ROUGE ↑ · better →"


def test_both_ends_can_be_high() -> None:
    made = points([(1.0, 0.5), (2.0, 0.9), (3.0, 0.7)])
    assert tradeoff.pareto(made, ("higher", "higher")) == ["<m2>", "<m1>"]


def test_of_many_models_only_the_front_is_named() -> None:
    made = points([(float(place), float(place % 7)) for place in range(200)], ["front"] * 7 + ["dominated"] * 193)
    figure = tradeoff.tradeoff_figure(made, {one.model: "#0f6b78" for one in made}, COST, QUALITY)
    _, others, _, front = figure.data
    assert not any(others.text)
    assert all(front.text)
    assert len(front.x) + len(others.x) == 200
