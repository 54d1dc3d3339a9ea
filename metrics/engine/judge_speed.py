"""The measured speed of judges: what their questions took in earlier runs of the workspace."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import AssayError
from metrics.store import Run, Workspace

RECENT = 20  # runs that are looked at, the newest first
ENOUGH = 5  # replies of a step, from which their mean is taken
ROUNDING = 1.05
COLUMNS = ("judge", "step", "cached", "seconds", "error")


@dataclass(frozen=True, slots=True)
class JudgeTime:
    """The seconds that requests to judges take, and the runs in which that was measured.

    `unmeasured` counts the requests of the steps that no run has measured; their time is not in `seconds`.
    """

    seconds: float
    runs: tuple[str, ...]
    unmeasured: int = 0


def judge_time(workspace: Path, calls: Mapping[tuple[str, str], float], at_once: int = 1) -> JudgeTime:
    """Return the time for so many requests by (judge, step): each as long as the mean of its step in the newest run.

    `at_once` requests are in flight together; a local judge answers one question after the other. Texts of another
    length take other times, and a provider's rate limit may take longer.
    """
    seconds, runs = 0.0, []
    left = dict(calls)
    for run in _judged_runs(workspace, {judge for judge, _ in calls}):
        means = _means(run, at_once)
        for key in [key for key in left if key in means]:
            seconds += left.pop(key) * means[key]
            runs.append(run.id)
        if not left:
            break
    return JudgeTime(seconds / at_once, tuple(dict.fromkeys(runs)), round(sum(left.values())))


def _judged_runs(workspace: Path, judges: set[str]) -> Iterable[Run]:
    """Yield the newest finished runs that one of these judges has judged."""
    for run in Workspace(workspace).runs()[:RECENT]:
        try:
            if run.state == "finished" and judges & set((run.spend or {}).get("judges", ())):
                yield run
        except (AssayError, OSError, ValueError):  # a damaged run does not hide the others
            continue


def _means(run: Run, at_once: int) -> dict[tuple[str, str], float]:
    """Return the mean seconds of a reply that was asked for in this run, by judge and step, where there are ENOUGH."""
    try:
        rows = run.stored_table("judgements", COLUMNS)
        manifest = run.manifest or {}
    except (AssayError, OSError, pa.ArrowInvalid):
        return {}
    rows = rows.filter(pc.and_(pc.invert(rows["cached"]), pc.is_null(rows["error"])))
    by_judge = rows.group_by("judge").aggregate([("seconds", "sum")]).to_pylist()
    # earlier versions counted the time of waiting for one's turn, too: together longer than the run
    longest = ROUNDING * at_once * manifest.get("seconds", 0)
    timed = {row["judge"] for row in by_judge if row["seconds_sum"] <= longest}
    means = rows.group_by(["judge", "step"]).aggregate([("seconds", "mean"), ("seconds", "count")]).to_pylist()
    return {
        (row["judge"], row["step"]): row["seconds_mean"]
        for row in means
        if row["judge"] in timed and row["seconds_count"] >= ENOUGH
    }
