"""One kind of perturbation: what it does to a text."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from metrics.core.prompt import Prompt
from metrics.perturbations.sites import Site

Intensity = Literal["low", "medium", "high"]
INTENSITIES: tuple[Intensity, ...] = get_args(Intensity)
Shares = tuple[float, float, float]

LETTERS: Shares = (0.02, 0.05, 0.12)
WORDS: Shares = (0.1, 0.25, 0.5)
FOUND: Shares = (0.25, 0.5, 1.0)  # for kinds that can change only some words or letters


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to vary a text.

    `sites` finds where a text can be changed; `shares` is the part of the sites that is changed at low, medium and high
    intensity, at least one. A judged kind has `prompts` instead, one for each intensity, and the judge's text replaces
    the original or `is_put_before` it; the control has neither. `keeps_meaning` says whether the answer should stay the
    same: an antonym reverses the question, so there a changed answer is right.
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
