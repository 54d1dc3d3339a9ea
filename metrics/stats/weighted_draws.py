"""Outputs drawn for labelling with unequal, known chances: more often where a score says little about the label."""

import numpy as np

from metrics.core.array_types import Bools, Floats

UNIFORM = 0.3  # share of the draws that do not depend on the score, so that no output has chance 0


def draw_sizes(scores: Floats, low: float, high: float, middle: float) -> Floats:
    """Return the relative chances [m] ≥ UNIFORM, of mean 1, with which outputs are drawn, from their scores [m].

        size = UNIFORM + (1 − UNIFORM)·s / mean(s),  s = √(p·(1 − p))

    p is the score as a chance to pass: 0 at `low`, ½ at `middle`, 1 at `high` (`low` < `middle` < `high`), linear
    between. So s is the error expected of the score, and chances in proportion to it make the variance of the corrected
    mean least. An output without a score (NaN) has size 1, as all do where no score leaves a doubt.
    Source: Zrnic & Candès 2024, "Active Statistical Inference".

    >>> draw_sizes(np.array([0.0, 0.5, 1.0]), 0.0, 1.0, 0.5).round(3).tolist()
    [0.3, 2.4, 0.3]
    """
    chance = np.interp(scores, (low, middle, high), (0.0, 0.5, 1.0))
    doubt = np.sqrt(chance * (1 - chance))
    known = ~np.isnan(doubt)
    mean = float(doubt[known].mean()) if known.any() else 0.0
    if mean <= 0:
        return np.ones(len(scores))
    sizes = np.ones(len(scores))
    sizes[known] = UNIFORM + (1 - UNIFORM) * doubt[known] / mean
    return sizes


def draw_chances(ranks: Floats, sizes: Floats, drawn: Bools, weighted: Bools, random: Bools) -> Floats:
    """Return the chance [m] with which each output was to be drawn; NaN for those that no draw reached.

    An output is reached where its place in the random order, as a share `ranks` [m] in (0, 1], is at most that of the
    last one of `drawn`; or at most its size times the highest rank / size of the `weighted` ones (sequential Poisson
    sampling); or where it is one of the `random` ones of another sample, of which each output has the same chance. So
    π = 1 − (1 − max(drawn, size·weighted))·(1 − random).
    Sources: Ohlsson, Journal of Official Statistics 14:149, 1998; Duffield, Lund & Thorup, Journal of the ACM 54(6),
    2007.
    """
    drawn_to = float(ranks[drawn].max(initial=0.0))
    weighted_to = float((ranks / sizes)[weighted].max(initial=0.0))
    chance = np.minimum(1.0, np.maximum(drawn_to, sizes * weighted_to))
    elsewhere = float(random.mean()) if len(random) else 0.0
    reached = (ranks <= drawn_to) | (ranks / sizes <= weighted_to) | random
    return np.where(reached, 1 - (1 - chance) * (1 - elsewhere), np.nan)
