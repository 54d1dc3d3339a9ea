"""What the images of a suite are: objects by class and size, sizes, images without objects, near-duplicates."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.core.suite import Suite
from metrics.ingest.media.images import shown_image

SMALL, MEDIUM = 32.0**2, 96.0**2  # square pixels below which COCO calls an object small, medium
SIDE = 8  # differences in a row, and rows, of each half of a hash
MAX_APART = 10  # of its 128 bits: re-encoded, resized or slightly brightened copies differ in fewer


class ClassCount(NamedTuple):
    """How many objects a class has, in how many images."""

    label: str
    objects: int
    images: int


class ImageContents(NamedTuple):
    """What a suite of images holds. `sizes`: objects by COCO's ranges; `image_sizes`: images by "width × height"."""

    images: int
    objects: int
    classes: tuple[ClassCount, ...]
    sizes: dict[str, int]
    image_sizes: dict[str, int]
    without_objects: tuple[str, ...]


class NearDuplicate(NamedTuple):
    """Two cases whose images look alike: in how many of 128 bits their hashes differ."""

    case_id: str
    other: str
    apart: int


def image_contents(suite: Suite) -> ImageContents:
    """Return the counts of a suite of objects in images, classes by their number of objects."""
    assert suite.annotations is not None  # suites of objects have them
    objects = suite.annotations.filter(pc.invert(pc.fill_null(suite.annotations["is_crowd"], False)))
    labels, cases = objects["label"].to_pylist(), objects["case_id"].to_pylist()
    counts, images = Counter(labels), Counter(label for label, _ in set(zip(labels, cases, strict=True)))
    classes = sorted({*suite.labels, *counts} - {None}, key=lambda label: (-counts[label], label))
    area = _areas(objects["area"].to_numpy(), objects["width"].to_numpy(), objects["height"].to_numpy())
    bounds = np.searchsorted([SMALL, MEDIUM], area[~np.isnan(area)], side="right")
    sizes = dict(zip(("small", "medium", "large"), np.bincount(bounds, minlength=3).tolist(), strict=True))
    sides = zip(suite.cases["image_width"].to_pylist(), suite.cases["image_height"].to_pylist(), strict=True)
    image_sizes = Counter(f"{width} × {height}" if width and height else "unknown" for width, height in sides)
    filled = set(suite.annotations["case_id"].to_pylist())
    empty = tuple(case for case in suite.cases["case_id"].to_pylist() if case not in filled)
    return ImageContents(
        len(suite), len(labels), tuple(ClassCount(label, counts[label], images[label]) for label in classes),
        sizes, dict(image_sizes.most_common()), empty,
    )  # fmt: skip


def _areas(area: Floats, width: Floats, height: Floats) -> Floats:
    return np.where(np.isnan(area), width * height, area)


def near_duplicate_images(suite: Suite) -> list[NearDuplicate]:
    """Return the pairs of cases whose images' hashes differ in at most MAX_APART bits, the most alike first.

    Images that cannot be read are left out.
    """
    if suite.media is None:
        return []
    rows = zip(suite.cases["case_id"].to_pylist(), suite.cases["image"].to_pylist(), strict=True)
    hashes: dict[str, NDArray[np.uint64]] = {}
    for case, image in rows:
        if image:
            try:
                hashes[case] = difference_hash(suite.media / image)
            except (OSError, ValueError):
                continue
    names, bits = list(hashes), np.array(list(hashes.values()), np.uint64).reshape(-1, 2)
    found = []
    for place in range(len(names) - 1):
        apart = np.bitwise_count(bits[place + 1 :] ^ bits[place]).sum(axis=1)
        found += [
            NearDuplicate(names[place], names[place + 1 + other], int(apart[other]))
            for other in np.flatnonzero(apart <= MAX_APART)
        ]
    return sorted(found, key=lambda pair: pair.apart)


def difference_hash(path: Path) -> NDArray[np.uint64]:
    """Return the difference hash of an image (dHash, Krawetz 2013), of its rows and of its columns: 2 × 64 bits.

    A bit says whether a pixel of the image, made grey and 9 × 8 or 8 × 9 pixels small, is brighter than the one before.
    """
    from PIL.Image import Resampling

    grey = shown_image(path, None, 16 * SIDE)[0].convert("L")
    across, down = (
        np.asarray(grey.resize(size, Resampling.BOX), np.int16) for size in ((SIDE + 1, SIDE), (SIDE, SIDE + 1))
    )
    bits = np.concatenate([(np.diff(across, axis=1) > 0).ravel(), (np.diff(down, axis=0) > 0).ravel()])
    return np.packbits(bits).view(np.uint64)
