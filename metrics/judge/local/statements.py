"""The claims of a text for the local judge, by rules: every sentence, except those that clearly state nothing."""

import re

from metrics.text.sentences import worded_sentences

BARE = 8  # words; a text of at most as many is no claim without its question
BULLET = re.compile(r"^[\s\-–—*•·]+")
# greetings, offers and courtesies that are the whole sentence
COURTESY = re.compile(
    r"(?:hi|hello|hey|dear \w+|thanks|thank you|you(?:'|’)re welcome|sure|certainly|of course"
    r"|(?:great|good) question|no problem|i hope (?:this|that) helps|let me know\b.*|feel free to\b.*"
    r"|(?:please )?ask (?:me )?if\b.*"
    r"|here (?:is|are) [^.]{0,40}:|is there anything else.*)[\s!.,:)]*",
    re.IGNORECASE | re.DOTALL,
)
# what refuses or says that the answer is not known
REFUSAL = re.compile(
    r"(?:(?:i(?:'|’)m|i am|we(?:'|’)re|we are) (?:very |so )?(?:sorry|afraid|unable|not able|not sure)\b"
    r"|(?:i|we) (?:do not|don(?:'|’)t|cannot|can(?:'|’)t|could not|couldn(?:'|’)t|did not|didn(?:'|’)t) "
    r"(?:know|say|tell|find|answer|have|see|provide|help|determine|be sure)\b"
    r"|unfortunately,? (?:i|we|the (?:text|passage|context|document)s?)\b"
    r"|sorry\b|i have no (?:information|answer|idea)\b|there is no (?:information|mention|answer)\b"
    r"|(?:the|this|these) (?:provided |given |above )?(?:text|passage|context|document|information|article|source)s?"
    r"[^.]{0,40} (?:do|does|did)(?:es)?(?: not|n(?:'|’)t) (?:\w+ ){0,2}"
    r"(?:contain|say|mention|provide|state|answer|specify|include|give)\b"
    r"|no (?:information|answer) (?:is |was )?(?:given|available|found|provided)\b|(?:unanswerable|n/?a|unknown)\W*$)",
    re.IGNORECASE,
)


def stated(text: str, question: str = "") -> list[str]:
    """Return the sentences of a text that state something, in order; a bare answer behind its question.

    Left out are questions, courtesies, and sentences that refuse or say that nothing is known. A single sentence of at
    most BARE words ("Judson", "no") is an answer to be completed: it is returned as "QUESTION? Judson".
    """
    parts = [BULLET.sub("", sentence) for sentence in worded_sentences(text.strip())]
    if len(parts) == 1 and question.strip() and len(text.split()) <= BARE and not _states_nothing(parts[0]):
        return [f"{' '.join(question.split()).rstrip(' ?.')}? {parts[0]}"]
    return [part for part in parts if part and not _states_nothing(part)]


def _states_nothing(sentence: str) -> bool:
    return sentence.rstrip("\"'”’)] ").endswith(("?", "？", "؟")) or bool(
        COURTESY.fullmatch(sentence) or REFUSAL.match(sentence)
    )
