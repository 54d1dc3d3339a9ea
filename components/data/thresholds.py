"""The thresholds that people set after the fact: profiles of the workspace."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from components.data.run_reads import leaderboard
from components.data.visitors import action
from components.data.workspace_runs import open_run, workspace
from metrics.core.errors import InputError
from metrics.store.threshold_profiles import ThresholdProfiles

Given = Mapping[tuple[str, str], float | None]  # (evaluator, metric) → threshold, or None to remove it


class Profiles(NamedTuple):
    """The names of the profiles; the one in force, None without; what it sets, by (evaluator, metric)."""

    names: Sequence[str]
    in_force: str | None
    given: Mapping[tuple[str, str], float]


def threshold_profiles() -> Profiles:
    """Return the profiles of the workspace."""
    held = ThresholdProfiles(workspace().path)
    given = {(id, metric): value for id, own in held.thresholds().items() for metric, value in own.items()}
    return Profiles(held.names, held.in_force, given)


@action("editor", "use a profile of thresholds", "name")
def use_profile(name: str | None) -> str | None:
    """Put a profile in force, a new one if there is none of that name; return what is wrong with the name, if it is."""
    try:
        ThresholdProfiles(workspace().path).use(name)
    except InputError as failure:
        return str(failure.problems[0])
    return None


@action("editor", "remove a profile of thresholds", "name")
def remove_profile(name: str) -> None:
    """Remove a profile."""
    ThresholdProfiles(workspace().path).remove(name)


@action("editor", "set thresholds")
def set_thresholds(values: Given) -> None:
    """Set thresholds in the profile in force, in a first one if there is none."""
    held = ThresholdProfiles(workspace().path)
    if held.in_force is None:
        held.use(next(iter(held.names), "Thresholds"))
    held.put(values)


@action("editor", "mark decisive metrics", "run_id")
def mark_decisive(run_id: str, keys: Sequence[str]) -> None:
    """Choose the models of a run's suite by these columns from now on; none: by what its headline counts."""
    ThresholdProfiles(workspace().path).mark_decisive(open_run(run_id).spec.suite.fingerprint, keys)


def thresholds_by_models(run_id: str, keys: Sequence[str], model: str | None, slack: float) -> Given:
    """Return thresholds for columns: the value of a model, by default the best one's, less `slack` of it (0 … 1).

    More by as much where lower is better. Columns without a value or a better end are left out.
    """
    board = leaderboard(run_id)
    given: dict[tuple[str, str], float | None] = {}
    for column in board.columns:
        models = board.models if model is None else [model]
        cells = [board.cells.get((name, column.key)) for name in models]
        values = [cell.value for cell in cells if cell is not None and cell.value is not None]
        if column.key not in keys or not values or column.direction == "none":
            continue
        higher = column.direction == "higher"
        value = max(values) if higher else min(values)
        moved = value - abs(value) * slack if higher else value + abs(value) * slack
        given[column.evaluator, column.metric] = float(f"{moved:.4g}")
    return given
