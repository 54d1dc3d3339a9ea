"""The images of a suite: stored once its image names are known, their sizes compared with the declared ones."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.errors import InputProblem
from metrics.core.files import temporary_folder
from metrics.core.label_keys import keys_of
from metrics.core.suite import (
    ANNOTATIONS,
    ASSUMED_SIDE,
    ASSUMED_SIZE,
    CASES,
    IMAGE_NAME as IMAGE_NAME,
    METADATA,
    Suite,
    Task,
    conform,
)
from metrics.ingest.leaf_notes import MAX_PATHS, Leaves, leaves_of
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables.values import text_of

SIDES = ("image_width", "image_height")
LISTED = 20  # images that cannot be shown


def annotations_of(cases: pa.Table, which: Ints, columns: Mapping[str, Any]) -> pa.Table:
    """Return objects as annotations, numbered from 1; `which` is the row of each one's case, `columns` its geometry."""
    ids = {"case_id": cases["case_id"].take(pa.array(which)), "annotation_id": pa.array(np.arange(1, len(which) + 1))}
    return pa.table({**ids, **columns, "is_crowd": pa.array(np.zeros(len(which), bool))})


def without_spoiled(
    problems: Problems, file: str, cases: pa.Table, annotations: pa.Table, spoiled: Iterable[str | None]
) -> tuple[pa.Table, pa.Table]:
    """Return cases and annotations without the images `spoiled`, of which an invalid object was skipped.

    What detects such an object would count as a false positive, so that every number would be another.
    """
    names = pa.array(sorted({name for name in spoiled if name is not None}), pa.string())
    own = pc.is_in(cases["case_id"], value_set=names)
    count = pc.sum(own).as_py() or 0
    if not count or not problems.keep_good_rows:
        return cases, annotations
    first = cases["case_id"].filter(own)[0].as_py()
    problems.note(file, "images", "unused", "an invalid object of theirs was skipped", count, first)
    kept = annotations.filter(pc.invert(pc.is_in(annotations["case_id"], value_set=names)))
    return cases.filter(pc.invert(own)), kept


def metadata_of(problems: Problems, file: str, path: str, images: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Return the plain values that each image has beside its objects as columns of metadata, and note all it has.

    `path` is what stands before their names in the receipt. Lists are not kept, nor more than MAX_PATHS columns.
    """
    columns: dict[str, dict[int, str]] = {}
    rest = Leaves(path)
    for place, image in enumerate(images):
        for name, value in leaves_of(image):
            plain = "[" not in name and not isinstance(value, list) and METADATA + name != IMAGE_NAME
            text = text_of(value) if plain and (name in columns or len(columns) < MAX_PATHS) else None
            if text is None:
                rest.count(path + name, value)
            else:
                columns.setdefault(name, {})[place] = text
    rest.note(problems, file)
    for name, cells in columns.items():
        problems.note(file, path + name, "kept", METADATA + name, len(cells), next(iter(cells.values())))
    rows = range(len(images))
    return {METADATA + name: pa.array([own.get(row) for row in rows], pa.string()) for name, own in columns.items()}


class SuiteImages:
    """The images that go with a suite, in a folder or zip `images` (None: there are none); stored in `media`."""

    def __init__(self, images: str | Path | None, media: str | Path | None, filename: str | None, problems: Problems):
        self.images = images
        self.filename = filename
        self.problems = problems
        self.folder: Path | None = None
        self.looked_for = False  # whether the suite has cases that images are of
        self.fitting = 0  # images that are of a case
        self._unusable: tuple[InputProblem, ...] = ()
        self._assumed = 0
        self._media = media

    def take(self, cases: pa.Table) -> pa.Table:
        """Return the cases with `image` filled in where an image was found, and missing sizes taken from it.

        A missing or broken image is no problem, as no number rests on pixels: the suite's notes list it. A declared
        size that differs from the image's is a problem; with keep_good_rows such a case stays, without its image.
        """
        self.looked_for = True
        if self.images is None:
            return cases
        from metrics.ingest.media.images import read_images

        media = Path(self._media) if self._media is not None else temporary_folder("media")
        names = cases[IMAGE_NAME].to_pylist()
        found = read_images(self.images, [name for name in names if name], media, self.filename)
        self.problems.extend(found.problems)
        self._unusable = found.unusable
        self.fitting = len(found.files) or len(found.sizes)
        shown = f"shown with {len(found.files):,} of {len(cases):,} cases"
        self.problems.note(self.filename or Path(self.images).name, "images", "used", shown, len(found.files))
        stored = [found.files.get(name or "") for name in names]
        columns: dict[str, list[int | None]] = {}
        for place, column in enumerate(SIDES):
            declared = cases[column].to_pylist() if column in cases.column_names else [None] * len(names)
            actual = [found.sizes[name][place] if name in found.sizes else None for name in names]
            for row, (given, true) in enumerate(zip(declared, actual, strict=True)):
                if given is not None and true is not None and given != true and names[row] in found.files:
                    if names[row] in found.sideways and self._is_stored(cases, row, found.sizes[names[row]]):
                        continue
                    where = self.filename or Path(self.images).name
                    expected = f"{given}, as the suite says"
                    self.problems.add(where, f"{names[row]} with {column} {true}", expected, column=column)
                    stored[row] = None
            columns[column] = [true if given is None else given for given, true in zip(declared, actual, strict=True)]
        self.folder = media
        kept = cases.drop_columns([name for name in ("image", *SIDES) if name in cases.column_names])
        values = {name: pa.array(value, pa.int32()) for name, value in columns.items()}
        known = dict(zip(kept.column_names, kept.columns, strict=True))
        return pa.table({**known, "image": pa.array(stored, pa.string()), **values})

    @staticmethod
    def _is_stored(cases: pa.Table, row: int, displayed: tuple[int, int]) -> bool:
        """Return whether the size that a case declares is that of the stored image, before it is turned for display."""
        return all(side in cases.column_names for side in SIDES) and displayed == tuple(
            cases[side][row].as_py() for side in reversed(SIDES)
        )

    def assume_sizes(self, cases: pa.Table) -> pa.Table:
        """Return the cases, whose boxes are 0–1, with a size for each image of unknown size: it changes no IoU."""
        sides = [cases[side] if side in cases.column_names else pa.nulls(len(cases), pa.int32()) for side in SIDES]
        unknown = pc.or_(*(pc.is_null(side) for side in sides))
        self._assumed = pc.sum(unknown).as_py() or 0
        if not self._assumed:
            return cases
        kept = cases.drop_columns([side for side in SIDES if side in cases.column_names])
        for name, side in zip(SIDES, sides, strict=True):
            kept = kept.append_column(name, pc.if_else(unknown, pa.scalar(ASSUMED_SIDE, pa.int32()), side))
        return kept.append_column(ASSUMED_SIZE, pc.if_else(unknown, "yes", "no"))

    def notes(self, images: int) -> tuple[str, ...]:
        """Return which images cannot be shown, and how many have an assumed size."""
        notes = []
        if self._unusable:
            rest = len(self._unusable) - LISTED
            count = f"{len(self._unusable):,} of {images:,}"
            notes.append(f"Images that cannot be shown: {count}. No score depends on them.")
            notes += [f"{problem.file}: {problem.found}" for problem in self._unusable[:LISTED]]
            notes += [f"… and {rest:,} more"] * (rest > 0)
        if self._assumed:
            notes.append(
                f"Images of unknown size: {self._assumed:,} of {images:,}. Their boxes of 0–1 are kept as if the image "
                f"had {ASSUMED_SIDE:,} × {ASSUMED_SIDE:,} pixels: IoU is the same, scores by area have no value."
            )
        return tuple(notes)

    def suite(
        self, file: str, name: str, task: Task, cases: pa.Table, annotations: pa.Table, labels: tuple[str, ...],
        category_ids: tuple[int, ...] = (), notes: tuple[str, ...] = (),
        empty: tuple[str, str] = ("no valid image", "at least one"),
    ) -> Loaded[Suite]:  # fmt: skip
        """Return the suite of these cases and objects; InputError with every problem, or `empty` without a case."""
        self.problems.check()
        if not len(cases):
            raise self.problems.fail(file, *empty)
        suite = Suite(
            name, task, conform(cases, CASES), conform(annotations, ANNOTATIONS), labels, self.folder,
            self.problems.left_out, category_ids, keys_of(labels),
        )  # fmt: skip
        return Loaded(suite, self.problems.listed, (*notes, *self.notes(len(cases))))
