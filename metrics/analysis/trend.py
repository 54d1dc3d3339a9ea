"""One metric over the runs of one suite: each model's number in each run, and the change from run to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from metrics.analysis.comparison.case_values import case_values
from metrics.analysis.comparison.compare import Difference, case_differences
from metrics.analysis.comparison.paired_bootstrap import Resampled, resampled_differences
from metrics.analysis.comparison.shared_cases import changed_settings
from metrics.analysis.comparison.significance import Correction, corrected
from metrics.analysis.leaderboard.leaderboard import Cell, Column, Leaderboard, leaderboard
from metrics.analysis.leaderboard.replicates import no_means
from metrics.core.errors import InputError
from metrics.store import Run, Workspace, cache_by_run

CHANGES = {"open": "no significant change", "none": "no shared case"}  # a significance in words


@dataclass(frozen=True, slots=True)
class Stop:
    """One model in one run: its number there, and the change since the last run before it in which it has one.

    before: that run's id, None for the model's first; change: this run as b against that one as a, on the cases (or
    resamples) of both, None where they cannot be paired; settings: what else differs between the two runs, in words.
    """

    run: str
    name: str
    created: str
    model: str
    cell: Cell
    before: str | None = None
    change: Difference | Resampled | None = None
    settings: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """The change in words."""
        if self.before is None:
            return "first"
        if self.change is None:
            return "cannot be paired"
        found = self.change.significance
        if found == "leaning":
            return f"may be {self.change.tendency} (uncorrected)"
        return self.change.equal if found == "equal" else CHANGES.get(found, found)


@dataclass(frozen=True, slots=True)
class Trend:
    """One metric over runs: `stops` run by run in time order; `tested`: how many changes the correction is over.

    clustered: tests and intervals of changes take the suite's groups as units.
    """

    column: Column
    models: tuple[str, ...]
    stops: tuple[Stop, ...]
    correction: Correction
    tested: int
    clustered: bool


def same_suite(run: Run) -> list[Run]:
    """Return the finished runs of the run's suite, the oldest first; the run itself is one of them."""
    return [*reversed(Workspace(run.workspace.path).finished_runs(run.spec.suite.fingerprint))]


def trend(
    runs: Sequence[Run], key: str, models: Sequence[str] = (), tag: str | None = None, correction: Correction = "holm"
) -> Trend:
    """Return a metric (the key of a leaderboard's column) over finished runs of one suite, of `models` or all.

    Each model is compared with itself in the last run before that has a number of it: by pairs of cases where there are
    values per case, else by pairs of resamples; see analysis.comparison. p are adjusted over all changes shown.
    InputError where the runs are of several suites, or none has such a metric.
    """
    ordered = sorted(runs, key=lambda run: run.began)
    if len({run.spec.suite.fingerprint for run in ordered}) > 1:
        names = ", ".join(run.id for run in ordered)
        raise InputError(f"runs {names} are of different suites; a metric can only be followed within one suite")
    boards = {run.id: leaderboard(run, tag) for run in ordered}
    columns = [column for run in ordered for column in boards[run.id].columns if column.key == key]
    if not columns:
        known = {column.key for board in boards.values() for column in board.columns}
        raise InputError(f"no run has the metric {key!r}; there are {', '.join(sorted(known)) or 'none'}")
    column = columns[-1]
    last: dict[str, Run] = {}
    stops = []
    for run in ordered:
        for model in run.models:
            cell = boards[run.id].cells.get((model, key))
            if (models and model not in models) or cell is None or cell.value is None:
                continue
            stop = Stop(run.id, run.name, run.created, model, cell)
            if model in last:
                stop = _since(stop, last[model], run, column, boards, tag)
            stops.append(stop)
            last[model] = run
    changes = corrected([stop.change for stop in stops if stop.change is not None], correction)
    found = iter(changes)
    stops = [stop if stop.change is None else replace(stop, change=next(found)) for stop in stops]
    clustered = bool(changes) and ordered[0].sampling_design(tag).clusters is not None
    tested = sum(change.p is not None for change in changes)
    return Trend(
        column, tuple(dict.fromkeys(stop.model for stop in stops)), tuple(stops), correction, tested, clustered
    )


def _since(
    stop: Stop, before: Run, run: Run, column: Column, boards: Mapping[str, Leaderboard], tag: str | None
) -> Stop:
    # of several columns of one metric (k 1, k 5 …) the scores per case are the first one's
    heads = {
        next(
            one.key for one in boards[of.id].columns if (one.evaluator, one.metric) == (column.evaluator, column.metric)
        )
        for of in (before, run)
    }
    is_mean = (column.evaluator, column.metric) not in no_means(before) | no_means(run)
    change = _change(before, run, stop.model, column, heads == {column.key} and is_mean, tag)
    return replace(stop, before=before.id, change=change, settings=changed_settings(before, run, column.evaluator))


@cache_by_run(maxsize=1024)
def _change(
    before: Run, run: Run, model: str, column: Column, by_case: bool, tag: str | None
) -> Difference | Resampled | None:
    """Return the change before correction."""
    design, key = run.sampling_design(tag), (column.evaluator, column.metric)
    a, b = (case_values(of, model, design, [key]).get(key) if by_case else None for of in (before, run))
    if a is not None and b is not None:
        return case_differences([(column, a, b)], design)[0]
    return resampled_differences(before, model, run, model, [column], tag).get(column.key)
