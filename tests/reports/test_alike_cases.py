"""The report's line on cases that ask the same."""

import pytest

from metrics.core.suite import Outputs, Suite
from metrics.reports.build import alike_line, build
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

ASKED = ("Who built the gate?", "who built the gate", "Where is the mill?", "Who built the gate!")


def run_of(questions: tuple[str, ...], groups: tuple[str | None, ...] = ()) -> Run:
    own = groups or (None,) * len(questions)
    rows = [
        {"case_id": f"c{place}", "question": text, "expected_answers": ["x"], "group": group}
        for place, (text, group) in enumerate(zip(questions, own, strict=True))
    ]
    outputs = Outputs.from_rows([{"case_id": row["case_id"], "model": "m", "answer": "x"} for row in rows])
    return finished(Workspace(), Suite.from_rows("gates", "text", rows), outputs, "rouge")


@pytest.mark.parametrize(("questions", "groups", "line"), [
    (ASKED, (), "3 of 4 cases ask the same as another, or nearly; 2 are independent; put them into one group, else "
     "intervals are too narrow"),
    (ASKED, ("a", "a", "b", "a"), "3 of 4 cases ask the same as another, or nearly; 2 are independent, in groups"),
    (ASKED[1:3], (), None),
], ids=["apart", "in groups", "none"])  # fmt: skip
def test_cases_that_ask_the_same_are_counted(workspace, questions, groups, line) -> None:
    run = run_of(questions, groups)
    assert alike_line(run) == line
    facts = {fact.name: fact.value for group in build(run, ["data"]).facts for fact in group.facts}
    assert facts.get("Alike cases") == line


def test_a_large_suite_is_not_looked_through(workspace: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metrics.reports.build.MOST_CASES", 3)
    monkeypatch.setattr("metrics.reports.build.duplicates", lambda *_, **__: pytest.fail("looked through"))
    assert alike_line(run_of(ASKED)) is None
