"""What two texts have in common: BM25 of passages and the share of new words, copied stretches, verbatim quotes, and
nearly equal sets of shingles. Cheap, without a model.
"""

import math
import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from metrics.core.unicode_forms import normalized

UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # no space between words
WORD_OR_SIGN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
K1, B = 1.2, 0.75  # saturation of repeated words, correction for length: the usual values
WORD = re.compile(r"\w+")
# in scripts without spaces, compatibility ideographs included, pairs of characters stand for words
RUN = re.compile(rf"[{UNSPACED}\uf900-\ufaff]+")


def words(text: str) -> list[str]:
    """Return the words of a text in order, in NFKC and case-folded; each character is one in scripts without spaces.

    >>> words("It's 3.5 m. 今天")
    ['it', 's', '3', '5', 'm', '今', '天']
    """
    return WORD_OR_SIGN.findall(normalized("NFKC", text).casefold())


def new_share(text: str, known: Collection[str]) -> float:
    """Return the share of the words of a text that are not among the `known` ones: 0 … 1; 0 for a text without words.

    >>> new_share("Paris is old", {"paris", "is"})
    0.3333333333333333
    """
    own = words(text)
    return sum(word not in known for word in own) / len(own) if own else 0.0


def terms(text: str) -> list[str]:
    """Return the words of a text in lower case; of scripts without spaces each character and each pair of neighbours.

    >>> terms("The 2 mills: 水車小屋")
    ['the', '2', 'mills', '水', '水車', '車', '車小', '小', '小屋', '屋']
    """
    found: list[str] = []
    for word in WORD.findall(normalized("NFKC", text).casefold()):
        rest = 0
        for run in RUN.finditer(word):
            found += [word[rest : run.start()]] if run.start() > rest else []
            rest = run.end()
            letters = run[0]
            for place, letter in enumerate(letters):
                found += [letter, letters[place : place + 2]] if place + 1 < len(letters) else [letter]
        found += [word[rest:]] if rest < len(word) else []
    return found


def likeness(passages: Sequence[str], queries: Sequence[str]) -> list[float]:
    """Return for each passage how alike it is to the query it is most alike to: 0, no word shared, to 1, the most.

        BM25 = Σ over the query's words  idf · f (k1 + 1) / (f + k1 (1 − b + b · length / mean length)),
        idf = ln(1 + (N − n + ½) / (n + ½)),  k1 = 1.2, b = .75

    f counts the word in the passage, n the passages that have it. Each query's values are divided by its highest, so
    that a rare name does not outweigh the other queries.
    Source: Robertson and Zaragoza 2009, The Probabilistic Relevance Framework.
    """
    counts = [Counter(terms(passage)) for passage in passages]
    lengths = [sum(count.values()) for count in counts]
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
    having: dict[str, list[int]] = {}
    for place, count in enumerate(counts):
        for term in count:
            having.setdefault(term, []).append(place)
    best = [0.0] * len(passages)
    for query in queries:
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms(query)):
            places = having.get(term, ())
            idf = math.log(1 + (len(passages) - len(places) + 0.5) / (len(places) + 0.5))
            for place in places:
                often = counts[place][term]
                share = often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[place] / mean))
                scores[place] = scores.get(place, 0.0) + idf * share
        highest = max(scores.values(), default=0.0)
        for place, score in scores.items():
            best[place] = max(best[place], score / highest)
    return best


def by_likeness(passages: Sequence[str], queries: Sequence[str]) -> list[int]:
    """Return the places of the passages, the one most alike to any query first; equal ones in their order."""
    scores = likeness(passages, queries)
    return sorted(range(len(passages)), key=lambda place: (-scores[place], place))


COPIED_WORD = re.compile(r"\w+")
MOST_PLACES = 50  # of a sequence of words in the source that are followed


class Stretch(NamedTuple):
    """A stretch of words: its characters from–to in the text, its number of words, and its first word in the source.

    `source` counts the source's words from 0.
    """

    start: int
    end: int
    words: int
    source: int


def common_stretches(text: str, source: str, least: int, known: str = "") -> list[Stretch]:
    """Return the stretches of at least `least` words that `text` shares with `source`, in the text's order.

    Words are runs of letters and digits, compared without case and in Unicode's form NFKC; what stands between them
    does not count. Each stretch is as long as it can be, and none lies within another of the text. A sequence of
    `least` words that `known` holds too is no copy of the source. Time is linear; of a sequence that recurs in the
    source MOST_PLACES places are followed.
    """
    places = [found.span() for found in COPIED_WORD.finditer(text)]
    own = _folded(text[start:end] for start, end in places)
    excused = set(_sequences(_folded(COPIED_WORD.findall(known)), least))
    found_at: dict[tuple[str, ...], list[int]] = {}
    for at, words in enumerate(_sequences(_folded(COPIED_WORD.findall(source)), least)):
        if words not in excused and len(held := found_at.setdefault(words, [])) < MOST_PLACES:
            held.append(at)
    longest: list[tuple[int, int]] = []  # of the stretches that begin at a word, from the last: words, place
    after: dict[int, int] = {}  # place in the source → words of the stretch that begins there and at the next word
    for words in reversed(list(_sequences(own, least))):
        after = {at: after.get(at + 1, least - 1) + 1 for at in found_at.get(words, ())}
        longest.append(max(((length, at) for at, length in after.items()), default=(0, 0)))
    stretches, reached = [], 0
    for first, (length, at) in enumerate(reversed(longest)):
        if length and first + length > reached:
            reached = first + length
            stretches.append(Stretch(places[first][0], places[reached - 1][1], length, at))
    return stretches


def covered(stretches: Sequence[Stretch], source: str) -> float:
    """Return the share of the source's words that stand in a stretch, 0 … 1; 0 for a source without words."""
    words = len(COPIED_WORD.findall(source))
    return len({stretch.source + at for stretch in stretches for at in range(stretch.words)}) / words if words else 0.0


def _folded(words: Iterable[str]) -> list[str]:
    return [normalized("NFKC", word).casefold() for word in words]


def _sequences(words: Sequence[str], length: int) -> Iterable[tuple[str, ...]]:
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))


# joins pieces: "a … b", "a [...] b", "“a” and “b”"
AHEAD = r"(?:(?<!\s)\s++)?+"  # white space, from its beginning alone: a long run is not tried from every place in it
JOINT = re.compile(
    rf"{AHEAD}(?:[\[(<]\s*+)?+(?:\.\s?\.\s?\.[\s.]*+|…++)\s*+[\])>]?\s*+"
    r"|(?<=[”\"»])\s*+(?:(?:,|;|/|\||&|and)\s*+)?+(?=[“\"«])"
)
LABEL = re.compile(  # Context 2: …
    rf"{AHEAD}(?:(?:context|passage|document|source)\s*+)?+\(?\d{{1,3}}[.:)]\s++", re.IGNORECASE
)
# citations, targets of links, tags, marks of quoted lines
NO_WORDS = re.compile(r"\[\d{1,3}\]|\]\([^()\s]{1,500}\)|</?[a-zA-Z][^<>]{0,100}>|^[^\S\n]{0,9}>+", re.MULTILINE)
APART = frozenset("*_`#\u00ad")  # marks of emphasis, soft hyphens: a word may go on behind them
MEANING = frozenset("%‰&@§")  # punctuation that is said aloud
DASHES = frozenset("-‐‑–—−")
UNSPACED_SIGN = re.compile(f"[{UNSPACED}]")


def quoted(quote: str, text: str) -> str:
    """Return `quote` as it stands in `text`, in one piece; "" where it does not stand there.

    The same words and numbers must follow each other; white space, case, forms of characters (NFKC), punctuation,
    emphasis, citations and links may differ. A decimal point, a minus before a number, % and currencies count as words.

    >>> quoted("“the mill  was built”", "The mill\\nwas **built** in 1502.")
    'The mill\\nwas **built'
    """
    found, places = _plain(text)
    for given in dict.fromkeys((quote, LABEL.sub("", quote, count=1))):
        wanted, own_places = _plain(given)
        begin = found.find(wanted) if wanted else -1
        while begin >= 0:
            end = begin + len(wanted)
            if not (
                _goes_on(found[begin - 1 : begin + 1]) or _goes_on(found[end - 1 : end + 1], found[end + 1 : end + 2])
            ):
                marks = given[own_places[-1] + 1 :]
                last = places[end - 1] + 1
                same = next((n for n, mark in enumerate(marks) if text[last + n : last + n + 1] != mark), len(marks))
                return text[places[begin] : last + same].rstrip()
            begin = found.find(wanted, begin + 1)
    return ""


def quoted_in(quote: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the pieces of `quote` as they stand in the texts, each in any of them; () where one stands in none.

    An ellipsis joins pieces, and so does what stands between two quotations.

    >>> quoted_in("built in 1502 … of oak", ["It was built in 1502.", "The wheel is of oak."])
    ('built in 1502', 'of oak')
    """
    pieces = [piece for piece in JOINT.split(quote) if _plain(piece)[0]]
    found = [next((there for text in texts if (there := quoted(piece, text))), "") for piece in pieces]
    return tuple(found) if all(found) else ()


def _goes_on(two: str, after: str = "0") -> bool:
    """Return whether two neighbouring characters are of one word or number; `after` follows them."""
    if len(two) < 2:
        return False
    one, other = two[0], two[1]
    if one.isdecimal() or other.isdecimal():
        return (one.isdecimal() or one in ".,-") and (other.isdecimal() or (other in ".," and after.isdecimal()))
    return one.upper() != one and other.upper() != other  # scripts without case join words


@lru_cache(maxsize=64)
def _plain(text: str) -> tuple[str, "array[int]"]:
    """Return the words of a text in their plainest form, one space apart, and the place in `text` of each character."""
    plain: list[str] = []
    places = array("L")
    left_out = {place for found in NO_WORDS.finditer(text) for place in range(*found.span())}
    apart = False
    for place, character in enumerate(text):
        if character in APART and place not in left_out:
            continue
        kept = "" if place in left_out else _plain_character(character) or _of_number(text, place)
        if not kept:
            apart |= unicodedata.category(character) != "Cf"
            continue
        if apart and plain and _spaced(plain[-1], kept[0]):
            plain.append(" ")
            places.append(place)
        apart = False
        for one in kept:
            plain.append(one)
            places.append(place)
    return "".join(plain), places


def _of_number(text: str, place: int) -> str:
    """Return a decimal point, a comma within a number or a minus before one; "" for any other character."""
    character, before = text[place], text[max(0, place - 1) : place]
    if not text[place + 1 : place + 2].isdecimal():
        return ""
    if character in ".,":
        return character if before.isdecimal() else ""
    return "-" if character in DASHES and not (before.isalnum() or before in DASHES) else ""


def _spaced(before: str, after: str) -> bool:
    """Return whether a space between two characters parts words: not beside signs, nor in scripts without spaces."""
    signs = not (before.isalnum() and after.isalnum())
    return not signs and not (UNSPACED_SIGN.match(before) and UNSPACED_SIGN.match(after))


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    """Return a character decomposed and case-folded; "" for white space, punctuation and what is not seen."""
    if character in MEANING or unicodedata.category(character) == "Sk":  # as in ´
        return character if character in MEANING else ""
    # decomposed, so that é is the same in one character and in two
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    return "".join(one for one in folded if unicodedata.category(one)[0] not in "PZC" and one not in "|−")


SHINGLE = 3  # words that stand together
ROUNDING = 1e-9


class Alike(NamedTuple):
    """Two of the sets, by their places, and their likeness."""

    first: int
    second: int
    likeness: float


def shingles(text: str, size: int = SHINGLE) -> frozenset[str]:
    """Return every run of `size` words of a text, in NFKC and case-folded; all its words at once where it has fewer.

    >>> sorted(shingles("The cat sat down"))
    ['cat sat down', 'the cat sat']
    """
    own = words(text)
    if not own:
        return frozenset()
    return frozenset(" ".join(own[place : place + size]) for place in range(max(1, len(own) - size + 1)))


def alike(sets: Sequence[frozenset[str]], least: float) -> Iterator[Alike]:
    """Yield all pairs of sets whose Jaccard index |a ∩ b| / |a ∪ b| is at least `least` (over 0, up to 1).

    Exact: of each set only the rarest elements are looked up, as many as must hold one that a likely partner has too,
    and of partners only those of like size. Sources: Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007.

    >>> sets = [frozenset("abcd"), frozenset("abce"), frozenset("xyz")]
    >>> list(alike(sets, 0.6))
    [Alike(first=0, second=1, likeness=0.6)]
    """
    counts = Counter(element for own in sets for element in own)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place in sorted((place for place, own in enumerate(sets) if own), key=lambda place: (len(sets[place]), place)):
        own = sets[place]
        size = len(own)
        partners: dict[int, None] = {}
        for element in _rarest(own, counts, least):
            partners |= dict.fromkeys(holders[element])
            holders[element].append(place)
        for other in partners:
            if len(sets[other]) >= least * size:
                both = len(own & sets[other])
                likeness = both / (size + len(sets[other]) - both)
                if likeness >= least:
                    yield Alike(min(place, other), max(place, other), likeness)


def _rarest(own: frozenset[str], counts: Mapping[str, int], least: float) -> list[str]:
    """Return the rarest elements of a set, so many that each set with the share `least` of it has one of them."""
    few = len(own) - math.ceil(least * len(own) - ROUNDING) + 1
    return sorted(own, key=lambda element: (counts[element], element))[:few]


def held_in(parts: Sequence[frozenset[str]], wholes: Sequence[frozenset[str]], least: float) -> Iterator[Alike]:
    """Yield each part and whole, by their places, where at least the share `least` of the part's elements is.

    >>> list(held_in([frozenset("ab")], [frozenset("abcdef"), frozenset("ax")], 1.0))
    [Alike(first=0, second=0, likeness=1.0)]
    """
    counts = Counter(element for own in wholes for element in own)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, own in enumerate(wholes):
        for element in own:
            holders[element].append(place)
    for place, own in enumerate(parts):
        if not own:
            continue
        rarest = _rarest(own, counts, least)
        for other in dict.fromkeys(whole for element in rarest for whole in holders.get(element, ())):
            share = len(own & wholes[other]) / len(own)
            if share >= least:
                yield Alike(place, other, share)
