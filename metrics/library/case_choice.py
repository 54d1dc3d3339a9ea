"""The cases of a suite that are evaluated: those that meet conditions, and of these as many as a budget allows."""

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools
from metrics.core.classes import ClassFacts
from metrics.core.errors import InputError, InputProblem, one_of, refuse
from metrics.core.label_keys import JOINT, keys_of, labels_of
from metrics.core.registry import evaluators
from metrics.core.sampling_design import group_equal_inputs
from metrics.core.suite import METADATA, Outputs, Suite, case_column
from metrics.engine.evaluation import Evaluation, option_name
from metrics.engine.evaluation_fields import Door
from metrics.ingest.lint.unknown_classes import names_in
from metrics.store import Workspace
from metrics.store.run_spec import BudgetFacts, FilterFacts, SubsetFacts
from metrics.suites.suite_contents import complexity_distribution, tag_counts, values_of
from metrics.vision.geometry import whole

CONDITION = re.compile(r"(?P<name>[^=!<>]+)(?P<sign>!=|>=|<=|[=<>])(?P<value>.*)", re.DOTALL)
COMPARED = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le}
OTHERS = ("tag", "complexity")  # names of conditions that are no columns
NONE = "(none)"
MOST_VALUES, SHOWN_VALUES = 1_000, 10
CLASSES = ("classification", "detection", "segmentation")  # tasks whose suites and predictions have classes
COLUMNS = ("label", "labels", "not_exhaustive_labels", "negative_labels")  # of cases, that have classes


def chosen_cases(evaluation: Evaluation, suite: Suite, door: Door) -> tuple[Suite, SubsetFacts]:
    """Return the suite of the cases that are evaluated, and how they were chosen: by `where`, then `budget_cases`.

    Raises InputError as of `cases_that_meet`, and for a budget below 1.
    """
    kept, met = cases_that_meet(evaluation.where, suite, door)
    within, budget = _within_budget(evaluation, kept, door)
    return within, SubsetFacts(filter=met, budget=budget)


def cases_that_meet(texts: Sequence[str], suite: Suite, door: Door) -> tuple[Suite, FilterFacts | None]:
    """Return the suite of the cases that meet conditions NAME=VALUE, and how many; None without a condition.

    A name is a column of the cases or their metadata, `tag` or `complexity`. Of conditions with one name and = any
    holds, of others all. < and > compare numbers where VALUE is one, else texts, such as dates; what has no value
    meets neither. In a column of lists the value is in the list. InputError listing every text of another form and
    unknown name, and where no case is left.
    """
    option, problems = option_name("where", door), []
    keep, words, wanted = np.ones(len(suite), np.bool_), [], dict[str, list[str]]()
    for text in texts:
        found = CONDITION.fullmatch(text)
        name, sign, value = (part.strip() for part in found.groups()) if found else (text, "", "")
        column = case_column(suite.cases, name)
        if found is None:
            problems.append(InputProblem(option, repr(text), "NAME=VALUE, or != < <= > >= in place of ="))
        elif name not in OTHERS and column is None:
            known = [*OTHERS, *(each.removeprefix(METADATA) for each in suite.cases.column_names)]
            problems.append(InputProblem(option, repr(name), one_of(name, known)))
        elif sign in COMPARED and (column is None or pa.types.is_list(suite.cases[column].type)):
            problems.append(InputProblem(option, repr(text), f"= or != with {name}"))
        elif sign == "=":
            wanted.setdefault(name, []).append(value)
        else:
            keep &= _compared(suite.cases[column], sign, value) if sign in COMPARED else ~_having(suite, name, [value])
            words.append(f"{name} {sign} {value or NONE}")
    for name, values in wanted.items():
        keep &= _having(suite, name, values)
        words.append(f"{name} = {' or '.join(value or NONE for value in values)}")
    if texts and not problems and not keep.any():
        problems.append(InputProblem(option, f"no case with {', '.join(words)}", "; ".join(_some_values(suite, texts))))
    refuse(problems)
    if not texts:
        return suite, None
    kept = suite.restricted(suite.cases["case_id"].combine_chunks().filter(pa.array(keep)))
    return kept, FilterFacts(where=tuple(words), cases=len(suite), met=len(kept))


def _having(suite: Suite, name: str, values: Sequence[str]) -> Bools:
    """Return which cases have one of the values; an empty one is none."""
    given = [value or None for value in values]
    met = suite.matching({name: given if len(given) > 1 else given[0]})
    return np.asarray(pc.is_in(suite.cases["case_id"], met), np.bool_)


def _compared(column: pa.ChunkedArray, sign: str, value: str) -> Bools:
    """Return which values of a column are above or below one: as numbers where it is one, else as texts."""
    import pandas as pd

    given: pd.Series[Any] = column.to_pandas()
    try:
        met = COMPARED[sign](pd.to_numeric(given, errors="coerce"), float(value))
    except ValueError:
        met = COMPARED[sign](given.astype("str").where(given.notna()), value)
    return np.asarray(met.fillna(False), np.bool_)


def _some_values(suite: Suite, texts: Sequence[str]) -> Iterator[str]:
    """Yield the values that the cases have of each column that conditions name: `split: dev (180), test (120)`."""
    known = values_of(suite, MOST_VALUES) | {"tag": tag_counts(suite), "complexity": complexity_distribution(suite)}
    names = dict.fromkeys(one["name"].strip().removeprefix(METADATA) for one in map(CONDITION.fullmatch, texts) if one)
    for name in names:
        counts = [f"{value} ({count:,})" for value, count in known.get(name, {}).items()]
        more = [f"{len(counts) - SHOWN_VALUES:,} more"] * (len(counts) > SHOWN_VALUES)
        yield f"{name}: {', '.join([*counts[:SHOWN_VALUES], *more]) or 'a value that a case has'}"


def _within_budget(evaluation: Evaluation, suite: Suite, door: Door) -> tuple[Suite, BudgetFacts | None]:
    """Return the suite of `budget_cases` cases and how they were chosen; all cases and None where there is no budget.

    By the latest finished run of the same suite with a fit (see `informative_cases`), of its metrics the first of a
    chosen evaluator that says right or wrong. Else at random by the seed; a suite with groups gives whole ones, as many
    as have `budget_cases` cases on average. Raises InputError for a budget below 1.
    """
    most = evaluation.budget_cases
    if most is not None and most < 1:
        raise InputError([InputProblem(option_name("budget_cases", door), str(most), "a number of cases, at least 1")])
    if most is None or most >= len(suite):
        return suite, None
    chosen = _informative(evaluation, suite, most)
    if chosen is not None:
        return chosen
    ids = _random_cases(evaluation, suite, most)
    return suite.restricted(ids), BudgetFacts(cases=len(suite), fingerprint=suite.fingerprint)


def _informative(evaluation: Evaluation, suite: Suite, most: int) -> tuple[Suite, BudgetFacts] | None:
    from metrics.analysis import has_items, informative_cases, leaderboard

    wanted = set(evaluation.evaluators or ())
    for run in Workspace(evaluation.workspace).finished_runs(suite.fingerprint):
        fitting = (one for one in leaderboard(run).columns if one.primary and has_items(one))
        columns = [one for one in fitting if not wanted or one.evaluator in wanted]
        for column in sorted(columns, key=lambda column: not column.binary):
            ids = informative_cases(run, column.evaluator, column.metric, most)
            if ids is not None and len(ids) == most:
                by = {"run": run.id, "evaluator": column.evaluator, "metric": column.metric}
                facts = BudgetFacts(cases=len(suite), fingerprint=suite.fingerprint, **by)
                return suite.restricted(pa.array(ids, pa.string())), facts
    return None


def _random_cases(evaluation: Evaluation, suite: Suite, most: int) -> pa.Array:
    cases = suite.cases
    if evaluation.duplicates == "group" and cases["group"].null_count == len(cases):
        cases = group_equal_inputs(suite).cases
    names = [
        ("case", case) if group is None else ("group", group)
        for case, group in zip(cases["case_id"].to_pylist(), cases["group"].to_pylist(), strict=True)
    ]
    units = list(dict.fromkeys(names))
    count = max(1, round(most * len(units) / len(names)))
    drawn = np.random.default_rng(evaluation.seed).permutation(len(units))[:count]
    kept = {units[place] for place in drawn.tolist()}
    return cases["case_id"].combine_chunks().filter(pa.array([name in kept for name in names]))


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
    refuse(problems)
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
            values = [_rename_labels(value, names) for value in cases[column].to_pylist()]
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


def _rename_labels(value: Any, names: Mapping[str, str]) -> Any:
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
