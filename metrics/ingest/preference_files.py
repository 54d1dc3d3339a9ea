"""Preferences made elsewhere: a table with two models and the winner in each row, or a column of winners per rater."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.schema import BOTH_BAD, CRITERION, PREFERENCE_KEY, PREFERENCES, By, now, preference
from metrics.core.suite import Suite
from metrics.ingest.arrays import as_mask
from metrics.ingest.format_table import read_table
from metrics.ingest.given_files import LONGEST, RATER_COLUMN, SOLE_RATER, GivenFile, chosen_columns, known_cases
from metrics.ingest.label_files import ALIASES as LABEL_ALIASES
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import AS_IT_SEEMS, Problems, Reading
from metrics.ingest.tables.columns import fold

ALIASES: dict[str, tuple[str, ...]] = {
    "case_id": (*LABEL_ALIASES["case_id"], "question_id"),
    "model_a": ("model_1", "model1", "first_model", "left_model"),
    "model_b": ("model_2", "model2", "second_model", "right_model"),
    "pair": ("cmp_key", "models"),
    "winner": ("preference", "preferred", "label", "verdict", "chosen"),
    "rater": (*LABEL_ALIASES["rater"], "judge"),
    "criterion": LABEL_ALIASES["criterion"],
    "note": ("reason", "comment"),
    "shown_first": ("first", "left"),
    "by": (),
}
FIRST = ("model_a", "model_1", "model1", "a", "1", "left", "first", "response1", "response_1", "[[a]]")
SECOND = ("model_b", "model_2", "model2", "b", "2", "right", "second", "response2", "response_2", "[[b]]")
TIES = ("tie", "0", "c", "[[c]]", "equal", "both", "both good", "draw", "tie (bothgood)")
BAD = ("tie (bothbad)", "bothbad", "both bad", "both_bad", "neither")
OUTCOMES = dict.fromkeys(FIRST, 1.0) | dict.fromkeys(SECOND, 0.0) | dict.fromkeys((*TIES, *BAD), 0.5)
EXPECTED = "model_a, model_b, tie, tie (bothbad), 1, 2, 0, or the name of one of the two models"
BETWEEN = ("_", " vs ", " vs. ", " - ", "-", " | ", "|", ",", ";", "/")  # the two names in a column `pair`


def read_preferences(
    path: str | Path, *, suite: Suite, models: Sequence[str], mapping: Mapping[str, str] | None = None,
    by: By = "people", a_first: bool = False, keep_good_rows: bool = False, filename: str | None = None,
    reading: Reading = AS_IT_SEEMS,
) -> GivenFile:  # fmt: skip
    """Return the preferences in a table (CSV, JSONL, Excel …) between outputs of `models` to cases of `suite`.

    Columns: case_id; model_a and model_b, or `pair` with both names (`bloom_llama`); winner, or one column per rater
    (annotator1, annotator2 …); and rater, criterion, note, shown_first (a model's name), by (people, judge) where there
    are any. A winner is model_a, model_b, tie, tie (bothbad), 1, 2, 0, left, right, or a model's name; an empty cell
    of a rater's column is no preference. by: whether people or judges prefer; a_first: whether model_a's answer was
    shown first (left), which is unknown otherwise.

    InputError with every problem at once; with `keep_good_rows` only where the file as a whole cannot be used.
    """
    problems = Problems(keep_good_rows)
    sheet, notes = read_table(path, filename, problems, reading)
    names = tuple(sheet.table.column_names)
    columns = chosen_columns(names, mapping or {}, problems, sheet.file, ALIASES)
    held, long = _winner_columns(sheet, columns), "winner" in columns
    case_ids = known_cases(sheet, columns["case_id"], suite)
    pairs = _pairs(sheet, columns, models)
    texts = {name: _texts(sheet, columns, name) for name in ("rater", "criterion", "note")}
    first = _known_texts(sheet, columns, "shown_first", pairs, "one of the two models, or nothing where it is unknown")
    if "shown_first" not in columns and a_first:
        first = [pair and pair[0] for pair in pairs]
    who = _known_texts(sheet, columns, "by", [("people", "judge")] * len(sheet), "people or judge")
    texts |= {"shown_first": first, "by": [each or by for each in who]}
    if long and "rater" not in columns:
        notes.append(f"No column names the raters: all preferences count as one rater's, “{SOLE_RATER}”.")
    if not any(first):
        notes.append("Which answer stood first is unknown, so position bias cannot be measured.")
    made = [each for column in held for each in _preferences(sheet, column, long, case_ids, pairs, texts)]
    _check_again(sheet, made)
    problems.check()
    moment = now()
    kept = [{**row, "given": moment} for place, row in made if not sheet.bad[place]]
    if not kept:
        raise problems.fail(sheet.file, "no preference", f"at least one cell with {EXPECTED}")
    ignored = tuple(name for name in names if name not in {*columns.values(), *held})
    for name in ignored:
        problems.note(sheet.file, name, "unused", "it is no column of preferences", len(sheet))
    table = pa.Table.from_pylist(kept, PREFERENCES)
    form = "long" if long else "raters"
    return GivenFile(table, sheet.file, form, columns, tuple(held), ignored, names, problems.listed, tuple(notes))


def _winner_columns(sheet: Sheet, columns: Mapping[str, str]) -> list[str]:
    """Return the column with the winners, else one for each rater; InputError without one, or without its cases."""
    problems, names = sheet.problems, sheet.table.column_names
    missing = [name for name in ("case_id", "model_a", "model_b") if name not in columns]
    for name in missing if not {"pair", "case_id"} <= columns.keys() else ():
        problems.add(sheet.file, f"no column {name}", f"a column {', '.join((name, *ALIASES[name]))}", fatal=True)
    raters = [name for name in names if RATER_COLUMN.fullmatch(fold(name)) and name not in columns.values()]
    held = [columns["winner"]] if "winner" in columns else raters
    if not held:
        expected = f"a column winner ({', '.join(ALIASES['winner'])}), or one a rater (annotator1 …), of {EXPECTED}"
        problems.add(sheet.file, "no column with the winner", expected, fatal=True)
    problems.stop()
    return held


def _pairs(sheet: Sheet, columns: Mapping[str, str], models: Sequence[str]) -> list[tuple[str, str] | None]:
    """Return the models of each row; None, and a problem, where they are not two models of the run."""
    known, expected = set(models), "two different models of the run: " + ", ".join(models)
    if "model_a" not in columns or "model_b" not in columns:
        name = columns["pair"]
        named = {f"{one}{mark}{other}": (one, other) for one, other in permutations(models, 2) for mark in BETWEEN}
        column = sheet.required(name, expected)
        found = [named.get((text or "").strip()) for text in column.to_pylist()]
    else:
        name = columns["model_b"]
        one, other = (sheet.required(columns[end], "a model") for end in ("model_a", "model_b"))
        column = pc.binary_join_element_wise(pc.fill_null(one, ""), pc.fill_null(other, ""), " – ")
        named_two = zip(one.to_pylist(), other.to_pylist(), strict=True)
        found = [(a, b) if a in known and b in known and a != b else None for a, b in named_two]
    sheet.report(np.array([pair is None for pair in found], bool) & ~sheet.bad, name, column, expected)
    return found


def _preferences(
    sheet: Sheet, column: str, long: bool, case_ids: pa.ChunkedArray, pairs: Sequence[tuple[str, str] | None],
    texts: Mapping[str, Sequence[str | None]],
) -> Iterator[tuple[int, dict[str, Any]]]:  # fmt: skip
    """Yield the preferences in a column, each with the index of its row; `texts` are those of the other columns."""
    outcomes, bad = _outcomes(sheet, column, pairs, need=long)
    for place, (pair, outcome) in enumerate(zip(pairs, outcomes, strict=True)):
        own = {name: values[place] for name, values in texts.items()}
        if pair is not None and outcome is not None and not sheet.bad[place]:
            yield place, preference(
                case_ids[place].as_py(), *pair, outcome, criterion=own["criterion"] or CRITERION,
                by="judge" if own["by"] == "judge" else "people", shown_first=own["shown_first"],
                rater=(own["rater"] or SOLE_RATER) if long else column,
                note=BOTH_BAD if bad[place] else own["note"] or "",
            )  # fmt: skip


def _outcomes(
    sheet: Sheet, name: str, pairs: Sequence[tuple[str, str] | None], need: bool
) -> tuple[list[float | None], list[bool]]:
    """Return the outcome of each row for its first model, and whether both answers are bad."""
    column = sheet.text(name)
    texts = [(text or "").strip() for text in column.to_pylist()]
    found: list[float | None] = []
    for text, pair in zip(texts, pairs, strict=True):
        if pair is not None and text in pair:
            found.append(float(text == pair[0]))
        else:
            found.append(OUTCOMES.get(text.casefold().removesuffix(".0")))
    wrong = np.array([one is None and (need or text != "") for one, text in zip(found, texts, strict=True)], bool)
    sheet.report(wrong, name, column, EXPECTED)
    return found, [text.casefold() in BAD for text in texts]


def _texts(sheet: Sheet, columns: Mapping[str, str], canonical: str) -> list[str | None]:
    if canonical not in columns:
        return [None] * len(sheet)
    name = columns[canonical]
    column = sheet.text(name)
    if canonical != "note":
        long = as_mask(pc.greater(pc.utf8_length(column), LONGEST))
        sheet.report(long, name, column, f"a name of at most {LONGEST} characters")
    return [text if text and text.strip() else None for text in column.to_pylist()]


def _known_texts(
    sheet: Sheet, columns: Mapping[str, str], canonical: str, known: Sequence[tuple[str, str] | None], expected: str
) -> list[str | None]:
    """Return the texts of a column that are among those `known` in their row; None where there is none."""
    texts = _texts(sheet, columns, canonical)
    if canonical in columns:
        wrong = [text and own and text not in own for text, own in zip(texts, known, strict=True)]
        name = columns[canonical]
        sheet.report(np.array(wrong, bool), name, sheet.text(name), expected)
    return texts


def _check_again(sheet: Sheet, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    """Record as a problem a second preference of one rater for the same case, models and criterion."""
    first: dict[tuple[Any, ...], int] = {}
    again, texts = np.zeros(len(sheet), bool), [""] * len(sheet)
    for place, row in rows:
        earlier = first.setdefault(tuple(row[name] for name in PREFERENCE_KEY), place)
        if earlier != place:
            again[place] = True
            texts[place] = f"{row['case_id']!r} compared again, first in row {sheet.rows[earlier]}"
    expected = "one preference per case, two models, rater and criterion (a column of raters distinguishes several)"
    sheet.report(again, None, texts.__getitem__, expected)
