"""The progress of a run: what its process last wrote to `progress.json`."""

from dataclasses import dataclass
from pathlib import Path

from metrics.core.errors import StorageError
from metrics.core.files import read_json

FILE = "progress.json"


@dataclass(frozen=True, slots=True)
class EvaluatorProgress:
    """The progress of one evaluator: cases done of total, how many failed, how many have scores of earlier runs."""

    id: str
    title: str
    done: int
    total: int
    failed: int
    reused: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run; `seconds_spent` counts over stops and resumes, `seconds_left` is None while unknown."""

    evaluators: tuple[EvaluatorProgress, ...] = ()
    seconds_spent: float = 0.0
    seconds_left: float | None = None
    message: str = ""

    @property
    def share(self) -> float:
        """Done of total over all evaluators, 0 … 1."""
        total = sum(entry.total for entry in self.evaluators)
        return sum(entry.done for entry in self.evaluators) / total if total else 0.0


def read_progress(folder: Path) -> Progress:
    """Return the progress that was last written in a folder; none where the file is lost or cannot be read.

    It only says how far a run is: what is done is told by its parts.
    """
    try:
        facts = read_json(folder / FILE)
        return Progress(**facts | {"evaluators": tuple(EvaluatorProgress(**one) for one in facts["evaluators"])})
    except (OSError, StorageError, ValueError, TypeError, KeyError, RecursionError):
        return Progress()
