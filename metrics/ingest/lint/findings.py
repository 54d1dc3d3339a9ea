"""Finding: one thing about an upload that makes its scores doubtful, in words, with images that show it and a fix."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Bools, Int32s

MOST_EXAMPLES = 5  # images


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about the predictions of a model, or about the ground truth (`model` None), that looks wrong.

    `text` says what was found, with numbers, and what it suggests. `serious`: AP would be meaningless, so nothing is
    scored until it is fixed or accepted. `count` of `total` boxes, images or classes show it; `cases` are the ids of
    some images that do. `fix` is the name in FIXES of what would correct it, None where only the file can.
    """

    kind: str
    model: str | None
    text: str
    serious: bool = False
    count: int = 0
    total: int = 0
    cases: tuple[str, ...] = ()
    fix: str | None = None

    @property
    def where(self) -> str:
        """The model, or "ground truth"."""
        return "ground truth" if self.model is None else self.model

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


def worst_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings: serious ones first, then those with a fix, else in the order given."""
    return tuple(sorted(findings, key=lambda finding: (not finding.serious, finding.fix is None)))


def example_cases(case_ids: pa.Array, image: Int32s, shows: Bools) -> tuple[str, ...]:
    """Return the ids of the images with the most objects that show something, in the suite's order where they tie.

    `image` [N] is the row in `case_ids` of each object, −1 for none; `shows` [N] marks those that count.
    """
    counts = np.bincount(image[shows & (image >= 0)], minlength=len(case_ids))
    places = np.argsort(-counts, kind="stable")[:MOST_EXAMPLES]
    return tuple(case_ids.take(pa.array(places[counts[places] > 0])).to_pylist())


def per_cent(part: int | float, whole: int) -> str:
    """Return a share as whole per cent that is 0 or 100 only where it is exactly that: "71 %", "under 1 %"."""
    if not whole or not part:
        return "0 %"
    value = 100 * part / whole
    return "under 1 %" if value < 1 else "over 99 %" if 99 < value < 100 else f"{value:.0f} %"
