"""Panoptic quality written a second time, pixel by pixel, and random maps of segments with what real ones have."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.vision import rle

Map = NDArray[np.int64]  # the id of a segment at each pixel [height, width], 0 for void


class Picture(NamedTuple):
    """One image: the two maps, and class and crowd of each segment by id."""

    truth: Map
    prediction: Map
    true: dict[int, tuple[int, bool]]
    predicted: dict[int, int]


def plain_quality(pictures: list[Picture], classes: int) -> dict[int, tuple[float, float, float] | None]:
    """PQ, SQ and RQ of each class by the published definition (Kirillov et al. 2019; panopticapi's evaluation.py)."""
    overlap, right, wrong, missed = ([0.0] * classes for _ in range(4))
    for one in pictures:
        pixels = list(zip(one.truth.ravel().tolist(), one.prediction.ravel().tolist(), strict=True))
        count: dict[tuple[int, int], int] = {}
        for pair in pixels:
            count[pair] = count.get(pair, 0) + 1

        def area(place: int, segment: int, count: dict[tuple[int, int], int] = count) -> int:
            return sum(n for pair, n in count.items() if pair[place] == segment)

        taken, used = set(), set()
        for (true, guess), shared in count.items():
            if true == 0 or guess == 0 or one.true[true][1] or one.true[true][0] != one.predicted[guess]:
                continue
            iou = shared / (area(0, true) + area(1, guess) - shared - count.get((0, guess), 0))
            if iou > 0.5:
                taken.add(true), used.add(guess)
                right[one.predicted[guess]] += 1
                overlap[one.predicted[guess]] += iou
        for true, (kind, crowd) in one.true.items():
            missed[kind] += true not in taken and not crowd
        for guess, kind in one.predicted.items():
            crowds = [true for true, (other, crowd) in one.true.items() if crowd and other == kind]
            excused = sum(count.get((true, guess), 0) for true in (0, *crowds))
            wrong[kind] += guess not in used and not excused / area(1, guess) > 0.5
    result: dict[int, tuple[float, float, float] | None] = {}
    for kind in range(classes):
        whole = right[kind] + wrong[kind] / 2 + missed[kind] / 2
        found = right[kind] > 0
        result[kind] = None if whole == 0 else (
            overlap[kind] / whole, overlap[kind] / right[kind] if found else 0.0, right[kind] / whole
        )  # fmt: skip
    return result


def plain_confusion(pictures: list[Picture], classes: int) -> NDArray[np.int64]:
    """The confusion of segments [classes + 1, classes + 1], truth down: pairs above half by the pixels of both, then
    what is left of those that PQ counts.
    """
    cells = np.zeros((classes + 1, classes + 1), np.int64)
    for one in pictures:
        free = {guess: (one.prediction == guess) & (one.truth == 0) for guess in one.predicted}
        left = {true for true, (_, crowd) in one.true.items() if not crowd}
        for guess, kind in one.predicted.items():
            mask = one.prediction == guess
            crowds = [true for true, (other, crowd) in one.true.items() if crowd and other == kind]
            partner = None
            for true in {true for true, (_, crowd) in one.true.items() if not crowd}:
                mine = one.truth == true
                if (mine & mask).sum() * 2 > (mine | (mask & ~free[guess])).sum():
                    partner = true
            excused = np.isin(one.truth[mask], [0, *crowds]).mean() > 0.5
            if excused and (partner is None or one.true[partner][0] != kind):
                continue
            cells[classes if partner is None else one.true[partner][0], kind] += 1
            left -= {partner}
        for true in left:
            cells[one.true[true][0], classes] += 1
    return cells


def random_pictures(rng: np.random.Generator, classes: int = 4, side: int = 14, images: int = 3) -> list[Picture]:
    """Maps of rectangles over void; predictions are the truth moved, relabelled, merged or gone, and some elsewhere."""
    return [_picture(rng, classes, side, side + int(rng.integers(0, 5))) for _ in range(rng.integers(1, images + 1))]


def _picture(rng: np.random.Generator, classes: int, high: int, wide: int) -> Picture:
    truth, prediction = np.zeros((high, wide), np.int64), np.zeros((high, wide), np.int64)
    kinds: dict[int, tuple[int, bool]] = {}
    guesses: dict[int, int] = {}
    crowded: set[int] = set()
    for segment in range(1, int(rng.integers(0, 6)) + 1):
        top, left = int(rng.integers(0, high - 2)), int(rng.integers(0, wide - 2))
        bottom, right = top + int(rng.integers(2, high)), left + int(rng.integers(2, wide))
        truth[top:bottom, left:right] = segment
        kind = int(rng.integers(0, classes))
        crowd = bool(rng.random() < 0.2) and kind not in crowded
        crowded |= {kind} if crowd else set()
        kinds[segment] = kind, crowd
        if rng.random() < 0.8:
            move = rng.integers(-1, 2, 4) * int(rng.random() < 0.7)
            rows = slice(max(0, top + int(move[0])), max(1, bottom + int(move[1])))
            prediction[rows, max(0, left + int(move[2])) : max(1, right + int(move[3]))] = segment
            guesses[segment] = kind if rng.random() < 0.85 else int(rng.integers(0, classes))
    if rng.random() < 0.4:
        prediction[: int(rng.integers(1, 5)), :] = 99
        guesses[99] = int(rng.integers(0, classes))
    seen, guessed = set(truth.ravel().tolist()), set(prediction.ravel().tolist())
    return Picture(
        truth, prediction, {id: kind for id, kind in kinds.items() if id in seen},
        {id: kind for id, kind in guesses.items() if id in guessed},
    )  # fmt: skip


def rows_of(pictures: list[Picture]) -> dict[str, list[dict[str, Any]]]:
    """The pictures as rows of cases, annotations and predictions of a model m; classes are letters."""
    cases, annotations, predictions = [], [], []
    for place, one in enumerate(pictures):
        case = {"case_id": str(place)}
        cases.append(case | {"image_height": one.truth.shape[0], "image_width": one.truth.shape[1]})
        annotations += [
            case
            | {"annotation_id": id, "label": "abcdefgh"[kind], "is_crowd": crowd, "rle": run_lengths(one.truth == id)}
            for id, (kind, crowd) in one.true.items()
        ]
        predictions += [
            case | {"model": "m", "label": "abcdefgh"[kind], "rle": run_lengths(one.prediction == id)}
            for id, kind in one.predicted.items()
        ]
    return {"cases": cases, "annotations": annotations, "predictions": predictions}


def run_lengths(mask: NDArray[np.bool_]) -> str:
    flat = mask.T.ravel().astype(np.int8)
    edges = np.flatnonzero(np.diff(flat, prepend=0, append=flat[-1] ^ 1 if len(flat) else 0))
    runs = np.diff([0, *edges.tolist()]).tolist()
    return rle.encode(runs + [len(flat) - sum(runs)] * (sum(runs) < len(flat)))
