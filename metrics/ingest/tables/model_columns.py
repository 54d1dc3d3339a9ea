"""A column for each model, named after it, as spreadsheets that compare models have it: a row for each answer."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from metrics.core.receipt import FileQuestion
from metrics.core.suite import METADATA, Task
from metrics.ingest.sheet import Sheet
from metrics.ingest.tables import number_targets
from metrics.ingest.tables.class_scores import column_numbers
from metrics.ingest.tables.columns import (
    ANSWERS,
    CONTAINERS,
    FIELD_NAMES,
    NUMBER_ALIASES,
    OF_MODEL,
    OUTPUT_ALIASES,
    SCORE_NAMES,
    SCORED_ALIASES,
    SUITE_ALIASES,
    fold,
    spellings,
    summary_beside,
    truth_beside,
)
from metrics.ingest.tables.contexts import LISTED
from metrics.ingest.tables.id_matches import suggestion

HELD: Mapping[Task, str] = {"classification": "prediction", "regression": "predicted_value"}  # else answers
SHORT = ("y_pred", "y_pred_prob", "y_pred_proba", "y_score", "y_prob")  # with the name of a model, of nothing else
ANSWER_NAMES = {name: (OUTPUT_ALIASES | SCORED_ALIASES).get(name, ()) for name in ANSWERS}
EXPECTED_ANSWERS = ("expected_answers", *SUITE_ALIASES["expected_answers"])
TRUTHS = ("label", *SUITE_ALIASES["label"])
NAMES_CASE = spellings("case_id", "question")
REFERENCES = {*NUMBER_ALIASES["true_value"], "highlights", "summary", "gold", "gold_standard", "truth", "correct"}
MEASURED = ("actual", "actual_value", "target_value", "measured_value")  # a truth that is a number
SPELLED = {alias for name, aliases in NUMBER_ALIASES.items() for alias in (name, *aliases)}
ANSWER_WORDS = (
    "answer", "answers", "completion", "generated", "generation", "output", "pred", "predicted", "prediction", "reply",
    "response", "result", "summary", "translation",
)  # fmt: skip
WORD_FIRST = re.compile(rf"(?:{'|'.join(ANSWER_WORDS)})[_ .:-]+(?P<model>.*[^0-9].*)", re.IGNORECASE)
WORD_LAST = re.compile(rf"(?P<model>.*?[^0-9].*?)[_ .:-]+(?:{'|'.join(ANSWER_WORDS)})", re.IGNORECASE)
NONE = "none"
MANY = 200  # columns, of which none is looked at for a typing error in its name
FEW = 4  # a column of answers has more different texts than a quarter of its rows
MODEL_NAME = re.compile(  # families of language models, of which a column is rarely anything else
    r"(^|[^a-z])(gpt|o[134]|claude|gemini|gemma|llama|mistral|mixtral|qwen|phi|deepseek|command-r|grok|nova|falcon|"
    r"granite|smollm|olmo|yi|kimi|glm)([-_. :]?\d|[-_.:]|$)", re.IGNORECASE
)  # fmt: skip


def melt_models(sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()) -> None:
    """Write the columns that hold the answers of a model each as rows with `model` and the answer, where their names or
    a person say which they are; a table that has an answer is left as it is. `labels`: the classes that answers may be.
    """
    named = prefixed_models(sheet, task, mapping, labels)
    own = [name for columns in named.values() for name in columns] or model_candidates(sheet, task, mapping, labels)
    said = sheet.problems.answer(sheet.file, "models")
    if not own and said and not _has_answers(sheet, task, mapping):
        own = [name for name in sheet.table.column_names if name not in (mapping or {}).values()]  # a person knows
    if not own:
        return
    text = "Which columns hold the answers of a model each, named after it?"
    known, likely = named_models(own), likely_models(sheet, task, mapping, labels)
    question = FileQuestion("models", text, (",".join(known or likely or own), NONE), parts=tuple(own))
    found = f"no column of answers, but the columns {', '.join(own)}"
    if named and not said:
        answer: str | None = ",".join(own)
    else:
        answer = sheet.problems.ask(sheet.file, question, found, default=",".join(known) or None)
    if answer in (None, NONE):
        return
    chosen = str(answer).split(",") if answer != ",".join(own) else own
    if named:
        models = {model: columns for model, columns in named.items() if not columns.keys().isdisjoint(chosen)}
        for model, columns in models.items():
            for name, kind in columns.items():
                sheet.note_column(name, "used", f"{kind} of the model {model}")
        _stack(sheet, models)
        return
    field = HELD.get(task or _task_of(sheet) or "text", "answer")
    if field == "answer" and task is None and all(column_numbers(sheet, name) is not None for name in chosen):
        field = "y_pred"  # numbers, of classes or to be predicted: what the truth is decides
    for name in chosen:
        sheet.put(name, sheet.text(name).to_pylist())
    _stack(sheet, {model: {name: field} for name, model in model_names(chosen).items()})


def _stack(sheet: Sheet, models: Mapping[str, Mapping[str, str]]) -> None:
    """Write a row for each model in the place of its columns: model → {column: what it is then called}."""
    count = len(sheet)
    parts = [
        pa.table({called: sheet.table[name] for name, called in columns.items()} | {"model": pa.repeat(model, count)})
        for model, columns in models.items()
    ]
    stacked = pa.concat_tables(parts, promote_options="permissive")
    if NAMES_CASE.isdisjoint(map(fold, sheet.table.column_names)):
        sheet.put("case_id", [str(row) for row in range(1, count + 1)])
    sheet.table = sheet.table.drop_columns([name for columns in models.values() for name in columns])
    sheet.take(np.repeat(np.arange(count), len(models)))
    stacked = stacked.take(pa.array(np.arange(len(stacked)).reshape(len(models), count).T.ravel()))
    for name in stacked.column_names:
        sheet.table = sheet.table.append_column(name, stacked[name])


def prefixed_models(
    sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()
) -> dict[str, dict[str, str]]:
    """Return model → {column: y_pred, y_score or y_prob} of columns such as y_pred_MODEL, unless these are classes."""
    if _has_answers(sheet, task, mapping):
        return {}
    known, models = {*labels, *_true_texts(sheet)}, dict[str, dict[str, str]]()
    names = sheet.table.column_names
    kind = task or number_targets.task_of(sheet, "combined", mapping) or _task_of(sheet)
    held = "y_pred" if kind in HELD else "answer"
    for name in names:
        match = OF_MODEL.fullmatch(name)
        if not match or fold(name) in (*FIELD_NAMES, *SCORE_NAMES, *SPELLED):
            continue
        if fold(match[1]) in SHORT:
            models.setdefault(match[2], {})[name] = match[1].lower()
        elif not match[2].isdigit() and _may_answer(sheet, name, kind, labels or [*known]):
            models.setdefault(match[2], {})[name] = held
    kinds = {kind for columns in models.values() for kind in columns.values()}
    if kinds == {held} and not any(fold(match[1]) in SHORT for match in map(OF_MODEL.fullmatch, names) if match):
        told = known or kind in HELD or not {*map(fold, names)}.isdisjoint(EXPECTED_ANSWERS)
        return models if len(models) > 1 and told and not models.keys() <= known else {}
    return {} if models.keys() <= known or not (known or "y_pred" in kinds) else models


def model_names(columns: Sequence[str]) -> dict[str, str]:
    """Return the models that columns are named for: without the word for an answer that all have at one end."""
    for pattern in (OF_MODEL, WORD_FIRST, WORD_LAST):
        found = [pattern.fullmatch(name) for name in columns]
        names = [match["model"].strip() for match in found if match]
        if len(names) == len({*filter(None, names)}) == len(columns) > 1:
            return dict(zip(columns, names, strict=True))
    return {name: name for name in columns}


def named_models(columns: Sequence[str]) -> list[str]:
    """Return the columns that are named for language models, where at least two are, or as those of models are."""
    if prefixed := [name for name in columns if OF_MODEL.fullmatch(name)]:
        return prefixed
    known = [name for name in columns if MODEL_NAME.search(name)]
    return known if len(known) > 1 else []


def likely_models(
    sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()
) -> list[str]:
    """Return the candidates without columns of few different texts, such as a topic, where at least two are left."""
    found = model_candidates(sheet, task, mapping, labels)
    if (task or _task_of(sheet)) in HELD or prefixed_models(sheet, task, mapping, labels):
        return found
    called = {name: _answer_word(name) for name in found}
    if len(family := [name for name, word in called.items() if word and [*called.values()].count(word) > 1]) > 1:
        return family
    few = max(len(sheet) // FEW, 1)
    telling = [name for name in found if len(sheet.text(name).unique()) > few]
    return telling if len(telling) > 1 else found


def _answer_word(name: str) -> str:
    """Return the word for an answer that a name begins or ends with; "" for none."""
    first, *_, last = fold(name).split("_") * 2
    return next((word for word in (first, last) if word in ANSWER_WORDS and fold(name) != word), "")


def model_candidates(
    sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None, labels: Sequence[str] = ()
) -> list[str]:
    """Return the columns of a table without answers that may be those of a model each; none where fewer than two."""
    if _has_answers(sheet, task, mapping):
        return []
    if models := prefixed_models(sheet, task, mapping, labels):
        return [name for columns in models.values() for name in columns]
    names, mapped, truths = sheet.table.column_names, set((mapping or {}).values()), _true_texts(sheet)
    beside = summary_beside({*map(fold, names)})
    kinds: set[Task | None] = {task or _task_of(sheet)}
    measured = [name for name in names if fold(name) in MEASURED and column_numbers(sheet, name) is not None]
    if task is None and (measured or number_targets.are_many_numbers(sheet)):  # or classes: the truths are asked about
        kinds.add("regression")
    own = [
        name
        for name in names
        if (FIELD_NAMES | REFERENCES | {*beside.values()}).isdisjoint((fold(name), _plain(name)))
        and name not in mapped
        and not name.startswith(METADATA)
        and any(_may_answer(sheet, name, kind, labels or truths) for kind in kinds)
    ]
    few = () if kinds & HELD.keys() or len(own) > MANY else own
    near = [name for name in few if suggestion([name], ANSWER_NAMES)]
    return [] if len(own) < 2 or len(near) == 1 else own  # a typing error is none of several models


def _has_answers(sheet: Sheet, task: Task | None, mapping: Mapping[str, str] | None) -> bool:
    """Return whether a table has a column of answers, or is one of objects in images."""
    names = sheet.table.column_names
    folded = {_plain(name) for name in names} | {fold(name) for name in names}
    served = () if folded.isdisjoint(EXPECTED_ANSWERS) else LISTED  # what was retrieved may serve every model
    answered = {name for own, others in ANSWER_NAMES.items() if own not in served for name in (own, *others)}
    mapped = (mapping or {}).keys() & ANSWER_NAMES.keys()
    return bool(folded & answered or mapped) or task in ("detection", "segmentation")


def _true_texts(sheet: Sheet) -> list[str]:
    names = sheet.table.column_names
    truths = (*TRUTHS, truth_beside({*map(fold, names)}))
    truth = next((name for name in names if fold(name) in truths), None)
    return [] if truth is None else [text for text in sheet.text(truth).to_pylist() if text is not None]


def _task_of(sheet: Sheet) -> Task | None:
    """Return classification where true classes stand beside no question and no expected answer, regression where a
    true number has its own name.
    """
    folded = {fold(name) for name in sheet.table.column_names}
    if folded & {"true_value", *SUITE_ALIASES["true_value"]}:
        return "regression"
    texts = folded & {*number_targets.BESIDE, *EXPECTED_ANSWERS}
    return "classification" if not texts and folded & {*TRUTHS, truth_beside(folded)} else None


def _plain(name: str) -> str:
    """Return a column's name without the object that it stands in: outputs.answer is answer."""
    plain = fold(name)
    return plain[len(next(filter(plain.startswith, CONTAINERS), "")) :]


def _may_answer(sheet: Sheet, name: str, task: Task | None, labels: Sequence[str]) -> bool:
    """Return whether the cells of a column may be answers: numbers, classes, or texts."""
    if task == "classification":
        cells = {cell for cell in sheet.text(name).to_pylist() if cell is not None}
        return bool(cells) and 2 * len(cells & set(labels)) >= len(cells)
    numbers = column_numbers(sheet, name)
    if name == sheet.table.field(0).name and numbers is not None and (np.diff(np.asarray(numbers)) == 1).all():
        return False  # the index of a frame: it numbers the rows
    return (numbers is not None) == (task == "regression")
