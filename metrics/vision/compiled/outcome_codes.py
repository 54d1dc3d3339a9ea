"""The outcome of each prediction and ground truth at one IoU threshold."""

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Bytes, Floats, Int32s
from metrics.vision.compiled.jit import compiled
from metrics.vision.compiled.match_states import ASIDE, RIGHT, WRONG

Codes = NDArray[np.int8]
NEITHER, SAME, OTHER = 0, 1, 2  # which overlapping ground truth a false positive is about: of its label, of another


@compiled
def _level(iou: float, foreground: float, background: float) -> int:
    """Return 2 for an IoU from `foreground` on, 1 from `background` on, else 0."""
    return 2 if iou >= foreground else 1 if iou >= background else 0


@compiled
def outcome_codes(
    prediction: Int32s,
    start: Int32s,
    truth: Int32s,
    iou: Floats,
    prediction_class: Int32s,
    truth_class: Int32s,
    late: Bytes,
    outside: Bytes,
    skip: Bytes,
    event_of: Int32s,
    matched: Int32s,
    state: Bytes,
    foreground: float,
    background: float,
    wrong: Codes,
    about: Codes,
    right: int,
    ignored: int,
    missed: int,
) -> tuple[Codes, Int32s, Floats, Codes, Floats]:
    """Return the outcomes from all pairs of one image (prediction, start, truth, iou) and from what was matched.

    Args:
        late: [N] predictions that take no part; outside: [N] those that are ignored unless they match; skip: [G] ground
            truths that are ignored.
        event_of: [N] the place in `matched` and `state` [E] of each prediction, −1 for none.
        wrong, about: [3, 3] the code of a false positive, and NEITHER, SAME or OTHER, by the levels of its highest IoU
            with ground truths of its own class (down) and of others (across).
        right, ignored, missed: the other codes.

    Returns (code [N], ground truth [N] or −1, IoU with it [N] or NaN, code [G], covered [G]): covered is the highest
    IoU with a prediction of another class.
    """
    size, truths = len(prediction_class), len(truth_class)
    codes, partner, overlap = np.empty(size, np.int8), np.full(size, -1, np.int32), np.full(size, np.nan)
    truth_codes, covered = np.empty(truths, np.int8), np.zeros(truths)
    for row in range(size):
        codes[row] = ignored if late[row] or outside[row] else wrong[0, 0]
    for g in range(truths):
        truth_codes[g] = ignored if skip[g] else missed
    for e in range(len(prediction)):
        row = prediction[e]
        if late[row]:
            continue
        event = event_of[row]
        how = np.uint8(WRONG)
        took = np.int32(-1)
        if event >= 0:
            how, took = state[event], matched[event]
        elif outside[row]:
            how = np.uint8(ASIDE)
        same = other = np.int32(-1)
        same_iou = other_iou = 0.0
        for pair in range(start[e], start[e + 1]):
            g, value = truth[pair], iou[pair]
            if g == took:
                partner[row], overlap[row] = g, value
            if skip[g]:
                continue
            if truth_class[g] == prediction_class[row]:
                if value > same_iou:
                    same, same_iou = g, value
            else:
                if value > other_iou:
                    other, other_iou = g, value
                covered[g] = max(covered[g], value)
        if how == RIGHT:
            codes[row] = right
            truth_codes[took] = right
        elif how == ASIDE:
            codes[row] = ignored
        else:
            own, rival = _level(same_iou, foreground, background), _level(other_iou, foreground, background)
            codes[row] = wrong[own, rival]
            if about[own, rival] == SAME:
                partner[row], overlap[row] = same, same_iou
            elif about[own, rival] == OTHER:
                partner[row], overlap[row] = other, other_iou
    return codes, partner, overlap, truth_codes, covered
