"""Which case each row of a file without case ids is of: by a column that both files have, else by the order of rows."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Ints
from metrics.core.fields import FIELDS
from metrics.core.receipt import JOINED, FileQuestion
from metrics.core.suite import METADATA, Suite
from metrics.ingest import arrays
from metrics.ingest.arrays import as_mask, flat
from metrics.ingest.media.suite_images import IMAGE_NAME
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.columns import IMAGE_NAMES, Columns, fold, spellings
from metrics.ingest.tables.id_matches import ENOUGH, QUESTIONS, only_columns

Shared = Mapping[str, tuple[pa.Array, pa.Array]]  # a column that both have → its values in the file, and in the cases
IN_ORDER = "rows"
IDS = "a column with the case ids in both files"


def matched_ids(sheet: Sheet, columns: Columns, suite: Suite) -> pa.Array | None:
    """Return the ids of the cases that rows without ids are of, None where nothing says which; see `joined_rows`.

    A column with the suite's questions says it first, where each is asked once.
    """
    cases, questions = flat(suite.cases["case_id"]), plain_texts(suite.cases["question"])
    names = sorted(sheet.table.column_names, key=lambda name: fold(name) not in QUESTIONS)
    for name in names if are_different(questions) else ():
        places = pc.index_in(plain_texts(sheet.text(name)), questions, skip_nulls=True)
        named = fold(name) in QUESTIONS and places.null_count < len(places)
        if named or (len(sheet) and not places.null_count):
            sheet.problems.note(sheet.file, name, "used", f"the question, {JOINED}", len(sheet))
            sheet.report(arrays.is_null(places), name, sheet.text(name), "a question of the suite")
            return cases.take(places)
    groups = [sheet.text(columns.columns[name]) for name in ("model", "run") if name in columns.columns]
    models = groups[:1] if "model" in columns.columns else [pa.nulls(len(sheet), pa.string())]
    in_order = arrays.occurrences(models) - 1
    counts = np.bincount(in_order, minlength=1)
    fits = len(counts) == len(cases) and bool((counts == counts[0]).all())
    ids = _columns_of_ids(sheet, columns, cases)
    shared = {**ids, **_shared_columns(sheet, columns, suite)}
    unsure = set(ids) if pc.all(pc.utf8_is_digit(cases)).as_py() else set()
    places = joined_rows(sheet, shared, groups, in_order if fits else None, unsure=unsure)
    return None if places is None else cases.take(places)


def joined_rows(
    sheet: Sheet,
    shared: Shared,
    groups: Sequence[pa.ChunkedArray],
    in_order: Ints | None,
    whose: str = "the suite",
    unsure: Collection[str] = (),
) -> pa.Array | None:
    """Return the place of each row's case among the cases of `whose`; None where nothing says which.

    A column says it whose values are all different there, and are all known; where several say different things, a
    person is asked. `in_order` are the places by the order of rows, None where there are not as many: a person has to
    say that they count, and no column that both have may contradict them. `groups`: rows of one group are of different
    cases; `unsure`: columns that say it only where a person says so.
    """
    keys = {name: pc.index_in(own, theirs, skip_nulls=True) for name, (own, theirs) in shared.items()
            if are_different(theirs) and _share_known(own, theirs) >= ENOUGH}  # fmt: skip
    whole = [
        name for name, places in keys.items()
        if not places.null_count and not arrays.duplicates([*groups, places])[0].any()
    ]  # fmt: skip
    against = {} if in_order is None else _contradictions(shared, in_order, unsure)
    sure = [name for name in whole if name not in unsure]
    choices = (*(sure or whole or keys), *[IN_ORDER] * (in_order is not None and not against))
    told = " and ".join(f"{name} ({count:,} of {len(sheet):,} rows)" for name, count in against.items())
    found = f"no column with the case ids, {only_columns(sheet.table.column_names)}"
    if in_order is not None and not against:
        found += "; as many rows as cases"
    if not choices and not against:
        return None
    if not choices:
        found = f"no case ids, and the rows in another order by {told}"
        raise sheet.problems.fail(sheet.file, found, IDS, column=next(iter(against)))
    certain = bool(sure) and all(keys[name].equals(keys[sure[0]]) for name in sure)
    text = "What tells the case of a row?" + f" Their order differs by {told}." * bool(told)
    if choices == (IN_ORDER,):
        text = f"Are the rows in the order of {whose}'s cases? If not, say which column has their ids: case_id."
    question = FileQuestion("match", text, choices)
    chosen = sheet.problems.ask(sheet.file, question, found, default=sure[0] if certain else None, place="rows")
    sheet.problems.stop()
    if chosen == IN_ORDER:
        sheet.problems.note(sheet.file, "order of rows", "used", JOINED, len(sheet))
        return pa.array(in_order)
    name = str(chosen)
    sheet.problems.note(sheet.file, name, "used", f"the column {JOINED}", len(sheet))
    sheet.report(arrays.is_null(keys[name]), name, sheet.text(name), f"a value of the column {name} in {whose}")
    return keys[name]


def plain_texts(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return texts in one form of Unicode, without the spaces around them."""
    return pc.utf8_normalize(pc.utf8_trim_whitespace(flat(column)), form="NFC")


def are_different(values: pa.Array) -> bool:
    """Return whether there are values and no two are the same."""
    known = values.drop_null()
    return len(known) > 0 and len(known.unique()) == len(known)


def _share_known(own: pa.Array, theirs: pa.Array) -> float:
    return float(pc.mean(pc.is_in(own.drop_null(), theirs)).as_py() or 0)


def _contradictions(shared: Shared, in_order: Ints, unsure: Collection[str]) -> dict[str, int]:
    """Return the columns that have the same values in other rows of both → in how many."""
    found = {}
    for name, (own, theirs) in shared.items():
        if name in unsure:
            continue
        there = theirs.take(pa.array(in_order))
        again = _share_known(own, theirs) >= ENOUGH if are_different(theirs) else own.sort().equals(there.sort())
        if again and (count := int(as_mask(pc.not_equal(own, there)).sum())):
            found[name] = count
    return found


def _columns_of_ids(sheet: Sheet, columns: Columns, ids: pa.Array) -> dict[str, tuple[pa.Array, pa.Array]]:
    """Return the columns named as ids, under a name of their own such as question_id, beside the ids of the cases."""
    unnamed = [name for name in sheet.table.column_names if name not in columns.columns.values()]
    return {name: (plain_texts(sheet.text(name)), plain_texts(ids)) for name in unnamed if fold(name).endswith("id")}


def _shared_columns(sheet: Sheet, columns: Columns, suite: Suite) -> dict[str, tuple[pa.Array, pa.Array]]:
    """Return the columns of outputs that the cases have, too, and that say nothing of an answer."""
    known: dict[str, str] = {}  # what a column may be called → of the cases
    for name in suite.cases.column_names:
        own = name.removeprefix(METADATA)
        names = IMAGE_NAMES if name == IMAGE_NAME else spellings(name) if name in FIELDS else {fold(own)}
        known |= dict.fromkeys(names, name)
    found = {}
    for name in sheet.table.column_names:
        if name in columns.columns.values() or fold(name) not in known or fold(name) in spellings("case_id"):
            continue
        if (theirs := _one_value(suite.cases[known[fold(name)]])) is None:
            continue
        own = plain_texts(sheet.text(name))
        if pa.types.is_floating(theirs.type):
            try:
                own = pc.cast(own, theirs.type)
            except pa.ArrowInvalid:
                continue
        found[name] = own, theirs
    return found


def _one_value(column: pa.ChunkedArray) -> pa.Array | None:
    """Return a column of texts, numbers, or lists of one text as one value a row; None for others."""
    values = flat(column)
    if pa.types.is_list(values.type):
        rows = values.to_pylist()
        texts = [row[0] for row in rows if row]
        if any(len(row) > 1 for row in rows if row) or not all(isinstance(text, str) for text in texts):
            return None
        values = pa.array([row[0] if row else None for row in rows], pa.string())
    if pa.types.is_floating(values.type):
        return values
    return plain_texts(values) if pa.types.is_string(values.type) or pa.types.is_large_string(values.type) else None
