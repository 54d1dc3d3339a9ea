"""A zip with a bitmap of every object of a run: ground truths and predictions, each as a PNG of its image's size.

    objects.jsonl                a line an object: file, case_id, image, model (null: ground truth), run, label …
    ground_truth/000001.png      palette images: 1, shown white, where the object is, else 0
    model_1/000001.png           the predictions of the first model of objects.jsonl

Names of files are ours. The PNG are read back as indexed masks, the GeoJSON as polygons.
"""

import io
import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.errors import InputError, InputProblem
from metrics.core.rounding import round_tree
from metrics.core.suite import Suite
from metrics.presentation.safe_text import shown_tree
from metrics.reports.zip_files import pack
from metrics.store import Run
from metrics.vision.geometry import BOX, drawn
from metrics.vision.masks import Masks
from metrics.vision.outlines import bitmap_of, geojson

MOST = 100_000  # objects of one archive
AT_ONCE = 1_000  # drawn together
BLACK_AND_WHITE = (0, 0, 0, 255, 255, 255)


def bitmap_archive(run: Run) -> bytes:
    """Return the archive of a run; InputError where it has no objects, too many, or some that cannot be drawn."""
    suite, outputs = run.suite, run.outputs
    if suite.annotations is None:
        raise InputError([InputProblem(run.id, f"a suite of {suite.task}", "a run with objects in images")])
    sides: list[tuple[str, str | None, pa.Table]] = [("ground_truth", None, suite.annotations)]
    if outputs.predictions is not None:
        of_model = {model: pc.equal(outputs.predictions["model"], model) for model in outputs.models}
        sides += [
            (f"model_{place}", model, outputs.predictions.filter(own))
            for place, (model, own) in enumerate(of_model.items(), 1)
        ]
    if (count := sum(len(table) for _, _, table in sides)) > MOST:
        raise InputError([InputProblem(run.id, f"{count:,} objects", f"at most {MOST:,}")])
    return pack(_files(sides, suite))


def _files(sides: Sequence[tuple[str, str | None, pa.Table]], suite: Suite) -> Iterator[tuple[str, bytes]]:
    names, lines = suite.image_names, []
    for folder, model, table in sides:
        for place, (row, mask) in enumerate(drawn_objects(table, suite.cases), 1):
            file = f"{folder}/{place:06}.png"
            yield file, _png(mask)
            about = {
                "case_id": row["case_id"], "image": names[row["case_id"]], "model": model, "run": row.get("run"),
                "label": row["label"],
            }  # fmt: skip
            shape = geojson([row[name] or 0.0 for name in BOX], row["polygons"], row["rle"], mask.shape)
            more = {"score": row.get("score"), "geojson": json.loads(shape)}
            lines.append(json.dumps({"file": file} | shown_tree(about) | round_tree(more), ensure_ascii=False))
    yield "objects.jsonl", "".join(line + "\n" for line in lines).encode()


def drawn_objects(table: pa.Table, cases: pa.Table) -> Iterator[tuple[dict[str, Any], Bools]]:
    """Yield every object with its bitmap."""
    places = pc.index_in(table["case_id"], cases["case_id"].combine_chunks())
    for start in range(0, len(table), AT_ONCE):
        rows = table.slice(start, AT_ONCE)
        masks: Masks = drawn("objects", rows, cases.take(places.combine_chunks().slice(start, AT_ONCE)))
        for place, row in enumerate(rows.to_pylist()):
            yield row, bitmap_of(masks, place)


def _png(mask: Bools) -> bytes:
    from PIL import Image

    image = Image.fromarray(mask.astype(np.uint8), mode="P")
    image.putpalette(BLACK_AND_WHITE)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", bits=1)
    return buffer.getvalue()
