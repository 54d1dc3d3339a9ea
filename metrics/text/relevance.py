"""The words that texts share: BM25 of passages, and the share of words that are new. Cheap, without a model."""

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence

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
