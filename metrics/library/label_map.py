"""Classes that are taken for others in an evaluation, in ground truth and predictions alike."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.label_keys import JOINT, keys_of, labels_of
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import option_name
from metrics.engine.evaluation_fields import Door
from metrics.ingest.lint.unknown_classes import names_in
from metrics.vision.geometry import whole

CLASSES = ("classification", "detection", "segmentation")  # tasks whose suites and predictions have classes
COLUMNS = ("label", "labels", "not_exhaustive_labels", "negative_labels")  # of cases, that have classes


def merge_labels(
    texts: Sequence[str], suite: Suite, outputs: Outputs, door: Door
) -> tuple[Suite, Outputs, dict[str, str]]:
    """Return suite and outputs with classes taken for others, as texts NAME=CLASS or files say, and which for which.

    Predictions of classes that become one stay apart: of several in a case the evaluators of scores take the highest.
    The classes of texts stay: see `with_label_map`. InputError listing every text of another form, and every name that
    neither ground truth nor predictions have.
    """
    option, classes = option_name("label_map", door), suite.task in CLASSES
    known = set(suite.labels)
    if classes and outputs.predictions is not None:
        known.update(outputs.predictions["label"].unique().drop_null().to_pylist())
    names: dict[str, str] = {}
    problems, form = [], "NAME=CLASS" + (", or a .json or .csv file" if door != "page" else "")
    for text in texts:
        if door != "page" and "=" not in text and Path(text).suffix.lower() in (".json", ".csv"):
            names |= names_in(Path(text))
            continue
        # labels with keys have an = of their own
        ends = [end for end, letter in enumerate(text) if letter == "=" and text[end + 1 :].strip()]
        end = next((end for end in ends if text[:end].strip() in known), ends[0] if ends else 0)
        names[text[:end].strip()] = text[end + 1 :].strip()
        problems += [InputProblem(option, repr(text), form)] * (not end)
    if classes and not problems:
        problems = [InputProblem(option, repr(name), one_of(name, sorted(known))) for name in names.keys() - known]
    if problems:
        raise InputError(problems)
    if not names or not classes:
        return suite, outputs, names
    predictions = None if outputs.predictions is None else _renamed(outputs.predictions, names)
    return _merged(suite, names), replace(outputs, predictions=predictions), names


def with_label_map(
    parameters: dict[str, dict[str, Any]], chosen: Iterable[str], names: Mapping[str, str], suite: Suite, door: Door
) -> dict[str, dict[str, Any]]:
    """Return the parameters with the classes of texts, for those of the `chosen` evaluators that read them.

    InputError where none of them does.
    """
    if not names or suite.task in CLASSES:
        return parameters
    readers = [id for id in chosen if "label_map" in evaluators()[id].parameters.model_fields]
    if not readers:
        expected = "an evaluator of classes, such as classification_text"
        raise InputError([InputProblem(option_name("label_map", door), ", ".join(chosen), expected)])
    return parameters | {id: {"label_map": dict(names), **parameters.get(id, {})} for id in readers}


def _merged(suite: Suite, names: Mapping[str, str]) -> Suite:
    """Return the suite with classes taken for others, each in the place of its first; it keeps the facts of its own."""
    members: dict[str, list[str]] = {}
    for name in suite.labels:
        members.setdefault(names.get(name, name), []).append(name)
    numbers = dict(zip(suite.labels, suite.category_ids, strict=False))
    facts: dict[str, ClassFacts] = {}
    for label, own in members.items():
        if known := [suite.classes[name] for name in (label, *own) if name in suite.classes]:
            parent = known[0].parent and names.get(known[0].parent, known[0].parent)
            facts[label] = known[0]._replace(parent=None if parent == label else parent)
    cases = suite.cases
    for column in COLUMNS:
        if cases[column].null_count < len(cases):
            values = [_taken(value, names) for value in cases[column].to_pylist()]
            if column == "negative_labels":  # a merged class is absent where all of it is
                given = cases[column].to_pylist()
                values = [
                    new and [label for label in new if {*old}.issuperset(members.get(label, ()))]
                    for old, new in zip(given, values, strict=True)
                ]
            cases = cases.set_column(cases.column_names.index(column), column, pa.array(values, cases[column].type))
    return replace(
        suite,
        cases=cases,
        annotations=None if suite.annotations is None else _renamed(suite.annotations, names),
        labels=tuple(members),
        category_ids=tuple(numbers[own[0]] for own in members.values()) if numbers else (),
        label_keys=keys_of(members) if suite.label_keys else (),
        classes=facts,
    )


def _taken(value: Any, names: Mapping[str, str]) -> Any:
    """Return the classes in a cell, several as a list or as labels with keys, after the taking."""
    if isinstance(value, str):
        return JOINT.join(names.get(label, label) for label in labels_of(value))
    return value and list(dict.fromkeys(names.get(label, label) for label in value))


def _renamed(table: pa.Table, names: Mapping[str, str]) -> pa.Table:
    """Return a table of objects or predictions with its classes taken for others."""
    own, others = (pa.array([*each], pa.string()) for each in (names.keys(), names.values()))
    labels = whole(table["label"])
    labels = pc.coalesce(others.take(pc.index_in(labels, own)), labels)
    return table.set_column(table.column_names.index("label"), "label", labels)
