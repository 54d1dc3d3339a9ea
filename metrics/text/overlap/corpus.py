"""BLEU and chrF of whole corpora from counts that add up over texts, equal to sacreBLEU."""

from collections.abc import Sequence
from itertools import chain
from typing import Literal

import numpy as np

from metrics.core.array_types import Floats, Ints
from metrics.text.overlap.bleu import BleuCounts
from metrics.text.overlap.ngrams import clipped_matches

SACREBLEU = "2.6.0"  # the release whose numbers these are
Smoothing = Literal["exp", "floor", "add-k", "none"]
CHARACTER_ORDERS, WORD_ORDERS = 6, 2  # of chrF, and those of words that chrF++ adds
PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def bleu_row(counts: BleuCounts) -> list[int]:
    """Return the counts of a text that add up: its tokens, those of the closest reference, matches and n-grams."""
    return [counts.length, counts.reference_length, *counts.matches, *counts.totals]


def corpus_bleu(
    sums: Floats, smoothing: Smoothing = "exp", value: float | None = None, effective_order: bool = False
) -> Floats:
    """Return BLEU, 0 … 1, of summed counts [..., 2 + 2·N] as `bleu_row` has them, N the highest order.

        BLEU = BP · exp(1/N · Σₙ ln pₙ),   pₙ = matches / n-grams,   BP = exp(min(0, 1 − reference length / length))

    An order without a match has, by `smoothing`: "exp" pₙ = 1 / (2^k · n-grams), k the how-manieth such order it is;
    "floor" `value` (.1) in place of the matches; "none" 0. "add-k" adds `value` (1) to matches and n-grams from order 2
    on. Orders from the first without n-grams on count 0, or with `effective_order` not at all. 0 without any match.
    """
    orders = (sums.shape[-1] - 2) // 2
    length, reference = sums[..., 0], sums[..., 1]
    matches, totals = sums[..., 2 : 2 + orders].copy(), sums[..., 2 + orders :].copy()
    nothing = ~matches.any(axis=-1)
    if smoothing == "add-k":
        matches[..., 1:] += 1.0 if value is None else value
        totals[..., 1:] += 1.0 if value is None else value
    reached = np.logical_and.accumulate(totals > 0, axis=-1)
    unmatched = reached & (matches == 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(reached, matches / totals, 0.0)
        if smoothing == "exp":
            halved = np.exp2(-np.cumsum(unmatched, axis=-1).astype(np.float64))
            shares = np.where(unmatched, halved / totals, shares)
        elif smoothing == "floor":
            shares = np.where(unmatched, (0.1 if value is None else value) / totals, shares)
        counted = reached.sum(axis=-1) if effective_order else orders
        logarithms = np.where(reached | (not effective_order), np.log(shares), 0.0)
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        found = brevity * np.exp(logarithms.sum(axis=-1) / counted)
    result: Floats = np.where(nothing, 0.0, found)
    return result


def chrf_counts(pairs: Sequence[tuple[str, str]]) -> Ints:
    """Return the n-gram counts of each pair of reference and candidate: [n, orders, 3], of the candidate, of the
    reference, and in common.

    The orders are 1 … 6 of characters without white space, then 1 and 2 of words, whose first or last punctuation mark
    is a word of its own. Where the reference has no n-grams of an order, those of the candidate do not count.
    """
    texts = [[("".join(text.split()), words(text)) for text in pair] for pair in pairs]
    found = np.empty((len(pairs), CHARACTER_ORDERS + WORD_ORDERS, 3), np.int64)
    for kind, orders, start in ((0, CHARACTER_ORDERS, 0), (1, WORD_ORDERS, CHARACTER_ORDERS)):
        compared = (([reference[kind]], candidate[kind]) for reference, candidate in texts)
        own = slice(start, start + orders)
        found[:, own, 2] = np.array(list(clipped_matches(compared, orders))).reshape(-1, orders)
        lengths = np.fromiter(chain.from_iterable((len(c[kind]), len(r[kind])) for r, c in texts), np.int64)
        found[:, own, :2] = np.maximum(lengths.reshape(-1, 1, 2) - np.arange(orders)[:, None], 0)
    found[..., 0] *= found[..., 1] > 0
    return found


def words(text: str) -> list[str]:
    """Return the words of chrF++: a punctuation mark at the end of a word, or else at its beginning, is parted.

    >>> words("(so, it is.)")
    ['(so', ',', 'it', 'is.', ')']
    """
    found: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in PUNCTUATION:
            found += word[:-1], word[-1]
        elif len(word) > 1 and word[0] in PUNCTUATION:
            found += word[0], word[1:]
        else:
            found.append(word)
    return found


def chrf(counts: Floats | Ints, beta: float = 2.0) -> Floats:
    """Return chrF, 0 … 1, of counts [..., orders, 3] as `chrf_counts` has them.

    chrF = (1 + β²) · P · R / (β² · P + R),   P, R = means of matches / n-grams over the orders that both texts have
    """
    made, wanted, matches = (counts[..., kind].astype(np.float64) for kind in range(3))
    present = (made > 0) & (wanted > 0)
    many = np.maximum(present.sum(axis=-1), 1)
    precision, recall = (
        np.divide(matches, of, out=np.zeros_like(of), where=present).sum(axis=-1) / many for of in (made, wanted)
    )
    below = beta**2 * precision + recall
    found: Floats = np.divide(
        (1 + beta**2) * precision * recall, below, out=np.zeros_like(below), where=precision + recall > 0
    )
    return found
