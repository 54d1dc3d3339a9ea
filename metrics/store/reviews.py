"""What people note about a run while they look through it: tags, notes, the operating point; and saved views.

`reviews/<run>.json` lies in the workspace beside the runs, because a sealed run never changes; `views.json` there holds
the saved views of every run.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from metrics.core.errors import InputError, InputProblem
from metrics.core.files import hold_lock, make_folder
from metrics.store.manifest import read_sealed, write_sealed
from metrics.store.run import Run

LONGEST_TAG = 60  # characters
LONGEST_NOTE = 4_000
MOST_VIEWS = 200


class Place(NamedTuple):
    """What a mark is about: a case; or, with a model, repeat and object key, one object of a model in it."""

    case_id: str
    model: str = ""
    repeat: int = 0
    object: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """The tags and the note of a place."""

    tags: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class SavedView:
    """A view of the studio under a name: a page and its query parameters."""

    name: str
    page: str
    state: str


class Review:
    """The marks and the operating point of a run."""

    def __init__(self, run: Run):
        self.path = run.workspace.path / "reviews" / f"{run.id}.json"

    @property
    def version(self) -> str:
        """A digest that changes whenever the marks do; "" while there are none."""
        marks = self._read_reviews().get("marks")
        return hashlib.sha256(json.dumps(marks).encode()).hexdigest() if marks else ""

    def marks(self) -> dict[Place, Mark]:
        """Return the mark of every place that has one, in the order in which they were first made."""
        return {
            Place(*(row[name] for name in Place._fields)): Mark(tuple(row["tags"]), row["note"])
            for row in self._read_reviews().get("marks", [])
        }

    def tags(self) -> list[str]:
        """Return every tag in use, in alphabetical order."""
        return sorted({tag for mark in self.marks().values() for tag in mark.tags})

    def tag(self, places: Iterable[Place], add: Iterable[str] = (), remove: Iterable[str] = ()) -> None:
        """Add tags to places, and remove others. InputError for a tag that is empty or too long."""
        added, removed = [_tag(each) for each in add], set(remove)
        with self._locked():
            marks = self.marks()
            for place in places:
                mark = marks.get(place, Mark())
                kept = [tag for tag in mark.tags if tag not in removed]
                marks[place] = Mark(tuple(dict.fromkeys([*kept, *added])), mark.note)
            self._write(marks=marks)

    def note(self, place: Place, text: str) -> None:
        """Write the note of a place, in place of the one before it; "" removes it."""
        if len(text) > LONGEST_NOTE:
            raise InputError([InputProblem("note", f"{len(text):,} characters", f"at most {LONGEST_NOTE:,}")])
        with self._locked():
            marks = self.marks()
            marks[place] = Mark(marks.get(place, Mark()).tags, text.strip())
            self._write(marks=marks)

    def point(self) -> tuple[float | None, float]:
        """Return the score and the IoU threshold chosen for all models; score None: each model's own best."""
        chosen = self._read_reviews().get("point") or {"score": None, "iou": 0.5}
        return None if chosen["score"] is None else float(chosen["score"]), float(chosen["iou"])

    def choose_point(self, score: float | None, iou: float) -> None:
        """Choose the score and the IoU threshold of all models; score None: each model's own best."""
        with self._locked():
            self._write(point={"score": score, "iou": iou})

    def _read_reviews(self) -> dict[str, Any]:
        return dict(_checked(self.path, dict) or {})

    def _write(self, **changed: Any) -> None:
        if "marks" in changed:
            changed["marks"] = [
                {**key._asdict(), **asdict(mark)} for key, mark in changed["marks"].items() if mark.tags or mark.note
            ]
        write_sealed(self.path, self._read_reviews() | changed)

    def _locked(self) -> AbstractContextManager[int]:
        return hold_lock(
            make_folder(self.path.parent) / ".lock", "the review is being written by another window; try again"
        )


class SavedViews:
    """The saved views of the workspace at `folder`, the newest last; each replaces one of the same page and name."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.path = folder / "views.json"

    def all(self) -> list[SavedView]:
        """Return them. InputError for a file that is not one of views."""
        views = (_checked(self.path, dict) or {"views": []}).get("views")
        if not isinstance(views, list):
            raise InputError([InputProblem(str(self.path), "dict", "a list; remove the file")])
        return [SavedView(**row) for row in views]

    def keep(self, view: SavedView) -> None:
        """Store a view. InputError for an empty or too long name, or where there are too many views."""
        named = SavedView(_tag(view.name), view.page, view.state)
        with self._locked():
            others = [one for one in self.all() if (one.page, one.name) != (named.page, named.name)]
            if len(others) >= MOST_VIEWS:
                raise InputError([InputProblem("saved views", f"{len(others)}", "fewer: remove some first")])
            self._write([*others, named])

    def remove(self, page: str, name: str) -> None:
        """Remove a view; nothing happens where there is none."""
        with self._locked():
            self._write([one for one in self.all() if (one.page, one.name) != (page, name)])

    def _write(self, views: list[SavedView]) -> None:
        write_sealed(self.path, {"views": [asdict(view) for view in views]})

    def _locked(self) -> AbstractContextManager[int]:
        return hold_lock(make_folder(self.folder) / "views.lock", "views are being saved by another window; try again")


def _tag(text: str) -> str:
    """Return a tag or name without blanks around it; InputError where nothing is left or too much."""
    short = " ".join(text.split())
    if not 0 < len(short) <= LONGEST_TAG:
        raise InputError([InputProblem("name", f"{len(short)} characters", f"1 to {LONGEST_TAG} characters")])
    return short


def _checked(path: Path, kind: type) -> Any:
    """Return what a file holds, None without one; InputError where that is of another kind or cannot be read."""
    try:
        value = read_sealed(path)
    except (OSError, ValueError, RecursionError) as failure:
        raise InputError([InputProblem(str(path), f"unreadable: {failure}", "JSON; remove the file")]) from None
    if isinstance(value, list):  # the views of an earlier version
        value = {"views": value}
    if value is not None and not isinstance(value, kind):
        raise InputError([InputProblem(str(path), type(value).__name__, f"a {kind.__name__}; remove the file")])
    return value
