"""Calls that an agent should make, as data sets write them down, and the matching of its calls with them: in order or
as a set, and how far their arguments agree.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from metrics.core.array_types import Ints
from metrics.text.agents.dialects import calls_in, is_message
from metrics.text.agents.message_parts import WRITTEN_CALL, is_call
from metrics.text.agents.traces import TraceError
from metrics.text.json_text import JsonError, read_json

MOST_CALLS = 200
MAX_CALL_SHOWN = 300  # characters of a call
CALLS_FORM = 'a JSON list of calls such as [{"name": "search", "arguments": {"query": "Paris"}}], in order'
_json = json.JSONEncoder(ensure_ascii=False).encode  # made once: json.dumps makes one for every value


class ExpectedCallsError(ValueError):
    """Expected calls that cannot be read; the text says what was found."""


class Call(NamedTuple):
    """A call of a tool: its name, and its arguments by name; None where they are not stated."""

    tool: str
    arguments: Mapping[str, Any] | None


def expected_calls(text: str) -> tuple[Call, ...]:
    """Return the calls that a JSON text lists, in their order. Raises ExpectedCallsError for anything else.

    Each is an object with `name` and `arguments` (or `args`, `input_parameters`, `input`, …), a call as a framework
    writes it (metrics.text.agents.dialects), or the bare name of a tool. Without arguments, any are right; with {},
    none. A list of messages stands for the calls in them. An empty list means that no tool should be called.

    >>> expected_calls('[{"name": "add", "arguments": {"a": 1}}, "stop"]')
    (Call(tool='add', arguments={'a': 1}), Call(tool='stop', arguments=None))
    """
    try:
        document = read_json(text).value
    except JsonError as failure:
        raise ExpectedCallsError(f"no JSON: {failure}") from None
    if not isinstance(document, list):
        kind = f"an object with {', '.join(map(str, list(document)[:8]))}" if isinstance(document, dict) else "no list"
        raise ExpectedCallsError(kind[:200])
    calls = tuple(call for place, entry in enumerate(document, 1) for call in _calls(entry, place))
    if len(calls) > MOST_CALLS:
        raise ExpectedCallsError(f"{len(calls):,} calls, more than {MOST_CALLS}")
    return calls


def calls_json(calls: tuple[Call, ...]) -> str:
    """Return the JSON text of expected calls, as it is stored."""
    listed = [
        {"name": call.tool} | ({} if call.arguments is None else {"arguments": dict(call.arguments)}) for call in calls
    ]
    return json.dumps(listed, ensure_ascii=False)


def call_text(call: Call) -> str:
    """Return a call in one line of at most 300 characters: add(a=1, b="x"); without stated arguments, add(…)."""
    if call.arguments is None:
        return f"{call.tool}(…)"
    given = [f"{name}={_json(value)}" for name, value in call.arguments.items()]
    text = f"{call.tool}({', '.join(given)})"
    return text if len(text) <= MAX_CALL_SHOWN else text[: MAX_CALL_SHOWN - 1] + "…"


def named_arguments(value: Any) -> dict[str, Any]:
    """Return the arguments of a call by name: of an object, or the JSON text of one; anything else is one `input`."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        with suppress(JsonError):
            value = read_json(value).value
    if value is None or value == "":
        return {}
    return dict(value) if isinstance(value, Mapping) else {"input": value}


def _calls(entry: Any, place: int) -> list[Call]:
    """Return the call that an entry is, or those of a message."""
    if isinstance(entry, str) and entry and not WRITTEN_CALL.fullmatch(entry):
        return [Call(entry, None)]
    if not isinstance(entry, Mapping):
        raise ExpectedCallsError(f"call {place} is {json.dumps(entry, ensure_ascii=False)[:80]}, not an object")
    bare = not is_message(entry) and not is_call(entry) and isinstance(entry.get("name"), str)
    try:
        parts = calls_in({"tool": entry["name"], **entry} if bare else entry, f"call {place}")
    except TraceError as failure:
        raise ExpectedCallsError(str(failure)) from None
    if any(not part.tool for part in parts) or not (parts or is_message(entry)):
        raise ExpectedCallsError(f"call {place} has no name but {', '.join(map(str, list(entry)[:8])) or 'nothing'}")
    return [Call(part.tool, None if part.value is None else named_arguments(part.value)) for part in parts]


Compared = Literal["all", "expected", "none"]
ROUNDING = 1e-9  # by which a difference may exceed the tolerance: .4 − .3 is more than .1


class Agreement(NamedTuple):
    """How far the arguments of a call agree with the expected ones: how many are equal, given and expected."""

    equal: int
    given: int
    expected: int

    @property
    def is_match(self) -> bool:
        """Whether all arguments that count are equal."""
        return self.equal == self.given == self.expected


ANY = Agreement(0, 0, 0)  # where no arguments are compared


@dataclass(frozen=True, slots=True)
class Rules:
    """When arguments are right: which are `compared`, by how much numbers may differ, which names are `ignored`.

    all: exactly the expected ones; expected: the expected ones, others are allowed; none: arguments do not matter.
    """

    compared: Compared = "all"
    tolerance: float = 0.0
    ignored: frozenset[str] = frozenset()

    def agreement(self, given: Mapping[str, Any], expected: Mapping[str, Any] | None) -> Agreement:
        """Return how far the counted arguments of two calls of one tool agree; nothing counts where none are stated."""
        if expected is None:
            return ANY
        both = [name for name in expected if name in given]
        equal = sum(same_value(given[name], expected[name], self.tolerance) for name in both)
        return Agreement(equal, len(both) if self.compared == "expected" else len(given), len(expected))

    def differing(self, made: Call, wanted: Call) -> list[str]:
        """Return the names of the arguments that differ between paired calls, or are on one side only."""
        given, expected = self.counted(made) or {}, self.counted(wanted)
        if expected is None:
            return []
        names = expected.keys() | (given.keys() if self.compared == "all" else ())
        return sorted(
            name
            for name in names
            if not (name in given and name in expected and same_value(given[name], expected[name], self.tolerance))
        )

    def counted(self, call: Call) -> Mapping[str, Any] | None:
        """Return the arguments of a call that count; None where they are not stated or not compared."""
        if self.compared == "none" or call.arguments is None:
            return None
        if not self.ignored:
            return call.arguments
        return {name: value for name, value in call.arguments.items() if name not in self.ignored}


class Pair(NamedTuple):
    """A call that was made in the place of an expected one, by their positions, and how far their arguments agree."""

    made: int
    wanted: int
    arguments: Agreement


def same_value(given: Any, expected: Any, tolerance: float = 0.0) -> bool:
    """Return whether two JSON values are equal; numbers in them may differ by `tolerance`.

    >>> same_value({"at": [1, 2.0]}, {"at": [1.0, 2]}), same_value(True, 1), same_value(2.9, 3, 0.1)
    (True, False, True)
    """
    if type(given) is str or type(expected) is str:  # most are: the shortest way
        return bool(given == expected)
    if isinstance(given, Mapping) and isinstance(expected, Mapping):
        return given.keys() == expected.keys() and all(
            same_value(given[name], expected[name], tolerance) for name in expected
        )
    if isinstance(given, list) and isinstance(expected, list):
        return len(given) == len(expected) and all(map(same_value, given, expected, [tolerance] * len(given)))
    if isinstance(given, bool) or isinstance(expected, bool):
        return given is expected
    if isinstance(given, int | float) and isinstance(expected, int | float):
        try:
            return given == expected or abs(given - expected) <= tolerance * (1 + ROUNDING)
        except OverflowError:  # a whole number beyond any float
            return False
    return bool(given == expected)


def pairings(made: Sequence[Call], wanted: Sequence[Call], rules: Rules) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs of the best matching of calls with the expected ones: in order, and in any order.

    Only calls of one tool are paired, each once; in order, no pair crosses another. The best matching has the most
    pairs with equal arguments, then the most pairs, then the most equal arguments. Pairs are sorted by the expected
    call. Time grows with the product of the numbers of calls.
    """
    if (same := _all_equal(made, wanted, rules)) is not None:
        return same, same
    agreements = _agreements(made, wanted, rules)
    if not agreements:
        return [], []
    unit = 1 + sum(len(rules.counted(call) or ()) for call in wanted)  # above any number of equal arguments
    weights = np.zeros((len(wanted), len(made)), np.int64)
    for (row, column), found in agreements.items():
        weights[row, column] = found.equal + unit + found.is_match * unit * (1 + min(len(made), len(wanted)))
    in_order = [Pair(column, row, agreements[row, column]) for row, column in ordered_pairs(weights)]
    return in_order, [Pair(column, row, agreements[row, column]) for row, column in best_pairs(weights)]


def ordered_pairs(weights: Ints) -> list[tuple[int, int]]:
    """Return the places (row, column), both rising, of the greatest sum of `weights` [n, m], of which 0 is no pair."""
    best = np.zeros((weights.shape[0] + 1, weights.shape[1] + 1), np.int64)
    for row, own in enumerate(weights):
        taken = np.where(own > 0, best[row, :-1] + own, 0)
        best[row + 1, 1:] = np.maximum.accumulate(np.maximum(best[row, 1:], taken))
    pairs = []
    row, column = weights.shape
    while row and column:
        if best[row, column] == best[row - 1, column]:
            row -= 1
        elif best[row, column] == best[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            pairs.append((row, column))
    return pairs[::-1]


def longest_common(made: Sequence[Call], wanted: Sequence[Call]) -> int:
    """Return the length of the longest common subsequence of the names of the tools."""
    best = [0] * (len(made) + 1)
    for other in wanted:
        before = 0  # the best of one call less on both sides
        for place, call in enumerate(made, 1):
            kept = best[place]
            best[place] = before + 1 if call.tool == other.tool else max(kept, best[place - 1])
            before = kept
    return best[-1]


def best_pairs(weights: Ints) -> list[tuple[int, int]]:
    """Return the places (row, column), each row and column once, of the greatest sum of `weights` [n, m] ≥ 0.

    0 is no pair. The Hungarian method by shortest augmenting paths, in whole numbers.
    """
    if weights.shape[0] > weights.shape[1]:
        return sorted((row, column) for column, row in best_pairs(weights.T))
    rows, columns = weights.shape
    by_row = np.zeros(rows + 1, np.int64)  # the potentials; place 0 stands for none
    by_column = np.zeros(columns + 1, np.int64)
    taken = np.zeros(columns + 1, np.int64)  # the row, from 1, of each column
    for row in range(1, rows + 1):
        taken[0] = row
        column = 0
        distance = np.full(columns + 1, np.iinfo(np.int64).max)
        before = np.zeros(columns + 1, np.int64)
        seen = np.zeros(columns + 1, bool)
        while True:
            seen[column] = True
            cost = -weights[taken[column] - 1] - by_row[taken[column]] - by_column[1:]
            nearer = 1 + np.flatnonzero(~seen[1:] & (cost < distance[1:]))
            distance[nearer] = cost[nearer - 1]
            before[nearer] = column
            left = np.flatnonzero(~seen)
            nearest = left[distance[left].argmin()]
            step = distance[nearest]
            by_row[taken[seen]] += step
            by_column[seen] -= step
            distance[left] -= step
            column = nearest
            if not taken[column]:
                break
        while column:
            taken[column] = taken[before[column]]
            column = before[column]
    pairs = ((int(taken[place]) - 1, place - 1) for place in range(1, columns + 1) if taken[place])
    return sorted((row, column) for row, column in pairs if weights[row, column])


def _all_equal(made: Sequence[Call], wanted: Sequence[Call], rules: Rules) -> list[Pair] | None:
    """Return the pairs of calls that are the expected ones, one by one; None of others."""
    if len(made) != len(wanted):
        return None
    pairs = []
    for place, (own, other) in enumerate(zip(made, wanted, strict=True)):
        found = rules.agreement(rules.counted(own) or {}, rules.counted(other)) if own.tool == other.tool else None
        if found is None or not found.is_match:
            return None
        pairs.append(Pair(place, place, found))
    return pairs


def _agreements(made: Sequence[Call], wanted: Sequence[Call], rules: Rules) -> dict[tuple[int, int], Agreement]:
    """Return the agreement of each expected call with each call of the same tool."""
    by_tool: dict[str, list[tuple[int, Mapping[str, Any]]]] = defaultdict(list)
    for column, call in enumerate(made):
        by_tool[call.tool].append((column, rules.counted(call) or {}))
    found = {}
    for row, call in enumerate(wanted):
        expected = rules.counted(call)
        for column, given in by_tool.get(call.tool, ()):
            found[row, column] = rules.agreement(given, expected)
    return found
