"""The lines of What to look at: missed thresholds, certain ones first, then what has no value."""

from components.views.results.what_to_look_at import missed_thresholds, missing_values
from tests.components.board_scenes import board, changed, column


def test_the_certain_misses_come_first_and_say_what_may_be_chance() -> None:
    right, wrong = column("right/share"), column("wrong/rate", "lower")
    made = board({"a": {"right/share": 0.1, "wrong/rate": 0.7}, "b": {"right/share": 0.9}}, right, wrong)
    made = changed(made, "a", "right/share", problem=True, low=0.0, high=0.6)
    made = changed(made, "a", "wrong/rate", problem=True, low=0.6, high=0.8)
    assert [(line[0], line[2].key) for line in missed_thresholds(made, [right, wrong], made.models)] == [
        ("a: Wrong: Rate 0.700, threshold ≤ 0.5", "wrong/rate"),
        ("a: Right: Share 0.100, threshold ≥ 0.5; may be chance", "right/share"),
    ]


def test_a_model_is_named_with_the_metric_that_lacks_the_most() -> None:
    first, second = column("first/x"), column("second/y")
    made = board({"a": {"first/x": 0.5, "second/y": 0.5}, "b": {"first/x": 0.5, "second/y": 0.5}}, first, second)
    made = changed(made, "a", "second/y", unscored=5, counts={"error": 5})
    found = [line[0] for line in missing_values(made, [first, second], made.models)]
    assert found == ["a: no Second: Y for 5 of 15 cases"]
