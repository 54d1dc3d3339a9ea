"""How much a text repeats itself: its longest repeated substring, its compressed size, and its loops, stretches in
which the same words or sentences come again and again.
"""

import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from metrics.core.array_types import Int32s
from metrics.text.patterns import UNSPACED

LEVEL = 9  # zlib's best


class Repeat(NamedTuple):
    """A substring of `length` characters from `start`, and how many `times` it occurs without overlap."""

    start: int
    length: int
    times: int


NO_REPEAT = Repeat(0, 0, 0)


class _Repeated(NamedTuple):
    """The substrings of one length that occur twice without overlap: where they start, and which are equal."""

    positions: Int32s  # ascending
    names: Int32s  # equal substrings have equal names, 0 … k−1
    kinds: int


def longest_repeat(text: str) -> Repeat:
    """Return the longest substring of `text` that occurs at least twice without overlap; NO_REPEAT if there is none.

    Among several, the one with the most occurrences (counted from the left, without overlap), then the first. If one of
    length L exists, so does one of L − 1; the length is therefore found in two passes over powers of two, each a sort
    of the remaining positions (prefix doubling). Time O(n log² n), memory O(n log n) numbers.

    >>> longest_repeat("I am stuck. I am stuck. I am stuck. ")
    Repeat(start=0, length=12, times=3)
    """
    characters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    size = len(characters)
    best = _repeated(np.arange(size, dtype=np.int32), characters, 1)
    if best is None:
        return NO_REPEAT
    length = 1
    strides = [best]
    while (longer := _joined(strides[-1], strides[-1], length, length, size)) is not None:
        strides.append(longer)
        length *= 2
    best = strides[-1]
    for power in range(len(strides) - 2, -1, -1):
        longer = _joined(best, strides[power], length, 1 << power, size)
        if longer is not None:
            best = longer
            length += 1 << power
    return _most_frequent(best, length)


def compression_ratio(text: str) -> float:
    """Return bytes of the UTF-8 text after zlib at level 9 over bytes before; above 1 for short texts.

    ValueError for an empty text.
    """
    data = text.encode("utf-8", "surrogatepass")
    if not data:
        raise ValueError("an empty text has no compression ratio")
    return len(zlib.compress(data, LEVEL)) / len(data)


def _joined(left: _Repeated, right: _Repeated, left_length: int, right_length: int, size: int) -> _Repeated | None:
    """Return the repeated substrings of the summed length: those of `left` directly followed by one of `right`."""
    following = np.full(size + 1, -1, dtype=np.int32)
    following[right.positions] = right.names
    tails = following[np.minimum(left.positions + left_length, size)]
    kept = tails >= 0
    keys = left.names[kept].astype(np.int64) * right.kinds + tails[kept]
    return _repeated(left.positions[kept], keys, left_length + right_length)


def _repeated(positions: Int32s, keys: NDArray[Any], length: int) -> _Repeated | None:
    """Return the positions whose key occurs again at least `length` away, renumbered; None if there are none."""
    if not len(positions):
        return None
    unique, names = np.unique(keys, return_inverse=True)
    first = np.empty(len(unique), dtype=np.int32)
    last = np.empty_like(first)
    first[names[::-1]] = positions[::-1]  # of equal indices the last assignment stays
    last[names] = positions
    apart = last - first >= length
    if not apart.any():
        return None
    kept = apart[names]
    return _Repeated(positions[kept], (np.cumsum(apart, dtype=np.int32) - 1)[names[kept]], int(apart.sum()))


def _most_frequent(repeated: _Repeated, length: int) -> Repeat:
    free = [0] * repeated.kinds  # where the next occurrence of each kind may start
    counts = [0] * repeated.kinds
    starts = [-1] * repeated.kinds
    for position, name in zip(repeated.positions.tolist(), repeated.names.tolist(), strict=True):
        if position >= free[name]:
            free[name] = position + length
            counts[name] += 1
            if starts[name] < 0:
                starts[name] = position
    best = max(range(repeated.kinds), key=lambda name: (counts[name], -starts[name]))
    return Repeat(starts[best], length, counts[best])


COPIES = 3  # of a unit, one directly after the other, are a loop
LEAST_TOKENS = 6  # of a loop that is not half of the text: "no, no, no" within an answer is none
LONGEST_UNIT = 512  # tokens; units without inner repeats are found up to any length
WINDOW = 100  # tokens
LEAST_WORDS = 2  # of a unit whose numbers change
LEAST_LETTERS = 4
WORDS_A_NUMBER = 6  # of a unit whose numbers change without order: fewer are data
LEAST_SENTENCE = 4  # tokens of a sentence that counts as repeated; a line such as "type: string" is none
LETTERS = 0.5  # of the characters that are not white space, in a text whose compression says something
LOOPED = 0.1  # compression ratio of ordinary prose, code or data is above this
LONG_ENOUGH = 400  # bytes; shorter texts do not compress by their loops alone
LONGEST_WORD = 30  # characters; a longer one is read by characters, as in "aaaaaaaa…"
TOKEN = re.compile(rf"[{UNSPACED}]|[^\W\d_{UNSPACED}]+|\d+(?:[.,:/-]\d+)*")
SPECIAL = re.compile(r"<\|[^|<>\s]{1,40}\|>")  # a model's own tokens, as <|end|>
MARKS = "|\t"  # twice in a line: a row of a table, which is one token, as its cells may be alike


class Loop(NamedTuple):
    """Characters `start` to `end` of a text, in which a unit of `length` tokens comes `times` times."""

    start: int
    end: int
    length: int
    times: int


@dataclass(frozen=True, slots=True)
class Loops:
    """How far a text loops, in three views, each 0 … 1: 0 is ordinary text, 1 nothing but a loop.

    `stretch` is the share of loops in the hundred tokens that have most, `sentences` the share of the text in sentences
    said twice before, `compression` how much better it compresses than ordinary text. `longest` is the longest loop.
    """

    stretch: float
    sentences: float
    compression: float
    longest: Loop | None

    @property
    def worst(self) -> float:
        """The greatest of the three."""
        return max(self.stretch, self.sentences, self.compression)


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def loops(text: str, sentences: Sequence[str]) -> Loops:
    """Return how far `text`, which has these sentences, loops.

    A loop is a unit of tokens (words, numbers, characters of scripts without spaces, rows of tables; without regard to
    case and punctuation) at least three times in a row, of at least six tokens or half of the text. The unit contains
    a letter. Its numbers may change: by one and the same step, as in a numbered list, if it has two words; or freely,
    if it has six words for each number. Among the loops of a text the longest is named.

        stretch     = most tokens of loops among 100 neighbouring ones / 100 (or the tokens of a shorter text)
        sentences   = tokens in sentences that occurred twice before / tokens; sentences of four tokens and more
        compression = 1 − (zlib's bytes / bytes) / .1, at least 0; from 400 bytes, half of them letters

    Time O(n log n) in the tokens.

    >>> loops("Do it. 1. Do it. 2. Do it. 3. Do it.", []).stretch
    0.9090909090909091
    """
    tokens = list(_tokens(text))
    found = [*_exact(tokens), *_numbered(tokens)]
    found = [run for run in found if run.end - run.start >= min(LEAST_TOKENS, len(tokens) / 2)]
    covered = np.zeros(len(tokens) + 1, np.int64)
    for run in found:
        covered[run.start] += 1
        covered[run.end] -= 1
    within = np.concatenate([[0], np.cumsum(np.cumsum(covered)[:-1] > 0)])
    size = min(WINDOW, len(tokens))
    most = int((within[size:] - within[:-size]).max()) if size else 0
    longest = max(found, key=lambda run: (run.end - run.start, -run.start), default=None)
    return Loops(
        most / size if size else 0.0,
        _repeated_sentences(sentences),
        _compressed(text),
        longest and Loop(tokens[longest.start].start, tokens[longest.end - 1].end, longest.length, longest.times),
    )


def _tokens(text: str) -> Iterator[_Token]:
    place = 0
    for line in text.splitlines(keepends=True):
        if any(SPECIAL.sub("", line).count(mark) > 1 for mark in MARKS):
            yield _Token(" ".join(line.casefold().split()), place, place + len(line.rstrip()))
        else:
            for found in TOKEN.finditer(line):
                parts = [found[0]] if len(found[0]) <= LONGEST_WORD else found[0]
                start = place + found.start()
                for part in parts:
                    yield _Token(part.casefold(), start, start + len(part))
                    start += len(part)
        place += len(line)


def _exact(tokens: Sequence[_Token]) -> Iterator[Loop]:
    names: dict[str, int] = {}
    ids = np.array([names.setdefault(token.text, len(names)) for token in tokens], np.int64)
    lettered = _sums([any(map(str.isalpha, token.text)) for token in tokens])
    for run in _runs(ids):
        if lettered[run.start + run.length] > lettered[run.start]:
            yield run


def _numbered(tokens: Sequence[_Token]) -> Iterator[Loop]:
    """Yield the loops whose numbers change."""
    numbers = np.array([token.text[0].isdecimal() for token in tokens], bool)
    if numbers.sum() < COPIES:
        return
    names: dict[str, int] = {"": 0}
    pairs = zip(tokens, numbers, strict=True)
    ids = np.array([0 if number else names.setdefault(own.text, len(names)) for own, number in pairs], np.int64)
    values = np.array([_value(token.text) if number else np.nan for token, number in zip(tokens, numbers, strict=True)])
    counted = _sums(numbers)
    for run in _runs(ids):
        end = run.start + run.length
        among = int(counted[end] - counted[run.start])
        unit = [token.text for token in tokens[run.start : end] if token.text.isalpha()]
        if not among or len(unit) < LEAST_WORDS or sum(map(len, unit)) < LEAST_LETTERS:
            continue
        steps = values[end : run.end] - values[run.start : run.end - run.length]
        changes = set(np.round(steps[~np.isnan(steps)], 6).tolist()) - {0.0}
        if len(changes) <= 1 or len(unit) >= WORDS_A_NUMBER * among:
            yield run


def _value(number: str) -> float:
    try:
        return float(number.replace(",", ""))
    except ValueError:  # a date, a time, a digit of another script
        return float(int.from_bytes(number.encode()) % (1 << 50))


def _runs(ids: NDArray[np.int64]) -> Iterator[Loop]:
    """Yield the stretches of at least three copies of a unit, in tokens; several may cover the same."""
    # Within a loop the last place where the same n-gram stood is one unit before, for any n at which the n-grams of the
    # unit differ: such distances are equal all along the loop. n doubles from 1 on.
    size, grams = 1, ids
    while size <= LONGEST_UNIT and len(grams) >= COPIES:
        order = np.argsort(grams, kind="stable")
        same = grams[order[1:]] == grams[order[:-1]]
        distances = np.zeros(len(grams), np.int64)
        distances[order[1:][same]] = order[1:][same] - order[:-1][same]
        bounds = np.flatnonzero(np.diff(distances)) + 1
        starts, ends = np.concatenate([[0], bounds]), np.concatenate([bounds, [len(grams)]])
        lengths = distances[starts]
        covered = ends - starts + size - 1 + lengths
        for place in np.flatnonzero((lengths > 0) & (covered >= COPIES * lengths)):
            length = int(lengths[place])
            yield Loop(int(starts[place]) - length, int(ends[place]) + size - 1, length, int(covered[place]) // length)
        if len(grams) <= size:
            return
        pairs = grams[:-size] * (int(grams.max()) + 1) + grams[size:]
        grams = np.unique(pairs, return_inverse=True)[1]
        size *= 2


def _sums(flags: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.asarray(flags, np.int64))])


def _repeated_sentences(sentences: Sequence[str]) -> float:
    seen: Counter[tuple[str, ...]] = Counter()
    repeated = total = 0
    for sentence in sentences:
        key = tuple(found.casefold() for found in TOKEN.findall(sentence))
        total += len(key)
        seen[key] += 1
        if seen[key] >= COPIES and len(key) >= LEAST_SENTENCE and any(any(map(str.isalpha, word)) for word in key):
            repeated += len(key)
    return repeated / total if total else 0.0


def _compressed(text: str) -> float:
    signs = sum(not character.isspace() for character in text)
    if len(text.encode("utf-8", "surrogatepass")) < LONG_ENOUGH or sum(map(str.isalpha, text)) < LETTERS * signs:
        return 0.0
    return max(0.0, 1 - compression_ratio(text) / LOOPED)
