"""Sentence BLEU, equal to nltk's `sentence_bleu` without smoothing."""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from metrics.text.overlap.ngrams import clipped_matches, ngrams

NO_MATCH = sys.float_info.min  # nltk's stand-in for a precision of 0, whose logarithm would be −∞


@dataclass(frozen=True, slots=True)
class BleuCounts:
    """The counts behind BLEU: clipped matches and n-grams of the candidate, at index n − 1; both lengths in tokens.

    `reference_length` is that of the reference closest in length, the shorter on a tie.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    length: int
    reference_length: int

    @property
    def brevity_penalty(self) -> float:
        """Return 1 for a candidate longer than the reference, else exp(1 − reference / length); 0 for an empty one."""
        if self.length > self.reference_length:
            return 1.0
        return math.exp(1 - self.reference_length / self.length) if self.length else 0.0


def bleu_counts(references: Sequence[Sequence[str]], candidate: Sequence[str], orders: int = 4) -> BleuCounts:
    """Return the counts of `candidate` against at least one reference, for n-grams of 1 … `orders` tokens.

    An n-gram matches as often as it occurs in the reference that has it most often.
    """
    matches: list[int] = []
    for n in range(1, orders + 1):
        wanted = ngrams(references[0], n)
        for reference in references[1:]:
            wanted |= ngrams(reference, n)  # the larger count of each
        matches.append(clipped_matches(ngrams(candidate, n), wanted))
    totals = tuple(max(len(candidate) - n, 0) for n in range(orders))
    closest = min((abs(len(reference) - len(candidate)), len(reference)) for reference in references)[1]
    return BleuCounts(tuple(matches), totals, len(candidate), closest)


def bleu(counts: BleuCounts, weights: Sequence[float]) -> float:
    """Return BLEU = brevity penalty · exp(Σ wₙ ln pₙ), pₙ the share of the candidate's n-grams that match; in [0, 1].

    An order without a match has p = 2.2e-308, so that four equal weights give about 1e-77, which means 0; nltk does the
    same. Without any matching token BLEU is 0. Source: Papineni et al. 2002; nltk.translate.bleu_score.
    """
    if not counts.matches[0]:
        return 0.0
    orders = zip(weights, counts.matches, counts.totals, strict=False)
    terms = (weight * math.log(found / total if found else NO_MATCH) for weight, found, total in orders)
    return counts.brevity_penalty * math.exp(math.fsum(terms))
