"""A column for each model, named after it, as spreadsheets that compare models have it: a row for each answer."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from metrics.core.receipt import FileQuestion
from metrics.core.suite import METADATA, Task
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables.class_scores import column_numbers
from metrics.ingest.tables.columns import (
    ANSWERS,
    CONTAINERS,
    FIELD_NAMES,
    OUTPUT_ALIASES,
    SCORED_ALIASES,
    SUITE_ALIASES,
    fold,
)
from metrics.ingest.tables.contexts import LISTED
from metrics.ingest.tables.id_matches import suggestion

HELD: Mapping[Task, str] = {"classification": "prediction", "regression": "predicted_value"}  # else answers
ANSWER_NAMES = {name: (OUTPUT_ALIASES | SCORED_ALIASES).get(name, ()) for name in ANSWERS}
EXPECTED_ANSWERS = ("expected_answers", *SUITE_ALIASES["expected_answers"])
TRUTHS = ("label", *SUITE_ALIASES["label"])
NONE = "none"
FEW = 4  # a column of answers has more different texts than a quarter of its rows
MODEL_NAME = re.compile(  # families of language models, of which a column is rarely anything else
    r"(^|[^a-z])(gpt|o[134]|claude|gemini|gemma|llama|mistral|mixtral|qwen|phi|deepseek|command-r|grok|nova|falcon|"
    r"granite|smollm|olmo|yi|kimi|glm)([-_. :]?\d|[-_.:]|$)", re.IGNORECASE
)  # fmt: skip


def melt_models(
    sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()
) -> None:  # fmt: skip
    """Write the columns that hold the answers of a model each as rows with `model` and the answer, where their names or
    a person say which they are; a table that has an answer is left as it is. `labels`: the classes that answers may be.
    """
    own = model_candidates(sheet, task, mapping, labels)
    if not own:
        return
    text = "Which columns hold the answers of a model each, named after it?"
    known, likely = named_models(own), likely_models(sheet, task, mapping, labels)
    question = FileQuestion("models", text, (",".join(known or likely), NONE), parts=tuple(own))
    found = f"no column of answers, but the columns {', '.join(own)}"
    answer = sheet.problems.ask(sheet.file, question, found, default=",".join(known) or None)
    if answer in (None, NONE):
        return
    chosen = str(answer).split(",") if answer != ",".join(own) else own
    texts = [sheet.text(name).to_pylist() for name in chosen]
    count = len(sheet)
    sheet.table = sheet.table.drop_columns(chosen)
    sheet.take(np.repeat(np.arange(count), len(chosen)))
    sheet.put("model", chosen * count)
    sheet.put(HELD.get(task or "text", "answer"), [text for row in zip(*texts, strict=True) for text in row])


def named_models(columns: Sequence[str]) -> list[str]:
    """Return the columns that are named for language models, where at least two are."""
    known = [name for name in columns if MODEL_NAME.search(name)]
    return known if len(known) > 1 else []


def likely_models(
    sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()
) -> list[str]:
    """Return the candidates without columns of few different texts, such as a topic, where at least two are left."""
    found = model_candidates(sheet, task, mapping, labels)
    if task in HELD:
        return found
    few = max(len(sheet) // FEW, 1)
    telling = [name for name in found if len(sheet.text(name).unique()) > few]
    return telling if len(telling) > 1 else found


def model_candidates(
    sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()
) -> list[str]:
    """Return the columns of a table without answers that may be those of a model each; none where fewer than two."""
    names = sheet.table.column_names
    folded = {_plain(name) for name in names} | {fold(name) for name in names}
    served = () if folded.isdisjoint(EXPECTED_ANSWERS) else LISTED  # what was retrieved may serve every model
    answered = {name for own, others in ANSWER_NAMES.items() if own not in served for name in (own, *others)}
    if folded & answered or (mapping or {}).keys() & ANSWER_NAMES.keys() or task in ("detection", "segmentation"):
        return []
    mapped = set((mapping or {}).values())
    truth = next((name for name in names if fold(name) in TRUTHS), None)
    if not labels and task == "classification" and truth is not None:
        labels = sheet.text(truth).to_pylist()
    own = [
        name
        for name in names
        if FIELD_NAMES.isdisjoint((fold(name), _plain(name)))
        and name not in mapped
        and not name.startswith(METADATA)
        and _may_answer(sheet, name, task, labels)
    ]
    near = [name for name in own if suggestion([name], ANSWER_NAMES)]
    return [] if len(own) < 2 or len(near) == 1 else own  # a typing error is none of several models


def _plain(name: str) -> str:
    """Return a column's name without the object that it stands in: outputs.answer is answer."""
    plain = fold(name)
    return plain[len(next(filter(plain.startswith, CONTAINERS), "")) :]


def _may_answer(sheet: Sheet, name: str, task: Task | None, labels: Sequence[str]) -> bool:
    """Return whether the cells of a column may be answers: numbers, classes, or texts."""
    if task == "classification":
        cells = {cell for cell in sheet.text(name).to_pylist() if cell is not None}
        return bool(cells) and 2 * len(cells & set(labels)) >= len(cells)
    return (column_numbers(sheet, name) is not None) == (task == "regression")
