"""What other systems call what is here: other_names.txt, the one table behind docs/coming-from.md, searches and hints.

Under `[System]` a row of their names, ours and where it differs: `theirs, … | ours | note`. Ours are in backticks (an
evaluator, EVALUATOR.METRIC or .PARAMETER, an option, a command) or titles of pages in italics, behind NEAREST where
they are only like it, or NONE.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

NONE, NEAREST = "–", "– nearest "
CODE, MARKS = re.compile(r"`([^`]+)`"), re.compile(r"[`*]")


class OtherName(NamedTuple):
    """A row of the table: the names `theirs` of a system, ours as Markdown, and a note in which it differs."""

    system: str
    theirs: tuple[str, ...]
    ours: str
    note: str

    @property
    def codes(self) -> list[str]:
        """Our names that stand in code."""
        return CODE.findall(self.ours)


@cache
def other_names() -> tuple[OtherName, ...]:
    """Return the rows of the table, in its order."""
    found, system = [], ""
    for line in Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            system = line.strip("[]")
        elif line:
            theirs, ours, note = (part.strip() for part in line.split("|"))
            found.append(OtherName(system, tuple(theirs.split(", ")), ours, note))
    return tuple(found)


@cache
def names_of(system: str) -> Mapping[str, OtherName]:
    """Return the rows of a system by its names."""
    return {name: row for row in other_names() if row.system == system for name in row.theirs}


def names_elsewhere(evaluator: str) -> list[str]:
    """Return what other systems call an evaluator, its metrics and its parameters."""
    rows = (row for row in other_names() if any(code.partition(".")[0] == evaluator for code in row.codes))
    return list(dict.fromkeys(name for row in rows for name in row.theirs))


def called_here(name: str, known: Collection[str] | None = None) -> str:
    """Return what another system's name is here: `g_eval, as DeepEval's GEval is called here`; empty where none has it.

    Where there are `known` names, only by those. Case, spaces and punctuation do not count.
    """
    said = dict[tuple[str, bool], list[tuple[str, str]]]()
    for row in other_names():
        theirs = next((each for each in row.theirs if _fold(each) == _fold(name)), None)
        ours = MARKS.sub("", row.ours.removeprefix(NEAREST))
        if known is not None:
            parts = (part for code in row.codes for part in (code, code.rpartition(".")[2]) if part in known)
            ours = ", ".join(dict.fromkeys(parts))
        if theirs and ours:
            said.setdefault((ours, row.ours.startswith(NONE)), []).append((f"{row.system}'s {theirs}", row.note))
    return " or ".join(_describe_rows(*key, *zip(*rows, strict=True)) for key, rows in said.items())


def _describe_rows(ours: str, is_like: bool, theirs: tuple[str, ...], notes: tuple[str, ...]) -> str:
    """Return a clause about rows that name the same of ours."""
    named, note = " and ".join(theirs), MARKS.sub("", "; ".join(filter(None, dict.fromkeys(notes))))
    what = f"{ours}, as {named} is called here"
    if is_like:
        what = f"{'nothing' if ours == NONE else f'{ours}, the nearest'}: {named} has no counterpart here"
    return what + (f" ({note})" if note else "")


def _fold(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()) or name
