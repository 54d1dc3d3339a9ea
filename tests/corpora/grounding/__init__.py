"""Texts with answers and summaries that they support or not, written for measuring judges.

answers.txt: 60 passages, each with a question, the right answer as a word and as a sentence, a long hallucinated answer
and a subtly wrong word. dialogues.txt: 31 dialogues, each with true sentences (=) and the same with a small edit (!).
Every second passage and dialogue, from the first, is for fitting; the others are held out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent
KINDS = ("bare", "sentence", "long", "subtle")
RIGHT = KINDS[:2]
TOGETHER, CLAIMS = 4, 6  # dialogues that make a long one, and sentences of its summary


@dataclass(frozen=True)
class Grounded:
    """An answer or summary about a text: whether the text supports it; `sentences` have their own labels."""

    group: str
    kind: str
    text: str
    answer: str
    right: bool
    question: str = ""
    sentences: tuple[tuple[str, bool], ...] = field(default=())


def answers(held_out: bool) -> Iterator[Grounded]:
    for number, block in enumerate(_blocks("answers.txt")[held_out::2]):
        text, question, *given = block
        for kind, answer in zip(KINDS, given, strict=True):
            right = kind in RIGHT
            yield Grounded(f"{number}", kind, text, answer, right, question, ((answer, right),))


def summaries(held_out: bool) -> Iterator[Grounded]:
    """Yield the true summary of each dialogue of a half, and one for each sentence where only that is edited."""
    for number, (text, true, edited) in enumerate(_dialogues(held_out)):
        yield from _summaries(f"{number}", text, true, edited, range(len(true)))


def long_summaries(held_out: bool) -> Iterator[Grounded]:
    """Yield summaries of CLAIMS sentences of several dialogues in a row, some 600 words: true, and one edit in each."""
    scenes = list(_dialogues(held_out))
    for first in range(0, len(scenes) - TOGETHER + 1, TOGETHER):
        chosen = scenes[first : first + TOGETHER]
        pairs = [pair for _, true, edited in chosen for pair in list(zip(true, edited, strict=True))[:2]][:CLAIMS]
        true, edited = [one for one, _ in pairs], [other for _, other in pairs]
        text = "\n\n".join(scene for scene, _, _ in chosen)
        yield from _summaries(f"{first}", text, true, edited, range(CLAIMS))


def _summaries(
    group: str, text: str, true: Sequence[str], edited: Sequence[str], places: Sequence[int]
) -> Iterator[Grounded]:
    yield Grounded(group, "true", text, " ".join(true), True, sentences=tuple((one, True) for one in true))
    for chosen in places:
        place = chosen % len(true)
        said = [edited[place] if number == place else one for number, one in enumerate(true)]
        labels = tuple((one, number != place) for number, one in enumerate(said))
        yield Grounded(group, "edited", text, " ".join(said), False, sentences=labels)


def _dialogues(held_out: bool) -> Iterator[tuple[str, list[str], list[str]]]:
    for lines in _blocks("dialogues.txt")[held_out::2]:
        spoken = [line for line in lines if line[:2] not in ("= ", "! ")]
        true, edited = ([line[2:] for line in lines if line.startswith(mark)] for mark in ("= ", "! "))
        yield "\n".join(spoken), true, edited


def _blocks(name: str) -> list[list[str]]:
    return [block.strip().splitlines() for block in (FOLDER / name).read_text(encoding="utf-8").split("---\n")]
