"""The receipt of a file: what became of each of its parts, used, kept, not used with the reason, or asked about."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from metrics.core.file_kinds import upload_of

Use = Literal["used", "kept", "unused", "asked"]
ORDER: tuple[Use, ...] = ("asked", "unused", "kept", "used")  # what needs a person's eyes comes first
WORDS: dict[Use, str] = {"used": "used", "kept": "kept as metadata", "unused": "not used", "asked": "decided"}
ROWS = "rows"  # the place of the records of a file
COPIES = "rows again"  # the place of rows that are exact copies of others
JOINED = "by which the case is found"  # the end of the meaning of the column, or order, that tells it
APART = ((ROWS, "used"), (COPIES, "unused"))  # what a summary says in words of its own
EXAMPLE_CHARACTERS = 80


@dataclass(frozen=True, slots=True)
class FileQuestion:
    """A question about how a file is to be read, that only a person can answer: `name=choice` is an answer.

    Without `choices` any text is one; some of the `parts` with commas between are one too.
    """

    name: str
    text: str
    choices: tuple[str, ...]
    option: Literal["read", "map"] = "read"  # what is told the answer; `map` what the column of that name is
    parts: tuple[str, ...] = ()

    def takes(self, answer: str) -> bool:
        """Return whether a text is an answer."""
        return not self.choices or answer in self.choices or set(answer.split(",")) <= {*self.parts}

    @property
    def answers(self) -> tuple[str, ...]:
        """What answers it."""
        if self.option == "map":
            return tuple(f"{choice}={self.name}" for choice in self.choices)
        return tuple(f"{self.name}={choice}" for choice in self.choices or ("…",))

    @property
    def expected(self) -> str:
        """What answers it, for a message that knows no door; see `metrics.library.file_options`."""
        return self.expects(self.answers)

    def expects(self, answers: Iterable[str]) -> str:
        """Return what is expected, for a message: one of the answers, as they are given at a door."""
        what = "an answer," if self.option == "read" else "a mapping that says which:"
        return f"{what} {' or '.join(answers)}. {self.text}{' Some of these, with commas between.' * bool(self.parts)}"


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """What became of one part of a file.

    `place` is a column, a path such as `annotations[].attributes.color`, a member of an archive, or `rows`; `meaning`
    is the field that a used part is, the metadata column that a kept part is, why a part is not used, or what a part
    was asked about and by whom it was answered (`question` is the name of that). `count` are cells, objects or rows,
    None where nobody counts them.
    """

    file: str
    place: str
    use: Use
    meaning: str
    count: int | None = None
    example: str = ""
    question: str = ""
    # to that question: the one taken, then the others; and its sentence. No run keeps these.
    answers: tuple[str, ...] = ()
    asks: str = ""

    def __str__(self) -> str:
        words = {"used": "is", "kept": "is kept as", "unused": "is not used:", "asked": "was decided:"}[self.use]
        count = "" if self.count is None else f" ({self.count:,})"
        example = f", such as {self.example!r}" if self.example and self.use != "used" else ""
        return f"{self.file}: {self.place}{count} {words} {self.meaning}{example}"

    def as_row(self) -> dict[str, Any]:
        """Return the line as a flat record, for tables and JSON."""
        return {name: value for name, value in asdict(self).items() if name not in ("answers", "asks")}


Receipt = tuple[ReceiptLine, ...]


def by_file(receipt: Iterable[ReceiptLine]) -> dict[str, list[ReceiptLine]]:
    """Return the lines of each file; those of a member of an archive are of the archive."""
    files: dict[str, list[ReceiptLine]] = {}
    for line in receipt:
        files.setdefault(upload_of(line.file), []).append(line)
    return files


def sorted_receipt(lines: Iterable[ReceiptLine]) -> Receipt:
    """Return the lines, those of each file together: questions first, then what is not used, kept, used."""
    return tuple(one for own in by_file(lines).values() for one in sorted(own, key=lambda one: ORDER.index(one.use)))


def joins_of(lines: Iterable[ReceiptLine]) -> list[str]:
    """Return what the rows of a file were joined by, in words, where that was not a case id."""
    return [f"joined by {line.place}" for line in lines if line.use == "used" and line.meaning.endswith(JOINED)]


def short_lines(receipt: Iterable[ReceiptLine]) -> list[str]:
    """Return a line for each file: how many rows and parts of it are used, and which are kept or not used.

    What was decided about it, with what else it could be, follows in lines of its own.
    """
    said = []
    for file, own in by_file(receipt).items():
        rows = [line.count or 0 for line in own if line.place == ROWS and line.use == "used"]
        parts = [f"{number:,} row{'s' * (number != 1)}" for number in rows]
        for use in reversed(ORDER[1:]):
            named = [line.place for line in own if line.use == use and (line.place, use) not in APART]
            if named:
                names = "" if use == "used" else f" ({', '.join(named[:5])}{', …' * (len(named) > 5)})"
                what = f" part{'s' * (len(named) > 1)}" if use == "used" else ""
                parts.append(f"{len(named):,}{what} {WORDS[use]}{names}")
        said.append(f"{file}: {', '.join([*parts, *joins_of(own)])}")
        copies = sum(line.count or 0 for line in own if line.place == COPIES)
        said += [f"{file}: {copies:,} row{'s are copies' if copies > 1 else ' is a copy'} of others"] * bool(copies)
        decided: dict[tuple[str, ...], list[ReceiptLine]] = {}
        for line in own:
            if line.use == "asked":
                decided.setdefault((line.file, line.question, line.meaning.rpartition(": ")[2]), []).append(line)
        said += [f"{line}{f'; and so for {len(more):,} more' if more else ''}" for line, *more in decided.values()]
    return said
