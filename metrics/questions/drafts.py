"""Drafts and their reviews in a workspace: `questions/ID/draft.json`, which never changes, and `reviews.json`."""

import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from metrics.core.errors import AssayError
from metrics.core.files import hold_lock, list_paths, make_folder, read_json, write_json
from metrics.questions.draft import Draft, Review
from metrics.store.own_files import own_folder

FOLDER = "questions"
ID = re.compile(r"[0-9a-f]{16}")
REVIEWS = TypeAdapter(dict[str, Review])


class DraftNotFound(AssayError):
    """There is no draft of that id in the workspace, or it cannot be read."""


def save_draft(workspace: Path, draft: Draft) -> str:
    """Store a draft and return its id, a hash of its content without its date: the same questions are stored once."""
    content = draft.model_dump_json(exclude={"created", "spend"})
    draft_id = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    file = workspace / FOLDER / draft_id / "draft.json"
    if not file.exists():
        write_json(file, draft.model_dump(mode="json"))
    return draft_id


def read_draft(workspace: Path, draft_id: str) -> tuple[Draft, dict[str, Review]]:
    """Return a draft and the reviews of its questions by their ids. Raises DraftNotFound."""
    folder = workspace / FOLDER / draft_id
    if not ID.fullmatch(draft_id) or not (folder / "draft.json").exists():
        raise DraftNotFound(f"there is no draft {draft_id!r} in {workspace}")
    own_folder(workspace, FOLDER, draft_id)
    try:
        draft = Draft.model_validate(read_json(folder / "draft.json"))
        return draft, REVIEWS.validate_python(read_json(folder / "reviews.json") or {})
    except (ValueError, ValidationError) as failure:
        raise DraftNotFound(f"the draft {draft_id} cannot be read: {str(failure).splitlines()[0]}") from None


def review(workspace: Path, draft_id: str, changes: Mapping[str, Review]) -> None:
    """Store the reviews of some questions; those of the others stay. Raises DraftNotFound."""
    folder = workspace / FOLDER / draft_id
    with hold_lock(make_folder(folder) / ".lock", "this draft is being changed in another window; try again"):
        draft, reviews = read_draft(workspace, draft_id)
        known = {entry.id for entry in draft.questions}
        reviews |= {name: given for name, given in changes.items() if name in known}
        write_json(folder / "reviews.json", REVIEWS.dump_python(reviews, mode="json"))


def drafts(workspace: Path) -> Iterable[str]:
    """Return the ids of the drafts, the newest first."""
    found = [path for path in list_paths(workspace / FOLDER, "*/draft.json") if ID.fullmatch(path.parent.name)]
    return [path.parent.name for path in sorted(found, key=lambda path: (-path.stat().st_mtime_ns, path.parent.name))]
