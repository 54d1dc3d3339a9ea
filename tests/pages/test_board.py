"""All models of a suite on one board: every page of a run takes it in place of a run."""

from pathlib import Path

import pytest

from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.pages.conftest import Look, Open

PAGES = ("leaderboard", "problems", "cases", "case", "compare", "trend", "slices", "report", "compliance", "thresholds")


def board_runs(folder: Path) -> Run:
    """`good`, `late` and `poor` in a run each: the last ones without BLEU, `late` by another seed."""
    here = Workspace(folder)
    finished(here, text_suite(), text_outputs(models=("good",)), "rouge", "bleu", name="First")
    finished(here, text_suite(), text_outputs(models=("late",)), "rouge", seed=7, name="Other seed")
    return finished(here, text_suite(), text_outputs(models=("poor",)), "rouge", "exact_match", name="Second")


@pytest.mark.parametrize("name", PAGES)
def test_pages_take_a_board_in_place_of_a_run(look_at: Look, open_page: Open, name: str) -> None:
    run = look_at(board_runs)
    page = open_page(name, run=f"board:{run.spec.suite.fingerprint[:12]}")
    assert page.query_params["run"] == f"board:{run.spec.suite.fingerprint[:12]}"
    assert not page.error
