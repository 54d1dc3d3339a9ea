"""The kinds of perturbation: a table of what each does to a text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from metrics.core.prompt import Prompt
from metrics.perturbations import characters, wording
from metrics.perturbations.sites import Site

Intensity = Literal["low", "medium", "high"]
INTENSITIES: tuple[Intensity, ...] = get_args(Intensity)
Shares = tuple[float, float, float]

LETTERS: Shares = (0.02, 0.05, 0.12)
WORDS: Shares = (0.1, 0.25, 0.5)
FOUND: Shares = (0.25, 0.5, 1.0)  # where only some words or letters can be changed at all


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to vary a text.

    `sites` finds where; `shares` is how many of the sites are changed at low, medium and high intensity, at least one.
    A judged kind has `prompts` instead, one an intensity, and what the judge writes `is_put_before` the text or stands
    in its place; the control has neither. `keeps_meaning` says whether the answer should stay what it was: an antonym
    turns the question round, so there a changed answer is the right one.
    """

    name: str
    title: str
    says: str
    sites: Callable[[str], list[Site]] | None = None
    shares: Shares = LETTERS
    prompts: tuple[Prompt, Prompt, Prompt] | None = None
    is_put_before: bool = False
    keeps_meaning: bool = True

    @property
    def is_control(self) -> bool:
        """Whether nothing is changed."""
        return self.sites is None and self.prompts is None

    @property
    def is_judged(self) -> bool:
        """Whether a judge makes the variants."""
        return self.prompts is not None


def _prompts(name: str, text: str, *how: str) -> tuple[Prompt, Prompt, Prompt]:
    low, medium, high = (
        Prompt(f"perturbation.{name}.{intensity}", text.format(how=one))
        for intensity, one in zip(INTENSITIES, how, strict=True)
    )
    return low, medium, high


PARAPHRASES = _prompts(
    "paraphrase",
    "Reword TEXT: {how}. It must ask or say exactly the same: add nothing, leave nothing out, answer nothing, and keep "
    "names, numbers and quotations as they are. Give the reworded text alone.",
    "change a few words, keep the order of the sentence",
    "use other words and another order where that reads well",
    "say it in a wholly different way, as another person would",
)
MISINFORMATION = _prompts(
    "contextual_misinformation",
    "Write {how} on the subject of TEXT that are false but sound true, and that would mislead somebody who believes "
    "them about what TEXT asks or says. They must contradict TRUTH where it is given. State them as facts, in the "
    "language of TEXT; neither answer TEXT nor say that they are false. Give these sentences alone.",
    "one short sentence",
    "two sentences",
    "four sentences",
)

KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("copy", "Copy", "The text as it is: the control. What flips here flips by chance"),
        Kind(
            "character", "Any character", "Letters left out, put in or replaced, at random", characters.any_changes,
            (LETTERS[0] / 3, LETTERS[1] / 3, LETTERS[2] / 3),
        ),
        Kind("character_delete", "Characters deleted", "Letters left out", characters.deletions),
        Kind("character_insert", "Characters inserted", "Letters too many", characters.insertions),
        Kind("character_replace", "Characters replaced", "Letters replaced by others", characters.replacements),
        Kind("keyboard", "Keyboard typos", "Letters replaced by their neighbours on the keyboard", characters.typos),
        Kind("ocr", "OCR errors", "Letters misread: l as 1, rn as m", characters.misreadings),
        Kind("word_swap", "Words swapped", "Neighbouring words in the other order", wording.swaps, WORDS),
        Kind("comma", "Commas", "Commas where none belong", wording.commas, WORDS),
        Kind("synonym", "Synonyms", "English words replaced by synonyms", wording.synonym_sites, FOUND),
        Kind(
            "antonym", "Antonyms", "English words replaced by their opposites, which turns the meaning round",
            wording.antonym_sites, FOUND, keeps_meaning=False,
        ),
        Kind("yz", "y and z exchanged", "y typed as z and z as y, as on the other layout", characters.exchanges, FOUND),
        Kind("paraphrase", "Paraphrase", "The same in other words, by the judge", prompts=PARAPHRASES),
        Kind(
            "contextual_misinformation", "Contextual misinformation",
            "False statements on the subject before it, by the judge", prompts=MISINFORMATION, is_put_before=True,
        ),
    )
}  # fmt: skip
RULE_KINDS = tuple(name for name, kind in KINDS.items() if not kind.is_judged)
