"""Edits as data, drafts, and that nothing stored is ever overwritten."""

from typing import Any

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from metrics.core.errors import InputError
from metrics.store import Workspace
from metrics.suites import Draft, Edit, apply, drafted, read_draft, save_draft
from tests.suites.suite_scenes import ROWS, ids, suite


def column(name: str, *edits: Edit) -> dict[str, Any]:
    cases = apply(suite(), edits).cases
    return dict(zip(cases["case_id"].to_pylist(), cases[name].to_pylist(), strict=True))


def test_tags_are_given_and_taken():
    tags = column(
        "tags", Edit(do="tag", cases=("a", "d", "gone"), tag=" new "), Edit(do="untag", cases=("b",), tag="fees")
    )
    assert (tags["a"], tags["d"]) == (["loans", "easy", "new"], ["new"])
    assert tags["b"] is None, "no tag left is no list"
    assert tags["c"] == ["fees", "easy"]
    again = column("tags", *[Edit(do="tag", cases=("a",), tag="easy")] * 2)
    assert again["a"] == ["loans", "easy"], "a tag is there once"


@given(
    st.lists(st.none() | st.lists(st.sampled_from("pqr"), unique=True), min_size=1, max_size=12),
    st.lists(
        st.tuples(st.sampled_from(["tag", "untag"]), st.sampled_from("pqs"), st.sets(st.integers(0, 11))), max_size=4
    ),
)
def test_tagging_is_the_plain_loop(lists, turns):
    expected = [list(tags or ()) for tags in lists]
    edits = []
    for do, tag, cases in turns:
        if not cases:
            continue
        edits.append(Edit(do=do, cases=tuple(map(str, cases)), tag=tag))
        for place in cases & set(range(len(lists))):
            tags = expected[place]
            expected[place] = (
                [*tags, *([tag] if tag not in tags else [])] if do == "tag" else [t for t in tags if t != tag]
            )
    made = apply(suite([{"case_id": str(n), "tags": tags} for n, tags in enumerate(lists)]), edits)
    assert [list(tags or ()) for tags in made.cases["tags"].to_pylist()] == expected


def test_weights_and_families():
    assert column("weight", Edit(do="weigh", cases=("a", "c"), weight=0.5))["a"] == 0.5
    assert column("weight", Edit(do="weigh", cases=("c",)))["c"] is None
    assert ids(apply(suite(), [Edit(do="keep", cases=("c~copy", "a"))])) == ["a", "c", "c~copy"]
    assert ids(apply(suite(), [Edit(do="leave_out", cases=("c",))])) == ["a", "b", "d"]
    assert ids(apply(suite(), [Edit(do="leave_out", cases=("c~copy",))])) == ["a", "b", "c", "d"]
    with pytest.raises(InputError, match="desk: found no case left; expected at least one"):
        apply(suite(), [Edit(do="keep", cases=("gone",))])


@pytest.mark.parametrize(("edit", "told"), [
    ({"do": "tag", "cases": ["a"], "tag": " "}, "a tag is missing"),
    ({"do": "keep", "cases": []}, "at least 1 item"),
    ({"do": "weigh", "cases": ["a"], "weight": -1}, "greater than or equal to 0"),
    ({"do": "weigh", "cases": ["a"], "weight": float("inf")}, "finite number"),
    ({"do": "shuffle", "cases": ["a"]}, "Input should be 'keep'"),
    ({"do": "add"}, "rows should have at least 1 item"),
    ({"do": "rename"}, "names should have at least 1 item"),
    ({"do": "merge"}, "suite should have at least 1 item"),
], ids=["no tag", "no case", "negative", "infinite", "unknown", "no row", "no name", "no suite"])  # fmt: skip
def test_what_is_no_edit(edit, told):
    with pytest.raises(ValidationError, match=told):
        Edit.model_validate(edit)


def test_a_draft_is_kept_by_its_content(workspace):
    stored = Workspace().save_suite(suite())
    draft = Draft(suite=stored, edits=(Edit(do="tag", cases=("a",), tag="x"),))
    token = save_draft(workspace, draft)
    assert (save_draft(workspace, draft), read_draft(workspace, token)) == (token, draft)
    assert drafted(workspace, stored, token).cases["tags"].to_pylist()[0][-1] == "x"
    assert Workspace().suite(stored).fingerprint == suite().fingerprint, "the stored suite is as it was"
    assert drafted(workspace, stored, "").fingerprint == stored
    other = Workspace().save_suite(suite(ROWS[:2]))
    assert drafted(workspace, other, token).fingerprint == other, "a draft of another suite is none of this one"


@pytest.mark.parametrize("token", ["", "../judge", "0" * 32, "0" * 31 + "g"])
def test_a_token_that_is_none_of_ours_is_no_draft(workspace, token):
    assert read_draft(workspace, token) is None


@pytest.mark.parametrize("content", ["[]", "{", '{"suite": 1}', '{"suite": "x", "edits": [{"do": "shuffle"}]}'])
def test_a_spoilt_draft_is_no_draft(workspace, content):
    (workspace / "drafts").mkdir()
    (workspace / "drafts" / f"{'0' * 32}.json").write_text(content)
    assert read_draft(workspace, "0" * 32) is None


def test_suites_are_listed_the_newest_first(workspace):
    import os

    for age, rows in ((1, ROWS[:1]), (3, ROWS[:2]), (2, ROWS[:3])):
        stored = Workspace().save_suite(suite(rows))
        os.utime(workspace / "suites" / stored / "suite.json", (1e9 - age, 1e9 - age))
    assert [each["cases"] for each in Workspace().suites()] == [1, 3, 2]
