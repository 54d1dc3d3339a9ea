"""One image of a segmentation run: its true regions, the predicted ones, and where the two differ."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from metrics.analysis.stored_outputs import outputs_where
from metrics.core.array_types import Int32s, Ints
from metrics.core.errors import InputError
from metrics.store import Run
from metrics.vision.outlines import bitmap_rings

EVALUATOR = "segmentation_iou"
FINEST = 320  # steps along the longer side of the image
MAX_DRAWN = 80  # regions that are drawn, the largest

SegmentKind = Literal["truth", "predicted", "mistaken", "missed", "ignored"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Pixels of one image that are alike: all of one true, of one predicted label, or of one pair of both.

    kind: truth and predicted are regions; mistaken, missed (given no label) and ignored pixels are where the model is
    wrong or not judged. `truth`, `predicted`: the labels, None where that kind has none; rings: x1 y1 x2 y2 …, pixels.
    """

    kind: SegmentKind
    truth: str | None
    predicted: str | None
    pixels: int
    rings: list[list[float]]


def segments(run: Run, case_id: str, model: str, repeat: int = 1) -> list[Segment]:
    """Return what one model made of one image, the largest first; nothing where its regions cannot be drawn.

    Labels are ignored, and uncovered pixels labelled, as the run's segmentation_iou did, else as it does by default.
    """
    from metrics.evaluators.segmentation._label_maps import LabelMapParameters, Labels, batches

    own = {
        name: value
        for name, value in run.evaluators.get(EVALUATOR, {}).items()
        if name in LabelMapParameters.model_fields
    }
    suite = run.suite.restricted(pa.array([case_id]))
    this = [("case_id", "==", case_id), ("model", "==", model), ("run", "==", repeat)]
    outputs = outputs_where(run, this)
    labels = Labels.of(suite, outputs, LabelMapParameters.model_validate(own))
    try:
        maps = next(batches(suite, outputs, labels)).maps(0)
    except (InputError, StopIteration):
        return []
    nothing = len(labels)
    prediction = maps.prediction
    if labels.implied and not (maps.truth == nothing - 1).any():
        prediction = np.where(prediction == nothing - 1, nothing, prediction)
    predicted = np.where(maps.truth < 0, -1, prediction)
    shape = (maps.width, maps.height)
    wrong = np.where(maps.truth == predicted, -1, maps.truth * (nothing + 1) + predicted)
    names = [*labels.names, None]
    found = []
    for codes, pixels, rings in _regions(maps.truth, shape):
        kind: SegmentKind = "ignored" if codes < 0 else "truth"
        found.append(Segment(kind, None if codes < 0 else names[codes], None, pixels, rings))
    for codes, pixels, rings in _regions(prediction, shape):
        if codes < nothing:
            found.append(Segment("predicted", None, names[codes], pixels, rings))
    for codes, pixels, rings in _regions(wrong, shape):
        if codes >= 0:
            truth, guess = names[codes // (nothing + 1)], names[codes % (nothing + 1)]
            found.append(Segment("missed" if guess is None else "mistaken", truth, guess, pixels, rings))
    return sorted(found, key=lambda segment: -segment.pixels)


def _regions(codes: Int32s | Ints, shape: tuple[int, int]) -> list[tuple[int, int, list[list[float]]]]:
    """Return each code in a label map with its pixels and the rings around them; of the MAX_DRAWN largest."""
    values, counts = np.unique(codes, return_counts=True)
    bitmap = codes.reshape(shape).T
    return [
        (int(value), int(count), bitmap_rings(bitmap == value, finest=FINEST))
        for value, count in sorted(zip(values, counts, strict=True), key=lambda pair: -pair[1])[:MAX_DRAWN]
    ]
