"""How far a run is, in words."""

import pytest

from components.widgets import run_progress
from metrics.store.run_progress import EvaluatorProgress, Progress


def entry(done: int, total: int, failed: int = 0) -> EvaluatorProgress:
    return EvaluatorProgress("rouge", "ROUGE", done, total, failed)


def state(*entries: EvaluatorProgress, left: float | None = 31.0, message: str = "") -> Progress:
    return Progress(entries, 14.2, left, message)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        pytest.param(Progress(), "Waiting to start", id="queued"),
        pytest.param(state(), "Starting … · 14 s elapsed", id="nothing-known"),
        pytest.param(state(message="reading the suite"), "reading the suite · 14 s elapsed", id="message"),
        pytest.param(
            state(entry(340, 1200), entry(0, 1200, 2)),
            "340 of 2,400 done · 2 failed · 14 s elapsed · about 31 s left",
            id="under-way",
        ),
        pytest.param(state(entry(5, 5), left=0.0), "5 of 5 done · 14 s elapsed", id="done"),
        pytest.param(state(entry(1, 5), left=None), "1 of 5 done · 14 s elapsed", id="time-left-unknown"),
    ],
)
def test_summary(given: Progress, text: str) -> None:
    assert run_progress.summary(given) == text


def test_a_stopped_run_has_no_time_left() -> None:
    assert "left" not in run_progress.summary(state(entry(1, 5)), going=False)


def test_share_and_line() -> None:
    assert run_progress.share([]) == 0.0
    assert run_progress.share([entry(1, 2), entry(0, 2)]) == 0.25
    assert run_progress.line(entry(3, 9, 1)) == "ROUGE · 3 of 9 · 1 failed"
