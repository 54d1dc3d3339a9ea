"""What each of several files is, whatever order they come in: the suite, outputs, both in one, images, agents' files.

    seen = {path: see_file(path) for path in paths}
    assign_roles(seen).suite

The command, `evaluate()` and the page ask this one place. A person's word goes first: {file: role}.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, get_args

from metrics.core.errors import InputError, InputProblem
from metrics.core.fields import CASE_FIELDS
from metrics.core.file_kinds import ANSWER_FILE
from metrics.core.suite import Task
from metrics.ingest.format_table import open_upload
from metrics.ingest.formats import mask_images
from metrics.ingest.load import inspect
from metrics.ingest.output_parts import VISION
from metrics.ingest.reader import Preview
from metrics.ingest.source import AS_IT_SEEMS, Reading
from metrics.ingest.tables.columns import EXPECTED, IMAGE_NAMES, USEFUL, fold, truth_beside
from metrics.ingest.tables.contexts import GOLD, LISTED
from metrics.ingest.tables.id_matches import QUESTIONS
from metrics.ingest.tables.model_columns import NONE, model_names, named_models
from metrics.ingest.tables.number_targets import PLAIN

FileRole = Literal["suite", "outputs", "both", "images", "files"]  # files: those that agents made
ROLES: tuple[FileRole, ...] = get_args(FileRole)
ROLE = "role"  # the question that a person's word on it answers: --read FILE=role=suite
LARGE = 64 << 20  # bytes of a JSON document that is not read twice: its first character tells results from ground truth
TRUTH_FILE = re.compile(
    r"(^|[-_ .])(suite|test[-_ ]?(set|cases?|suite)|cases|questions|gold(en)?|truth|gts?|labels?|masks?|instances|"
    r"annotations?|references?|y_true|actual)([-_ .]|$)", re.IGNORECASE,
)  # fmt: skip


@dataclass(frozen=True)
class SeenFile:
    """What a file looks like: the preview of what has cases or answers, else its kind; `problems` of an unreadable one.

    `role` is what it would be by itself; `columns` are those that hold the answers of a model each; `is_packed`: it is
    a zip; `pictures`: the names of a zip's files where these may be masks, or images that a table names.
    """

    name: str
    role: FileRole | None
    preview: Preview | None = None
    problems: tuple[InputProblem, ...] = ()
    columns: tuple[str, ...] = ()
    is_packed: bool = False
    pictures: frozenset[str] = frozenset()

    @property
    def is_vision(self) -> bool:
        """Whether it holds objects in images."""
        return self.preview is not None and self.preview.task in VISION

    @property
    def names_files(self) -> bool:
        """Whether it has traces or artifacts, which refer to files that agents made."""
        found = self.preview
        return found is not None and not {"trace", "artifacts"}.isdisjoint((*found.mapping, *found.columns))

    def names_any(self, pictures: frozenset[str]) -> bool:
        """Return whether the first rows of a table that is not of objects name one of these images."""
        if self.preview is None or self.is_vision:
            return False
        columns = [name for name in self.preview.columns if fold(name) in IMAGE_NAMES]
        if self.preview.task == "classification" and "case_id" in self.preview.mapping:
            columns.append(self.preview.mapping["case_id"])
        cells = [PurePosixPath(str(row.get(name))) for row in self.preview.first for name in columns]
        return not pictures.isdisjoint(form for cell in cells for form in (cell.name, cell.stem))


@dataclass(frozen=True)
class Roles:
    """The files by their role. `suite` in `outputs`: each of these has cases and answers; no outputs: none has any."""

    suite: str = ""
    outputs: tuple[str, ...] = ()
    images: str = ""
    files: str = ""
    unused: tuple[str, ...] = ()

    def role_of(self, file: str) -> FileRole | None:
        """Return the role of a file; None where it has none."""
        answered: FileRole = "both" if self.suite in self.outputs else "outputs"
        named: dict[str, FileRole] = {self.suite: "suite", self.images: "images", self.files: "files"}
        return {**named, **dict.fromkeys(self.outputs, answered)}.get(file)


def see_file(
    path: str | Path, filename: str | None = None, *, task: Task | None = None,
    mapping: Mapping[str, str] | None = None, reading: Reading = AS_IT_SEEMS,
) -> SeenFile:  # fmt: skip
    """Return what a file looks like; it is no error that it cannot be read."""
    name = filename or Path(path).name
    if large := _large_role(Path(path)):
        return SeenFile(name, large)
    packed = name.lower().endswith(".zip")
    try:
        preview = inspect(path, "auto", filename, task=task, mapping=mapping, reading=reading)
    except InputError as error:
        return SeenFile(name, _kind_of(path, filename), None, error.problems, is_packed=packed)
    pictures = _pictures_of(path, filename) if packed and preview.format == mask_images.READER.name else frozenset()
    said = reading.answers.get("models")  # which columns hold the answers of a model each
    columns = tuple([] if said == NONE else said.split(",") if said else named_models(preview.candidates))
    return SeenFile(name, _own_role(preview, bool(columns)), preview, (), columns, packed, pictures)


def _pictures_of(path: str | Path, filename: str | None) -> frozenset[str]:
    """Return the names, with and without ending, of a zip's PNG files where nothing else says that they are masks."""
    with open_upload(path, filename) as upload:
        entries = upload.folder.entries
        if any(entry.suffix != ".png" or mask_images.is_in_folder_of_masks(entry) for entry in entries):
            return frozenset()
        return frozenset(form for entry in entries for form in (entry.base, entry.stem))


def assign_roles(seen: Mapping[str, SeenFile], said: Mapping[str, str] | None = None, stored: bool = False) -> Roles:
    """Return the role of each file. `said` is a person's word by file; `stored`: the suite is another, stored one.

    The order of files counts only where nothing else tells which of them is the suite.
    """
    made = any(each.names_files for each in seen.values() if not each.is_packed)  # then a zip is what they name
    masks = [file for file in seen if seen[file].pictures]
    role: dict[str, FileRole | None] = {}
    for file, each in seen.items():
        guess = "files" if made and each.is_packed and not each.is_vision else each.role
        if masks == [file] and any(other.names_any(each.pictures) for other in seen.values()):
            guess = "images"
        role[file] = next((known for known in ROLES if known == (said or {}).get(file)), guess)
    images, files = (next((file for file in seen if role[file] == kind), "") for kind in ("images", "files"))
    tables = [file for file in seen if role[file] not in ("images", "files")]
    aside = tuple(file for file in seen if file not in (*tables, images, files))
    if stored or not tables:
        return Roles("", tuple(tables), images, files, aside)
    suites = [file for file in tables if role[file] == "suite"]
    both = sorted((file for file in tables if role[file] == "both"), key=lambda file: (seen[file].name, file))
    if not suites and len(both) == len(tables):
        gold = [file for file in both if not (said or {}).get(file) and _may_be_gold(seen[file])]
        if len(gold) != 1 or len(both) == 1:
            return Roles(both[0], tuple(both), images, files, aside)
        suites = gold
    asked = [file for file in tables if role[file] is None]  # not read before a question about it is answered
    suite = _likeliest(suites or both or asked or tables, seen)
    return Roles(suite, tuple(file for file in tables if file != suite), images, files, aside)


def describe(seen: SeenFile, role: FileRole | None) -> str:
    """Return what a file holds in words: `60 questions, expected answers, contexts (used for every model)`."""
    preview = seen.preview
    if role == "images":
        return "images"
    if role == "files":
        return "files that the agents made"
    if preview is None:
        return "cannot be read" if seen.problems else ""
    rows = preview.rows
    count = "" if rows is None else f"{rows:,} "
    plural = "" if rows == 1 else "s"
    if preview.task in VISION:
        noted = preview.notes[0] if preview.notes and preview.notes[0] else f"{count}record{plural}"
        return f"{'predictions' if role == 'outputs' else 'ground truth'}: {noted}"
    columns = set(preview.mapping)
    several = "answers of " + (
        "the models in its column model" if "model" in columns else ", ".join(model_names(seen.columns).values())
    )
    named = "model" in columns or bool(seen.columns)
    if role == "outputs":
        what = f"{count}row{plural}, {several}" if named else f"{count}answer{plural}"
        ids = "file name" if fold(preview.mapping.get("case_id", "")) in IMAGE_NAMES else "id"
        by = ids if "case_id" in columns else "question" if QUESTIONS & set(map(fold, preview.columns)) else ""
        return f"{what}{f', joined by {by}' * bool(by)}"  # by another column, or by place: known when both are read
    asked = "question" if "question" in columns and not (role == "both" and "model" in columns) else "row"
    parts = [f"{count}{asked}{plural}"]
    words = {
        "expected answers": {"expected_answers"}, "true classes": {"label", "labels"}, "true values": {"true_value"},
        "gold contexts": GOLD, "answers": {"answer", "predicted_label", "predicted_value"},
    }  # fmt: skip
    if role == "both" and named:
        parts, words = [*parts, several], {word: names for word, names in words.items() if word != "answers"}
    parts += [word for word, names in words.items() if columns & names and (word != "answers" or role == "both")]
    if columns & {*LISTED}:
        parts.append("contexts (used for every model)" if role == "suite" else "contexts")
    return ", ".join(parts)


def _own_role(preview: Preview, melted: bool) -> FileRole:
    """Return what a file is by itself, by its preview; `melted`: it has columns with the answers of a model each."""
    names = preview.mapping.keys()
    if preview.task in VISION:
        if preview.role == "combined":
            return "both"
        return "outputs" if preview.models or preview.role == "outputs" else "suite"
    folded = {*map(fold, preview.columns)}
    truth = bool(folded & {*PLAIN, truth_beside(folded)})  # of which kind is asked
    if preview.role == "suite" and not truth and USEFUL.isdisjoint((*names, *preview.columns)):
        return "outputs"  # scores of classes, or a column for each model: a suite asks or expects something
    if preview.role == "outputs":
        return "outputs"
    retrieved = preview.role == "combined" and names <= NO_ANSWERS and GOLD.isdisjoint(names)
    if preview.role == "combined" and not retrieved:
        return "both"
    return "both" if melted else "suite"


NO_ANSWERS = {*LISTED, "case_id", *(each.name for each in CASE_FIELDS)}  # contexts may serve whoever answers


def _may_be_gold(seen: SeenFile) -> bool:
    """Return whether a file of questions and answers may be the suite, whose answers are the expected ones."""
    named = TRUTH_FILE.search(Path(seen.name).stem)
    return bool(named) and seen.preview is not None and EXPECTED.isdisjoint(seen.preview.mapping)


def _likeliest(files: Iterable[str], seen: Mapping[str, SeenFile]) -> str:
    """Return the file that is most likely the suite: named like one, not like answers, else the first."""
    stems = {file: Path(seen[file].name).stem for file in files}
    return min(stems, key=lambda file: (not TRUTH_FILE.search(stems[file]), bool(ANSWER_FILE.match(stems[file]))))


def _kind_of(path: str | Path, filename: str | None) -> FileRole | None:
    """Return the role of a folder or zip that holds no labels: images, or files that agents made."""
    try:
        with open_upload(path, filename) as upload:
            if upload.bundle is None or not upload.bundle.entries or upload.tables:
                return None
            return "images" if 2 * len(upload.bundle.images) > len(upload.bundle.entries) else "files"
    except InputError:
        return None


def _large_role(path: Path) -> FileRole | None:
    """Return the role of a JSON document that takes long to read; None for any other file."""
    if path.suffix.lower() != ".json" or not path.is_file() or path.stat().st_size < LARGE:
        return None
    with path.open("rb") as file:
        return "outputs" if file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[" else None
