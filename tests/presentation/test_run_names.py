"""What runs are called in lists."""

from typing import NamedTuple

import pytest

from metrics.presentation import run_names


class Listed(NamedTuple):
    name: str
    created: str = "2026-03-02T12:00:00+00:00"
    state: str = "finished"


LATER = "2026-03-03T09:30:00+00:00"


@pytest.mark.parametrize(("runs", "labels"), [
    pytest.param({"1": Listed("a"), "2": Listed("b")}, ["a", "b"], id="names"),
    pytest.param({
        "1": Listed("a"), "2": Listed("a", LATER), "3": Listed("b"),
    }, ["a · 2 Mar 2026, 12:00", "a · 3 Mar 2026, 09:30", "b"], id="dates"),
    pytest.param(
        {"1": Listed("a"), "2": Listed("a")}, ["a · 2 Mar 2026, 12:00 · 1", "a · 2 Mar 2026, 12:00 · 2"], id="ids"
    ),
    pytest.param({"1": Listed("a", state="running")}, ["a (running)"], id="unfinished"),
    pytest.param({"1": Listed("")}, ["1"], id="nameless"),
])  # fmt: skip
def test_labels_are_as_short_as_they_can_be_and_unique(runs, labels):
    assert list(run_names.labels(runs).values()) == labels


@pytest.mark.parametrize(("runs", "labels"), [
    pytest.param({"1": Listed("a" * 20)}, ["a" * 20], id="fits"),
    pytest.param({"1": Listed("helpdesk · 2 models", state="failed")}, ["helpd…odels (failed)"], id="state-whole"),
    pytest.param({"1": Listed("a" * 12 + "bc" + "a" * 12), "2": Listed("a" * 12 + "cb" + "a" * 12)},
                 ["a" * 12 + "bc" + "a" * 12, "a" * 12 + "cb" + "a" * 12], id="equal-in-short"),
    pytest.param({"1": Listed("helpdesk"), "2": Listed("helpdesk", LATER)},
                 ["he…sk · 2 Mar, 12:00", "he…sk · 3 Mar, 09:30"], id="dates-whole"),
    pytest.param({"1": Listed("helpdesk"), "2": Listed("helpdesk", "2025-03-02T12:00:00+00:00")},
                 ["he…sk · 2 Mar 2026, 12:00", "he…sk · 2 Mar 2025, 12:00"], id="years-whole"),
])  # fmt: skip
def test_short_labels_keep_what_tells_runs_apart(runs, labels):
    assert list(run_names.labels(runs, 20).values()) == labels


@pytest.mark.parametrize(("evaluators", "line"), [
    pytest.param(["rouge"], "ROUGE", id="one"),
    pytest.param(["rouge", "bleu", "gone"], "ROUGE, BLEU, gone", id="unknown-here"),
    pytest.param(["rouge"] * 5, "ROUGE, ROUGE, ROUGE, ROUGE, ROUGE", id="one-more-is-named"),
    pytest.param(["rouge"] * 6, "ROUGE, ROUGE, ROUGE, ROUGE and 2 more evaluators", id="cut"),
])  # fmt: skip
def test_evaluators_in_a_line(evaluators, line):
    assert run_names.evaluator_line(evaluators) == line
