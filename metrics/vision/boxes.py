"""Boxes as x, y, width, height in pixels: areas and intersection over union, in numpy."""

import numpy as np

from metrics.core.array_types import Bools, Floats


def box_areas(boxes: Floats) -> Floats:
    """Return width × height of `boxes` [N, 4], in square pixels: [N]."""
    areas: Floats = boxes[:, 2] * boxes[:, 3]
    return areas


def box_iou(predictions: Floats, truths: Floats, crowd: Bools | None = None) -> Floats:
    """Return the intersection over union of every prediction [D, 4] with every ground truth [G, 4]: [D, G], in 0 … 1.

    Against a ground truth that is a `crowd` [G] the union is the prediction's own area: a crowd is many
    objects, and a prediction inside it is wholly covered. A box without area has IoU 0 with everything.
    The operations and their order are those of pycocotools' `bbIou`, so that the values are bit-identical.

    >>> box_iou(np.array([[0.0, 0.0, 10.0, 10.0]]), np.array([[5.0, 0.0, 10.0, 10.0]])).round(4)
    array([[0.3333]])
    """
    d, g = predictions[:, None, :], truths[None, :, :]
    width = np.minimum(d[..., 2] + d[..., 0], g[..., 2] + g[..., 0]) - np.maximum(d[..., 0], g[..., 0])
    height = np.minimum(d[..., 3] + d[..., 1], g[..., 3] + g[..., 1]) - np.maximum(d[..., 1], g[..., 1])
    overlap = np.where((width > 0) & (height > 0), width * height, 0.0)
    own = np.broadcast_to(d[..., 2] * d[..., 3], overlap.shape)
    union = own + g[..., 2] * g[..., 3] - overlap
    if crowd is not None:
        union = np.where(crowd[None, :], own, union)
    return np.divide(overlap, union, out=np.zeros_like(overlap), where=overlap > 0)


def paired_ious(one: Floats, other: Floats) -> Floats:
    """Return the IoU [N] of boxes x y width height [N, 4], or of one [4], with others pair by pair; 0 without area."""
    with np.errstate(invalid="ignore"):
        ends = np.minimum(one[..., :2] + one[..., 2:], other[..., :2] + other[..., 2:])
        shared = (ends - np.maximum(one[..., :2], other[..., :2])).clip(0).prod(axis=-1)
        either = one[..., 2:].clip(0).prod(axis=-1) + other[..., 2:].clip(0).prod(axis=-1) - shared
    ious: Floats = np.divide(shared, either, out=np.zeros_like(shared), where=either > 0)
    return ious
