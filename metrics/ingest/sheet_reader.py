"""From a table to a suite, outputs, or both: columns mapped, cells read, rows checked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.errors import InputError
from metrics.core.input_problems import InputProblem
from metrics.core.label_keys import keys_of, labels_of
from metrics.core.receipt import FileQuestion, Use
from metrics.core.suite import CASES, METADATA, Outputs, Suite, Task, conform
from metrics.ingest import arrays
from metrics.ingest.arrays import as_mask, flat, only
from metrics.ingest.leaf_notes import UNSCORED
from metrics.ingest.media.suite_images import IMAGE_NAME, SuiteImages, without_spoiled
from metrics.ingest.output_parts import VISION, Part, answered_twice, found_nothing, need_sizes, outputs_of
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Loaded, Problems
from metrics.ingest.tables import (
    class_scores,
    contexts,
    id_matches,
    keyed_labels,
    model_columns,
    number_targets,
    object_tables,
    row_joins,
    text_cases,
)
from metrics.ingest.tables.columns import (
    IMAGE_NAMES,
    NUMBER_ALIASES,
    OUTPUT_ALIASES,
    SUITE_ALIASES,
    Columns,
    Role,
    fold,
    is_detection,
    resolve,
)
from metrics.ingest.tables.id_matches import compose_names, meant_by_words, only_columns, suggestion
from metrics.ingest.tables.thoughts import strip_thoughts
from metrics.ingest.traces import trace_column


def suite_of(
    sheet: Sheet, name: str, task: Task | None, mapping: Mapping[str, str] | None, pictures: SuiteImages
) -> Loaded[Suite]:
    """Return the suite in a table: a row a case, or a row an object in an image."""
    problems = sheet.problems
    columns, task = columns_of(sheet, "suite", task, mapping)
    ask(sheet, columns)
    text_cases.leave_out_summaries(sheet, columns, task)
    need_rows(sheet)
    if task in VISION or (task is None and is_detection([*columns.columns, *columns.columns.values()])):
        if scores := columns.columns.get("score"):
            sheet.note_column(scores, "unused", UNSCORED)
        note_columns(sheet, columns, "suite")
        return _objects_suite(sheet, columns, name, task or "detection", pictures)
    task = task or task_of(columns)
    table = text_cases.cases(sheet, columns, task)
    if task == "classification" and "label" in columns.columns:
        keyed_labels.check_cases(sheet, columns.columns["label"], table["label"])
    text_cases.unique_cases(sheet, table)
    note_columns(sheet, columns, "suite")
    sheet.leave_out()
    problems.check()
    by_id = task == "classification" or fold(columns.columns.get("case_id", "")) in IMAGE_NAMES
    cases = take_images(only(table, ~sheet.bad), by_id, pictures)
    suite = replace(_text_suite(sheet, cases, name, task), left_out=problems.left_out, media=pictures.folder)
    return Loaded(suite, problems.listed, pictures.notes(len(suite)))


def take_images(cases: pa.Table, by_id: bool, pictures: SuiteImages) -> pa.Table:
    """Return the cases with the images that a column names, or without one, `by_id`, the case ids."""
    kept = (name for name in cases.column_names if name.startswith(METADATA))
    named = next((name for name in kept if fold(name.removeprefix(METADATA)) in IMAGE_NAMES), None)
    if pictures.images is None or (named is None and not by_id):
        return cases
    names = cases[named or "case_id"]
    return pictures.take(cases.drop_columns([named] if named else []).append_column(IMAGE_NAME, names))


def columns_of(
    sheet: Sheet, role: Role, task: Task | None, mapping: Mapping[str, str] | None, problems: Problems | None = None
) -> tuple[Columns, Task | None]:
    """Return what the columns of a sheet are, its labels gathered, and the task where they decide it."""
    keyed_labels.gather(sheet, role, task)
    text_cases.gather_criteria(sheet)
    if role != "outputs":
        text_cases.join_instructions(sheet, (mapping or {}).values())
    task = task or number_targets.task_of(sheet, role, mapping)
    found = sheet.problems if problems is None else problems
    columns = resolve(sheet.table.column_names, role, task, mapping, found, sheet.file)
    compose_names(sheet, columns, task)
    return number_targets.asked(sheet, columns, task, mapping), task


def task_of(columns: Columns) -> Task:
    """Return the task of cases that are no images: classification where a true class is their only expected answer,
    regression where a true number is.
    """
    found = columns.columns
    if "expected_answers" not in found and "label" not in found and {"true_value", "labels"} & found.keys():
        return "regression" if "true_value" in found else "classification"
    return "classification" if "label" in found and "expected_answers" not in found else "text"


def _text_suite(sheet: Sheet, table: pa.Table, name: str, task: Task) -> Suite:
    cases = conform(table, CASES)
    if not len(cases):
        raise sheet.problems.fail(sheet.file, "no valid row", "at least one case")
    texts = [label for label in cases["label"].unique().to_pylist() if label is not None]
    keys = keys_of(label for text in texts for label in labels_of(text)) if task == "classification" else ()
    several = {label for label in cases["labels"].combine_chunks().flatten().to_pylist() if label is not None}
    labels = sorted({label for text in texts for label in labels_of(text)} if keys else {*texts, *several})
    return Suite(name, task, cases, None, tuple(labels), label_keys=keys)


def _objects_suite(sheet: Sheet, columns: Columns, name: str, task: Task, pictures: SuiteImages) -> Loaded[Suite]:
    cases, index, ids = object_tables.image_cases(sheet, columns)
    cases = pictures.take(cases)
    if object_tables.are_shares(columns, sheet):
        cases = pictures.assume_sizes(cases)
    geometry, present = object_tables.geometry(sheet, columns, ids, object_tables.sizes_of(cases))
    more = object_tables.object_flags(sheet, columns) | object_tables.object_metadata(sheet, columns, ids)
    if sheet.problems.left_out and sheet.problems.keep_good_rows:
        found = f"{sheet.problems.left_out:,} rows of unknown images, as they cannot be read"
        expected = "rows that can be read: what detects their objects would count as false"
        sheet.problems.add(sheet.file, found, expected, fatal=True)
    sheet.leave_out()
    numbered = pa.array(np.arange(1, len(sheet) + 1))
    annotations = pa.table({"case_id": ids, "annotation_id": numbered, **geometry, **more})
    annotations = only(annotations, present & ~sheet.bad)
    kept = np.zeros(len(cases), bool)
    kept[index[~sheet.bad]] = True
    spoiled = [name for name, bad in zip(ids.to_pylist(), sheet.bad.tolist(), strict=True) if bad]
    cases, annotations = without_spoiled(sheet.problems, sheet.file, only(cases, kept), annotations, spoiled)
    labels = tuple(sorted(set(annotations["label"].to_pylist()) - {None}))
    return pictures.suite(
        sheet.file, name, task, cases, annotations, labels,
        empty=("no valid row", "at least one image"),
    )  # fmt: skip


def combined_of(
    sheet: Sheet, name: str, task: Task | None, mapping: Mapping[str, str] | None, model: str
) -> Loaded[tuple[Suite, Outputs]]:
    """Return suite and outputs from a table that has both in every row."""
    problems = sheet.problems
    if task in VISION or (task is None and is_detection(sheet.table.column_names)):
        raise problems.fail(sheet.file, "objects in images", "ground truth and predictions in files of their own")
    task = task or number_targets.task_of(sheet, "combined", mapping)
    model_columns.melt_models(sheet, task, mapping)
    columns, task = columns_of(sheet, "combined", task, mapping)
    ask(sheet, columns)
    text_cases.leave_out_summaries(sheet, columns, task)
    need_rows(sheet)
    given = columns
    columns = strip_thoughts(sheet, trace_column.unpack(sheet, columns, "combined"), "combined")
    task = task or task_of(columns)
    if task == "text" and not _has_answers(columns):
        raise _no_answers(sheet, ", or a file of outputs beside this one; of retrieval alone: the retriever as model")
    labels: tuple[str, ...] = ()
    classes: dict[str, str] = {}
    if task == "classification" and "label" in columns.columns:
        labels = tuple(sorted(set(sheet.text(columns.columns["label"]).to_pylist()) - {None}))
        classes = class_scores.class_columns(sheet, columns.unmapped, labels)
        unmapped = tuple(name for name in columns.unmapped if name not in classes.values())
        columns = replace(columns, unmapped=unmapped)
    suite_part = text_cases.cases(sheet, columns, task, answered=True)
    if task == "classification" and "label" in columns.columns:
        keyed_labels.check_cases(sheet, columns.columns["label"], suite_part["label"])
    outputs_columns = columns
    if task == "classification":  # in such a file `label` is the true class, and the prediction has a column of its own
        kept = {canonical: column for canonical, column in columns.columns.items() if canonical != "label"}
        outputs_columns = replace(columns, columns=kept, questions=())
    several = {"model", "run"} & columns.columns.keys()  # without ids or questions nothing says which rows are one case
    ids = None if several and {"case_id", "question"}.isdisjoint(columns.columns) else suite_part["case_id"]
    outputs_part = text_cases.outputs(sheet, outputs_columns, model, None, ids)
    note_columns(sheet, given, "combined", classes)
    part = answers_part(sheet, outputs_columns, outputs_part, classes, task, labels)
    if part.passages:
        suite_part = contexts.spread(sheet, suite_part, ("case_id",))
    suite_part, part.table, heads = text_cases.split_combined(sheet, suite_part, part.table)
    text_cases.known_cases(sheet, suite_part)
    if not heads.all():
        answered_twice([part])
    problems.check()
    suite = _text_suite(sheet, only(suite_part, _first_good(sheet, suite_part, heads)), name, task)
    loaded = outputs_of([part], suite, problems, once=True)
    notes: tuple[str, ...] = ()
    if task == "text" and "answer" not in columns.columns:  # contexts alone are a retriever's
        notes = (f"No column of {sheet.file} has answers: only what was retrieved can be scored.",)
    return Loaded((suite, loaded.value), loaded.problems, notes, loaded.missing)


def _has_answers(columns: Columns) -> bool:
    """Return whether a file of cases has answers too; contexts alone, without gold or a model, are none."""
    found = {name for name in text_cases.ANSWERED if name in columns.columns}
    scored = not columns.columns.keys().isdisjoint((*contexts.GOLD, "model"))
    return bool(found - {*contexts.LISTED}) or (bool(found) and scored)


def _first_good(sheet: Sheet, suite_part: pa.Table, heads: Bools) -> Bools:
    """Return the first good row of each case that has one."""
    if not sheet.bad.any():
        return heads
    rows = np.flatnonzero(~sheet.bad)
    again, _ = arrays.duplicates([suite_part["case_id"].take(pa.array(rows))])
    chosen = np.zeros(len(sheet), bool)
    chosen[rows[~again]] = True
    return chosen


def part_of(sheet: Sheet, suite: Suite, mapping: Mapping[str, str] | None, model: str, renamed: str | None) -> Part:
    """Return the outputs in a table, checked by themselves and against the suite."""
    keyed_labels.gather(sheet, "outputs", suite.task, suite)
    names, classes = sheet.table.column_names, {}
    if suite.task == "classification":
        classes = class_scores.class_columns(sheet, names, suite.labels)
    if not classes:
        model_columns.melt_models(sheet, suite.task, mapping, suite.labels)
        names = sheet.table.column_names
    names = [name for name in names if name not in classes.values()]
    columns = resolve(names, "outputs", suite.task, mapping, sheet.problems, sheet.file)
    compose_names(sheet, columns, suite.task, pa.array(suite.labels, pa.string()), suite.cases["case_id"])
    if classes and (more := class_scores.unlisted_classes(sheet, classes, columns.unmapped)):
        classes |= more
        columns = replace(columns, unmapped=tuple(name for name in columns.unmapped if name not in more))
    ask(sheet, columns)
    if suite.task in VISION:
        note_columns(sheet, columns, "outputs")
        return _objects_part(sheet, columns, suite, model, renamed)
    text_cases.leave_out_summaries(sheet, columns, suite.task)
    need_rows(sheet)
    given = columns
    columns = strip_thoughts(sheet, trace_column.unpack(sheet, columns, "outputs", suite), "outputs")
    ids = None if "case_id" in columns.columns else row_joins.matched_ids(sheet, columns, suite)
    table = text_cases.outputs(sheet, columns, model, renamed, ids)
    table = contexts.add_served(sheet, columns, table, suite)
    known = suite.cases["case_id"]
    if ids is None:
        if IMAGE_NAME in suite.cases.column_names:  # cases of images, which a file may call by their file names
            index = object_tables.find_cases(flat(table["case_id"]), suite.cases, sheet.problems, sheet.file)
            found = pc.coalesce(flat(known).take(index), flat(table["case_id"]))
            table = table.set_column(table.column_names.index("case_id"), "case_id", found)
        unknown = ~as_mask(pc.is_in(table["case_id"], flat(known)))
        id_matches.check_known(sheet, columns.columns["case_id"], table["case_id"], unknown, known, cases=suite.cases)
    note_columns(sheet, given, "outputs", classes)
    return answers_part(sheet, columns, table, classes, suite.task, suite.labels)


def answers_part(
    sheet: Sheet, columns: Columns, table: pa.Table, classes: dict[str, str], task: Task, labels: Sequence[str] = ()
) -> Part:
    """Return the answers, or the labels and scores, of a table whose outputs' columns are in `table`."""
    if task == "classification":
        if classes:
            found, rows = class_scores.wide(sheet, columns, classes, labels)
            return Part(sheet, table, found, rows)
        found, rows, repeats = class_scores.long(sheet, columns, table, labels)
        if repeats:
            keys = [table[name] for name in contexts.ANSWER_KEY]
            again, first = arrays.duplicates([*keys, found["label"]])
            sheet.report(
                again & ~sheet.bad, None, lambda row: f"the class of row {sheet.rows[first[row]]} again",
                "each class once per case and model",
            )  # fmt: skip
        return Part(sheet, table, found, rows, repeats=repeats)
    if task == "regression":
        if columns.columns.keys().isdisjoint(text_cases.PREDICTED):
            choices = ", ".join(("predicted_value", *NUMBER_ALIASES["predicted_value"]))
            found = f"no column with the predicted value, {only_columns(sheet.table.column_names)}"
            raise sheet.problems.fail(sheet.file, found, f"a column {choices}", 1)
        return Part(sheet, table)
    if not any(name in columns.columns for name in text_cases.ANSWERED):
        raise _no_answers(sheet)
    if not contexts.passage_rows(columns):
        return Part(sheet, table)
    contexts.check_passages(sheet, table)
    return Part(sheet, contexts.spread(sheet, table, contexts.ANSWER_KEY), passages=True)


def _no_answers(sheet: Sheet, or_else: str = " or retrieved_contexts") -> InputError:
    names = sheet.table.column_names
    near = suggestion(names, {name: OUTPUT_ALIASES[name] for name in text_cases.ANSWERED})
    expected = f"a column answer, output, response, …{or_else}{near}"
    found = f"no column with the model's answers, {only_columns(names)}"
    return sheet.problems.fail(sheet.file, found, expected, 1)


def _objects_part(sheet: Sheet, columns: Columns, suite: Suite, model: str, renamed: str | None) -> Part:
    scored = "score" in columns.columns
    if not scored and len(sheet) and suite.task == "detection":
        raise sheet.problems.fail(sheet.file, "no column with the scores", "a column score, confidence", 1)
    ids = object_tables.match_cases(sheet, columns, suite.cases)
    geometry, present = object_tables.geometry(sheet, columns, ids, object_tables.sizes_of(suite.cases))
    object_tables.check_labels(sheet, columns.columns["label"], geometry["label"], suite, present)
    if not object_tables.are_shares(columns, sheet):
        need_sizes(sheet, ids, geometry["width"], suite.cases)
    scores = sheet.numbers(columns.columns["score"]) if scored else np.full(len(sheet), np.nan)
    if suite.task == "detection":
        sheet.report(present & ~sheet.bad & np.isnan(scores), columns.columns.get("score"), "nothing", "a score")
    names = text_cases.models(sheet, columns, model, renamed) if len(sheet) else pa.array([], pa.string())
    table = pa.table({"case_id": ids, "model": names, "run": text_cases.runs(sheet, columns)})
    rows = np.flatnonzero(present)
    more = object_tables.object_metadata(sheet, columns, ids)
    predictions = pa.table({**geometry, "score": arrays.floats(scores), **more}).take(pa.array(rows))
    if not len(sheet):
        table = found_nothing(renamed or model)
    return Part(sheet, table, predictions, rows, repeats=True)


def note_columns(sheet: Sheet, columns: Columns, role: Role, classes: Mapping[str, str] | None = None) -> None:
    """Record in the receipt what each column is, unless what reads it has recorded that.

    `classes`: class → the column of its scores.
    """
    scores = (classes or {}).items()
    meanings: list[tuple[str, Use, str]] = [(name, "used", f"the score of class {label}") for label, name in scores]
    meanings += [(name, "used", canonical) for canonical, name in columns.columns.items()]
    fields = {**(SUITE_ALIASES if role != "outputs" else {}), **(OUTPUT_ALIASES if role != "suite" else {})}
    perhaps = meant_by_words(columns.unmapped, fields.keys() - columns.columns.keys())
    told = {name: f"; perhaps {field}={name}: map the column so" for field, name in perhaps.items()}
    meanings += [
        (name, "kept", METADATA + name.removeprefix(METADATA) + told.get(name, "")) for name in columns.unmapped
    ]
    meanings += [(name, "kept", given) for given, name in columns.metadata.items()]
    meanings += [(name, "unused", "the other file of the two has such a column") for name in columns.ignored]
    for name, use, meaning in meanings:
        for member in columns.numbered.get(name, (name,)):
            if not sheet.problems.is_noted(sheet.file, member):
                sheet.note_column(member, use, meaning)


def ask(sheet: Sheet, columns: Columns) -> None:
    """Raise the open questions of a mapping as InputError: without an answer the columns would be guesses."""
    for question in columns.questions:
        asked = FileQuestion(question.column, question.text, question.choices, "map")
        found = "a name that means different things in different tools"
        sheet.problems.extend([InputProblem(sheet.file, found, asked.expected, 1, question.column, True, 1, asked)])
        sheet.problems.fatal = True
    sheet.problems.stop()


def need_rows(sheet: Sheet) -> None:
    """Raise InputError for a table without rows."""
    if not len(sheet):
        raise sheet.problems.fail(sheet.file, "no rows of data", "at least one row below the header")
