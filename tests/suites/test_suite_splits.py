"""Samples and splits: seeded, even over the tags, families kept together."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.perturbations import perturb
from metrics.suites import sample, split, tag_counts
from tests.suites.suite_scenes import ids, suite


def tagged(counts: dict[str, int]) -> Suite:
    """So many cases of each tag; "" for none."""
    rows = [
        {"case_id": f"{tag}{n}", "tags": [tag] if tag else None} for tag, many in counts.items() for n in range(many)
    ]
    return suite(rows)


@settings(max_examples=60)
@given(st.dictionaries(st.sampled_from(["", "a", "b", "c", "d"]), st.integers(1, 20), min_size=1), st.data())
def test_each_tag_has_its_share_to_within_one(counts, data):
    whole = tagged(counts)
    size, seed = data.draw(st.integers(1, len(whole))), data.draw(st.integers(0, 9))
    drawn = sample(whole, size, seed)
    assert len(drawn) == size
    found = tag_counts(drawn)
    for tag, many in counts.items():
        if tag:
            assert abs(found.get(tag, 0) - many * size / len(whole)) < 1


def test_tags_of_cases_that_have_several_are_as_even():
    rows = [
        {"case_id": str(n), "tags": [f"small{n % 7}", f"large{n % 3}", *(["rare"] if n % 30 == 0 else [])]}
        for n in range(210)
    ]
    for seed in range(5):
        found = tag_counts(sample(suite(rows), 70, seed))
        assert {found[f"small{n}"] for n in range(7)} <= {9, 10, 11}
        assert all(20 <= found[f"large{n}"] <= 27 for n in range(3))
        assert found["rare"] in (2, 3)


def test_order_does_not_matter_and_seeds_do():
    rows = [{"case_id": str(n), "tags": [f"t{n % 4}"]} for n in range(100)]
    drawn = set(ids(sample(suite(rows), 20, 1)))
    assert set(ids(sample(suite(rows[::-1]), 20, 1))) == drawn
    assert set(ids(sample(suite(rows), 20, 2))) != drawn
    assert ids(sample(suite(rows), 20, 1)) == sorted(drawn, key=int), "in the suite's order"
    plain = [set(ids(sample(suite(rows), size, 1, stratified=False))) for size in (5, 50)]
    assert plain[0] < plain[1]


def test_every_case_is_as_likely_and_variants_come_along():
    whole = perturb(suite([{"case_id": str(n), "question": "Why so lazy?"} for n in range(10)]), ["copy", "yz"]).suite
    drawn = sample(whole, 3, 0)
    originals = {case for case in ids(drawn) if "~" not in case}
    assert len(originals) == 3
    assert set(ids(drawn)) == originals | {f"{case}~{kind}" for case in originals for kind in ("copy", "yz")}
    rows = [{"case_id": str(n), "tags": [f"own{n}"] if n < 10 else ["shared"]} for n in range(40)]
    hits = [0, 0]
    for seed in range(200):
        for case in ids(sample(suite(rows), 10, seed)):
            hits[int(case) >= 10] += 1
    assert (hits[0] / 200, sum(hits)) == (pytest.approx(2.5, abs=0.4), 2000)


@pytest.mark.parametrize("size", [0, -1, 5])
def test_a_sample_of_more_than_there_is_is_refused(size):
    with pytest.raises(InputError, match=r"expected 1 to 4, the cases that are no variants"):
        sample(suite(), size)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.none() | st.sampled_from("gh"), st.none() | st.integers(0, 30)), min_size=2, max_size=25),
    st.floats(0.1, 0.9),
    st.integers(0, 5),
)
def test_a_split_tears_no_family_and_loses_no_case(cases, share, seed):
    rows: list[dict[str, Any]] = []
    for n, (group, of) in enumerate(cases):
        rows.append({"case_id": f"c{n}", "group": group, "perturbs": None if of is None else f"c{of % (n + 1)}"})
    whole = suite(rows)
    try:
        first, second = split(whole, share, seed)
    except InputError:  # one family is not to be torn apart
        return
    assert sorted(ids(first) + ids(second)) == sorted(ids(whole))
    here, there = set(ids(first)), set(ids(second))
    assert here
    assert there
    for row in rows:
        if row["perturbs"] is not None:
            assert (row["case_id"] in here) == (row["perturbs"] in here)
    original = {row["case_id"]: row["case_id"] if row["perturbs"] is None else row["perturbs"] for row in rows}
    for a in rows:
        for b in rows:
            if a["group"] and a["group"] == b["group"] and all(original[r["case_id"]] == r["case_id"] for r in (a, b)):
                assert (a["case_id"] in here) == (b["case_id"] in here)


def test_the_share_is_of_families_and_boxes_go_with_their_images():
    rows = [{"case_id": str(n), "group": str(n % 10)} for n in range(100)]
    first, second = split(suite(rows), 0.8, 3)
    assert (len(first), len(second)) == (80, 20)
    assert (first.name, second.name) == ("desk, part 1", "desk, part 2")
    assert not set(first.cases["group"].to_pylist()) & set(second.cases["group"].to_pylist())
    with pytest.raises(InputError, match=r"found the share 0\.8 of 1 families of cases"):
        split(suite([{"case_id": "a", "group": "g"}, {"case_id": "b", "group": "g"}]))
    boxes = [{"case_id": str(n), "annotation_id": n, "label": "cat"} for n in range(10)]
    whole = Suite.from_rows("cats", "detection", [{"case_id": str(n)} for n in range(10)], boxes)
    first, second = split(whole, 0.5)
    for part in (first, second):
        assert part.annotations is not None
        assert part.annotations["case_id"].to_pylist() == ids(part)
