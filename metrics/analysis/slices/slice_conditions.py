"""A slice by what its cases have in common: as words, as a text for an address, and back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from metrics.core.errors import InputError

CONDITION_FORMS = (
    'JSON such as {"model": "m", "of": "cases", "where": [["tag", "table"], ["contexts", 3, null]]}, as the page of'
    " slices writes it"
)
UNITS = ("cases", "objects", "predictions")
LARGE = 100_000  # whole numbers up to this one are written in full, others with four significant digits
HUGE = 1e15  # numbers from this one on are written with an exponent
CALLED = {  # a feature that is a number: what it counts or measures, and its unit
    "question_length": ("a question", "characters"),
    "source_length": ("a source text", "characters"),
    "expected_length": ("an expected answer", "characters"),
    "answer_length": ("an answer", "characters"),
    "context_length": ("contexts", "characters in all"),
    "image_size": ("an image", "megapixels"),
    "area": ("an area", "square pixels"),
}
COUNTED = {
    "contexts": ("context", "contexts"),
    "reference_contexts": ("reference context", "reference contexts"),
    "expected_answers": ("expected answer", "expected answers"),
    "objects": ("object", "objects"),
}
METADATA = "metadata."


@dataclass(frozen=True, slots=True)
class Condition:
    """What the cases of a slice have in common: of a category `value` (None: none given), of a number low < x ≤ high.

    `is_number` says which; None for `low` or `high` is no bound. `title` stands for the value where that is a code.
    """

    feature: str
    value: str | None = None
    low: float | None = None
    high: float | None = None
    is_number: bool = False
    title: str | None = None

    @property
    def words(self) -> str:
        """The condition as it follows the noun: tagged ‘table’, with more than 3 contexts."""
        return _of_number(self) if self.is_number else _of_category(self)

    @property
    def label(self) -> str:
        """The condition in short, below its feature's name: table, > 3, 4 … 6."""
        if not self.is_number:
            return "none given" if self.value is None else self.title or self.value
        low, high = write_number(self.low), write_number(self.high)
        if self.low is None or self.high is None:
            return f"≤ {high}" if self.low is None else f"> {low}"
        return high if self.low == self.high - 1 and self.feature in COUNTED else f"{low} – {high}"


@dataclass(frozen=True, slots=True)
class Slice:
    """The units that meet every condition: cases of the suite, or the objects or predictions of a detection run.

    `model` is whose outputs the conditions about outputs look at.
    """

    model: str
    where: tuple[Condition, ...]
    of: str = "cases"

    @property
    def address(self) -> str:
        """The slice as text that `parse` reads: the same on every visit."""
        where = [[one.feature, one.low, one.high] if one.is_number else [one.feature, one.value] for one in self.where]
        return json.dumps({"model": self.model, "of": self.of, "where": where}, ensure_ascii=False)

    def words(self, noun: str) -> str:
        """Return the slice as a phrase, `noun` for its units: Questions tagged ‘table’ with more than 3 contexts."""
        return f"{noun[:1].upper()}{noun[1:]} {phrase(self.where)}"


def phrase(where: Sequence[Condition]) -> str:
    """Return the conditions joined in words, those of one kind by `and`."""
    ordered = sorted((one.words for one in where), key=lambda text: text.startswith("with"))
    joined = ordered[0] if ordered else "of all kinds"
    for before, text in pairwise(ordered):
        joined += f" and {text}" if before.partition(" ")[0] == text.partition(" ")[0] else f" {text}"
    return joined


def parse(address: str) -> Slice:
    """Return the slice of an address; InputError where it is none."""
    try:
        stored = json.loads(address)
        where = tuple(_condition(entry) for entry in stored["where"])
        found = Slice(str(stored["model"]), where, str(stored["of"]))
    except (ValueError, TypeError, KeyError, IndexError):
        raise InputError(f"the slice {address[:200]!r} cannot be read; expected: {CONDITION_FORMS}") from None
    if found.of not in UNITS or not where:
        raise InputError(f"the slice {address[:200]!r} is not of {', '.join(UNITS)}, or has no condition")
    return found


def _condition(entry: Sequence[str | float | None]) -> Condition:
    name = entry[0]
    if not isinstance(name, str) or len(entry) not in (2, 3):
        raise ValueError(entry)
    if len(entry) == 2:
        return Condition(name, None if entry[1] is None else str(entry[1]))
    low, high = (None if bound is None else float(bound) for bound in entry[1:])
    return Condition(name, low=low, high=high, is_number=True)


def _of_category(one: Condition) -> str:
    name = one.feature.removeprefix(METADATA)
    shown = f"‘{one.title or one.value}’"
    if one.value is None:
        return f"without {'a class' if name == 'class' else name}"
    prefix = {
        "tag": "tagged",
        "class": "of class",
        "perturbation": "perturbed by",
        "topic": "about",
        "holds": "with a",
        "size": "of size",
    }.get(one.feature)
    return f"{prefix} {shown}" if prefix else f"with {name} {shown}"


def _of_number(one: Condition) -> str:
    if one.feature in COUNTED:
        return f"with {_count_words(one)}"
    thing, unit = CALLED.get(one.feature, (one.feature.removeprefix(METADATA), ""))
    unit = f" {unit}" if unit else ""
    of = " of" if one.feature in CALLED else ""
    above = f"{'more than' if of else 'above'} {write_number(one.low)}" if one.low is not None else ""
    below = f"at most {write_number(one.high)}" if one.high is not None else ""
    return f"with {thing}{of} {' and '.join(filter(None, (above, below)))}{unit}"


def _count_words(one: Condition) -> str:
    single, many = COUNTED[one.feature]
    low, high = one.low, one.high
    if high is None:
        return f"more than {write_number(low)} {single if low == 1 else many}"
    if high == 0:
        return f"no {single}"
    if low is None:
        return f"at most {write_number(high)} {single if high == 1 else many}"
    if low == high - 1:
        return f"{write_number(high)} {single if high == 1 else many}"
    return f"{write_number(low + 1)} to {write_number(high)} {many}"


def write_number(value: float | None) -> str:
    """Return a number with four significant digits, whole ones up to LARGE in full; "" for None."""
    if value is None:
        return ""
    shown = value if value == round(value) and abs(value) <= LARGE else float(f"{value:.4g}")
    return f"{shown:,.0f}" if shown == round(shown) and abs(shown) < HUGE else f"{shown:.4g}"
