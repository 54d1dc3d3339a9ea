"""Sentence BLEU, equal to nltk's `sentence_bleu` without smoothing."""

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import tee

from metrics.text.overlap.ngrams import Compared, clipped_matches

NO_MATCH = sys.float_info.min  # nltk's stand-in for a precision of 0, whose logarithm would be −∞


@dataclass(frozen=True)
class BleuCounts:
    """The counts behind BLEU: clipped matches and n-grams of the candidate, at index n − 1; both lengths in tokens.

    `reference_length` is that of the reference closest in length, the shorter on a tie; 0 without a reference.
    """

    matches: tuple[int, ...]
    totals: tuple[int, ...]
    length: int
    reference_length: int

    @cached_property
    def brevity_penalty(self) -> float:
        """Return 1 for a candidate longer than the reference, else exp(1 − reference / length); 0 for an empty one."""
        if self.length > self.reference_length:
            return 1.0
        return math.exp(1 - self.reference_length / self.length) if self.length else 0.0

    @cached_property
    def logarithms(self) -> list[float]:
        """Return ln pₙ, pₙ the share of the candidate's n-grams that match, at index n − 1."""
        return [
            math.log(found / total if found else NO_MATCH)
            for found, total in zip(self.matches, self.totals, strict=True)
        ]


def bleu_counts(texts: Iterable[Compared], orders: int = 4) -> Iterator[BleuCounts]:
    """Yield the counts of each candidate against its references, for n-grams of 1 … `orders` tokens.

    An n-gram matches as often as it occurs in the reference that has it most often.
    """
    texts, counted = tee(texts)
    for (references, candidate), matches in zip(texts, clipped_matches(counted, orders), strict=True):
        length = len(candidate)
        nearness = ((abs(len(reference) - length), len(reference)) for reference in references)
        totals = tuple(max(length - n, 0) for n in range(orders))
        yield BleuCounts(tuple(matches), totals, length, min(nearness, default=(0, 0))[1])


def bleu(counts: BleuCounts, weights: Sequence[float]) -> float:
    """Return BLEU = brevity penalty · exp(Σ wₙ ln pₙ), pₙ the share of the candidate's n-grams that match; in [0, 1].

    An order without a match has p = 2.2e-308, so that four equal weights give about 1e-77, which means 0; nltk does the
    same. Without any matching token BLEU is 0. Source: Papineni et al. 2002; nltk.translate.bleu_score.
    """
    if not counts.matches[0]:
        return 0.0
    terms = (weight * logarithm for weight, logarithm in zip(weights, counts.logarithms, strict=False))
    return counts.brevity_penalty * math.exp(math.fsum(terms))
