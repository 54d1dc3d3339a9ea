"""Suite.filter."""

import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.suites import tag_counts
from tests.suites.suite_scenes import ids, suite


@pytest.mark.parametrize(("criteria", "found"), [
    pytest.param({}, ["a", "b", "c", "c~copy", "d"], id="none"),
    pytest.param({"tag": "fees"}, ["b", "c", "c~copy"], id="a tag"),
    pytest.param({"tag": ["loans", "copy"]}, ["a", "c~copy"], id="one of several tags"),
    pytest.param({"tag": None}, ["d"], id="no tag"),
    pytest.param({"tags": "easy"}, ["a", "c"], id="the column of tags"),
    pytest.param({"tag": "fees", "tags": "easy"}, ["c"], id="all criteria hold"),
    pytest.param({"search": "who ASKS"}, ["c", "c~copy"], id="text, whatever its case"),
    pytest.param({"search": "~"}, ["c~copy"], id="text in the id"),
    pytest.param({"search": ".*"}, [], id="text is no pattern"),
    pytest.param({"length": (9, 10)}, ["a", "c", "c~copy"], id="length, both ends in"),
    pytest.param({"length": (None, 8)}, ["d"], id="no question is of length 0"),
    pytest.param({"length": (10, None)}, ["b"], id="no upper end"),
    pytest.param({"complexity": "medium"}, ["c", "c~copy", "d"], id="medium where nothing is said"),
    pytest.param({"complexity": ["simple", "complex"]}, ["a", "b"], id="complexities"),
    pytest.param({"area": "desk"}, ["a", "b"], id="metadata by its name"),
    pytest.param({"metadata.area": "desk"}, ["a", "b"], id="metadata by its column"),
    pytest.param({"area": None}, ["c~copy", "d"], id="no value"),
    pytest.param({"perturbation": "copy"}, ["c~copy"], id="a column"),
    pytest.param({"perturbs": None, "weight": 2}, ["c"], id="a number"),
    pytest.param({"expected_answers": "two"}, ["d"], id="in a list"),
    pytest.param({"case_id": ["d", "zz", "a"]}, ["a", "d"], id="ids, in the suite's order"),
])  # fmt: skip
def test_filter(criteria, found):
    assert ids(suite().filter(**criteria)) == found


def test_unknown_criteria_are_told_with_those_there_are():
    with pytest.raises(InputError) as caught:
        suite().filter(colour="red", area="desk", size=3)
    first, second = str(caught.value).splitlines()
    assert first.startswith(
        "desk: found the criterion 'colour'; expected one of tag, search, length, complexity, case_id,"
    )
    assert first.endswith("attack_condition, criteria, area")
    assert "'size'" in second


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.lists(st.sampled_from("pqr"), max_size=3)), max_size=20))
def test_a_filter_by_tag_and_value_is_the_plain_loop(rows):
    cases = [{"case_id": str(n), "label": label, "tags": tags} for n, (label, tags) in enumerate(rows)]
    made = Suite.from_rows("s", "text", cases)
    expected = [case["case_id"] for case in cases if case["label"] == "x" and set(case["tags"]) & {"p", "q"}]
    assert ids(made.filter(label="x", tag=["p", "q"])) == expected
    assert sum(tag_counts(made).values()) == sum(len(tags) for _, tags in rows)
