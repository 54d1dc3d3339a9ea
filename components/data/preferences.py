"""Preferences between two models' answers: given, uploaded, judged in a thread; rankings, bias, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

from components.data.judge_settings import judge_chosen
from components.data.run_reads import of_run
from components.data.visitors import action, own_name
from components.data.workspace_runs import workspace
from metrics.analysis.preferences import matches, pairs, preferred, style
from metrics.analysis.preferences.judging import Judged, judge_preferences, preference_estimate
from metrics.core.errors import AssayError, describe_failure
from metrics.core.schema import BOTH_BAD, preference
from metrics.store.rating_sets import GivenSet, Preferences

if TYPE_CHECKING:
    import pyarrow as pa

    from metrics.analysis.preferences.pairs import Pair, PairQueue
    from metrics.engine import Estimate
    from metrics.store import Run


class JudgingState(NamedTuple):
    """How far a judge has compared (matches done, of how many), what came of it, or why it failed."""

    done: int
    total: int
    judged: Judged | None = None
    failure: str = ""


@dataclass
class _Job:
    """A judge comparing answers in a thread, which outlives the page."""

    future: Future[Judged]
    cancelled: Event
    progress: dict[str, int] = field(default_factory=dict)


_JOBS: dict[tuple[str, str], _Job] = {}  # by workspace and run
_THREADS = ThreadPoolExecutor(2)


def preference_version(run: Run) -> str:
    """Return what changes with the preferences of a run."""
    return str(Preferences(run).version)


preference_criteria = of_run(matches.preference_criteria, version=preference_version)
preferred_models = of_run(preferred.preferred, "Ranking by preferences", preference_version)
position_bias = of_run(preferred.position_bias, version=preference_version)
judge_and_people = of_run(preferred.judge_and_people, version=preference_version)
style_control = of_run(style.style_control, version=preference_version)
more_matches = preferred.more_matches
preference_cases = of_run(pairs.pair_cases, version=preference_version)


def pair_queue(run_id: str, criterion: str, rater: str, skipped: Sequence[tuple[str, str, str]] = ()) -> PairQueue:
    """Return what a person has compared and which pair comes next; computed on every call."""
    return pairs.pair_queue(workspace().run(run_id), criterion, rater, skipped)


def preference_sets(run_id: str) -> list[GivenSet]:
    """Return the sets of preferences of a run."""
    return Preferences(workspace().run(run_id)).sets()


@action("editor", "prefer an answer", "run_id", "criterion")
def give_preference(run_id: str, pair: Pair, rater: str, criterion: str, outcome: float, bad: bool = False) -> None:
    """Keep which answer of a pair is preferred: `outcome` is that of the left one; `bad`: a tie of two bad ones."""
    Preferences(workspace().run(run_id)).give(_row(pair, rater, criterion, outcome, BOTH_BAD if bad else ""))


@action("editor", "withdraw a preference", "run_id", "criterion")
def withdraw_preference(run_id: str, pair: Pair, rater: str, criterion: str) -> None:
    """Remove a person's preference of a pair."""
    Preferences(workspace().run(run_id)).withdraw(_row(pair, rater, criterion, 0.5, ""))


@action("editor", "add preferences", "run_id", "name")
def add_preferences(run_id: str, table: pa.Table, name: str) -> None:
    """Add the preferences of a file (schema PREFERENCES) to a run."""
    Preferences(workspace().run(run_id)).add(table, name)


@action("editor", "remove preferences", "run_id", "set_id")
def remove_preferences(run_id: str, set_id: str) -> None:
    """Remove a set of preferences from a run."""
    Preferences(workspace().run(run_id)).remove(set_id)


def _estimate(run: Run, judge: Mapping[str, Any] | None, criterion: str, cases: int) -> Estimate | str:
    try:
        return preference_estimate(run, judge, criterion=criterion, cases=cases)
    except AssayError as failure:
        return str(failure)


_estimated = of_run(_estimate, "Estimating the judge calls", preference_version)


def preferences_estimate(run_id: str, criterion: str, cases: int) -> Estimate | str:
    """Return what it would cost the workspace's judge to compare a run's answers, or why that is unknown."""
    return _estimated(run_id, judge_chosen().settings, criterion, cases)


@action("editor", "let the judge compare answers", "run_id", "criterion")
def start_judging(run_id: str, criterion: str, cases: int | None) -> None:
    """Let the workspace's judge compare answers in a thread; one at a time for each run."""
    key = _key(run_id)
    if key in _JOBS and not _JOBS[key].future.done():
        return
    run, setting, cancelled, progress = workspace().run(run_id), judge_chosen().settings, Event(), dict[str, int]()

    def listen(done: int, total: int) -> None:
        progress.update(done=done, total=total)

    future = _THREADS.submit(
        lambda: judge_preferences(
            run, setting, criterion=criterion, cases=cases, listen=listen, is_cancelled=cancelled.is_set
        )
    )
    _JOBS[key] = _Job(future, cancelled, progress)


@action("editor", "stop the judge", "run_id")
def stop_judging(run_id: str) -> None:
    """Ask the judge's comparison of a run's answers to stop; what it has decided is kept."""
    if (job := _JOBS.get(_key(run_id))) is not None:
        job.cancelled.set()


def judging_state(run_id: str) -> JudgingState | None:
    """Return how far the judge has compared a run's answers; None where it was not asked since the studio started."""
    job = _JOBS.get(_key(run_id))
    if job is None:
        return None
    done, total = job.progress.get("done", 0), job.progress.get("total", 0)
    if not job.future.done():
        return JudgingState(done, total)
    failure = job.future.exception()
    if failure is None:
        return JudgingState(done, total, job.future.result())
    told = str(failure) if isinstance(failure, AssayError) else describe_failure(failure)
    return JudgingState(done, total, failure=told)


def _key(run_id: str) -> tuple[str, str]:
    return str(workspace().path), workspace().run(run_id).id


def _row(pair: Pair, rater: str, criterion: str, outcome: float, note: str) -> dict[str, object]:
    """Return a row of PREFERENCES; the rater is the visitor where people sign in."""
    return preference(
        pair.case_id, pair.left, pair.right, outcome, rater=own_name() or rater, criterion=criterion,
        shown_first=pair.left, note=note,
    )  # fmt: skip
