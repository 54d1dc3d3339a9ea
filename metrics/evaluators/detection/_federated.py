"""Which classes an image was checked for: predictions of others neither reward nor punish."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Int32s, Ints
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._matched import Scene
from metrics.vision.geometry import whole
from metrics.vision.masks import starts
from metrics.vision.objects import Objects

UNVERIFIED = (
    "the suite says of no image which classes it lacks or has more of than are annotated (negative_labels, "
    "not_exhaustive_labels), so that no prediction of a class without annotation could be wrong"
)


class Federated(NamedTuple):
    """LVIS: an image was checked for the classes that it shows and for its negative_labels; all others are unknown.

    Of its not_exhaustive_labels more are there than are annotated. The limit of predictions is one of the image, over
    all classes.
    """

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene whose predictions of unknown or not exhaustive classes, or of no area, are ignored unless
        they match."""
        objects = scene.objects
        own = pair_codes(objects, objects.prediction_image, objects.prediction_class)
        shown = pair_codes(objects, objects.truth_image, objects.truth_class)
        known = np.concatenate([shown, listed_codes(scene, suite.cases["negative_labels"])])
        more = listed_codes(scene, suite.cases["not_exhaustive_labels"])
        spared = ~np.isin(own, known) | np.isin(own, more) | (objects.prediction_area <= 0)
        return replace(scene, objects=replace(objects, rank=image_ranks(objects)), spared=spared)


def is_federated(suite: Suite) -> bool:
    """Return whether the suite says of an image which classes it was checked for."""
    return any(suite.cases[name].null_count < len(suite) for name in ("negative_labels", "not_exhaustive_labels"))


def pair_codes(objects: Objects, image: Int32s, kind: Int32s) -> Ints:
    """Return a number for each pair of an image and a class."""
    codes: Ints = image.astype(np.int64) * objects.classes + kind
    return codes


def listed_codes(scene: Scene, lists: pa.ChunkedArray) -> Ints:
    """Return the pairs of image and class that a column of labels lists; labels that no object has are left out."""
    column = whole(lists)
    kinds = pc.index_in(column.flatten(), scene.label_names).fill_null(-1).to_numpy(zero_copy_only=False)
    images = column.filter(column.is_valid())
    rows = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
    image = np.repeat(rows, pc.list_value_length(images).to_numpy(zero_copy_only=False))
    return pair_codes(scene.objects, image[kinds >= 0], kinds[kinds >= 0])


def image_ranks(objects: Objects) -> Int32s:
    """Return how many predictions of its image, of any class, stand before each prediction [N], best score first."""
    from metrics.vision.compiled import sorting

    order = sorting.sort_by_code(objects.by_score, objects.prediction_image, objects.images)
    first = starts(np.bincount(objects.prediction_image, minlength=objects.images))
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order)) - first[objects.prediction_image[order]]
    return ranks
