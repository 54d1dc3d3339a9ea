"""COCO's documents in memory, as a script has them: written to a file, so that they are read as files are."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from metrics.ingest.formats.coco import is_ground_truth
from metrics.ingest.formats.coco_results import is_results

SHAPES = ("bbox", "segmentation", "keypoints")  # a record of results has one of them
AS_RECORDS = ("to_dicts", "to_pylist")  # of polars, of Arrow; pandas has to_dict("records")


@contextmanager
def written_document(given: Any, name: str) -> Iterator[Path | None]:
    """Yield a file with the ground truth or results of COCO that are in memory; None where these are none.

    Results may be a list of records, or a data frame with their keys as columns.
    """
    document = given if is_ground_truth(given) else _results(given)
    if document is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, f"{Path(name).name or 'coco'}.json")
        path.write_bytes(orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS))
        yield path


def _results(given: Any) -> list[Any] | None:
    names = getattr(given, "column_names", getattr(given, "columns", None))
    if names is not None:
        names = [str(name) for name in names]
        if not {"image_id", "category_id"} <= set(names) or not set(names) & set(SHAPES):
            return None
        plain = next((getattr(given, way)() for way in AS_RECORDS if hasattr(given, way)), None)
        records = given.to_dict("records") if plain is None else plain
        return [{key: value for key, value in record.items() if not _absent(value)} for record in records]
    return given if is_results(given) else None  # an empty list is of a model that found nothing


def _absent(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))
