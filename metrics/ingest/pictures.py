"""The images of a suite: stored once its image names are known, their sizes compared."""

from pathlib import Path

import pyarrow as pa

from metrics.core.suite import METADATA
from metrics.ingest.problems import Problems

IMAGE_NAME = METADATA + "image_name"


class Pictures:
    """The images that go with a suite: read once, when the suite's names are known."""

    def __init__(self, images: str | Path | None, media: str | Path | None, filename: str | None, problems: Problems):
        self.images = images
        self.filename = filename
        self.problems = problems
        self.folder: Path | None = None
        self._media = media

    def take(self, cases: pa.Table) -> pa.Table:
        """Return the cases with `image` filled where an image was found and absent sizes taken from it.

        A size that contradicts the file's is a problem; with keep_good_rows such a case stays, without its image.
        """
        if self.images is None:
            return cases
        from tempfile import mkdtemp

        from metrics.ingest.images import read_images

        media = Path(self._media) if self._media is not None else Path(mkdtemp(prefix="assay-media-"))
        names = cases[IMAGE_NAME].to_pylist()
        found = read_images(self.images, [name for name in names if name], media, self.filename)
        for problem in found.problems:
            self.problems.add(problem.file, problem.found, problem.expected, problem.row, problem.column)
        stored = [found.files.get(name or "") for name in names]
        columns: dict[str, list[int | None]] = {}
        for place, column in enumerate(("image_width", "image_height")):
            declared = cases[column].to_pylist() if column in cases.column_names else [None] * len(names)
            real = [found.sizes[name][place] if name in found.sizes else None for name in names]
            for row, (said, true) in enumerate(zip(declared, real, strict=True)):
                if said is not None and true is not None and said != true:
                    where = self.filename or Path(self.images).name
                    self.problems.add(
                        where, f"{names[row]} with {column} {true}", f"{said}, as the suite says", column=column
                    )
                    stored[row] = None
            columns[column] = [true if said is None else said for said, true in zip(declared, real, strict=True)]
        self.folder = media
        kept = cases.drop_columns([name for name in ("image", *columns) if name in cases.column_names])
        values = {name: pa.array(value, pa.int32()) for name, value in columns.items()}
        return pa.table(
            {
                **dict(zip(kept.column_names, kept.columns, strict=True)),
                "image": pa.array(stored, pa.string()),
                **values,
            }
        )
