"""BERTScore's arithmetic: tokens of two texts matched greedily by the cosine of their vectors."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats
from metrics.text.overlap.similarity import cosines


class Matching(NamedTuple):
    """How well two texts match, token by token."""

    precision: float
    recall: float
    f1: float


def greedy_matching(
    candidate: NDArray[np.floating],
    candidate_weights: Floats,
    reference: NDArray[np.floating],
    reference_weights: Floats,
) -> Matching:
    """Return precision, recall and F1 of token vectors [n, d] and [m, d], each token with a weight [n], [m].

        precision = Σ w_i · max_j cos(x_i, y_j) / Σ w_i     over the candidate's tokens i
        recall    = Σ v_j · max_i cos(x_i, y_j) / Σ v_j     over the reference's tokens j
        f1        = 2 · precision · recall / (precision + recall)

    A model's special tokens ([CLS] …) have weight 0: they do not count, but a token may be matched with one, as in
    bert_score. All are 0 if one side has no weight; F1 is 0 unless precision and recall are above 0.
    Source: Zhang et al. 2020.
    """
    if not candidate_weights.sum() or not reference_weights.sum():
        return Matching(0.0, 0.0, 0.0)
    table = cosines(candidate, reference)
    precision = float(table.max(axis=1) @ candidate_weights / candidate_weights.sum())
    recall = float(table.max(axis=0) @ reference_weights / reference_weights.sum())
    positive = precision > 0 and recall > 0
    return Matching(precision, recall, 2 * precision * recall / (precision + recall) if positive else 0.0)


def rescaled(value: float, baseline: float) -> float:
    """Return a score rescaled so that `baseline`, the score of random pairs of texts, becomes 0 and 1 stays 1; ≥ −1.

    >>> round(rescaled(0.9, 0.8), 6)
    0.5
    """
    return max(-1.0, (value - baseline) / (1.0 - baseline))
