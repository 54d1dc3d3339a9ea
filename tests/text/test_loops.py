"""Loops: answers that are stuck are told from answers that repeat themselves for a reason; values by hand; in time."""

import re

import pytest
from hypothesis import given, strategies as st

from metrics.text.loops import Loop, loops
from metrics.text.sentences import sentences
from tests.corpora.looping import HELD_OUT_LOOK_ALIKES, HELD_OUT_LOOPS, SEEN_LOOK_ALIKES, SEEN_LOOPS

THRESHOLD = 0.5


def worst(text: str) -> float:
    return loops(text, sentences(text)).worst


@pytest.mark.parametrize("name", SEEN_LOOPS)
def test_a_loop_is_seen(name: str) -> None:
    assert worst(SEEN_LOOPS[name]) > THRESHOLD


@pytest.mark.parametrize("name", SEEN_LOOK_ALIKES)
def test_a_look_alike_is_none(name: str) -> None:
    assert worst(SEEN_LOOK_ALIKES[name]) <= THRESHOLD


def test_those_held_out_are_told_apart_as_well() -> None:
    missed = [name for name, text in HELD_OUT_LOOPS.items() if worst(text) <= THRESHOLD]
    mistaken = [name for name, text in HELD_OUT_LOOK_ALIKES.items() if worst(text) > THRESHOLD]
    assert len(missed) <= 0.03 * len(HELD_OUT_LOOPS), missed
    assert len(mistaken) <= 0.03 * len(HELD_OUT_LOOK_ALIKES), mistaken


@pytest.mark.parametrize(("text", "stretch", "longest"), [
    pytest.param("", 0, None, id="nothing"),
    pytest.param("a b c", 0, None, id="no loop"),
    pytest.param("go on go on", 0, None, id="twice"),
    pytest.param("go on go on go on", 1, Loop(0, 17, 2, 3), id="three times"),
    pytest.param("Go on! go ON, go on…", 1, Loop(0, 19, 2, 3), id="case and punctuation"),
    pytest.param("Well: no, no, no, not at all today", 0, None, id="short within a text"),
    pytest.param("so 1. go on 2. go on 3. go on", 9 / 10, Loop(3, 29, 3, 3), id="numbered"),
    pytest.param("3 go on 5 go on 8 go on", 0, None, id="numbers without order"),
    pytest.param("1 2 3 1 2 3 1 2 3", 0, None, id="without a letter"),
    pytest.param("一二三四五" * 3, 1, Loop(0, 15, 5, 3), id="characters"),
])  # fmt: skip
def test_by_hand(text: str, stretch: float, longest: Loop | None) -> None:
    found = loops(text, [])
    assert (found.stretch, found.longest) == (pytest.approx(stretch), longest)


@given(st.text("ab ", max_size=12), st.integers(3, 9), st.text("cd ", max_size=30))
def test_whatever_comes_three_times_in_a_row_is_found(unit: str, times: int, before: str) -> None:
    if not re.search("[ab]", unit):
        return
    text = before + " " + (unit + " ") * times
    words = text.split()
    repeated = len(unit.split()) * times
    expected = repeated if repeated >= min(6, len(words) / 2) else 0
    assert loops(text, []).stretch >= expected / max(1, len(words)) - 1e-9


@given(st.one_of(st.text(max_size=80), st.text("ab1 .|\n", max_size=80)))
def test_every_view_is_a_share(text: str) -> None:
    found = loops(text, sentences(text))
    assert 0 <= min(found.stretch, found.sentences, found.compression) <= found.worst <= 1
    if found.longest:
        assert 0 <= found.longest.start < found.longest.end <= len(text)
        assert found.longest.times >= 3


@pytest.mark.parametrize("text", [
    "a" * 60_000, "No way. " * 10_000, "1. Do it " * 8_000, "| a | b\n" * 60_000, "1 " * 30_000, "|" * 300_000,
], ids=["letter", "sentence", "numbered", "rows", "numbers", "bars"])  # fmt: skip
def test_a_large_text_is_read(text: str) -> None:
    assert 0 <= loops(text, []).worst <= 1
