"""JUnit XML that CI servers read: gates, thresholds, hostile names."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from metrics.reports.gates import Gate, Outcome, check
from metrics.reports.renderers.junit import junit
from metrics.store import Run
from tests.reports.made import HOSTILE
from tests.reports.runs import by_hand


def cases(content: bytes) -> list[ElementTree.Element]:
    suites = ElementTree.fromstring(content)
    (suite,) = suites
    found = [entry for entry in suite if entry.tag != "properties"]
    assert (suites.tag, suite.tag) == ("testsuites", "testsuite")
    assert {entry.tag for entry in found} <= {"testcase"}
    for counted in (suites, suite):
        assert int(counted.attrib["tests"]) == len(found)
        assert int(counted.attrib["failures"]) == sum(entry.find("failure") is not None for entry in found)
        assert int(counted.attrib["skipped"]) == sum(entry.find("skipped") is not None for entry in found)
    return found


def properties(content: bytes) -> dict[str, str]:
    return {entry.attrib["name"]: entry.attrib["value"] for entry in ElementTree.fromstring(content).iter("property")}


def test_gates_are_cases_and_thresholds_are_properties(marked_run: Run) -> None:
    content = junit(marked_run, check(marked_run, [Gate("rougeL", 0.99), Gate("rougeL", 0.1)]))
    found = {(entry.attrib["classname"], entry.attrib["name"]): entry.find("failure") for entry in cases(content)}
    assert {key: failure is not None for key, failure in found.items()} == {
        ("good", "fail-under rouge.rougeL=0.99"): False, ("poor", "fail-under rouge.rougeL=0.99"): True,
        ("good", "fail-under rouge.rougeL=0.1"): False, ("poor", "fail-under rouge.rougeL=0.1"): False,
    }  # fmt: skip
    failure = found["poor", "fail-under rouge.rougeL=0.99"]
    assert failure.attrib["type"] == "fail-under"
    thresholds = properties(content)
    missed = thresholds["threshold rouge.rougeL ≥ 0.75 (your own), poor"]
    assert missed.startswith("missed: ")
    assert "(n = 12, 95 % interval" in missed
    assert thresholds["threshold rouge.rougeL ≥ 0.75 (your own), good"].startswith("met: 1 (n = 12")


def test_without_gates_or_known_evaluators_it_is_an_empty_suite(workspace: Path) -> None:
    assert cases(junit(by_hand(), [])) == []


@pytest.mark.attack("model", "markup in a name breaks JUnit's XML", "it is escaped")
def test_hostile_text_stays_text(marked_run: Run) -> None:
    outcome = Outcome("fail-under", "m\nn=0.5", HOSTILE, "m", HOSTILE + ']]></failure><x a="', "more", False)
    entry = cases(junit(marked_run, [outcome]))[0]
    failure = entry.find("failure")
    hostile = HOSTILE.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    assert failure.text == f'FAILED: {hostile} m {hostile}]]></failure><x a=", wanted more'
    assert entry.attrib["name"].endswith(" m\nn=0.5")
    assert list(failure) == []
