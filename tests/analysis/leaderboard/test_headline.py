"""The one headline: who leads, over which metrics, in which words."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

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
    cells = {(model, key): replace(cell(model in best), n=10 + place, value=0.5 - 0.01 * number)  # no copies
             for place, (key, best) in enumerate(ranked.items()) for number, model in enumerate(models)}  # fmt: skip
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
    pytest.param(board("abc", {}), "No metric has a value, so no model can be recommended.", id="nothing"),
    pytest.param(of_pairs("ab", ""), "No significant difference between the models in E · M.", id="one-tied"),
    pytest.param(
        of_pairs("ab", "", ""), "No significant difference between the models in any of 2 main metrics.", id="all-tied",
    ),
    pytest.param(of_pairs("abc", "ab ac bc"), "a leads: best in E · M.", id="one-metric"),
    pytest.param(
        of_pairs("abc", "ac bc"), "No clear choice: a and b are not significantly different in E · M.", id="one-shared",
    ),
    pytest.param(
        of_pairs("abc", "ab bc"),
        "No clear choice: none is significantly better than every other one in E · M.", id="one-not-every",
    ),
    pytest.param(
        of_pairs("ab", "ab", "", ""), "a leads: ahead in 1 of 3 main metrics (E · M), behind in none.",
        id="ties-are-no-wins",
    ),
    pytest.param(
        of_pairs("abc", "ab", "ac"), "a leads: ahead in 2 of 2 main metrics (E · M, F · M), behind in none.",
        id="each-in-another-metric",
    ),
    pytest.param(
        of_pairs("abc", "ab ac bc", "ab ac", "ab ac", "ba bc ca"),
        "No clear choice: a is ahead in 3 of 4 main metrics, behind in 1 (H · M, last of 3); b ahead in 1 (H · M), "
        "behind in 3 (worst in E · M, worse than a); c ahead in none, behind in 4 (worst in E · M, last of 3).",
        id="a-loss",
    ),
    pytest.param(
        of_pairs("ab", "ab", "ba"),
        "No clear choice: a is ahead in 1 of 2 main metrics (E · M), behind in 1 (F · M).", id="each-one",
    ),
    pytest.param(
        of_pairs("abcde", "ae be ce de", ""),
        "No clear choice: a is ahead in 1 of 2 main metrics (E · M), behind in none; b ahead in 1 (E · M), behind in "
        "none; c ahead in 1 (E · M), behind in none; 2 more models.", id="many-models",
    ),
])  # fmt: skip
def test_the_sentence(given: Leaderboard, expected: str) -> None:
    assert headline(given).sentence == expected


def board_of(models: str, **pairs: str) -> Leaderboard:
    """A leaderboard of real evaluators, a metric each, of which some answer one question."""
    found = of_pairs(models, *pairs.values())
    keys = {one.key: f"{name}/m" for one, name in zip(found.columns, pairs, strict=True)}
    return replace(
        found, columns=tuple(column(key) for key in keys.values()),
        cells={(model, keys[key]): cell for (model, key), cell in found.cells.items()},
        ranks={keys[key]: ranks for key, ranks in found.ranks.items()},
    )  # fmt: skip


ONE_SIDED = board_of("ab", groundedness="ab", rouge="ba", token_f1="ba", bleu="ba", chrf="ba")
MIXED = board_of("ab", rouge="ab", bleu="ba", chrf="ab", groundedness="ab")


@pytest.mark.parametrize(("given", "expected"), [
    pytest.param(
        ONE_SIDED, "No clear choice: a is ahead in 1 of 2 questions (Grounded?: GROUNDEDNESS · M), behind in 1 "
        "(Right?: 4 metrics).", id="four-likenesses-count-once",
    ),
    pytest.param(
        MIXED, "a leads: ahead in 1 of 2 questions (Grounded?: GROUNDEDNESS · M), behind in none, mixed in 1 (Right?: "
        "ahead in 2 metrics, behind in BLEU · M).", id="mixed-is-neither",
    ),
    pytest.param(
        board_of("ab", rouge="ab", bleu="ba", groundedness=""),
        "No clear choice: a is ahead in none of 2 questions, behind in none, mixed in 1 (Right?: ahead in ROUGE · M, "
        "behind in BLEU · M).", id="mixed-alone",
    ),
    pytest.param(
        board_of("ab", rouge="ab", bleu="ab", chrf="ba"),
        "No clear choice: a is ahead in 2 of 3 main metrics (ROUGE · M, BLEU · M), behind in 1 (CHRF · M).",
        id="of-one-question-its-metrics",
    ),
    pytest.param(
        board_of("ab", rouge="ab", bleu="", own="ba", looping_detection=""),
        "No clear choice: a is ahead in 1 of 3 questions (Right?: ROUGE · M), behind in 1 (OWN · M).",
        id="a-metric-of-no-question-counts-by-itself",
    ),
    pytest.param(
        board_of("abc", rouge="ab ac", bleu="ab bc", faithfulness="ca cb", groundedness="ca", answer_relevance=""),
        "No clear choice: a is ahead in 1 of 3 questions (Right?: 2 metrics), behind in 1 (Grounded?: 2 metrics, worse "
        "than c); b ahead in none, behind in 2 (worst in Right?: 2 metrics, worse than a); c ahead in 1 (Grounded?: 2 "
        "metrics), behind in 1 (Right?: 2 metrics, worse than a and b).", id="three-models",
    ),
])  # fmt: skip
def test_wins_and_losses_are_counted_by_question(given: Leaderboard, expected: str) -> None:
    assert headline(given).sentence == expected


def test_what_decides_is_counted_by_metric_and_a_mixed_question_names_its_loss() -> None:
    keys = tuple(one.key for one in ONE_SIDED.columns)
    assert headline(replace(ONE_SIDED, decisive=keys)).sentence == (
        "No clear choice: a is ahead in 1 of 5 decisive metrics (GROUNDEDNESS · M), behind in 4 (worst in ROUGE · M)."
    )
    assert headline(MIXED).tallies["a"].worst == "Right?: BLEU · M"
    assert headline(MIXED).ahead == (("a", "b"),)


def test_what_people_choose_by_decides_and_losses_elsewhere_are_said() -> None:
    given = board("abc", {"coco/AP": "b", "f/m": "ac", "g/m": "abc"}, coco={"first": True})
    found = headline(given)
    assert found.sentence == "b leads in AP: ahead in 1 of 3 main metrics (AP), behind in 1 (F · M, last of 3)."
    assert (found.leader, found.ranked[0], found.ahead) == ("b", "b", (("b", "a"), ("b", "c")))
    tied = headline(board("abc", {"coco/AP": "ab", "f/m": "a"}, coco={"first": True}))
    assert (tied.leader, tied.first) == ("a", None)
    lost = headline(board("ab", {"coco/AP": "a", "f/m": "b", "g/m": "b"}, coco={"first": True}))
    assert lost.leader == "a", "more wins elsewhere do not outweigh it"


def test_the_sentence_is_about_the_metrics_that_were_marked() -> None:
    given = board("ab", {"e/m": "a", "f/m": "b", "g/x": "b", "h/m": "ab"}, g={"primary": False})
    assert headline(given).leader is None
    marked = headline(replace(given, decisive=("f/m", "g/x", "gone/m")))
    assert marked.sentence == "b leads: ahead in 2 of 2 decisive metrics (F · M, G · X), behind in none."
    assert headline(replace(given, decisive=("h/m",))).sentence == (
        "No significant difference between the models in H · M; they differ in E: M, F: M and G: X."
    )
    assert headline(replace(given, decisive=("f/m",)), ["e/m"]).leader == "a", "one that is not shown decides nothing"


def test_copies_count_once() -> None:
    ranked = {"e/m": "a", "twin/m": "a", "f/m": "b"}
    twice = board("ab", ranked)
    same = {("a", "twin/m"): twice.cells["a", "e/m"], ("b", "twin/m"): twice.cells["b", "e/m"]}
    assert headline(twice).tallies["a"].won == ("E · M", "TWIN · M")
    equal = replace(twice, cells={**twice.cells, **same})
    assert headline(equal).tallies["a"].won == ("E · M",), "equal numbers"
    assert "of 2 different main metrics" in headline(equal).sentence
    assert headline(replace(equal, ranks={})).sentence == (
        "No significant difference between the models in any of 3 main metrics."
    ), "as many as are tested and shown"
    assert headline(board("ab", ranked, twin={"twin": "e/m"})).tallies["a"].won == ("E · M",), "declared"


def test_only_main_metrics_with_a_better_end_count() -> None:
    ranked = {"e/m": "a", "f/m": "b", "g/m": "b", "h/m": "b"}
    found = headline(board("ab", ranked, f={"primary": False}, g={"direction": "none"}, h={"minor": True}))
    assert found.sentence == "a leads: best in E · M."
    alone = board("ab", {"h/m": "b"}, h={"minor": True})
    assert headline(alone).leader == "b", "of minor ones only where there are no others"


def test_of_some_columns_and_models() -> None:
    given = board("abc", {"e/m": "a", "f/m": "b", "g/m": "bc"})
    assert (headline(given, ["f/m", "g/m"]).leader, headline(given, models=["a", "c"]).leader) == ("b", None)
    assert headline(given, ["g/m"], ["a", "c"]).leader == "c"


def test_a_metric_that_only_one_model_has_is_no_win() -> None:
    given = board("ab", {"e/m": "ab", "f/m": "a"})
    found = headline(Leaderboard(given.models, given.columns, {**given.cells, ("b", "f/m"): NOTHING}, (), {}))
    assert (found.compared, found.scored, found.leader) == (("E · M",), 2, None)


def test_what_missing_cases_may_undo_is_no_win() -> None:
    given = replace(board("ab", {"e/m": "a", "f/m": "a"}), overtaking={("a", "e/m"): ("b",)})
    assert headline(given).tallies["a"].words() == "ahead in 1 (F · M), behind in none"
    assert headline(given).tallies["b"].lost == ("E · M", "F · M")
    lone = headline(replace(given, overtaking={("a", "e/m"): ("b",), ("a", "f/m"): ("b",)}))
    assert lone.leader is None
    assert lone.sentence.startswith("No leader is named: a is ahead of b in E: M on the scored cases")


def test_a_model_with_the_numbers_of_another_is_compared_once() -> None:
    given = board("abc", {"e/m": "ab", "f/m": "ab", "g/m": "ab"})
    same = {("b", column.key): given.cells["a", column.key] for column in given.columns}
    found = headline(replace(given, cells={**given.cells, **same}))
    assert (found.leader, found.models, found.ranked) == ("a", ("a", "b", "c"), ("a", "c"))
    assert found.sentence == ("a leads: ahead in 3 of 3 main metrics, behind in none; b has the same numbers as a.")


PAIR = st.tuples(st.sampled_from(["ab", "ba"]), st.sampled_from([0.01, 0.04, 0.2]))


@given(st.lists(PAIR, min_size=1, max_size=4))
def test_no_words_are_silent_on_what_may_be_worse(metrics: list[tuple[str, float]]) -> None:
    """Law: where a model that is told of may be worse in a metric, before correction, nothing says "behind in none"."""
    made = of_pairs("ab", *(pair if p == 0.01 else "" for pair, p in metrics))
    ranks = {
        key: replace(own, p={(*pair,): p}, adjusted={(*pair,): 1.0 if p > 0.01 else p}, gaps={(*pair,): 0.3})
        for (key, own), (pair, p) in zip(made.ranks.items(), metrics, strict=True)
    }
    found = headline(replace(made, ranks=ranks))
    for model in "ab":
        doubts = [
            f"{letter} · M" for letter, (pair, p) in zip("EFGH", metrics, strict=False) if (pair[1], p) == (model, 0.04)
        ]
        assert found.tallies[model].doubts == tuple(f"{title} (by 0.300, uncorrected)" for title in doubts)
        assert not doubts or "behind in none" not in found.tallies[model].words()
    if found.leader and found.tallies[found.leader].doubts:
        assert f"may be worse in {found.tallies[found.leader].doubts[0]}" in found.sentence


def test_of_several_models_the_doubt_says_than_whom() -> None:
    made = of_pairs("abc", "ab ac bc", "")
    doubted = replace(
        made.ranks["f/m"], p={("b", "a"): 0.03, ("c", "a"): 0.04}, gaps={("b", "a"): 0.1, ("c", "a"): 0.2}
    )
    assert headline(replace(made, ranks={**made.ranks, "f/m": doubted})).sentence == (
        "a leads: ahead in 1 of 2 main metrics (E · M), may be worse in F · M (by 0.200 than c, uncorrected)."
    )


def test_without_a_test_nobody_leads() -> None:
    given = board("ab", {"e/m": "a"})
    untested = {key: cell(best=False, ranked=False) for key in given.cells}
    found = headline(Leaderboard(given.models, given.columns, untested, (), {}))
    assert (found.leader, found.compared) == (None, ())
    assert found.sentence == "No significance tested: none of 1 metric has data to compare the models on."


@pytest.mark.parametrize(("cells", "threshold", "expected"), [
    ([cell(True), cell(True)], 0.4, "a meets the threshold in 2 metrics."),
    ([cell(True), cell(True, problem=True)], 0.4, "a misses the threshold in 1 of 2 metrics: F: M."),
    ([cell(True), FAILED], 0.4, "a meets the threshold in 1 metric; cases of F: M could not be evaluated."),
    ([NOTHING, FAILED], 0.4, "a meets no threshold yet: cases of F: M could not be evaluated."),
    ([cell(True), NOTHING], None, "a has values in 1 metric: set thresholds, or add a model to compare it with."),
], ids=["good", "bad", "an-error", "only-an-error", "no-threshold"])  # fmt: skip
def test_of_a_single_model(cells: list[Cell], threshold: float | None, expected: str) -> None:
    columns = tuple(column(key, threshold=threshold) for key in ("e/m", "f/m"))
    found = headline(
        Leaderboard(("a",), columns, dict(zip([("a", one.key) for one in columns], cells, strict=True)), (), {})
    )
    assert found.sentence == expected
