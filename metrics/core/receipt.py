"""The receipt of a file: what became of each of its parts, used, kept, not used with the reason, or asked about."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Use = Literal["used", "kept", "unused", "asked"]
ORDER: tuple[Use, ...] = ("asked", "unused", "kept", "used")  # what needs a person's eyes comes first
WORDS: dict[Use, str] = {
    "used": "used", "kept": "kept as metadata", "unused": "not used", "asked": "decided by an answer",
}  # fmt: skip
EXAMPLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question about how a file is to be read, that only a person can answer: `name=choice` is an answer."""

    name: str
    text: str
    choices: tuple[str, ...]

    @property
    def expected(self) -> str:
        """What answers it, for a message."""
        answers = " or ".join(f"{self.name}={choice}" for choice in self.choices)
        return f"an answer, --read {answers}. {self.text}"


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """What became of one part of a file.

    `place` is a column, a path such as `annotations[].attributes.color`, a member of an archive, or `rows`; `meaning`
    is the field that a used part is, the metadata column that a kept part is, why a part is not used, or what a part
    was asked about and by whom it was answered. `count` are cells, objects or rows, None where nobody counts them.
    """

    file: str
    place: str
    use: Use
    meaning: str
    count: int | None = None
    example: str = ""

    def __str__(self) -> str:
        words = {"used": "is", "kept": "is kept as", "unused": "is not used:", "asked": "was decided:"}[self.use]
        count = "" if self.count is None else f" ({self.count:,})"
        example = f", such as {self.example!r}" if self.example and self.use != "used" else ""
        return f"{self.file}: {self.place}{count} {words} {self.meaning}{example}"

    def as_row(self) -> dict[str, Any]:
        """Return the line as a flat record, for tables and JSON."""
        return asdict(self)


Receipt = tuple[ReceiptLine, ...]


def receipt_of(rows: Iterable[dict[str, Any]]) -> Receipt:
    """Return the receipt that records of `ReceiptLine.as_row` hold."""
    return tuple(ReceiptLine(**row) for row in rows)


def sorted_receipt(lines: Iterable[ReceiptLine]) -> Receipt:
    """Return the lines, those of each file together: questions first, then what is not used, kept, used."""
    files: dict[str, list[ReceiptLine]] = {}
    for line in lines:
        files.setdefault(line.file.partition("/")[0], []).append(line)
    return tuple(line for own in files.values() for line in sorted(own, key=lambda line: ORDER.index(line.use)))


def short_lines(receipt: Receipt) -> list[str]:
    """Return a line for each file: how much of it is used, kept, not used (named) and decided."""
    files: dict[str, list[ReceiptLine]] = {}
    for line in receipt:
        files.setdefault(line.file.partition("/")[0], []).append(line)
    said = []
    for file, own in files.items():
        parts = []
        for use in reversed(ORDER):
            named = [line.place for line in own if line.use == use]
            if named:
                names = "" if use == "used" else f" ({', '.join(named[:5])}{', …' * (len(named) > 5)})"
                parts.append(f"{len(named):,} {WORDS[use]}{names}")
        said.append(f"{file}: {', '.join(parts)}")
    return said
