"""COCO data sets of polygons and run lengths with everything that goes wrong, and pycocotools' verdict on them."""

import contextlib
import copy
import io
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycocotools import mask as reference

Record = dict[str, Any]


def segm_eval(
    truth: Record,
    results: Sequence[Record],
    thresholds: Sequence[float],
    areas: Sequence[tuple[float, float]],
    max_dets: Sequence[int],
) -> Any:
    """pycocotools' COCOeval for masks after accumulate(); a prediction's area is that of its mask."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco, found = COCO(), COCO()
        coco.dataset = copy.deepcopy(truth)
        coco.createIndex()
        records = copy.deepcopy(list(results))
        for index, record in enumerate(records):
            mask = coco.annToRLE(record)
            record |= {"id": index + 1, "iscrowd": 0, "area": float(reference.area(mask))}
        found.dataset = coco.dataset | {"annotations": records}
        found.createIndex()
        run = COCOeval(coco, found, "segm")
        run.params.iouThrs = np.asarray(thresholds)
        run.params.areaRng = [list(area) for area in areas]
        run.params.areaRngLbl = [str(area) for area in areas]
        run.params.maxDets = list(max_dets)
        run.evaluate()
        run.accumulate()
    return run


def random_masks(seed: int) -> tuple[Record, list[Record]]:
    """Ground truth, with bbox beside the segmentation, and results without.

    One or several rings, rings that cross themselves or leave the image, masks with holes, empty masks; compressed run
    lengths, uncompressed ones for crowds; ties of score and of IoU, areas at the edges of ranges.
    """
    rng = np.random.default_rng(seed)
    images, classes = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    sizes = [(int(rng.integers(20, 130)), int(rng.integers(20, 160))) for _ in range(images)]
    coarse = rng.random() < 0.5
    truths: list[Record] = []
    for _ in range(int(rng.integers(0, 22))):
        image = int(rng.integers(images))
        crowd = bool(rng.random() < 0.15)
        shape = random_shape(rng, sizes[image], coarse)
        if crowd and rng.random() < 0.7:
            shape = pixels(shape, sizes[image])
        area = float(reference.area(rle_of(shape, sizes[image])))
        area = area if rng.random() < 0.6 else float(rng.choice([0.0, 900.0, 1024.0, 9216.0, 1e4]))
        truths.append(
            {
                "id": len(truths) + 1, "image_id": image + 1, "category_id": int(rng.integers(classes)) + 1,
                "bbox": bounds(shape, sizes[image]), "segmentation": written(rng, shape, sizes[image], crowd),
                "area": area, "iscrowd": int(crowd), "shape": shape,
            }
        )  # fmt: skip
    results: list[Record] = []
    for _ in range(int(rng.integers(0, 45))):
        if truths and rng.random() < 0.75:
            near = truths[int(rng.integers(len(truths)))]
            image, label = near["image_id"] - 1, near["category_id"]
            shape = moved(rng, near["shape"], coarse)
            if rng.random() < 0.15:
                label = int(rng.integers(classes)) + 1
        else:
            image, label = int(rng.integers(images)), int(rng.integers(classes)) + 1
            shape = random_shape(rng, sizes[image], coarse)
        record = {"image_id": image + 1, "category_id": label, "segmentation": written(rng, shape, sizes[image])}
        results.append(record | {"score": float(rng.integers(0, 6) / 5) if coarse else float(rng.random())})
    for record in truths:
        del record["shape"]
    names = [{"id": label + 1, "name": str(label)} for label in range(classes)]
    pictures = [
        {"id": image + 1, "file_name": f"{image}.jpg", "height": height, "width": width}
        for image, (height, width) in enumerate(sizes)
    ]
    return {"info": {}, "images": pictures, "categories": names, "annotations": truths}, results


def random_rings(rng: np.random.Generator, size: tuple[int, int], coarse: bool) -> list[list[float]]:
    """One to three rings about points of the image: stars, or any points at all."""
    rings = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        corners = int(rng.integers(3, 9))
        if rng.random() < 0.2:
            points = rng.uniform((-10, -10), (size[1] + 10, size[0] + 10), (corners, 2))
        else:
            angle = np.sort(rng.uniform(0, 2 * np.pi, corners))
            reach = rng.uniform(3, 45) * rng.uniform(0.6, 1, corners)
            middle = rng.uniform((0, 0), (size[1], size[0]))
            points = middle + np.column_stack([reach * np.cos(angle), reach * np.sin(angle)])
        rings.append((np.round(points / 4) * 4 if coarse else points).ravel().tolist())
    return rings


def random_shape(rng: np.random.Generator, size: tuple[int, int], coarse: bool) -> Any:
    """Rings, or the pixels of some rings with a hole."""
    if rng.random() < 0.6:
        return random_rings(rng, size, coarse)
    bitmap = pixels(random_rings(rng, size, coarse), size)
    y, x = int(rng.integers(size[0])), int(rng.integers(size[1]))
    bitmap[y : y + 5, x : x + 5] = 0
    return bitmap


def rectangle(rng: np.random.Generator, size: tuple[int, int]) -> list[list[float]]:
    """A rectangle of whole pixels as one ring."""
    x, y = int(rng.integers(size[1] - 4)), int(rng.integers(size[0] - 4))
    x2, y2 = int(rng.integers(x + 2, size[1])), int(rng.integers(y + 2, size[0]))
    return [[float(number) for number in (x, y, x, y2, x2, y2, x2, y)]]


def moved(rng: np.random.Generator, shape: Any, coarse: bool) -> Any:
    """The same shape somewhere near, often in its very place."""
    if rng.random() < 0.3:
        return shape
    step = rng.integers(-1, 2, 2) * 4 if coarse else np.round(rng.normal(0, 3, 2))
    if isinstance(shape, list):
        return [(np.array(ring).reshape(-1, 2) + step).ravel().tolist() for ring in shape]
    return np.roll(shape, step.astype(int), (1, 0))


def pixels(shape: Any, size: tuple[int, int]) -> NDArray[np.uint8]:
    """The bitmap of a shape."""
    return decoded(rle_of(shape, size))


def decoded(mask: Any) -> NDArray[np.uint8]:
    """pycocotools' bitmap of run lengths."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # pycocotools 2.0.11 knows numpy 1's __array__ only
        bitmap: NDArray[np.uint8] = reference.decode(mask)
    return bitmap


def rle_of(shape: Any, size: tuple[int, int]) -> Any:
    """pycocotools' run lengths of rings or of a bitmap."""
    if isinstance(shape, list):
        return reference.merge(reference.frPyObjects(shape, *size))
    return reference.encode(np.asfortranarray(shape))


def bounds(shape: Any, size: tuple[int, int]) -> list[float]:
    """The box of a shape, as annotators have it: of the rings, or of the pixels."""
    if not isinstance(shape, list):
        return [float(side) for side in reference.toBbox(rle_of(shape, size))]
    points = np.concatenate([np.array(ring).reshape(-1, 2) for ring in shape])
    return [*points.min(axis=0).tolist(), *np.ptp(points, axis=0).tolist()]


def written(rng: np.random.Generator, shape: Any, size: tuple[int, int], crowd: bool = False) -> Any:
    """The segmentation of a COCO record: rings, or compressed run lengths, or (mostly of crowds) uncompressed ones."""
    if isinstance(shape, list):
        return shape
    if not crowd and rng.random() < 0.8:
        mask = rle_of(shape, size)
        return {"size": list(size), "counts": mask["counts"].decode()}
    flat = shape.ravel(order="F")
    edges = np.concatenate([[0], np.flatnonzero(np.diff(flat)) + 1, [len(flat)]])
    runs = np.diff(edges).tolist()
    return {"size": list(size), "counts": [0, *runs] if flat[0] else runs}
