"""Cases that ask exactly the same are one unit of intervals and tests."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import metrics
from metrics import analysis
from metrics.core.sampling_design import find_equal_inputs, group_equal_inputs
from metrics.core.suite import Suite
from metrics.reports.build import alike_line
from metrics.stats.bootstrap import bootstrap_means

EQUAL: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "spaces": ({"question": "When  did it\nopen? "}, {"question": "When did it open?"}),
    "no-break space": ({"question": "When\u00a0did it open?"}, {"question": "When did it open?"}),
    "composed characters": ({"question": "Où est-il? é"}, {"question": "Où est-il? e\u0301"}),
    "same contexts": ({"question": "q", "reference_contexts": ["a b"]},
                      {"question": "q", "reference_contexts": ["a  b"]}),
    "other expected answers": ({"question": "q", "expected_answers": ["1"]},
                               {"question": "q", "expected_answers": ["2"]}),
    "other notes": ({"question": "q", "metadata.source": "mail"}, {"question": "q", "metadata.source": "web"}),
}  # fmt: skip
DIFFERENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "letters": ({"question": "When did it open?"}, {"question": "when did it open?"}),
    "contexts": ({"question": "q", "reference_contexts": ["a"]}, {"question": "q", "reference_contexts": ["b"]}),
    "context or none": ({"question": "q", "reference_contexts": ["a"]}, {"question": "q"}),
    "source text": ({"question": "q", "source_text": "a"}, {"question": "q", "source_text": "b"}),
    "system prompt": ({"question": "q", "system_prompt": "a"}, {"question": "q", "system_prompt": "b"}),
    "the one question of all": ({"question": "q"}, {"question": "q"}),
    "a variant": ({"question": "q"}, {"question": "q", "perturbs": "0"}),
    "blank questions": ({"question": " "}, {"question": " "}),
    "text in metadata": ({"question": "q", "metadata.review": "a very good book to read"},
                         {"question": "q", "metadata.review": "a very bad book to read"}),
    "files in metadata": ({"question": "q", "metadata.picture": "a/1.png"},
                          {"question": "q", "metadata.picture": "2.png"}),
}  # fmt: skip


def suite_of(*rows: dict[str, Any], task: Any = "text") -> Suite:
    return Suite.from_rows("s", task, [{"case_id": str(place), **row} for place, row in enumerate(rows)])


@pytest.mark.parametrize("name", EQUAL)
def test_inputs_are_equal_but_for_spaces_and_characters(name: str) -> None:
    found = find_equal_inputs(suite_of(*EQUAL[name], {"question": "another"}))
    assert found is not None
    assert (found.alike, found.units, found.first.tolist()) == (2, 2, [0, 0, 2])


@pytest.mark.parametrize("name", DIFFERENT)
def test_inputs_that_differ_are_units_of_their_own(name: str) -> None:
    assert find_equal_inputs(suite_of(*DIFFERENT[name])) is None


def test_images_are_equal_by_their_stored_names_and_tables_of_numbers_are_not_looked_through() -> None:
    pictures = suite_of({"image": "f1.png"}, {"image": "f1.png"}, {"image": "f2.png"}, task="detection")
    found = find_equal_inputs(pictures)
    assert found is not None
    assert (found.alike, found.units) == (2, 2)
    assert find_equal_inputs(suite_of({"question": "q"}, {"question": "q"}, task="classification")) is None


def test_groups_of_equal_inputs_are_named_by_their_first_case() -> None:
    suite = suite_of({"question": "a"}, {"question": "b"}, {"question": "a"})
    assert group_equal_inputs(suite).cases["group"].to_pylist() == ["0", None, "0"]
    distinct = suite_of({"question": "a"}, {"question": "b"})
    assert group_equal_inputs(distinct) is distinct


def test_cases_alike_across_groups_are_counted() -> None:
    rows = [{"question": "a", "group": "x"}, {"question": "a", "group": "y"}, {"question": "b", "group": "x"},
            {"question": "b", "group": "x"}, {"question": "c"}, {"question": "c"}]  # fmt: skip
    found = find_equal_inputs(suite_of(*rows))
    assert found is not None
    assert (found.alike, found.units, found.across) == (6, 3, 4)


def rows_of(groups: bool) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A suite of 12 questions, each asked three times, and the answers of two models."""
    right = np.random.default_rng(3).random((12, 2)) < [0.8, 0.4]
    cases = [
        {"case_id": f"c{n}", "question": f"What is {n // 3}?", "expected_answers": ["yes"]}
        | ({"group": f"g{n // 3}"} if groups else {})
        for n in range(36)
    ]
    outputs = [
        {"case_id": f"c{n}", "model": model, "answer": "yes" if right[n // 3, place] else "no"}
        for n in range(36)
        for place, model in enumerate("ab")
    ]
    return cases, outputs


def test_equal_questions_give_the_intervals_and_tests_of_groups(tmp_path: Path) -> None:
    own = metrics.evaluate(*rows_of(groups=False), ["exact_match", "bleu"], workspace=tmp_path)
    grouped = metrics.evaluate(*rows_of(groups=True), ["exact_match", "bleu"], workspace=tmp_path)
    kept = metrics.evaluate(*rows_of(groups=False), ["exact_match", "bleu"], workspace=tmp_path, duplicates="keep")
    columns = ["model", "metric", "value", "low", "high", "n", "interval"]
    assert own.aggregates[columns].equals(grouped.aggregates[columns])
    assert (kept.aggregates["interval"] == "wilson").sum() == 2
    assert kept.sampling_design().clusters is None
    pairs = [analysis.compare(run, "a", "b").rows[0] for run in (own, grouped)]
    assert pairs[0] == pairs[1]
    assert pairs[0].clusters == 12
    assert own.spec.suite.equal_inputs is not None
    assert own.spec.suite.equal_inputs.units == 12
    assert [str(line) for line in own.spec.receipt][-1] == (
        "suite: cases that ask the same (36) was decided: one unit where cases ask the same: 12 units of 36 cases"
    )
    said = {
        run: analysis.insights(run).query("kind == 'equal_inputs'")["message"].tolist() for run in (own, kept, grouped)
    }
    assert said == {
        own: ["36 of 36 cases ask the same as another: intervals and tests take the 12 different inputs as units"],
        kept: ["36 of 36 cases ask the same as another: intervals and tests take all 36 as independent, so they may be "
               "too narrow"],
        grouped: [],
    }  # fmt: skip
    assert [str(alike_line(run)).partition("independent")[2] for run in (own, kept)] == [
        ", in groups", "; put them into one group, else intervals are too narrow",
    ]  # fmt: skip


def test_intervals_of_repeated_questions_hold_the_truth_only_with_their_groups() -> None:
    """300 suites of 40 questions asked five times each, answered right with a chance of .7."""
    rng = np.random.default_rng(11)
    suite = suite_of(*({"question": f"What is {n // 5}?"} for n in range(200)))
    clusters = np.unique(group_equal_inputs(suite).cases["group"].to_pylist(), return_inverse=True)[1]
    values = (rng.random((40, 300)) < 0.7).astype(float).repeat(5, axis=0)
    held = [
        float(np.mean((low <= 0.7) & (high >= 0.7)))
        for low, high in (bootstrap_means(values, None, units, low=0.0, high=1.0) for units in (None, clusters))
    ]
    assert held[0] < 0.7
    assert held[1] > 0.92
