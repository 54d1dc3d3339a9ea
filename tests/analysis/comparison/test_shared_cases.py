"""Two runs of a suite that has changed between them: paired on the cases that both have, unchanged."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from metrics.analysis import compare
from metrics.analysis.comparison.shared_cases import SharedCases
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

LABELS = ("spam", "ham", "eggs")
RESAMPLED = {"classification_text": {"resamples": 50}}


def case(number: int, **changed: Any) -> dict[str, Any]:
    label = LABELS[number % 3]
    own = {"case_id": f"c{number}", "question": f"q{number}", "expected_answers": [label], "tags": ["old"]}
    return own | {"weight": 1.0 + number % 2, "group": f"g{number // 2}"} | changed


def run_of(cases: list[dict[str, Any]], wrong: int) -> Run:
    rows = [
        {"case_id": one["case_id"], "model": "m", "answer": one["expected_answers"][0] if place % wrong else "eggs"}
        for place, one in enumerate(sorted(cases, key=lambda one: int(one["case_id"][1:])))
    ]
    suite, outputs = Suite.from_rows("s", "text", cases), Outputs.from_rows(rows)
    return finished(Workspace(), suite, outputs, "rouge", "classification_text", parameters=RESAMPLED)


BEFORE = [case(number) for number in range(60)]
ROW = [number for number in reversed(range(4, 60)) if number not in (7, 9)]
KEPT = [case(number, tags=["new" if number % 4 else "old"], weight=2.0 - number % 2) for number in ROW]
AFTER = [
    *KEPT[:20], case(100), case(101), *KEPT[20:],
    case(7, expected_answers=["spam"]), case(9, question="another"), case(102),
]  # fmt: skip


def test_what_is_shared() -> None:
    shared = SharedCases.of(Suite.from_rows("s", "text", BEFORE), Suite.from_rows("s", "text", AFTER))
    ids = [[one["case_id"] for one in cases] for cases in (BEFORE, AFTER)]
    assert [ids[0][place] for place in shared.before] == [ids[1][place] for place in shared.after]
    assert [ids[1][place] for place in shared.after] == [one["case_id"] for one in KEPT]
    assert (shared.added, shared.removed, shared.changed) == (3, 4, 2)
    assert shared.words == (
        "The suite has changed: paired on the 54 cases that both runs have unchanged; 3 new, 4 gone, 2 changed."
    )


@pytest.mark.parametrize("tag", [None, "old"])
def test_the_differences_are_those_of_runs_of_the_shared_cases_alone(workspace: Path, tag: str | None) -> None:
    """Law: what the suites do not share changes nothing, neither per case nor in the resamples of the whole."""
    before, after = run_of(BEFORE, 3), run_of(AFTER, 5)
    ids = {one["case_id"] for one in KEPT}
    suite = Suite.from_rows("s", "text", KEPT)
    lone = [
        finished(
            Workspace(), suite, Outputs(outputs.filter([one in ids for one in outputs["case_id"].to_pylist()])),
            "rouge", "classification_text", parameters=RESAMPLED,
        )
        for outputs in (before.outputs.outputs, after.outputs.outputs)
    ]  # fmt: skip
    found, expected = compare(before, "m", "m", tag, after), compare(lone[0], "m", "m", tag, lone[1])
    assert found.resampled
    assert found.notes[0].startswith("The suite has changed: paired on the 54 cases")
    # what cannot be paired shows each run's own number, of all its cases
    assert [one.column.key for one in found.unpaired] == [one.column.key for one in expected.unpaired]
    own = {"run_a": lone[0].id, "run_b": lone[1].id, "notes": expected.notes, "unpaired": expected.unpaired}
    assert replace(found, **own) == expected


def test_nothing_shared_is_refused(workspace: Path) -> None:
    other = run_of([case(number, question="all another") for number in range(60)], 3)
    with pytest.raises(InputError, match="are of different suites that share no case"):
        compare(run_of(BEFORE, 3), "m", "m", other=other)
