"""Problems and Loaded: everything wrong with an upload is collected before anything is raised."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from metrics.core.errors import InputError, InputProblem
from metrics.core.file_kinds import upload_of
from metrics.core.input_problems import short
from metrics.core.receipt import EXAMPLE_CHARACTERS, WORDS, FileQuestion, Receipt, ReceiptLine, Use, sorted_receipt

T = TypeVar("T")


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """The result of reading an upload: the value, the problems of the rows left out, and notes for the user.

    `missing` counts the (case, model) pairs of the suite that the outputs do not answer; they are no error.
    """

    value: T
    problems: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()
    missing: int = 0


class Problems:
    """Everything wrong with an upload: problems of rows, which can be left out, and fatal ones; and its receipt.

    `answers` are a person's to the questions about each file: {file: {question: choice}}, "" for every file.
    """

    def __init__(self, keep_good_rows: bool = False):
        self.keep_good_rows = keep_good_rows
        self.keep_unknown_classes = False  # predictions of classes that the suite does not have are no problems
        self.fatal = False
        self.left_out = 0
        self.answers: dict[str, Mapping[str, str]] = {}
        self._files: dict[str, int] = {}
        self._found: list[InputProblem] = []
        self._receipt: dict[tuple[str, str, Use, str], ReceiptLine] = {}

    def add(
        self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None, *,
        fatal: bool = False,
    ) -> None:  # fmt: skip
        """Record one problem; leaving rows out does not fix a fatal one."""
        self.extend([InputProblem(file, found, expected, row, column, fatal)])
        self.fatal |= fatal

    def skip(self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None) -> None:
        """Record the problem of a record that is left out."""
        self.left_out += 1
        self.add(file, found, expected, row, column)

    def extend(self, problems: Iterable[InputProblem]) -> None:
        """Record problems found elsewhere."""
        for problem in problems:
            self._files.setdefault(problem.file, len(self._files))
            self._found.append(problem)

    def note(
        self, file: str, place: str, use: Use, meaning: str, count: int | None = None, example: object = "",
        question: str = "", answers: tuple[str, ...] = (), asks: str = "",
    ) -> None:  # fmt: skip
        """Record what became of a part of a file; see ReceiptLine. Counts of the same part add up."""
        key = (file, short(place), use, question)
        before = self._receipt.get(key)
        if before is not None and before.count is not None and count is not None:
            count += before.count
        text = (before.example if before else "") or short(str(example), EXAMPLE_CHARACTERS)
        self._receipt[key] = ReceiptLine(file, key[1], use, meaning, count, text, question, answers, asks)

    def is_noted(self, file: str, place: str) -> bool:
        """Return whether it is recorded what became of that part of a file, and not only what was decided about it."""
        return any((file, short(place), use, "") in self._receipt for use in WORDS if use != "asked")

    @property
    def receipt(self) -> Receipt:
        """What became of each part of the files so far."""
        return sorted_receipt(self._receipt.values())

    def ask(
        self, file: str, question: FileQuestion, found: str, *, default: str | None = None, place: str | None = None,
        row: int | None = None,
    ) -> str | None:  # fmt: skip
        """Return the answer to a question about a file, else `default`; without both it is a fatal problem, and None.

        `place` is the column or path that it is about. The receipt says what was decided, and by whom.
        """
        answer = self.answer(file, question.name)
        if answer is not None and not question.takes(answer):
            found, default, answer = f"the answer {answer!r}", None, None
        chosen = answer or default
        if chosen is None:
            self.extend([InputProblem(file, found, question.expected, row, place, True, 1, question)])
            self.fatal = True
            return None
        said = f"{question.name}={chosen}"
        others = " or ".join(each for each in question.answers if each != said)
        seems = f"as it seems{'; else ' * bool(others)}{others}"
        words = f"{found}: {said}, {'as you said' if answer else seems}"
        answers = (chosen, *(choice for choice in question.choices if choice != chosen))
        self.note(
            file, place or question.name, "asked", words, question=question.name, answers=answers, asks=question.text
        )
        return chosen

    def answer(self, file: str, question: str) -> str | None:
        """Return a person's answer to a question about a file; None for none."""
        named = (self.answers.get(name, {}) for name in (file, upload_of(file), ""))
        return next((own[question] for own in named if question in own), None)

    def absorb(self, error: InputError) -> None:
        """Record the problems of a file that could not be read at all."""
        seen = {replace(problem, fatal=True) for problem in self._found}
        fatal = (replace(problem, fatal=True) for problem in error.problems)
        self.extend(problem for problem in fatal if problem not in seen)
        self.fatal = True

    def __len__(self) -> int:
        return len(self._found)

    @property
    def listed(self) -> tuple[InputProblem, ...]:
        """All problems, by file in the order given, then by row."""
        return tuple(sorted(self._found, key=lambda problem: (self._files[problem.file], problem.row or 0)))

    def stop(self) -> None:
        """Raise InputError where reading cannot continue, whether or not bad rows may be left out."""
        if self.fatal:
            raise InputError(self.listed)

    def check(self) -> None:
        """Raise InputError where something is wrong and bad rows may not be left out, or that would not fix it."""
        if self._found and (self.fatal or not self.keep_good_rows):
            raise InputError(self.listed)

    def fail(
        self, file: str, found: str, expected: str, row: int | None = None, column: str | None = None
    ) -> InputError:
        """Return the error to raise where reading cannot continue: this problem after all others."""
        self.add(file, found, expected, row, column, fatal=True)
        return InputError(self.listed)


def first_line(error: BaseException) -> str:
    """Return the first line of what a library's error says, at most 200 characters."""
    text = re.sub(r" <_io\.\w+ object at \w+>", "", str(error)).strip()
    return (text or type(error).__name__).splitlines()[0][:200]
