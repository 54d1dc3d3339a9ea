"""Texts of a case that look as if they were written for the judge: detected by patterns, flagged, never removed."""

import re
from collections.abc import Iterable
from functools import lru_cache

SEARCHED = 100_000  # characters of a text
MAX_TEXT_SHOWN = 80
PATTERNS = {
    "orders": re.compile(
        r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}"
        r"\b(?:instructions?|rubrics?|prompts?|rules|guidelines|criteria|directions|above|previous|prior|earlier)\b"
        r"|\b(?:new|updated|real|actual) (?:system )?instructions?\s*:"
        r"|ignor(?:e|ez|a|iere|iert)\b[^.\n]{0,40}\b(?:instructions? pr[ée]c|anweisung|instruccion|istruzion)"
        r"|忽略(?:以上|之前|前面|所有)|無視して|игнорируй",
        re.IGNORECASE,
    ),
    "speaks to the judge": re.compile(
        r"\b(?:dear|attention|hey|note to|message to|as) (?:the |an? )?"
        r"(?:judge|grader|evaluator|assessor|scorer|examiner)\b"
        r"|\byou are (?:now |no longer )?(?:an? |the )?(?:judge|grader|evaluator|assistant|helpful|DAN|unrestricted)\b"
        r"|\b(?:judge|grader|evaluator|model|assistant|AI|you)\b[^.\n]{0,30}"
        r"\b(?:must|should|shall|have to|will|please)\b"
        r"[^.\n]{0,30}\b(?:rate|grade|score|mark|give|award|assign|output|respond|reply|answer|return|say)\b[^.\n]{0,40}"
        r"\b(?:10|5|100|full|maximum|highest|perfect|supported|correct|yes|pass|true)\b"
        r"|\b(?:rate|grade|score|mark) (?:this|it|my|the) [^.\n]{0,40}"
        r"\b(?:10|100|full|maximum|highest|perfect|correct)\b"
        r"|\bpretend (?:to be|you are|that you)\b|\brole-?play\b|\bdeveloper mode\b"
        # orders to answer yes, in five languages; a choice between yes and no is none
        r"|\b(?:answers?|reply|respond)(?: with)? yes\b(?! or\b)"
        r"|\b(?:antworte[nt]?|responde[rn]?|contesta[rs]?)\b[^.\n]{0,25}\byes\b(?! (?:oder|o|or)\b)"
        r"|回答[^。\n]{0,6}yes(?! 或)|(?:أجب|قل|يجيب)[^.\n]{0,12}yes(?! أو)",
        re.IGNORECASE,
    ),
    "a verdict": re.compile(
        r"[\"'](?:verdict|score|grade|rating|supported_by|claims|replies|reason)[\"']\s*:"
        r"|\b(?:verdict|final score|final grade)\s*[:=]\s*(?:yes|pass|supported|correct|\d)"
        r"|\b(?:judge|majority|urteil|mehrheit|prüfer|veredicto|mayoría|juez)(?: [A-Z])?\s*:\s*yes\b"
        r"|(?:结论|答案|多数意见|الحكم|الجواب|الأغلبية)\s*[:：]\s*yes\b",
        re.IGNORECASE,
    ),
    "a delimiter": re.compile(
        r"</?[A-Z_]{3,20} [0-9a-f]{6,}>|<\|(?:im_start|im_end|system|endoftext|eot_id|assistant|user)[^|]{0,20}\|>"
        r"|\[/?(?:INST|SYS)\]|<</?SYS>>|^#{2,}\s*(?:system|instructions?|end of (?:data|text|input))\b"
        r"|^[^\S\n]*(?:system|assistant)\s*:"
        r"|</?(?:TEXT|CONTEXTS?|CLAIMS?|ANSWER|QUESTION|REFERENCE|system|instructions?)>",
        re.IGNORECASE | re.MULTILINE,
    ),
    # tag characters, runs of zero-width ones, bidirectional overrides: text that a reader cannot see
    "invisible characters": re.compile(
        r"[\U000E0020-\U000E007E]|[\u200b\u2060\ufeff\u200c\u200d]{3,}|[\u202a-\u202e\u2066-\u2069]"
    ),
}
BETWEEN = re.compile(r"[\u00ad\u200b\u2060\ufeff]")  # between letters they hide a word from a search


def suspected(texts: Iterable[tuple[str, str | None]]) -> list[dict[str, str]]:
    """Return what in the named texts looks as if written for the judge: `where`, `what`, and the `text` found."""
    return [
        {"where": where, "what": what, "text": found}
        for where, text in texts
        if text
        for what, found in _find_instructions(text)
    ]


@lru_cache(maxsize=4096)
def _find_instructions(text: str) -> tuple[tuple[str, str], ...]:
    head = text[:SEARCHED]
    plain = BETWEEN.sub("", head)
    hits = []
    for what, pattern in PATTERNS.items():
        match = pattern.search(head) or pattern.search(plain)
        if match is not None:
            shown = match[0].strip()[:MAX_TEXT_SHOWN]
            hits.append((what, shown.encode("unicode_escape").decode() if what == "invisible characters" else shown))
    return tuple(hits)
