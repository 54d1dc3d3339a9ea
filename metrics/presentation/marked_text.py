"""A text in parts that a page marks: what quotes, changes, differences or a judge's verdicts say of its words."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from metrics.core.evidence import Holds
from metrics.core.unicode_forms import normalized
from metrics.presentation.phrases import named
from metrics.presentation.verdict_rows import VerdictGroup
from metrics.text.conversation import Turn, turns
from metrics.text.sentences import sentences
from metrics.text.word_diff import diff, differ_only_in, word_diff

Mark = Literal["", "marked", "added", "removed", "yes", "no", "unknown"]
TOO_LONG = "too long to be compared word by word"
OF_ANSWERS = ("claims", "sentences")  # groups of verdicts about what the answer says
SHARED = 0.5  # of the words of a claim must stand in the sentence that it is shown at
WORST: tuple[Holds, ...] = ("no", "unknown", "yes")
WORD = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]|[^\W_]+")  # scripts without spaces: a character is a word

UNIT = re.compile(r"(\S+|^)(\s*)")  # a word with its signs, and the white space behind it


class Part(NamedTuple):
    """Words of a text, how they are marked, and a short note behind them."""

    text: str
    mark: Mark = ""
    note: str = ""


def quoted(text: str, quotes: Sequence[str]) -> list[Part]:
    """Return the text with the quotes marked; a quote that is not in the text marks nothing."""
    inside = [False] * len(text)
    for quote in quotes:
        start = text.find(quote) if quote else -1
        if start >= 0:
            inside[start : start + len(quote)] = [True] * len(quote)
    parts: list[Part] = []
    begin = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or inside[place] != inside[begin]:
            parts.append(Part(text[begin:place], "marked" if inside[begin] else ""))
            begin = place
    return parts


def changed(before: str, after: str) -> list[Part]:
    """Return the text after a change with the words marked that are not in the text before."""
    found = word_diff(before, after)
    return [Part(after)] if found is None else [Part(a, "" if same else "marked") for _, a, same in found if a]


def difference(expected: str, answer: str, exact: bool = False) -> list[Part] | None:
    """Return the answer with its words that are only in it as added, and those only expected as removed.

    Words are compared without case and punctuation, unless `exact`, and shown as written. None for texts that are too
    long to compare.
    """
    left, right = (UNIT.findall(text) for text in (expected, answer))
    found = diff(left, right, str if exact else _bare)
    if found is None:
        return None
    parts = list[Part]()
    for old, new, same in found:
        if same or not (old + new).strip():
            parts += [Part(new)] if new else []
            continue
        before = parts.pop().text if parts and not parts[-1].mark else ""
        parts += [Part(_spaced(before))] if before else []
        parts += [Part(_spaced(old.lstrip()) if new.strip() else old.lstrip(), "removed")] if old.strip() else []
        parts += [Part(new.lstrip(), "added")] if new.strip() else []
    return parts


class Twins(NamedTuple):
    """Two texts beside each other: what they are, "" where only marks say it, and both with what is only in one."""

    said: str
    first: list[Part]
    second: list[Part]

    @property
    def sentence(self) -> str:
        """What two answers are to each other, or how their words are marked."""
        marks = "Struck out: only in the first answer. Underlined: only in the second."
        return f"The answers are {self.said}." if self.said else marks


def compare_texts(first: str, second: str) -> Twins:
    """Return two texts to show beside each other, words only in the first as removed, only in the second as added."""
    names, found = differ_only_in(first, second), word_diff(first, second)
    said = "identical" if names == () else f"the same but for {named(names)}" if names else ""
    if found is None:
        return Twins(said or TOO_LONG, [Part(first)], [Part(second)])
    return Twins(
        said,
        [Part(one, "" if same else "removed") for one, _, same in found if one],
        [Part(other, "" if same else "added") for _, other, same in found if other],
    )


def with_claims(answer: str, groups: Iterable[VerdictGroup]) -> list[Part]:
    """Return the answer with the sentences marked that the verdicts' claims come from, numbered as the verdicts are.

    A claim is a judge's rewording: it is shown at the sentence that has most of its words, if at least half of them.
    Where several claims meet, the worst verdict marks.
    """
    answer = normalized("NFC", answer)  # as the evaluators read it
    spans = list(_sentence_spans(answer))
    words = [set(words_of(answer[start:end])) for start, end in spans]
    at: dict[int, list[tuple[Holds, str]]] = {}
    for group in groups:
        for row in group.rows if group.name in OF_ANSWERS else ():
            said = set(words_of(row.text))
            shares = [len(said & there) / len(said) if said else 0.0 for there in words]
            best = max(range(len(spans)), key=shares.__getitem__, default=-1)
            if best >= 0 and shares[best] >= SHARED:
                at.setdefault(best, []).append((row.holds, f"{row.number}{row.glyph}"))
    parts, end = [], 0
    for place, claims in sorted(at.items()):
        start, stop = spans[place]
        parts += [Part(answer[end:start])] if end < start else []
        mark = min((holds for holds, _ in claims), key=WORST.index)
        parts.append(Part(answer[start:stop], mark, " ".join(note for _, note in claims)))
        end = stop
    return [*parts, Part(answer[end:])] if end < len(answer) else parts


def words_of(text: str) -> Iterator[str]:
    """Return the words of a text in lower case, of scripts without spaces the characters."""
    return (match[0].casefold() for match in WORD.finditer(text))


def last_turn(text: str) -> tuple[list[Turn], Turn] | None:
    """Return the earlier turns of a conversation and its last one; None for a text that is no conversation."""
    found = turns(text)
    return (found[:-1], found[-1]) if len(found) > 1 else None


def _bare(word: str) -> str:
    found = re.search(r"\w(?:.*\w)?", word)
    return found[0].casefold() if found else word


def _spaced(text: str) -> str:
    """Return a text so that something can follow its last word."""
    return text if text[-1].isspace() else f"{text} "


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    end = 0
    for sentence in sentences(text):
        if (start := text.find(sentence, end)) >= 0:
            end = start + len(sentence)
            yield start, end
