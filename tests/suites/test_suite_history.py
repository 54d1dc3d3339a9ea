"""Versions of a suite: parents, counts, old suites, names."""

import json
import os

from metrics.core.suite import Suite
from metrics.store import Workspace
from metrics.suites import Edit, apply, difference, save_version, versions
from tests.suites.suite_scenes import ROWS, suite


def edited(before: Suite, *edits: Edit) -> Suite:
    return apply(before, edits)


def test_versions_are_a_tree_with_counts(workspace):
    space = Workspace()
    first = suite()
    second = edited(first, Edit(do="tag", cases=("a", "b"), tag="new"))
    third = edited(second, Edit(do="leave_out", cases=("a",)), Edit(do="add", rows=({"case_id": "e"},)))
    other = edited(first, Edit(do="weigh", cases=("d",), weight=2.0))
    space.save_suite(suite(ROWS[:2], "stranger"))
    space.save_suite(first)
    for made, parent, words in ((second, first, "tagged"), (third, second, "replaced"), (other, first, "weighed")):
        assert save_version(space, made, parent, [words]) == made.fingerprint
    for asked in (first, second, third, other):
        found = versions(space, asked.fingerprint)
        assert [each.fingerprint for each in found] == [each.fingerprint for each in (first, second, third, other)]
    assert [(each.added, each.removed, each.changed) for each in found] == [
        (None, None, None), (0, 0, 2), (1, 1, 0), (0, 0, 1)
    ]  # fmt: skip
    assert [each.parent for each in found] == ["", first.fingerprint, second.fingerprint, first.fingerprint]
    assert [each.edits for each in found] == [(), ("tagged",), ("replaced",), ("weighed",)]


def test_a_version_that_is_there_stays_and_makes_no_circle(workspace):
    space = Workspace()
    first, second = suite(), edited(suite(), Edit(do="untag", cases=("a",), tag="easy"))
    space.save_suite(first)
    save_version(space, second, first, ["untagged"])
    save_version(space, first, second, ["back"])
    assert [each.edits for each in versions(space, first.fingerprint)] == [(), ("untagged",)]
    path = workspace / "suites" / first.fingerprint / "suite.json"
    facts = {name: value for name, value in json.loads(path.read_text()).items() if name not in ("sha256", "files")}
    path.write_text(json.dumps(facts | {"parent": second.fingerprint}))  # as earlier versions stored it
    assert len(versions(space, second.fingerprint)) == 2, "even a circle that somebody wrote ends"


def test_suites_without_a_parent_or_a_time_are_versions_too(workspace):
    space = Workspace()
    stored = space.save_suite(suite())
    path = workspace / "suites" / stored / "suite.json"
    facts = json.loads(path.read_text())
    del facts["created"], facts["sha256"], facts["files"]  # as earlier versions stored it
    path.write_text(json.dumps(facts))
    later = edited(suite(), Edit(do="weigh", cases=("a",), weight=3.0))
    save_version(space, later, suite(), ["weighed"])
    assert [(each.created == "", each.name) for each in versions(space, stored)] == [(True, "desk"), (False, "desk")]


def test_a_parent_that_is_gone_is_none(workspace):
    space = Workspace()
    stored = save_version(space, edited(suite(), Edit(do="leave_out", cases=("a",))), suite(), ["removed"])
    assert [(each.parent, each.removed) for each in versions(space, stored)] == [("", 1)]


def test_another_name_leaves_the_cases_and_their_place(workspace):
    space = Workspace()
    stored = space.save_suite(suite())
    space.save_suite(suite(ROWS[:2], "newer"))
    os.utime(workspace / "suites" / stored / "suite.json", (1e9, 1e9))
    assert space.suite(stored).name == "desk"
    space.rename_suite(stored, "counter")
    space.rename_suite(stored, "counter")
    assert [each["name"] for each in space.suites()] == ["newer", "counter"]
    assert (space.suites()[1]["names"], space.suite(stored).name) == (["desk"], "counter")
    assert difference(space.suite(stored), suite()).changes == ()
