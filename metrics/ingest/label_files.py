"""People's labels of outputs, from a long table (a label a row) or a wide one (a column a criterion, or a rater)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats
from metrics.core.schema import LABEL_KEY, LABELS, Sampling, now
from metrics.core.suite import Suite
from metrics.ingest import arrays
from metrics.ingest.arrays import as_mask, is_null
from metrics.ingest.format_table import read_table
from metrics.ingest.given_files import LONGEST, RATER_COLUMN, SOLE_RATER, GivenFile, chosen_columns, known_cases
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import AS_IT_SEEMS, Problems, Reading
from metrics.ingest.tables.columns import OUTPUT_ALIASES, SUITE_ALIASES, fold
from metrics.ingest.tables.decimals import NUMBER

ALIASES: dict[str, tuple[str, ...]] = {
    "case_id": (*SUITE_ALIASES["case_id"], "idx", "case"),
    "model": OUTPUT_ALIASES["model"],
    "rater": ("annotator", "annotator_id", "rater_id", "labeler", "labeller", "reviewer", "worker", "worker_id"),
    "criterion": ("metric", "dimension", "aspect"),
    "label": ("human_label", "verdict", "rating", "grade", "human_score"),
}
WORDS = dict.fromkeys(("pass", "passed", "yes", "true", "good", "correct", "ok"), 1.0)
WORDS |= dict.fromkeys(("fail", "failed", "no", "false", "bad", "incorrect", "wrong"), 0.0)
UNSURE = ("unsure", "unknown", "not sure", "?", "n/a")
EXPECTED = "pass, fail, unsure or a number"
SOLE_CRITERION = "label"


def read_labels(
    path: str | Path, *, suite: Suite, models: Sequence[str], mapping: Mapping[str, str] | None = None,
    sampling: Sampling = "unknown", keep_good_rows: bool = False, filename: str | None = None,
    reading: Reading = AS_IT_SEEMS,
) -> GivenFile:  # fmt: skip
    """Return the labels in a table (CSV, JSONL, Excel …), for the cases of `suite` and the outputs of `models`.

    Long form: case_id, model, rater, criterion, label. Wide form: no label column, but one for each criterion
    (faithfulness, fluency …) or each rater (annotator1, annotator2 …) that holds nothing but labels. A label is pass,
    fail, unsure, or a number; an empty cell of a wide table is no label. `model` may be missing where there is one
    model, `rater` where each case has one label. `mapping` {canonical: column} goes before the aliases. `sampling` says
    how the labelled cases were chosen.

    InputError with every problem at once; with `keep_good_rows` only where the file as a whole cannot be used.
    """
    problems = Problems(keep_good_rows)
    sheet, notes = read_table(path, filename, problems, reading)
    names = tuple(sheet.table.column_names)
    columns = chosen_columns(names, mapping or {}, problems, sheet.file, ALIASES)
    if "case_id" not in columns:
        raise problems.fail(sheet.file, "no column with the case ids", "a column " + _aliases("case_id"), 1)
    rest = [name for name in names if name not in columns.values()]
    if "label" in columns:
        form, held = "long", [columns["label"]]
    else:
        raters = [name for name in rest if RATER_COLUMN.fullmatch(fold(name))]
        form = "raters" if raters and "rater" not in columns else "criteria"
        held = raters if form == "raters" else [name for name in rest if _is_labels(sheet.table[name])]
        if not held:
            found = "no column of labels among " + (", ".join(rest) or "the others")
            expected = f"a column {_aliases('label')}, or one a criterion or rater, of {EXPECTED}"
            raise problems.fail(sheet.file, found, expected, 1)
    names_of = {"case_id": known_cases(sheet, columns["case_id"], suite)}
    names_of["model"] = _models(sheet, columns, models, notes)
    names_of["rater"] = _named(sheet, columns, "rater", SOLE_RATER)
    names_of["criterion"] = _named(sheet, columns, "criterion", SOLE_CRITERION)
    if form != "raters" and "rater" not in columns:
        notes.append(f"No column names the raters: all labels count as one rater's, “{SOLE_RATER}”.")
    parts = list(_parts(sheet, form, held, names_of))
    _check_scales(sheet, parts)
    _check_again(sheet, parts)
    problems.check()
    chosen = []
    moment = now()
    for part in parts:
        kept = part.given & ~sheet.bad
        rows, count = pa.array(np.flatnonzero(kept)), int(kept.sum())
        own = {name: column.take(rows) for name, column in part.names.items()}
        own |= {"value": arrays.floats(part.values[kept]), "row": rows}
        own |= {"sampling": pa.repeat(sampling, count), "given": pa.repeat(moment, count)}
        own |= {name: pa.nulls(count, LABELS.field(name).type) for name in ("low", "high", "number")}
        chosen.append(pa.table(own))
    whole = pa.concat_tables(chosen)
    # in the order of the file: by row, then by column
    whole = whole.take(pc.sort_indices(whole, [("row", "ascending")])).select(LABELS.names).cast(LABELS)
    if not len(whole):
        raise problems.fail(sheet.file, "no label", f"at least one cell with {EXPECTED}")
    ignored = tuple(name for name in rest if name not in held)
    return GivenFile(whole, sheet.file, form, columns, tuple(held), ignored, names, problems.listed, tuple(notes))


def _aliases(canonical: str) -> str:
    return ", ".join((canonical, *ALIASES[canonical]))


def _is_labels(column: pa.ChunkedArray) -> bool:
    if not pa.types.is_string(column.type):
        return False
    words = {text.strip().casefold() for text in column.drop_null().unique().to_pylist()} - {""}
    return bool(words) and all(_value(word) is not None for word in words)


def _value(word: str) -> float | None:
    """Return a label as a number, NaN for unsure, None where it is not a label; `word` is trimmed and case-folded."""
    if word in UNSURE:
        return float("nan")
    if word in WORDS:
        return WORDS[word]
    return float(word) if re.fullmatch(NUMBER, word) and np.isfinite(float(word)) else None


def _models(sheet: Sheet, columns: Mapping[str, str], models: Sequence[str], notes: list[str]) -> pa.ChunkedArray:
    if "model" not in columns:
        if len(models) > 1:
            found = "no column with the models"
            expected = f"a column {_aliases('model')}: the run has " + ", ".join(models)
            raise sheet.problems.fail(sheet.file, found, expected, 1)
        notes.append(f"No column names the model: the labels belong to the run's only model, {models[0]}.")
        return pa.chunked_array([pa.repeat(models[0], len(sheet))])
    column = sheet.required(columns["model"], "the name of the model")
    unknown = ~is_null(column) & ~as_mask(pc.is_in(column, pa.array(list(models), pa.string())))
    sheet.report(unknown, columns["model"], column, "a model of the run: " + ", ".join(models))
    return column


def _named(sheet: Sheet, columns: Mapping[str, str], canonical: str, absent: str) -> pa.ChunkedArray:
    if canonical not in columns:
        return pa.chunked_array([pa.repeat(absent, len(sheet))])
    column = sheet.required(columns[canonical], f"the name of the {canonical}")
    long = as_mask(pc.greater(pc.utf8_length(column), LONGEST))
    sheet.report(long, columns[canonical], column, f"a name of at most {LONGEST} characters")
    return column


@dataclass(frozen=True)
class LabelColumn:
    """The labels in one column: whose they are (`names`), their values, in which rows, and which are words."""

    column: str
    names: Mapping[str, pa.ChunkedArray]
    values: Floats
    given: Bools
    worded: Bools


def _parts(sheet: Sheet, form: str, held: Sequence[str], names: Mapping[str, pa.ChunkedArray]) -> Iterator[LabelColumn]:
    for name in held:
        own = dict(names)
        if form != "long":
            own["rater" if form == "raters" else "criterion"] = pa.chunked_array([pa.repeat(name, len(sheet))])
        column = sheet.text(name)
        words = [None if text is None or not text.strip() else text.strip().casefold() for text in column.to_pylist()]
        read = {word: _value(word) for word in words if word is not None}
        there = np.array([word is not None for word in words], bool)
        wrong = np.array([word is not None and read[word] is None for word in words], bool)
        sheet.report(wrong if form != "long" else wrong | ~there, name, column, EXPECTED)
        values = np.array([np.nan if word is None else read[word] for word in words], np.float64)  # None becomes NaN
        yield LabelColumn(name, own, values, there & ~wrong, np.array([word in WORDS for word in words], bool))


def _check_scales(sheet: Sheet, parts: Sequence[LabelColumn]) -> None:
    """Record pass and fail as problems where other labels of the criterion are grades, such as 1 … 5."""
    of_rows = [np.array(part.names["criterion"].fill_null("").to_pylist(), object) for part in parts]
    graded: set[str] = set()
    for part, criteria in zip(parts, of_rows, strict=True):
        grade = part.given & ~np.isnan(part.values) & ~np.isin(part.values, (0.0, 1.0))
        graded |= set(criteria[grade])
    for part, criteria in zip(parts, of_rows, strict=True):
        inside = np.array([criterion in graded for criterion in criteria], bool)
        expected = "a number, as the other labels of the criterion"
        sheet.report(part.worded & inside, part.column, sheet.text(part.column), expected)


def _check_again(sheet: Sheet, parts: Sequence[LabelColumn]) -> None:
    """Record as a problem a second label of one rater for the same output and criterion."""
    expected = "one label per case, model, rater and criterion (a column of raters distinguishes several)"
    for part in parts:
        again, first = arrays.duplicates([pc.fill_null(part.names[name], "") for name in LABEL_KEY])
        ids = part.names["case_id"].to_pylist()
        texts = [f"{ids[row]!r} labelled again, first in row {sheet.rows[place]}" for row, place in enumerate(first)]
        sheet.report(again & part.given & part.given[first], None, texts.__getitem__, expected)
