"""What files of labels and of preferences have in common: their columns, their cases, and how they were understood."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputProblem
from metrics.core.suite import Suite
from metrics.ingest.arrays import as_mask, flat
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables import id_matches
from metrics.ingest.tables.columns import fold

RATER_COLUMN = re.compile(r"(rater|annotator|labell?er|reviewer|human|person|worker)_?[0-9]+")
SOLE_RATER = "people"  # where a file does not name the raters
LONGEST = 200  # characters of a rater's or a criterion's name


@dataclass(frozen=True)
class GivenFile:
    """How a file was understood: its rows (schema LABELS or PREFERENCES), and what its columns were taken for.

    `columns` is canonical name → column; `value_columns` hold the labels or the winners: one column ("long"), one for
    each criterion ("criteria") or one for each rater ("raters"), as `form` says; `ignored` columns are not read.
    `problems` are those of the rows left out; `notes` say what was assumed where the file does not say.
    """

    table: pa.Table
    file: str
    form: str
    columns: Mapping[str, str]
    value_columns: tuple[str, ...]
    ignored: tuple[str, ...]
    file_columns: tuple[str, ...]
    problems: tuple[InputProblem, ...]
    notes: tuple[str, ...]


def chosen_columns(
    names: Sequence[str], mapping: Mapping[str, str], problems: Problems, file: str, known: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return canonical name → column: the user's mapping first, then the `known` names and their aliases."""
    chosen: dict[str, str] = {}
    for canonical, column in mapping.items():
        if canonical not in known:
            problems.add(file, f"a mapping of {canonical!r}", "one of " + ", ".join(known), fatal=True)
        elif column not in names:
            problems.add(file, f"no column {column!r} for {canonical}", "one of " + ", ".join(names), fatal=True)
        else:
            chosen[canonical] = column
    problems.stop()
    folded = {fold(name): name for name in reversed(names)}
    for canonical, aliases in known.items():
        for alias in (canonical, *aliases):
            if canonical not in chosen and alias in folded and folded[alias] not in chosen.values():
                chosen[canonical] = folded[alias]
    return chosen


def known_cases(sheet: Sheet, column: str, suite: Suite) -> pa.ChunkedArray:
    """Return the case ids of the rows; those that are missing, or of no case of `suite`, are problems."""
    case_ids = sheet.required(column, "a case id")
    unknown = ~as_mask(pc.is_in(case_ids, flat(suite.cases["case_id"])))
    expected = f"the case_id of one of the {len(suite):,} cases of the suite"
    id_matches.check_known(sheet, column, case_ids, unknown, suite.cases["case_id"], expected=expected)
    return case_ids
