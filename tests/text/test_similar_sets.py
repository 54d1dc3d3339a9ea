"""Sets that are alike: all of them, and no other, beside every pair compared."""

from itertools import combinations

from hypothesis import given, strategies as st

from metrics.text.shared_words import alike, held_in, shingles

SETS = st.lists(st.frozensets(st.sampled_from("abcdefghij"), max_size=8), max_size=14)
LEAST = st.sampled_from([0.2, 0.5, 0.6, 0.75, 0.8, 1.0])


@given(SETS, LEAST)
def test_all_pairs_and_no_other(sets: list[frozenset[str]], least: float) -> None:
    expected = {
        (one, two): len(sets[one] & sets[two]) / len(sets[one] | sets[two])
        for one, two in combinations(range(len(sets)), 2)
        if sets[one] and sets[two] and len(sets[one] & sets[two]) / len(sets[one] | sets[two]) >= least
    }
    found = list(alike(sets, least))
    assert {(pair.first, pair.second): pair.likeness for pair in found} == expected
    assert len(found) == len(expected)


@given(SETS, SETS, LEAST)
def test_all_that_hold_a_part(parts: list[frozenset[str]], wholes: list[frozenset[str]], least: float) -> None:
    expected = {
        (one, two): len(part & whole) / len(part)
        for one, part in enumerate(parts)
        for two, whole in enumerate(wholes)
        if part and len(part & whole) / len(part) >= least
    }
    assert {(pair.first, pair.second): pair.likeness for pair in held_in(parts, wholes, least)} == expected


def test_shingles_of_short_texts() -> None:
    assert (shingles("Yes!"), shingles("…")) == ({"yes"}, frozenset())
    assert shingles("a b c d", 2) == {"a b", "b c", "c d"}
