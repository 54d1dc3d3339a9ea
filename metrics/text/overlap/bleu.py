"""Clipped matches of n-grams: BLEU of sentences, as nltk's without smoothing; of corpora, and chrF, as sacreBLEU's."""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, tee
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats, Ints

Tokens = Sequence[str]
Compared = tuple[Sequence[Tokens], Tokens]  # the references and the candidate
TOKENS_AT_ONCE = 1 << 14  # that one pass counts, or one candidate's: enough for a quick pass whose arrays are small


def clipped_matches(texts: Iterable[Compared], orders: int) -> Iterator[list[int]]:
    """Yield how many n-grams of each candidate match its references, for n = 1 … `orders`.

    An n-gram matches as often as the candidate has it, at most as often as it occurs in the reference that has it most
    often. `texts` are read as they are needed, some TOKENS_AT_ONCE tokens ahead.

    >>> list(clipped_matches([([["the", "cat", "sat"], ["the", "the"]], ["the", "the", "cat"])], 2))
    [[3, 2]]
    """
    batch: list[Compared] = []
    held = 0
    for references, candidate in texts:
        batch.append((references, candidate))
        held += len(candidate) + sum(map(len, references))
        if held >= TOKENS_AT_ONCE:
            yield from _counted(batch, orders).tolist()
            batch, held = [], 0
    yield from _counted(batch, orders).tolist()


def _counted(texts: Sequence[Compared], orders: int) -> Ints:
    """Return the clipped matches of each of k candidates: [k, orders]."""
    # Every n-gram has a number, which follows from the numbers of its first n − 1 tokens and of its last one; those of
    # different candidates differ. A longer n-gram can match only where the one that it begins with does: others are
    # left out.
    all_tokens = [tokens for references, candidate in texts for tokens in (candidate, *references)]
    ranks = [rank for references, _ in texts for rank in range(len(references) + 1)]  # 0: the candidate
    lengths = np.fromiter(map(len, all_tokens), np.int64, len(all_tokens))
    numbers: dict[str, int] = defaultdict(count().__next__)
    token = np.fromiter(map(numbers.__getitem__, chain.from_iterable(all_tokens)), np.int64, lengths.sum())
    # of every token: the rank of its text, its candidate, and how many tokens there are from it to the end of its text
    rank = np.repeat(np.array(ranks, np.int64), lengths)
    owner = np.repeat(np.cumsum(np.array(ranks) == 0) - 1, lengths)
    left = np.repeat(lengths.cumsum(), lengths) - np.arange(len(token))
    matches = np.zeros((len(texts), orders), np.int64)
    start, gram = np.arange(len(token)), owner  # where the n-grams begin, and their numbers: at first those of no token
    for n in range(1, orders + 1):
        whole = left[start] >= n
        start = start[whole]
        different = pa.array(gram[whole] * len(numbers) + token[start + n - 1]).dictionary_encode()
        gram, size = different.indices.to_numpy().astype(np.int64), len(different.dictionary)
        of = rank[start]
        made, wanted = np.bincount(gram[of == 0], minlength=size), np.zeros(size, np.int64)
        for place in range(1, max(ranks, default=0) + 1):
            np.maximum(wanted, np.bincount(gram[of == place], minlength=size), out=wanted)
        shared = np.minimum(made, wanted)
        owner_of = np.empty(size, np.int64)
        owner_of[gram] = owner[start]
        np.add.at(matches[:, n - 1], owner_of, shared)
        matched = shared[gram] > 0
        start, gram = start[matched], gram[matched]
    return matches


NO_MATCH = sys.float_info.min  # nltk's stand-in for a precision of 0, whose logarithm would be −∞


class BleuCounts(NamedTuple):
    """The counts behind BLEU: clipped matches and n-grams of the candidate, at index n − 1; both lengths in tokens.

    `reference_length` is that of the reference closest in length, the shorter on a tie; 0 without a reference.
    `logarithms` are ln pₙ, pₙ the share of the candidate's n-grams that match.
    """

    matches: list[int]
    totals: list[int]
    length: int
    reference_length: int
    brevity_penalty: float
    logarithms: list[float]


def bleu_counts(texts: Iterable[Compared], orders: int = 4) -> Iterator[BleuCounts]:
    """Yield the counts of each candidate against its references, for n-grams of 1 … `orders` tokens.

    An n-gram matches as often as it occurs in the reference that has it most often.
    """
    texts, counted = tee(texts)
    for (references, candidate), matches in zip(texts, clipped_matches(counted, orders), strict=True):
        length = len(candidate)
        nearness = ((abs(len(reference) - length), len(reference)) for reference in references)
        reference_length = min(nearness, default=(0, 0))[1]
        totals = [max(length - n, 0) for n in range(orders)]
        shares = (found / total if found else NO_MATCH for found, total in zip(matches, totals, strict=True))
        penalty = 1.0 if length > reference_length else math.exp(1 - reference_length / length) if length else 0.0
        yield BleuCounts(matches, totals, length, reference_length, penalty, list(map(math.log, shares)))


def bleu(counts: BleuCounts, weights: Sequence[float]) -> float:
    """Return BLEU = brevity penalty · exp(Σ wₙ ln pₙ), pₙ the share of the candidate's n-grams that match; in [0, 1].

    An order without a match has p = 2.2e-308, so that four equal weights give about 1e-77, which means 0; nltk does the
    same. Without any matching token BLEU is 0. Source: Papineni et al. 2002; nltk.translate.bleu_score.
    """
    if not counts.matches[0]:
        return 0.0
    terms = (weight * logarithm for weight, logarithm in zip(weights, counts.logarithms, strict=False))
    return counts.brevity_penalty * math.exp(math.fsum(terms))


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
    return np.where(nothing, 0.0, found)


def chrf_counts(pairs: Sequence[tuple[str, str]]) -> Ints:
    """Return the n-gram counts of each pair of reference and candidate: [n, orders, 3]: candidate, reference, shared.

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
    above = (1 + beta**2) * precision * recall
    found: Floats = np.divide(above, below, out=np.zeros_like(below), where=precision + recall > 0)
    return found
