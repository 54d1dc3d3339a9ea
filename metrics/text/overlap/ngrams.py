"""Clipped matches of n-grams, which BLEU and ROUGE-N share, counted for many texts in one pass."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Ints

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
    """Return the clipped matches of each of k candidates: [k, orders].

    Every n-gram has a number, which follows from the numbers of its first n − 1 tokens and of its last one; those of
    different candidates differ. A longer n-gram can match only where the one that it begins with does: others are left
    out.
    """
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
