"""The claims of a text for the local judge, by rules: every sentence, except those that clearly state nothing."""

import re

from metrics.judge.local.filler_sentences import states_nothing
from metrics.text.sentences import worded_sentences

BARE = 8  # words; a text of at most as many is no claim without its question
BULLET = re.compile(r"^(?:[\-–—*•·]\s|\s)+")
EMPHASIS = re.compile(r"(?<!\w)(?:\*\*|__)|(?:\*\*|__)(?!\w)")
CODE = re.compile(r"^[^\S\n]*+```.*?(?:^[^\S\n]*+```[^\S\n]*+$|\Z)", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"#{1,6}\s")
QUESTION = ("?", "？", "؟")


def claim_sentences(text: str, question: str = "") -> list[str]:
    """Return the sentences of a text that state something, in order; a bare answer behind its question.

    Left out are questions, courtesies, sentences that refuse or say that nothing is known, and beside other sentences
    headings, the words that introduce a list, and blocks of code. A single sentence of at most BARE words ("Judson",
    "no") is an answer to be completed: it is returned as "QUESTION? Judson".
    """
    text = EMPHASIS.sub("", text.strip())
    parts = [BULLET.sub("", sentence) for sentence in worded_sentences(CODE.sub("", text)) or worded_sentences(text)]
    if len(parts) == 1 and question.strip() and len(text.split()) <= BARE and (_title(parts[0]) or _states(parts[0])):
        return [f"{' '.join(question.split()).rstrip(' ?.')}? {parts[0]}"]
    kept = [part for part in parts if part and _states(part)]
    return [part for part in kept if not _announces(part)] or kept


def _states(sentence: str) -> bool:
    return not sentence.rstrip("\"'”’)] ").endswith(QUESTION) and not states_nothing(sentence)


def _title(answer: str) -> bool:
    """Return whether a bare answer is the title of something that is a question: Who's Afraid of Virginia Woolf?"""
    long = [word for word in answer.split() if len(word) > 3]
    return answer.endswith("?") and len(long) > 1 and all(word[0].isupper() for word in long)


def _announces(sentence: str) -> bool:
    return bool(HEADING.match(sentence)) or (sentence.endswith(":") and len(sentence.split()) <= BARE)
