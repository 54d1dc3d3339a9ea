"""Versions of a suite: models are compared on the cases that all versions have unchanged, and on no others."""

from pathlib import Path
from random import Random

import pytest

from metrics import engine
from metrics.analysis import leaderboard
from metrics.analysis.boards.versions import create_shared_run, shared_board
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, one_thread

WORDS = ("cat", "dog", "mat")
CHOSEN = ("exact_match", "rouge")


def suite_of(cases: dict[str, str], name: str = "quiz") -> Suite:
    rows = [{"case_id": id, "question": f"what is {text}?", "expected_answers": [text]} for id, text in cases.items()]
    return Suite.from_rows(name, "text", rows)


def outputs_of(model: str, cases: dict[str, str], random: Random) -> Outputs:
    return Outputs.from_rows([{"case_id": id, "model": model, "answer": random.choice(WORDS)} for id in cases])


def versions(folder: Path, seed: int) -> tuple[Workspace, Run, list[str]]:
    """Two versions, of which three cases are changed or new, each with a model; the ids that are unchanged."""
    random, workspace = Random(seed), Workspace(folder)
    before = {f"c{place}": f"{random.choice(WORDS)} {place}" for place in range(12)}
    changed = random.sample(sorted(before), 2)
    after = before | dict.fromkeys(changed, "another") | {"new": "bird"}
    finished(workspace, suite_of(before), outputs_of("old", before, random), *CHOSEN)
    newest = finished(workspace, suite_of(after), outputs_of("new", after, random), *CHOSEN)
    return workspace, newest, [id for id in before if id not in changed]


@pytest.mark.parametrize("seed", range(3))
def test_only_shared_unchanged_cases_are_compared(tmp_path: Path, seed: int) -> None:
    workspace, newest, kept = versions(tmp_path, seed)
    found = shared_board(workspace, newest.spec.suite.fingerprint)
    assert found is not None
    assert found.suite.cases["case_id"].to_pylist() == kept
    assert (found.absent, found.words) == (
        ("old",),
        "10 of 13 cases, which 1 other version of the suite has unchanged",
    )
    run = engine.execute(create_shared_run(workspace, newest.spec.suite.fingerprint), one_thread)
    alone = finished(Workspace(tmp_path / "alone"), run.suite, run.outputs, *CHOSEN)
    assert leaderboard(run).cells == leaderboard(alone).cells
    assert sorted({*run.scores["case_id"]}) == sorted(kept)
    assert run.made_of[0].startswith("10 of 13 cases: unchanged in 2 versions")
    assert create_shared_run(workspace, newest.spec.suite.fingerprint) == run


def test_suites_without_shared_cases_are_no_versions(tmp_path: Path) -> None:
    workspace, newest, _ = versions(tmp_path, 0)
    other = suite_of({"x": "cat", "y": "dog"})
    run = finished(workspace, other, outputs_of("elsewhere", {"x": "", "y": ""}, Random(0)), *CHOSEN)
    assert shared_board(workspace, run.spec.suite.fingerprint) is None
    with pytest.raises(InputError, match="no other version"):
        create_shared_run(workspace, run.spec.suite.fingerprint)
    found = shared_board(workspace, newest.spec.suite.fingerprint)
    assert found is not None
    assert found.absent == ("old",)


def test_a_damaged_version_does_not_hide_the_others(tmp_path: Path) -> None:
    workspace, newest, _ = versions(tmp_path, 0)
    older = next(run for run in workspace.runs() if run.id != newest.id)
    cases = older.suite_folder / "cases.parquet"
    cases.write_bytes(cases.read_bytes()[:-1] + b"?")
    assert shared_board(workspace, newest.spec.suite.fingerprint) is None
