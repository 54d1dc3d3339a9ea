"""Where two texts differ, word by word, and whether they differ in more than their spelling."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import combinations, groupby
from typing import Any, NamedTuple

from metrics.core.unicode_forms import normalized
from metrics.text.overlap.edits import MOST_EDITED, common_start

MOST_CHARACTERS = 200_000  # of a text that is compared: each may be a word of its own
Word = tuple[str, str]  # a word or sign, and the white space behind it
FORMS: Mapping[str, Callable[[str], str]] = {  # what two texts may differ in and still say the same
    "Unicode form": partial(normalized, "NFC"),
    "case": str.casefold,
    "white space": lambda text: " ".join(text.split()),
}


class Stretch(NamedTuple):
    """What stands at one place of two texts, and whether that is the same."""

    first: str
    second: str
    same: bool


def word_diff(first: str, second: str) -> list[Stretch] | None:
    """Return two texts in stretches, alike and different in turn; None where they are too long to compare.

    As many words and signs as possible are alike. Of scripts without spaces a word is a character. The stretches of
    either text make that text, exactly.

    >>> word_diff("It is 3 m long.", "It is 2.5 m long")  # doctest: +NORMALIZE_WHITESPACE
    [Stretch(first='It is ', second='It is ', same=True), Stretch(first='3', second='2.5', same=False),
     Stretch(first=' m long', second=' m long', same=True), Stretch(first='.', second='', same=False)]
    """
    return None if max(len(first), len(second)) > MOST_CHARACTERS else diff(words(first), words(second))


def words(text: str) -> list[Word]:
    """Return the words and signs of a text, each with the white space behind it; what begins a text is behind ""."""
    found: list[Word] = _pattern().findall(text)
    return found


def diff(first: list[Word], second: list[Word], key: Callable[[str], str] = str) -> list[Stretch] | None:
    """Return two lists of words in stretches, as `word_diff`; words of one `key` are the same."""
    if second < first:  # one order, so that it is the same difference from either side
        found = diff(second, first, key)
        return None if found is None else [Stretch(there, here, same) for here, there, same in found]
    numbers: dict[str, int] = {}
    left, right = ([numbers.setdefault(key(word), len(numbers)) for word, _ in side] for side in (first, second))
    begun = common_start(left, right)
    ended = common_start(left[begun:][::-1], right[begun:][::-1])
    ends = len(left) - ended, len(right) - ended
    if (ends[0] - begun) * (ends[1] - begun) > MOST_EDITED:
        return None
    from rapidfuzz.distance import Indel  # on use: pages need it only where texts are compared

    inside = Indel.opcodes(left[begun : ends[0]], right[begun : ends[1]]).as_matching_blocks()
    alike = [(0, 0, begun), *((begun + block.a, begun + block.b, block.size) for block in inside), (*ends, ended)]
    pieces = (piece for piece in _pieces(first, second, alike) if piece.first or piece.second)
    return [
        Stretch("".join(piece.first for piece in own), "".join(piece.second for piece in own), same)
        for same, group in groupby(pieces, key=lambda piece: piece.same)
        for own in [list(group)]
    ]


def _pieces(first: Sequence[Word], second: Sequence[Word], alike: Sequence[tuple[int, int, int]]) -> Iterator[Stretch]:
    """Yield what stands between the runs of words that are alike (place, place, count), and their words."""
    x = y = 0
    for here, there, count in alike:
        only_here, only_there = _text(first[x:here]), _text(second[y:there])
        end = first[here - 1][1] if x < here and y < there and first[here - 1][1] == second[there - 1][1] else ""
        yield Stretch(only_here.removesuffix(end), only_there.removesuffix(end), False)
        yield Stretch(end, end, True)
        x, y = here + count, there + count
        for (word, space), (other, behind) in zip(first[here:x], second[there:y], strict=True):
            yield Stretch(word, other, True)
            yield Stretch(space, behind, space == behind)


def _text(words: Sequence[Word]) -> str:
    return "".join(map("".join, words))


def differ_only_in(first: str, second: str) -> tuple[str, ...] | None:
    """Return the fewest of FORMS that two texts differ in, () for equal ones; None where they differ in words.

    None, too, for different texts that are too long to compare.

    >>> differ_only_in("Yes", "yes ")
    ('case', 'white space')
    """
    if first != second and max(len(first), len(second)) > MOST_CHARACTERS:
        return None
    every = (names for count in range(len(FORMS) + 1) for names in combinations(FORMS, count))
    return next((names for names in every if _are_equal(first, second, names)), None)


def _are_equal(first: str, second: str, names: Iterable[str]) -> bool:
    """Return whether two texts are equal in these of FORMS."""
    for name in names:
        first, second = FORMS[name](first), FORMS[name](second)
    return first == second


@lru_cache(maxsize=1)
def _pattern() -> Any:
    """Return the pattern of a word and the white space behind it: linear, whatever the text.

    As in Unicode's word boundaries a mark belongs to what stands before it, "don't" and 1,000.5 are one word, and
    joined emoji one sign.
    """
    import regex  # type: ignore[import-untyped]  # on use: the properties of Unicode that re does not know

    unspaced = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
    letter = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{unspaced}]]"
    word = rf"{letter}++(?:(?:['’.]|(?<=\p{{Nd}}),(?=\p{{Nd}})){letter}++)*+"
    sign = r"(?:\p{RI}{2}|\S)(?:[\p{M}\p{Emoji_Modifier}]|\u200d\S)*+"
    return regex.compile(rf"({word}|{sign}|^)(\s*+)", regex.V1)
