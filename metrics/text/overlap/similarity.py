"""Cosines between sets of vectors, how evaluators summarise them, and BERTScore's greedy matching of tokens."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Floats

BASELINES: dict[tuple[str, int | None, str], float] = {  # encoder, layer, language
    ("xlm-roberta-large", 17, "en"): 0.8525485  # published with bert-score: F1 of unrelated sentences
}


def cosines(left: NDArray[np.floating], right: NDArray[np.floating]) -> Floats:
    """Return the cosine of every vector of `left` [n, d] with every one of `right` [m, d]: [n, m], in [−1, 1].

        cos(a, b) = a·b / (|a|·|b|)

    Computed in double precision and clipped to the range, which rounding can exceed by 1e-16. The cosine of a zero
    vector with anything is 0.
    """
    if not len(left) or not len(right):
        return np.zeros((len(left), len(right)))
    return np.clip(_unit(left) @ _unit(right).T, -1.0, 1.0)


def _unit(vectors: NDArray[np.floating]) -> Floats:
    wide = vectors.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(np.divide(wide, lengths, out=np.zeros_like(wide), where=lengths > 0))


def best_matches(table: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Return the highest cosine of each row of `table` [n, m] and its column, the first of equals: two arrays [n].

    Without columns: cosine 0, column −1.
    """
    if not table.shape[1]:
        return np.zeros(len(table)), np.full(len(table), -1, np.intp)
    columns = table.argmax(axis=1)
    return table[np.arange(len(table)), columns], columns


def best_of_groups(row: Floats, sizes: Sequence[int]) -> list[tuple[float, int | None]]:
    """Return the highest of `row` within each of consecutive groups of the given sizes, and its place in `row`.

    An empty group has 0 and None. The sizes sum to the length of `row`.
    """
    best: list[tuple[float, int | None]] = []
    start = 0
    for size in sizes:
        if size:
            place = start + int(row[start : start + size].argmax())
            best.append((float(row[place]), place))
        else:
            best.append((0.0, None))
        start += size
    return best


def reciprocal_rank(best: Sequence[float], threshold: float, furthest: int) -> tuple[float, int | None]:
    """Return 1 / rank of the first of `best` (in ranked order) at or above `threshold`, and that rank, from 1.

    0 and None if none up to rank `furthest` reaches it.

    >>> reciprocal_rank([0.55, 0.69, 0.71, 0.9], 0.7, 10)
    (0.3333333333333333, 3)
    """
    for rank, value in enumerate(best[:furthest], 1):
        if value >= threshold:
            return 1 / rank, rank
    return 0.0, None


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
