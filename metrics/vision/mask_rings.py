"""Masks as outlines that a page can draw: rings traced along the edges of the pixels."""

import numpy as np

from metrics.core.array_types import Bools

FINEST = 96  # steps along the longer side of the mask's box


def mask_rings(
    rle: str, height: int, box: tuple[float, float, float, float], finest: int = FINEST
) -> list[list[float]]:
    """Return the rings (x1 y1 x2 y2 …, pixels) around the parts and the holes of a mask of COCO's run lengths.

    height: of the image, pixels; box: x, y, width, height of the mask. Masks wider or higher than `finest` pixels are
    sampled, so that outlines stay small. ValueError on a text that is not run lengths.
    """
    from metrics.vision.rle import decode  # on use: with the readers of every format it is a tenth of a cold start

    left, top = max(0, int(box[0])), max(0, int(box[1]))
    columns, lines = int(np.ceil(box[0] + box[2])) - left, min(height, int(np.ceil(box[1] + box[3]))) - top
    if columns < 1 or lines < 1:
        return []
    ends = np.cumsum(np.array(decode(rle), np.int64))
    step = _step(lines, columns, finest)
    x, y = left + np.arange(0, columns, step), top + np.arange(0, lines, step)
    run = np.searchsorted(ends, x * height + y[:, None], side="right")  # only what is drawn, however large the mask
    return _rings(run % 2 == 1, lines, columns, step, left, top)


def outlines(mask: Bools, left: int = 0, top: int = 0, finest: int = FINEST) -> list[list[float]]:
    """Return the rings around the parts and the holes of a bitmap [lines, columns] whose corner is at (left, top)."""
    lines, columns = mask.shape
    step = _step(lines, columns, finest)
    return _rings(mask[::step, ::step], lines, columns, step, left, top)


def _step(lines: int, columns: int, finest: int) -> int:
    """Return every how many pixels a mask of this size is sampled."""
    return max(1, -(-max(columns, lines) // finest))


def _rings(sampled: Bools, lines: int, columns: int, step: int, left: int, top: int) -> list[list[float]]:
    return [
        [float(edge) for x, y in ring for edge in (left + min(x * step, columns), top + min(y * step, lines))]
        for ring in _trace(sampled)
    ]


def _trace(mask: Bools) -> list[list[tuple[int, int]]]:
    """Return closed rings of corners (x, y) between true and false pixels, straight runs joined."""
    padded = np.pad(mask, 1)
    inside = padded[1:-1, 1:-1]
    ahead: dict[tuple[int, int], list[tuple[int, int]]] = {}
    # the four edges of a pixel, clockwise: where the neighbour across it is false
    for neighbour, (x0, y0), (x1, y1) in (
        (padded[:-2, 1:-1], (0, 0), (1, 0)),
        (padded[1:-1, 2:], (1, 0), (1, 1)),
        (padded[2:, 1:-1], (1, 1), (0, 1)),
        (padded[1:-1, :-2], (0, 1), (0, 0)),
    ):
        for y, x in np.argwhere(inside & ~neighbour).tolist():
            ahead.setdefault((x + x0, y + y0), []).append((x + x1, y + y1))
    rings = []
    while ahead:
        start = next(iter(ahead))
        ring, here = [start], start
        while True:
            following = ahead[here].pop()
            if not ahead[here]:
                del ahead[here]
            if len(ring) > 1 and _straight(ring[-2], ring[-1], following):
                ring.pop()
            if following == start:
                break
            ring.append(following)
            here = following
        rings.append(ring)
    return rings


def _straight(a: tuple[int, int], b: tuple[int, int], c: tuple[int, int]) -> bool:
    return a[0] == b[0] == c[0] or a[1] == b[1] == c[1]
