"""ROUGE-N, ROUGE-L and ROUGE-Lsum on tokens; on ASCII tokens equal to the `rouge_score` package."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import tee
from typing import Literal, NamedTuple, get_args

from metrics.text.overlap.bleu import clipped_matches
from metrics.text.overlap.edits import TooLong, Work, lcs_length, lcs_positions
from metrics.text.overlap.meteor import stem as porter_stem
from metrics.text.overlap.tokenizers import Script, Tokenizer, is_punctuation, tokens

STEMMED = re.compile(r"[a-z0-9]{4,}")
STEM = re.compile(r"[a-z0-9]+")
# of each script: words in lower case without punctuation, or characters where no space separates words
TOKENIZER_OF: Mapping[Script, Tokenizer] = {
    "latin": "ascii", "spaced": "intl", "chinese": "zh", "japanese": "char", "unspaced": "char", "none": "char",
}  # fmt: skip
RougeType = Literal["rouge1", "rouge2", "rougeL", "rougeLsum"]
ROUGE_TYPES: tuple[RougeType, ...] = get_args(RougeType)
ORDERS: Mapping[RougeType, int] = {"rouge1": 1, "rouge2": 2}  # those of n-grams, and their n


class Rouge(NamedTuple):
    """Precision, recall and their harmonic mean F, each in [0, 1]."""

    precision: float
    recall: float
    f: float


def rouge_tokens(text: str, stem: bool = False, tokenizer: Tokenizer = "ascii") -> list[str]:
    """Return the tokens of the lower-cased text that are not punctuation; those of rouge_score by default.

    With `stem`, English tokens, which are four or more of a–z and 0–9, become their Porter stems. ImportError if
    stemming is requested and nltk is not installed; MissingResource as in `tokens`.
    """
    if tokenizer == "ascii":
        found = tokens(text, tokenizer)
    else:
        found = [token for token in tokens(text.lower(), tokenizer) if not is_punctuation(token)]
    if not stem:
        return found
    stems = (porter_stem(token) if STEMMED.fullmatch(token) else token for token in found)
    return [token for token in stems if tokenizer != "ascii" or STEM.fullmatch(token)]


class RougeText:
    """A text as ROUGE reads it: its tokens (see `rouge_tokens`), their number, and those of each of its lines."""

    def __init__(self, text: str, stem: bool = False, tokenizer: Tokenizer = "ascii"):
        self.text, self.stem, self.tokenizer = text, stem, tokenizer
        self.tokens = rouge_tokens(text, stem, tokenizer)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def lines(self) -> list[list[str]]:
        """Return the tokens of each line."""
        if "\n" not in self.text:
            return [self.tokens]
        return [rouge_tokens(line, self.stem, self.tokenizer) for line in self.text.split("\n")]


def rouge(
    pairs: Iterable[tuple[RougeText, RougeText]], types: Sequence[RougeType] = ROUGE_TYPES
) -> Iterator[dict[RougeType, Rouge]]:
    """Yield ROUGE of each of `types` for each pair of reference and candidate.

    ROUGE-N: clipped n-gram matches over the n-grams of candidate (precision) and reference (recall). ROUGE-Lsum takes
    the lines of a text as its sentences. A variant is left out where its subsequences take too long to find, see
    `Work`: of two texts of more than some 250,000 tokens, or of as many lines that are alike.
    """
    pairs, counted = tee(pairs)
    texts = (([reference.tokens], candidate.tokens) for reference, candidate in counted)
    highest = max((ORDERS.get(kind, 0) for kind in types), default=0)
    for (reference, candidate), matches in zip(pairs, clipped_matches(texts, highest), strict=True):
        wanted, made = len(reference), len(candidate)
        scores: dict[RougeType, Rouge] = {}
        for kind in types:
            if kind in ORDERS:
                shorter = ORDERS[kind] - 1
                scores[kind] = _rouge(matches[shorter], wanted - shorter, made - shorter)
                continue
            with suppress(TooLong):
                if kind == "rougeLsum" and ("\n" in reference.text or "\n" in candidate.text):
                    scores[kind] = rouge_lsum(reference.lines, candidate.lines)
                else:
                    scores[kind] = scores.get("rougeL") or rouge_l(reference.tokens, candidate.tokens)
        yield scores


def too_long(kinds: Sequence[RougeType]) -> str:
    """Return why variants are left out."""
    return f"{' and '.join(kinds)}: the texts are too long to find what they have in common in order"


def rouge_l(reference: Sequence[str], candidate: Sequence[str]) -> Rouge:
    """Return ROUGE-L: longest common subsequence over the length of candidate (precision) and reference (recall)."""
    return _rouge(lcs_length(reference, candidate), len(reference), len(candidate))


def rouge_lsum(reference: Sequence[Sequence[str]], candidate: Sequence[Sequence[str]]) -> Rouge:
    """Return ROUGE-Lsum on the lines of both texts: tokens of a reference line in its LCS with any candidate line.

    The union of these LCSs counts, every token of either text at most once. Raises TooLong where that takes more than
    MOST_WORK. Lin 2004, section 3.2.
    """
    reference, candidate = [line for line in reference if line], [line for line in candidate if line]
    if len(reference) == 1 == len(candidate):
        return rouge_l(reference[0], candidate[0])
    left = Counter(token for line in reference for token in line)
    available = Counter(token for line in candidate for token in line)
    lines = list(dict.fromkeys(map(tuple, reference)))
    missing = [Counter(line) for line in lines]  # how often each token stands where no subsequence has it yet
    holders: dict[str, set[int]] = {}  # the lines where it does; only they can gain by another candidate line
    for index, line in enumerate(lines):
        for token in line:
            holders.setdefault(token, set()).add(index)
    union: list[set[int]] = [set() for _ in lines]
    work = Work()
    for line in dict.fromkeys(map(tuple, candidate)):  # a repeated line adds nothing to the union
        sharing = sorted(set().union(*(holders.get(token, ()) for token in set(line))))
        found = lcs_positions([lines[index] for index in sharing], line, work)
        for index, positions in zip(sharing, found, strict=True):
            for position in set(positions) - union[index]:
                union[index].add(position)
                token = lines[index][position]
                missing[index][token] -= 1
                if not missing[index][token]:
                    holders[token].remove(index)
    positions_of = {line: sorted(positions) for line, positions in zip(lines, union, strict=True)}
    hits = 0
    for line in map(tuple, reference):
        for position in positions_of[line]:
            token = line[position]
            if available[token] > 0 and left[token] > 0:
                hits += 1
                available[token] -= 1
                left[token] -= 1
    return _rouge(hits, sum(map(len, reference)), sum(map(len, candidate)))


def _rouge(matches: int, reference: int, candidate: int) -> Rouge:
    if not matches:
        return Rouge(0.0, 0.0, 0.0)
    precision, recall = matches / candidate, matches / reference
    return Rouge(precision, recall, 2 * precision * recall / (precision + recall))
