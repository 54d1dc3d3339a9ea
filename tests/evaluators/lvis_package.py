"""The numbers of the lvis package, which is not among the requirements."""

import json
import logging
import tempfile
from typing import Any

import numpy as np


def lvis_evaluation(truth: dict[str, Any], results: list[dict[str, Any]], kind: str, most: int = 300) -> Any:
    """An LVISEval of COCO records that has read its data and computed nothing; kind: bbox or segm.

    Images have the lists neg_category_ids and not_exhaustive_category_ids, categories a frequency: r, c or f.
    """
    np.float = float  # type: ignore[attr-defined]  # lvis 0.5.3 is older than NumPy 1.24
    from lvis import LVIS, LVISEval, LVISResults

    logging.getLogger("lvis").setLevel(logging.CRITICAL)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(truth, file)
        file.flush()
        loaded = LVIS(file.name)
    return LVISEval(loaded, LVISResults(loaded, [dict(row) for row in results], most), kind)


def lvis_package_numbers(evaluation: Any) -> dict[str, float | None]:
    """The thirteen numbers that lvis computes, by lvis_summary's names; what it prints as −1 is None."""
    evaluation.run()
    found = evaluation.get_results().items()
    return {name.split("@")[0]: None if value == -1 else float(value) for name, value in found}


def with_package_lists(truth: dict[str, Any], lists: Any, training_images: Any) -> dict[str, Any]:
    """COCO records with LVIS's columns: of each image (lacking, not exhaustive) labels, of each label its images."""
    images = [
        image | {"neg_category_ids": [label + 1 for label in lacking],
                 "not_exhaustive_category_ids": [label + 1 for label in more]}
        for image, (lacking, more) in zip(truth["images"], lists, strict=True)
    ]  # fmt: skip
    categories = [
        category | {"frequency": "r" if count <= 10 else "c" if count <= 100 else "f"}
        for category, count in zip(truth["categories"], training_images, strict=True)
    ]
    return truth | {"images": images, "categories": categories}
