"""The one headline: who leads, over which metrics, in which words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from metrics.analysis import Cell, Column, Leaderboard, Ranks, headline

NOTHING = Cell(None, None, None, None, 0, 0, {}, None, None, False, False, "no case could be scored")
Ranked = Mapping[str, Sequence[str]]  # a metric's column key: the models that are best; all others are worse


def column(key: str, **other: object) -> Column:
    evaluator, metric = key.split("/")
    facts = {
        "key": key, "evaluator": evaluator, "evaluator_title": evaluator.upper(), "family": "text", "metric": metric,
        "title": metric, "description": "", "direction": "higher", "low": 0.0, "high": 1.0, "threshold": None,
        "unit": "", "primary": True, "minor": False,
    }  # fmt: skip
    return Column(**(facts | other))


def cell(best: bool, ranked: bool = True, problem: bool = False) -> Cell:
    rank = (1 if best else 2) if ranked else None
    return Cell(0.5, 0.4, 0.6, "wilson", 10, 0, {}, 0.5, rank, best and ranked, problem, None, rank, 2, ranked)


FAILED = replace(cell(True), counts={"error": 1})


def board(models: str, ranked: Ranked, **columns: Mapping[str, object]) -> Leaderboard:
    made = tuple(column(key, **columns.get(key.split("/")[0], {})) for key in ranked)
    cells = {(model, key): cell(model in best) for key, best in ranked.items() for model in models}
    ranks = {key: Ranks({}, {(one, other): 0.01 for one in best for other in models if other not in best})
             for key, best in ranked.items()}  # fmt: skip
    return Leaderboard(tuple(models), made, cells, (), ranks)


def of_pairs(models: str, *pairs: str) -> Leaderboard:
    """A leaderboard of a metric for each of `pairs`: `ab cb` are a better than b, c better than b."""
    every = {f"{name}/m": own.split() for name, own in zip("efghi", pairs, strict=False)}
    found = board(models, {key: [model for model in models if not any(pair[1] == model for pair in own)]
                           for key, own in every.items()})  # fmt: skip
    return replace(found, ranks={key: Ranks({}, {(pair[0], pair[1]): 0.01 for pair in own})
                                 for key, own in every.items()})  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), [
    pytest.param(of_pairs("abc", "ab"), "No single model leads: a and c are tied for best in E: M.", id="tied"),
    pytest.param(
        of_pairs("abc", "ab bc"), "No model leads: none is significantly better than every other one in E: M.",
        id="not-every",
    ),
    pytest.param(of_pairs("abc", "ab ac bc"), "a leads: best in E: M.", id="alone"),
    pytest.param(of_pairs("abc", "ac bc"), "a and b lead together: tied for best in E: M.", id="together"),
    pytest.param(
        of_pairs("abc", "ab", "ac"), "a leads: best or tied for best in 2 of 2 metrics (b in 1; c in 1).",
        id="each-in-another-metric",
    ),
    pytest.param(
        of_pairs("abc", "bc", "cb"),
        "No model leads: of 2 metrics, best or tied for best are a in 2; b in 1; c in 1.", id="better-than-nobody",
    ),
    pytest.param(
        of_pairs("abc", "ab", "bc", "ca"), "No model leads: each is best or tied for best in 2 of 3 metrics.",
        id="circle",
    ),
])  # fmt: skip
def test_a_leader_is_better_than_every_other_model(given: Leaderboard, expected: str) -> None:
    assert headline(given).sentence == expected


@pytest.mark.parametrize(("models", "ranked", "expected"), [
    pytest.param("abc", {}, "No metric has a value, so no model can be recommended.", id="nothing"),
    pytest.param("ab", {"e/m": "a"}, "a leads: best in E: M.", id="one-metric"),
    pytest.param("abc", {"e/m": "ab"}, "a and b lead together: tied for best in E: M.", id="one-metric-tied"),
    pytest.param("abcdefgh", {"e/m": "abcdefg"}, "a, b, c and 4 more lead together: tied for best in E: M.", id="many"),
    pytest.param(
        "abc", {"e/m": "a", "f/m": "ab"}, "a leads: best or tied for best in 2 of 2 metrics (b in 1; c in 0).",
        id="leads-all",
    ),
    pytest.param(
        "abcd", {"e/m": "a", "f/m": "b", "g/m": "abcd", "h/m": "a"},
        "a leads: best or tied for best in 3 of 4 metrics (b in 2; c in 1); worse than another model in F: M.",
        id="leads-most",
    ),
    pytest.param(
        "abc", {"e/m": "a", "f/m": "b"},
        "a and b lead together: best or tied for best in 1 of 2 metrics (c in 0).", id="shared",
    ),
    pytest.param(
        "ab", {"e/m": "a", "f/m": "b"}, "No model leads: each is best or tied for best in 1 of 2 metrics.", id="nobody",
    ),
    pytest.param(
        "ab", {"e/m": "ab", "f/m": "ab"}, "No significant difference between the models in any of 2 metrics.",
        id="all-tied",
    ),
    pytest.param("ab", {"e/m": "ab"}, "No significant difference between the models in E: M.", id="one-tied"),
])  # fmt: skip
def test_the_sentence(models: str, ranked: Ranked, expected: str) -> None:
    assert headline(board(models, ranked)).sentence == expected


def test_ap_decides_first() -> None:
    found = headline(board("abc", {"coco_summary/AP": "ab", "f/m": "bc", "g/m": "c", "h/m": "c"}))
    assert found.models == ("b", "c", "a")
    assert found.sentence == (
        "b leads: best or tied for best in AP and in 2 of 4 metrics overall (c in 3; a in 1); "
        "worse than another model in G: M and H: M."
    )
    assert headline(board("abc", {"coco_summary/AP": "abc", "f/m": "bc", "g/m": "c"})).leaders == ("c",)


def test_a_number_under_two_names_counts_once() -> None:
    ranked = {"e/m": "a", "twin/m": "a", "f/m": "b", "g/m": "b"}
    assert headline(board("ab", ranked)).leaders == ()
    assert headline(board("ab", ranked, twin={"twin": "e/m"})).leaders == ("b",)
    alone = {key: best for key, best in ranked.items() if key != "e/m"}
    assert len(headline(board("ab", alone, twin={"twin": "e/m"})).compared) == 3


def test_only_primary_metrics_with_a_better_end_count() -> None:
    ranked = {"e/m": "a", "f/m": "b", "g/m": "b"}
    found = headline(board("ab", ranked, f={"primary": False}, g={"direction": "none"}))
    assert found.sentence == "a leads: best in E: M."


def test_of_some_columns_and_models() -> None:
    given = board("abc", {"e/m": "a", "f/m": "b", "g/m": "bc"})
    assert (headline(given, ["f/m", "g/m"]).leaders, headline(given, models=["a", "c"]).leaders) == (("b",), ())
    assert headline(given, ["g/m"], ["a", "c"]).leaders == ("c",)


def test_a_metric_that_only_one_model_has_compares_nothing() -> None:
    given = board("ab", {"e/m": "ab", "f/m": "a"})
    found = headline(Leaderboard(given.models, given.columns, {**given.cells, ("b", "f/m"): NOTHING}, (), {}))
    assert (found.compared, found.scored, found.wins, found.leaders) == (("E: M",), 2, {"a": 1, "b": 1}, ())


def test_without_a_test_nobody_leads() -> None:
    given = board("ab", {"e/m": "a"})
    untested = {key: cell(best=False, ranked=False) for key in given.cells}
    found = headline(Leaderboard(given.models, given.columns, untested, (), {}))
    assert (found.leaders, found.compared) == ((), ())
    assert found.sentence == "No significance tested: none of 1 metric has data to compare the models on."


@pytest.mark.parametrize(("cells", "threshold", "expected"), [
    ([cell(True), cell(True)], 0.4, "a meets the threshold in 2 metrics."),
    ([cell(True), cell(True, problem=True)], 0.4, "a misses the threshold in 1 of 2 metrics: F: M."),
    ([cell(True), FAILED], 0.4, "a meets the threshold in 1 metric; cases of F: M could not be evaluated."),
    ([NOTHING, FAILED], 0.4, "a meets no threshold yet: cases of F: M could not be evaluated."),
    ([cell(True), NOTHING], None, "a is the only model, and none of 1 metric has a threshold."),
], ids=["good", "bad", "an-error", "only-an-error", "no-threshold"])  # fmt: skip
def test_of_a_single_model(cells: list[Cell], threshold: float | None, expected: str) -> None:
    columns = tuple(column(key, threshold=threshold) for key in ("e/m", "f/m"))
    found = headline(
        Leaderboard(("a",), columns, dict(zip([("a", one.key) for one in columns], cells, strict=True)), (), {})
    )
    assert found.sentence == expected
