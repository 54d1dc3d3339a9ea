"""Words of a text that other texts do not have, in any script."""

import re
from collections.abc import Collection

from metrics.text.unicode_forms import normalized

UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # no space between words
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


def words(text: str) -> list[str]:
    """Return the words of a text in order, in NFKC and case-folded; each character is one in scripts without spaces.

    >>> words("It's 3.5 m. 今天")
    ['it', 's', '3', '5', 'm', '今', '天']
    """
    return WORD.findall(normalized("NFKC", text).casefold())


def new_share(text: str, known: Collection[str]) -> float:
    """Return the share of the words of a text that are not among the `known` ones: 0 … 1; 0 for a text without words.

    >>> new_share("Paris is old", {"paris", "is"})
    0.3333333333333333
    """
    own = words(text)
    return sum(word not in known for word in own) / len(own) if own else 0.0
