"""The images of a suite: stored once its image names are known, their sizes compared with the declared ones."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Ints
from metrics.core.label_keys import keys_of
from metrics.core.suite import ANNOTATIONS, CASES, METADATA, Suite, Task, conform
from metrics.ingest.sheet import Loaded, Problems

IMAGE_NAME = METADATA + "image_name"
SIDES = ("image_width", "image_height")


def annotations_of(cases: pa.Table, which: Ints, columns: Mapping[str, Any]) -> pa.Table:
    """Return objects as annotations, numbered from 1; `which` is the row of each one's case, `columns` its geometry."""
    ids = {"case_id": cases["case_id"].take(pa.array(which)), "annotation_id": pa.array(np.arange(1, len(which) + 1))}
    return pa.table({**ids, **columns, "is_crowd": pa.array(np.zeros(len(which), bool))})


class SuiteImages:
    """The images that go with a suite, in a folder or zip `images` (None: there are none); stored in `media`."""

    def __init__(self, images: str | Path | None, media: str | Path | None, filename: str | None, problems: Problems):
        self.images = images
        self.filename = filename
        self.problems = problems
        self.folder: Path | None = None
        self._media = media

    def take(self, cases: pa.Table) -> pa.Table:
        """Return the cases with `image` filled in where an image was found, and missing sizes taken from it.

        A declared size that differs from the image's is a problem; with keep_good_rows such a case stays, without its
        image.
        """
        if self.images is None:
            return cases
        from tempfile import mkdtemp

        from metrics.ingest.media.images import read_images

        media = Path(self._media) if self._media is not None else Path(mkdtemp(prefix="assay-media-"))
        names = cases[IMAGE_NAME].to_pylist()
        found = read_images(self.images, [name for name in names if name], media, self.filename)
        self.problems.extend(found.problems)
        stored = [found.files.get(name or "") for name in names]
        columns: dict[str, list[int | None]] = {}
        for place, column in enumerate(SIDES):
            declared = cases[column].to_pylist() if column in cases.column_names else [None] * len(names)
            actual = [found.sizes[name][place] if name in found.sizes else None for name in names]
            for row, (given, true) in enumerate(zip(declared, actual, strict=True)):
                if given is not None and true is not None and given != true:
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
        return Loaded(suite, self.problems.listed, notes)
