"""What people note about a run: the operating point, tags and notes, saved views."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from components.data.run_reads import of_run
from components.data.visitors import action
from components.data.workspace_runs import open_run, workspace
from metrics import analysis
from metrics.core.errors import InputError, RunBusy
from metrics.store.reviews import Mark, Place, Review, SavedView, SavedViews

best_point = of_run(analysis.best_point)
confusion_at = of_run(analysis.confusion_at)


def chosen_point(run_id: str) -> tuple[float | None, float]:
    """Return the score and the IoU threshold chosen for all models of a run; score None: each model's best F1."""
    return _review(run_id).point()


@action("editor", "choose the operating point", "run_id")
def choose_operating_point(run_id: str, score: float | None, iou: float) -> None:
    """Choose the thresholds of all models of a run for every page; score None: each model's best F1."""
    _to_write(run_id).choose_point(score, iou)


def marks(run_id: str) -> Mapping[Place, Mark]:
    """Return the tags and notes of a run's cases and objects."""
    return _review(run_id).marks()


@action("editor", "tag cases", "run_id", "add", "remove")
def tag_places(run_id: str, places: Iterable[Place], add: Sequence[str] = (), remove: Sequence[str] = ()) -> str:
    """Add tags to cases or objects of a run, and remove others; return why that cannot be, else ""."""
    return _tried(lambda: _to_write(run_id).tag(places, add, remove))


@action("editor", "write a note", "run_id", "place")
def note_place(run_id: str, place: Place, text: str) -> str:
    """Write the note of a case or an object, "" removes it; return why that cannot be, else ""."""
    return _tried(lambda: _to_write(run_id).note(place, text))


def saved_views(page: str) -> Sequence[SavedView]:
    """Return the saved views of a page."""
    return tuple(view for view in _views().all() if view.page == page)


@action("editor", "save a view", "name", "page")
def save_view(name: str, page: str, state: str) -> str:
    """Save a view, in place of one of the same page and name; return why that cannot be, else ""."""
    return _tried(lambda: _views().keep(SavedView(name, page, state)))


@action("editor", "remove a view", "name", "page")
def remove_view(page: str, name: str) -> None:
    """Remove a saved view."""
    _views().remove(page, name)


def _tried(change: Callable[[], None]) -> str:
    try:
        change()
    except (InputError, RunBusy) as failure:
        return str(failure)
    return ""


def _review(run_id: str) -> Review:
    return Review(open_run(run_id))


def _to_write(run_id: str) -> Review:
    """Return what people note about a run; a board has nothing of its own. Raises RunNotFound."""
    return Review(workspace().run(run_id))


def _views() -> SavedViews:
    return SavedViews(workspace().path)
