"""The calibrations of a workspace: thresholds that its users' own labels set, in `calibrations.json`."""

from pathlib import Path

from metrics.core.calibration import Calibration, calibration_of, latest
from metrics.core.errors import InputError, InputProblem
from metrics.core.files import hold_lock, make_folder, read_json, write_json


class Calibrations:
    """The calibrations stored in the workspace at `folder`; each replaces the one before it of the same key."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "calibrations.json"

    def all(self) -> list[Calibration]:
        """Return them, the oldest first. Raises InputError for a file that is not one of calibrations."""
        try:
            return [calibration_of(record) for record in read_json(self.path) or []]
        except (TypeError, ValueError, AttributeError) as failure:
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
            write_json(self.path, [one.record() for one in kept])
