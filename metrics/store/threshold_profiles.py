"""Thresholds that a workspace keeps: named profiles that people set after the fact, and calibrations by labels.

The profile in force stands over the thresholds that runs began with, in everything that is read from them: problems,
marks, flips, reports. Beside the profiles are the metrics that decide which model is chosen, by suite. What is stored
of a run does not change.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any

from metrics.core.calibration import Calibration, calibration_of, latest
from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.files import hold_lock, make_folder
from metrics.store.manifest import read_sealed, write_sealed

Thresholds = Mapping[str, Mapping[str, float]]  # evaluator → metric → value
# in force, profiles, decisive metrics
Stored = tuple[str | None, Mapping[str, Thresholds], Mapping[str, Sequence[str]]]
MAX_NAME = 80  # characters of a profile's name
FORM = "profiles as the page Thresholds writes them; remove the file to begin with none"


class ThresholdProfiles:
    """The profiles of the workspace at `folder`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "thresholds.json"

    @property
    def version(self) -> int:
        """A number that changes whenever the profiles do; 0 while there are none."""
        try:
            return self.path.stat().st_mtime_ns
        except FileNotFoundError:
            return 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the profiles, the oldest first."""
        return tuple(self._read_current()[1])

    @property
    def in_force(self) -> str | None:
        """The name of the profile in force; None where every run has the thresholds that it began with."""
        return self._read_current()[0]

    def thresholds(self, name: str | None = None) -> Thresholds:
        """Return the thresholds of a profile, by default of the one in force; empty where there is none."""
        in_force, profiles, _ = self._read_current()
        return profiles.get(name or in_force or "", {})

    def decisive(self, suite: str) -> tuple[str, ...]:
        """Return the keys of the columns that models of a suite are chosen by; its fingerprint tells the suite."""
        return tuple(self._read_current()[2].get(suite, ()))

    def mark_decisive(self, suite: str, keys: Sequence[str]) -> None:
        """Choose the models of a suite by these columns from now on; by none in particular where there are none."""
        with self._changing() as (in_force, profiles):
            marks = {**self._read_current()[2], suite: list(keys)}
            self._write(in_force, profiles, {name: own for name, own in marks.items() if own})

    def use(self, name: str | None) -> None:
        """Put a profile in force, an empty one if there is none of that name yet; None: no profile.

        Raises InputError for a name that is blank or too long.
        """
        if name is not None and not 0 < len(name.strip()) <= MAX_NAME:
            raise InputError([InputProblem("profile", repr(name), f"a name of 1 to {MAX_NAME} characters")])
        with self._changing() as (_, profiles):
            if name is not None:
                profiles.setdefault(name.strip(), {})
            self._write(name and name.strip(), profiles)

    def put(self, values: Mapping[tuple[str, str], float | None]) -> None:
        """Set thresholds by (evaluator, metric) in the profile in force; None removes one.

        Raises InputError where no profile is in force, or a value is not finite.
        """
        with self._changing() as (in_force, profiles):
            if in_force is None:
                raise InputError([InputProblem("thresholds", "no profile in force", "a profile to set them in")])
            wrong = [(key, value) for key, value in values.items() if value is not None and not isfinite(value)]
            refuse(InputProblem(".".join(key), repr(value), "a finite number") for key, value in wrong)
            changed = {name: dict(metrics) for name, metrics in profiles[in_force].items()}
            for (evaluator, metric), value in values.items():
                own = changed.setdefault(evaluator, {})
                if value is None:
                    own.pop(metric, None)
                else:
                    own[metric] = value
            profiles[in_force] = {name: metrics for name, metrics in changed.items() if metrics}
            self._write(in_force, profiles)

    def remove(self, name: str) -> None:
        """Remove a profile; runs have the thresholds that they began with if it was in force."""
        with self._changing() as (in_force, profiles):
            profiles.pop(name, None)
            self._write(None if in_force == name else in_force, profiles)

    @contextmanager
    def _changing(self) -> Iterator[tuple[str | None, dict[str, Thresholds]]]:
        make_folder(self.folder)
        with hold_lock(self.folder / "thresholds.lock", "another process is changing the thresholds; try again"):
            in_force, profiles, _ = self._read_current()
            yield in_force, dict(profiles)

    def _read_current(self) -> Stored:
        return _read_profiles(self.path, self.version)

    def _write(
        self, in_force: str | None, profiles: Mapping[str, Thresholds], marks: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        marks = self._read_current()[2] if marks is None else marks
        write_sealed(self.path, {"in_force": in_force, "profiles": profiles, "decisive": marks})


@lru_cache(maxsize=8)
def _read_profiles(path: Path, version: int) -> Stored:  # noqa: ARG001 - a part of the key
    try:
        found = read_sealed(path) or {"in_force": None, "profiles": {}}
        profiles = {
            str(name): {id: {metric: float(value) for metric, value in own.items()} for id, own in thresholds.items()}
            for name, thresholds in found["profiles"].items()
        }
        in_force = found["in_force"]
        marks = {str(suite): [str(key) for key in keys] for suite, keys in found.get("decisive", {}).items()}
    except (ValueError, TypeError, KeyError, AttributeError) as failure:
        raise InputError([InputProblem(str(path), str(failure), FORM)]) from failure
    return (in_force if in_force in profiles else None), profiles, marks


class Calibrations:
    """The calibrations stored in the workspace at `folder`; each replaces the one before it of the same key."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "calibrations.json"

    def all(self) -> list[Calibration]:
        """Return them, the oldest first. Raises InputError for a file that is not one of calibrations."""
        try:
            return [calibration_of(record) for record in self._records()]
        except (TypeError, ValueError, AttributeError, KeyError) as failure:
            expected = "calibrations as `calibrate` writes them; remove the file and calibrate again"
            raise InputError([InputProblem(str(self.path), str(failure), expected)]) from failure

    def keep(self, one: Calibration) -> None:
        """Store a calibration in place of the one with its key."""
        self._change([one], None)

    def forget(self, one: Calibration) -> None:
        """Remove the calibration with the key of this one."""
        self._change([], one)

    def _change(self, added: list[Calibration], removed: Calibration | None) -> None:
        make_folder(self.folder)
        with hold_lock(self.folder / "calibrations.lock", "another process is changing the calibrations; try again"):
            kept = [one for one in latest([*self.all(), *added]) if removed is None or one.key != removed.key]
            write_sealed(self.path, {"calibrations": [one.record() for one in kept]})

    def _records(self) -> Any:
        found = read_sealed(self.path) or []
        return found["calibrations"] if isinstance(found, dict) else found  # a list is an earlier version's
