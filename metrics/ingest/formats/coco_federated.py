"""What LVIS's images have beyond COCO's: which classes each was checked for."""

from typing import Any

import numpy as np
import pyarrow as pa

from metrics.core.suite import STRINGS
from metrics.ingest.formats.coco_listing import Listing

LISTS = {"neg_category_ids": "negative_labels", "not_exhaustive_category_ids": "not_exhaustive_labels"}
EXPECTED = "a list of ids of categories"


def checked_labels(images: Listing, labels: dict[int, str]) -> dict[str, pa.Array]:
    """Return the columns of labels that the images list; none that no image lists. `labels` go by category id."""
    columns = {}
    for key, column in LISTS.items():
        values = images.values(key)
        if all(value is None for value in values):
            continue
        images.wrong(np.array([not _known(value, labels) for value in values], bool), key, values, EXPECTED)
        names = [
            None if value is None or bad else [labels[number] for number in dict.fromkeys(value)]
            for value, bad in zip(values, images.bad, strict=True)
        ]
        columns[column] = pa.array(names, STRINGS)
    return columns


def image_name(record: dict[str, Any]) -> Any:
    """Return the file name of an image: LVIS's newer files give it at the end of a URL."""
    name, url = record.get("file_name"), record.get("coco_url")
    return url.rsplit("/", 1)[-1] if name is None and isinstance(url, str) else name


def _known(value: Any, labels: dict[int, str]) -> bool:
    return value is None or (isinstance(value, list) and all(type(one) is int and one in labels for one in value))
