"""Sentences of a text in any script."""

import re
from typing import cast

STOPS = "。！？｡।॥؟۔։።፧៕"  # CJK, Indic, Arabic, Armenian, Ethiopic, Khmer: no space follows them
CLOSERS = "”’」』）】》〉〕］｝)"
SENTENCE = re.compile(rf"[^{STOPS}]*(?:[{STOPS}]+[{CLOSERS}]*|$)")
PERIODS = re.compile(r"[.!?…]")
ENUMERATOR = re.compile(r"\W*(?:\d{1,3}|[A-Za-z])[.)]\W*")


def sentences(text: str) -> list[str]:
    """Return the sentences of `text` in order, stripped, without empty ones.

    A line break ends a sentence. Within a line nupunkt's rules for . ! ? apply (it knows abbreviations, decimals and
    initials), as do the full stops of scripts that put no space after them. Linear in the length of the text.

    >>> sentences("Dr. Who paid 3.50. Why?\\n今天很好。走吧！")
    ['Dr. Who paid 3.50.', 'Why?', '今天很好。', '走吧！']
    """
    import nupunkt  # on use: 40 ms, and only some evaluators need it

    found: list[str] = []
    for line in text.splitlines():
        for piece in SENTENCE.findall(line):
            found += cast(list[str], nupunkt.sent_tokenize(piece)) if PERIODS.search(piece) else [piece]
    return [sentence.strip() for sentence in found if sentence.strip()]


def worded_sentences(text: str) -> list[str]:
    """Return the sentences of `text` that have content: without bare list numbers, rules, fences and brackets.

    >>> worded_sentences("Two steps. 1. Open it.\\n***\\n2. Close it.")
    ['Two steps.', 'Open it.', '2. Close it.']

    A text that is only a number keeps it: `worded_sentences("42.")` is `["42."]`.
    """
    spoken = [sentence for sentence in sentences(text) if any(character.isalnum() for character in sentence)]
    return [sentence for sentence in spoken if not ENUMERATOR.fullmatch(sentence)] or spoken
