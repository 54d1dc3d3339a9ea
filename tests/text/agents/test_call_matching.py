"""Matching of calls: against every possible pairing, written down plainly, and scipy's assignment."""

import json
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from metrics.core.suite import Case
from metrics.evaluators.agents.tool_calls import tool_calls
from metrics.text.agents.call_matching import (
    Call,
    Rules,
    best_pairs,
    calls_json,
    longest_common,
    ordered_pairs,
    pairings,
    same_value,
)
from metrics.text.agents.traces import Step


def random_calls(chance: Random, most: int) -> list[Call]:
    """Calls of two tools with up to two arguments of few values, so that many are alike."""
    return [
        Call(chance.choice("ab"), {name: chance.choice([1, 2, "x"]) for name in "pq" if chance.random() < 0.6})
        for _ in range(chance.randint(0, most))
    ]


def every_pairing(made: list[Call], wanted: list[Call], in_order: bool) -> list[list[tuple[int, int]]]:
    """Every way to pair calls of one tool, as positions (made, wanted)."""
    found = []
    for size in range(min(len(made), len(wanted)) + 1):
        for rows in combinations(range(len(wanted)), size):
            columns = combinations(range(len(made)), size) if in_order else permutations(range(len(made)), size)
            found += [list(zip(chosen, rows, strict=True)) for chosen in columns]
    return [pairs for pairs in found if all(made[m].tool == wanted[w].tool for m, w in pairs)]


def worth(made: list[Call], wanted: list[Call], pairs: list[tuple[int, int]]) -> tuple[int, int, int]:
    """Pairs with equal arguments, pairs, equal arguments."""
    both = [(made[m].arguments or {}, wanted[w].arguments or {}) for m, w in pairs]
    equal = sum(name in given and given[name] == value for given, want in both for name, value in want.items())
    return sum(given == want for given, want in both), len(pairs), equal


def trace(made: list[Call]) -> str:
    """The calls as a trace."""
    return json.dumps([Step("call", tool=call.tool, arguments=call.arguments).as_record() for call in made])


def test_the_best_of_every_pairing_on_random_calls() -> None:
    """300 random cases: matching, and the evaluator's numbers from their definitions."""
    chance = Random(11)
    for _ in range(300):
        made, wanted = random_calls(chance, 4), random_calls(chance, 4)
        best = {}
        for in_order, pairs in zip((True, False), pairings(made, wanted, Rules()), strict=True):
            best[in_order] = max(worth(made, wanted, each) for each in every_pairing(made, wanted, in_order))
            assert worth(made, wanted, [(pair.made, pair.wanted) for pair in pairs]) == best[in_order]
            assert sum(pair.arguments.is_match for pair in pairs) == best[in_order][0]
        case = Case(trace=trace(made), expected_calls=calls_json(tuple(wanted)))
        for order, in_order in (("sequence", True), ("set", False)):
            values = tool_calls(case, tool_calls.parameters.model_validate({"order": order})).values
            exact, _, equal = best[in_order]
            arguments = [sum(len(call.arguments or {}) for call in calls) for calls in (made, wanted)]
            assert values["f1"] == (2 * exact / (len(made) + len(wanted)) if made or wanted else None)
            assert values["precision"] == (exact / len(made) if made else None)
            assert values["recall"] == (exact / len(wanted) if wanted else None)
            assert values["argument_f1"] == (2 * equal / sum(arguments) if sum(arguments) else None)
            assert values["accuracy"] == (exact == len(made) == len(wanted))
        assert values["strict"] == (made == wanted)
        assert values["unordered"] == (best[False][0] == len(made) == len(wanted))
        assert values["subset"] == (best[False][0] == len(made))
        assert values["superset"] == (best[False][0] == len(wanted))


def test_assignment_and_alignment_are_the_best() -> None:
    """As scipy's; in order, as the recursion over both ends says."""
    chance = np.random.default_rng(3)
    for _ in range(300):
        weights = chance.integers(0, chance.integers(2, 9), (chance.integers(0, 6), chance.integers(0, 6)))
        pairs = best_pairs(weights)
        assert sum(weights[place] for place in pairs) == weights[linear_sum_assignment(weights, maximize=True)].sum()
        assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
        assert sum(weights[place] for place in ordered_pairs(weights)) == aligned(weights)


def aligned(weights: np.ndarray) -> int:
    rows, columns = weights.shape
    if not rows or not columns:
        return 0
    whole = aligned(weights[1:, 1:]) + int(weights[0, 0]) if weights[0, 0] else 0
    return max(whole, aligned(weights[1:]), aligned(weights[:, 1:]))


# agentevals 0.0.9 (_is_trajectory_superset both ways) and RAGAS 0.4.3 (ToolCallF1) on these calls
PEERS = [
    ("a1 b2", "b2 a1", (True, True, True), 1.0), ("a1 a1 b2", "b2 a1", (False, False, True), 1.0),
    ("a1", "a1 b2", (False, True, False), 0.6667), ("a1 b1", "a1 b2", (False, False, False), 0.5),
    ("a2 c1 b2", "a1 b2", (False, False, False), 0.4),
]  # fmt: skip


@pytest.mark.parametrize(("made", "wanted", "trajectory", "f1"), PEERS)
def test_the_peers_numbers(made: str, wanted: str, trajectory: tuple[bool, ...], f1: float) -> None:
    """RAGAS counts equal calls once: the same where none is repeated."""
    own, want = ([Call(word[0], {"x": int(word[1])}) for word in text.split()] for text in (made, wanted))
    case = Case(trace=trace(own), expected_calls=calls_json(tuple(want)))
    values = tool_calls(case, tool_calls.parameters.model_validate({"order": "set"})).values
    assert tuple(values[name] == 1 for name in ("unordered", "subset", "superset")) == trajectory
    if len(set(made.split())) == len(own):
        assert values["f1"] == pytest.approx(f1, abs=5e-5)


@pytest.mark.parametrize(("given", "expected", "tolerance", "same"), [
    (3, 3.0, 0, True), ("3", 3, 0, False), (True, 1, 0, False), (None, None, 0, True), ([1, 2], [2, 1], 0, False),
    (0.4, 0.3, 0.1, True), (0.41, 0.3, 0.1, False), ({"a": [1]}, {"a": [1.05]}, 0.1, True), ({}, {"a": 1}, 0, False),
    (10**400, 1.5, 1, False), (float("nan"), float("nan"), 0, False),
])  # fmt: skip
def test_same_values(given: object, expected: object, tolerance: float, same: bool) -> None:
    assert same_value(given, expected, tolerance) is same


@pytest.mark.parametrize(("rules", "expected", "agreement", "differing"), [
    (Rules(), {"x": 1, "id": 8}, (1, 3, 2), ["id", "y"]),
    (Rules(ignored=frozenset(["id"])), {"x": 1, "id": 8}, (1, 2, 1), ["y"]),
    (Rules("expected", 1.0), {"x": 1, "id": 8}, (2, 2, 2), []), (Rules("expected"), {"z": 1}, (0, 0, 1), ["z"]),
    (Rules("none"), {"x": 2}, (0, 0, 0), []), (Rules(), None, (0, 0, 0), []),
])  # fmt: skip
def test_rules_of_arguments(rules, expected, agreement, differing):
    made, wanted = Call("a", {"x": 1, "y": 2, "id": 7}), Call("a", expected)
    assert pairings([made], [wanted], rules)[0][0].arguments == agreement
    assert rules.differing(made, wanted) == differing


def test_many_calls_of_one_tool_are_matched_in_a_moment() -> None:
    wanted = [Call("a", {"x": place}) for place in range(100)]
    made = [Call("a", {"x": place % 150}) for place in range(600)]
    _, pairs = pairings(made, wanted, Rules())
    assert len(pairs) == 100
    assert all(pair.arguments.is_match for pair in pairs)
    assert longest_common(made, wanted) == 100
