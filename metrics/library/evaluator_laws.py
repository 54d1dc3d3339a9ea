"""Laws that every evaluator keeps, Assay's own and those of plugins: `check_evaluator` and the tests run the same ones.

A law yields a complaint for each way in which it is broken. Evaluators that ask a judge get, in worked examples, the
replies that the example gives; random inputs of theirs are not run.
"""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from inspect import isawaitable
from random import Random
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from metrics.core import evaluator
from metrics.core.cases import Cases
from metrics.core.classes import classes_of
from metrics.core.errors import InputError, MissingResource, Unreadable, describe_failure
from metrics.core.evaluator import JUDGE, MATCHES, Aggregate, CaseScore, Evaluator, Findings, Parameters, Status
from metrics.core.schema import SCORES
from metrics.core.score_columns import ScoreColumns
from metrics.core.suite import Case, Outputs, Suite, rows_table
from metrics.engine.load_resources import Resources, missing_inputs
from metrics.judge.dry_run import ScriptedJudge
from metrics.library.random_inputs import random_case, random_data_set
from metrics.store import Workspace

JUDGED = {"verdict", "holds", "supported", "passes", "correct", "relevant"}  # of a record: whether an item holds
CASES, DATA_SETS = 200, 30  # random ones of a check
Models = Callable[[Evaluator, Parameters], dict[str, Any]]  # gives what the evaluator takes beside its inputs


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a law: `passed` is None where it could not be checked, for `reason`."""

    law: str
    passed: bool | None
    reason: str = ""


def check_evaluator(entry: Evaluator, models: Models | None = None) -> list[Outcome]:
    """Return the outcome of each law that is about evaluators of this one's shape.

    `models` gives the local models of an evaluator (default: those that are installed).
    """
    given = models or _installed
    return [_outcome(name, law, entry, given) for name, (shapes, law) in LAWS.items() if entry.shape in shapes]


def declaration_complaints(entry: Evaluator, _: Models) -> Iterator[str]:
    """Say what its declaration lacks that pages and reports show."""
    if not entry.title:
        yield "it has no title"
    if not entry.summary.endswith((".", ":")):
        yield f"the first line of the docstring, {entry.summary!r}, is no sentence that defines it"
    for name in ("tasks", "inputs", "examples"):
        if not getattr(entry, name):
            yield f"it declares no {name}"


def metric_complaints(entry: Evaluator, _: Models) -> Iterator[str]:
    """Say which metrics have no description or a range that cannot be."""
    for metric in entry.metrics:
        if not metric.description.endswith("."):
            yield f"the description of {metric.name} is no sentence with a full stop"
        if not metric.low < metric.high:
            yield f"{metric.name} has no range: {metric.low:g} … {metric.high:g}"
        if metric.threshold is not None and not metric.low <= metric.threshold <= metric.high:
            yield f"the threshold {metric.threshold:g} of {metric.name} is outside {metric.low:g} … {metric.high:g}"
        if metric.binary and (metric.low, metric.high) != (0, 1):
            yield f"{metric.name} is binary, but its range is {metric.low:g} … {metric.high:g}, not 0 … 1"


def parameter_complaints(entry: Evaluator, _: Models) -> Iterator[str]:
    """Say which parameters cannot be a field of a form or a flag."""
    for name, field in entry.parameters.model_fields.items():
        if not field.description:
            yield f"parameter {name} has no description"
    parameters = entry.parameters.model_validate({})
    if entry.parameters.model_validate(json.loads(json.dumps(parameters.model_dump(mode="json")))) != parameters:
        yield "the parameters do not survive JSON"
    try:
        entry.parameters.model_validate({"no_such_parameter": 1})
    except ValidationError:
        return
    yield "unknown parameters are not refused: derive the class from Parameters"


def example_complaints(entry: Evaluator, models: Models) -> Iterator[str]:
    """Say which worked examples do not give their numbers; MissingResource in the end where one could not be run."""
    missing = []
    for example in entry.examples:
        try:
            yield from (f"example {example.name!r}: {text}" for text in of_example(entry, example, models))
        except MissingResource as failure:
            missing.append(f"example {example.name!r} was not run: {failure}")
    if missing:
        raise MissingResource("; ".join(missing))


def of_example(entry: Evaluator, example: evaluator.Example, models: Models) -> Iterator[str]:
    """Say in what the result of a worked example differs from what it says."""
    parameters = entry.parameters.model_validate(dict(example.parameters))
    if entry.shape == "dataset":
        stored = rows_table(example.given["scores"], SCORES) if entry.follows else None
        findings = findings_of(entry, *example_tables(example, entry.tasks[0]), models, parameters, stored)
        yield from _row_complaints(example, [_flat(row) for row in findings.aggregates])
        return
    judge = {JUDGE: ScriptedJudge(example.judge)} if JUDGE in parameters.used(entry.resources) else {}
    result = score_of(entry, Case.of(**example.given), lambda *of: models(*of) | judge, parameters)
    if result.status is Status.SKIPPED is not example.status:
        raise MissingResource(result.reason)
    if result.status is not example.status:
        yield f"status {result.status}, not {example.status} ({result.reason})"
    if not example.expect and example.status is Status.OK:
        yield "it expects no value"
    if result.status is Status.NOT_APPLICABLE and not set(result.values.values()) <= {None}:
        yield "it does not apply, and yet has a value"
    names = {metric.name for metric in entry.with_parameters(parameters).metrics}
    for metric, expected in example.expect.items():
        value = result.values.get(metric)
        if metric not in names:
            yield f"it expects {metric}, which is no metric"
        elif not _near(value, expected, example.tolerance):
            yield f"{metric} is {value}, not {expected}"


def random_case_complaints(entry: Evaluator, models: Models) -> Iterator[str]:
    """Say on which random cases it fails, leaves its range, or has neither value nor reason."""
    chance = Random(0)  # noqa: S311 - the same cases each time
    for case in (random_case(chance) for _ in range(CASES)):
        yield from (f"{text}; case {_shown(entry, case)}" for text in of_case(entry, case, models))


def of_case(entry: Evaluator, case: Case, models: Models) -> Iterator[str]:
    """Say what is wrong with the score of a case, or that two scorings of it differ."""
    result = score_of(entry, case, models)
    yield from score_complaints(entry, result)
    if result.status is Status.OK:
        if set(result.values) != {metric.name for metric in entry.metrics}:
            yield f"the values are of {sorted(result.values)}, not of its metrics"
        if None in result.values.values() and not result.reason:
            yield "no value needs a reason"
    if score_of(entry, case, models) != result:
        yield "the same case gave another score"


def missing_input_complaints(entry: Evaluator, models: Models) -> Iterator[str]:
    """Say whether a case without its inputs is anything but not applicable."""
    result = score_of(entry, Case(case_id="1", model="m"), models)
    if result.status is not Status.NOT_APPLICABLE or not result.reason or result.values:
        yield f"a case without any input has status {result.status}, values {dict(result.values)}"


def data_set_complaints(entry: Evaluator, models: Models) -> Iterator[str]:
    """Say on which random data sets it fails, leaves its range, or has neither value nor reason."""
    chance = Random(0)  # noqa: S311 - the same data each time
    for _ in range(DATA_SETS):
        suite, outputs = random_data_set(chance, entry.tasks[0])
        yield from findings_complaints(entry, suite, findings_of(entry, suite, outputs, models))


def order_complaints(entry: Evaluator, models: Models) -> Iterator[str]:
    """Say whether the order of the cases changes a number."""
    chance = Random(1)  # noqa: S311 - the same data each time
    for _ in range(DATA_SETS // 3):
        yield from of_order(entry, *random_data_set(chance, entry.tasks[0]), chance, models)


def score_complaints(entry: Evaluator, result: CaseScore) -> Iterator[str]:
    """Say what is wrong with a score whatever the case."""
    values = {name: value for name, value in result.values.items() if value is not None}
    declared = {metric.name: metric for metric in entry.metrics}
    for name, value in values.items():
        told = evaluator.unreadable_value(declared[name], value) if name in declared else f"{name} is no metric of it"
        if told is not None:
            yield told
    if not values and (not result.reason or result.status is Status.OK):
        yield "no value needs a status and a reason"
    if result.evidence is not None:
        json.dumps(result.evidence.record, allow_nan=False)
        lists = [fact for fact in result.evidence.facts.values() if isinstance(fact, list)]
        if any(isinstance(one, dict) and JUDGED & one.keys() for fact in lists for one in fact):
            yield "what is judged is a Verdict, not a fact"


def findings_complaints(entry: Evaluator, suite: Suite, findings: Findings) -> Iterator[str]:
    """Say what is wrong with the findings about a data set."""
    if not findings.aggregates:
        yield "no aggregate"
    for row in findings.aggregates:
        yield from _aggregate_complaints(entry, row)
    keys = [_key(row) for row in findings.aggregates]
    if len(set(keys)) != len(keys):
        yield "two aggregates have the same metric, label and columns"
    known = set(suite.cases["case_id"].to_pylist())
    if not set(findings.cases) <= known:
        yield "it scores cases that the suite does not have"
    for result in findings.cases.values():
        yield from score_complaints(entry, result)
    if findings.matches is not None:
        if findings.matches.schema.names[: len(MATCHES)] != MATCHES.names:
            yield "the columns of matches do not begin with those of MATCHES"
        elif not findings.matches.select(MATCHES.names).schema.equals(MATCHES):
            yield "the columns of matches have other types than those of MATCHES"
        elif not set(findings.matches["case_id"].to_pylist()) <= known:
            yield "it matches objects of cases that the suite does not have"


def of_order(entry: Evaluator, suite: Suite, outputs: Outputs, chance: Random, models: Models) -> Iterator[str]:
    """Say whether shuffling the cases changes a number.

    Rows of a case keep their order, which decides ties within it; the cases, whose scores differ, are shuffled.
    Equal scores of different images rank in the order of the images, as in pycocotools.
    """
    order = suite.cases["case_id"].to_pylist()
    outputs = Outputs(outputs.outputs, None if outputs.predictions is None else _untied(outputs.predictions, order))
    plain = findings_of(entry, suite, outputs, models)
    chance.shuffle(order)
    annotations = None if suite.annotations is None else _by_case(suite.annotations, order)
    predictions = None if outputs.predictions is None else _by_case(outputs.predictions, order)
    shuffled = findings_of(
        entry,
        Suite(suite.name, suite.task, _by_case(suite.cases, order), annotations, suite.labels),
        Outputs(_by_case(outputs.outputs, order), predictions),
        models,
    )
    expected = {_key(row): row for row in plain.aggregates}
    for row in shuffled.aggregates:
        twin = expected.pop(_key(row), None)
        same = twin is not None and (row.n, row.unscored) == (twin.n, twin.unscored)
        if twin is None or not same or not _near(row.value, twin.value, 1e-9):
            yield f"shuffled cases give {row}, not {twin}"
    if expected:
        yield f"shuffled cases do not give {', '.join(expected)}"
    if dict(shuffled.cases) != dict(plain.cases):
        yield "shuffled cases have other scores"


LAWS: dict[str, tuple[tuple[str, ...], Callable[[Evaluator, Models], Iterator[str]]]] = {
    "It says what it is": (("case", "batch", "dataset"), declaration_complaints),
    "Its metrics are whole": (("case", "batch", "dataset"), metric_complaints),
    "Its parameters are a form": (("case", "batch", "dataset"), parameter_complaints),
    "Its worked examples give their numbers": (("case", "batch", "dataset"), example_complaints),
    "Every case has a value in range or a reason, always the same": (("case", "batch"), random_case_complaints),
    "A case that lacks an input is not applicable": (("case", "batch"), missing_input_complaints),
    "Every aggregate has a value in range or a reason": (("dataset",), data_set_complaints),
    "The order of the cases changes nothing": (("dataset",), order_complaints),
}


def score_of(entry: Evaluator, case: Case, models: Models, parameters: Parameters | None = None) -> CaseScore:
    """Return what the engine would store of one case."""
    cases = Cases.of([case])
    if missing := missing_inputs(entry, cases):
        return missing[0]
    parameters = parameters or entry.parameters.model_validate({})
    given = models(entry, parameters)
    found = entry(case if entry.shape == "case" else cases, parameters, **given)
    if isawaitable(found):
        found = _awaited(found)
    if entry.shape == "batch":
        found = found.at(0) if isinstance(found, ScoreColumns) else found[0]
    if not isinstance(found, CaseScore):
        raise TypeError(f"it returned {type(found).__name__}, not CaseScore")
    return entry.settle(found)


def _awaited(score: Awaitable[CaseScore]) -> CaseScore:
    async def scored() -> CaseScore:
        try:
            return await score
        except Unreadable as failure:
            return CaseScore({}, Status.PARSE_FAILURE, str(failure))

    with ThreadPoolExecutor(1) as thread:  # the caller may be in an event loop, as in notebooks
        return thread.submit(lambda: asyncio.run(scored())).result()


def findings_of(
    entry: Evaluator,
    suite: Suite,
    outputs: Outputs,
    models: Models,
    parameters: Parameters | None = None,
    scores: pa.Table | None = None,
) -> Findings:
    """Return the findings about a data set, by few resamples; what follows others gets lengths of answers as scores."""
    parameters = parameters or _quick(entry)
    stored = {"scores": _lengths(outputs) if scores is None else scores} if entry.follows else {}
    found: Findings = entry(suite, outputs, parameters, **models(entry, parameters), **stored)
    return found


def example_tables(example: evaluator.Example, task: str) -> tuple[Suite, Outputs]:
    """Return the data set of an example; one model, whose name may be left out."""
    given = example.given
    suite = Suite.from_rows(
        "example", given.get("task", task), given["cases"], given.get("annotations"), given.get("labels", ())
    )
    suite = replace(suite, classes=classes_of(given.get("classes", {})))
    answered = given.get("outputs") or [{"case_id": row["case_id"]} for row in given["cases"]]
    predictions = given.get("predictions")
    outputs = Outputs.from_rows(
        [{"model": "m", **row} for row in answered],
        None if predictions is None else [{"model": "m", **row} for row in predictions],
    )
    return suite, outputs


def _outcome(name: str, law: Callable[[Evaluator, Models], Iterator[str]], entry: Evaluator, models: Models) -> Outcome:
    if law in (random_case_complaints, data_set_complaints, order_complaints) and JUDGE in entry.needs:
        return Outcome(name, None, "not run on random inputs, as it asks a judge; evaluate a small suite with it")
    try:
        complaint = next(law(entry, models), None)
    except MissingResource as failure:
        return Outcome(name, None, str(failure))
    except InputError as failure:
        complaint = str(failure)
    except Exception as failure:
        complaint = f"it failed: {describe_failure(failure)}"
    return Outcome(name, complaint is None, complaint or "")


def _installed(entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
    local = replace(entry, resources=tuple(name for name in entry.resources if name != JUDGE))
    return Resources({}, Workspace().path / "cache").models(local, parameters) if local.resources else {}


def _row_complaints(example: evaluator.Example, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not example.expected:
        yield "it expects no aggregate"
    for expected in example.expected:
        keys = {key: value for key, value in expected.items() if key != "value"}
        rows = [row for row in found if all(key in row and row[key] == value for key, value in keys.items())]
        if not rows:
            yield f"no aggregate with {keys}"
        elif not _near(rows[0]["value"], expected["value"], example.tolerance):
            yield f"{keys}: {rows[0]['value']}, not {expected['value']}"


def _aggregate_complaints(entry: Evaluator, row: Aggregate) -> Iterator[str]:
    metric = next((one for one in entry.metrics if one.name == row.metric), None)
    if metric is None:
        yield f"{row.metric} is no metric of it"
        return
    if row.n < 0 or row.unscored < 0:
        yield f"{row.metric} counts fewer than no cases"
    if (row.low is None and row.high is None) != (row.interval is None):
        yield f"{row.metric} has a part of an interval"
    if (row.low is None) != (row.high is None) and not row.reason:
        yield f"{row.metric} has one end of an interval, and no reason why not the other"
    if row.value is None:
        if not row.reason or row.low is not None:
            yield f"{row.metric} has no value, and no reason or yet an interval"
        return
    if (told := evaluator.unreadable_value(metric, row.value)) is not None:
        yield told
    if row.low is None or row.high is None:
        return
    if not metric.low - 1e-9 <= row.low <= row.high <= metric.high + 1e-9:
        yield f"the interval {row.low} … {row.high} of {row.metric} is outside its range"


def _flat(aggregate: Aggregate) -> dict[str, Any]:
    names = ("metric", "label", "value", "low", "high", "n", "unscored")
    return {**{name: getattr(aggregate, name) for name in names}, **aggregate.columns}


def _key(row: Aggregate) -> str:
    return json.dumps([row.metric, row.label, *sorted(row.columns.items())])


def _near(value: float | None, expected: float | None, tolerance: float) -> bool:
    if value is None or expected is None:
        return value == expected
    return math.isclose(value, expected, abs_tol=tolerance)


def _shown(entry: Evaluator, case: Case) -> str:
    return ", ".join(f"{name} {getattr(case, name)!r}" for name in entry.inputs)


def _lengths(outputs: Outputs) -> pa.Table:
    """Return the number of characters of each answer, as if rouge.rougeL were that."""
    same = {"evaluator": "rouge", "metric": "rougeL", "status": "ok"}
    rows = outputs.outputs.to_pylist()
    own = ({"case_id": row["case_id"], "run": row["run"], "value": len(row["answer"] or "")} for row in rows)
    return rows_table(({**same, **row} for row in own), SCORES)


def _quick(entry: Evaluator) -> Parameters:
    """Return the default parameters, with few resamples where their number is one."""
    quick = {"resamples": 20, "of": "rouge.rougeL"}
    own = {name: value for name, value in quick.items() if name in entry.parameters.model_fields}
    return entry.parameters.model_validate(own)


def _untied(predictions: pa.Table, order: Sequence[str]) -> pa.Table:
    """Return the predictions with scores moved a little, differently in each case."""
    rows = zip(predictions["score"].to_pylist(), predictions["case_id"].to_pylist(), strict=True)
    scores = [score * (1 - 1e-4) + 1e-6 * order.index(case_id) for score, case_id in rows]
    return predictions.set_column(predictions.column_names.index("score"), "score", pa.array(scores, pa.float64()))


def _by_case(table: pa.Table, order: Sequence[str]) -> pa.Table:
    place = {case_id: index for index, case_id in enumerate(order)}
    rows = sorted(range(table.num_rows), key=lambda row: place[table["case_id"][row].as_py()])
    return table.take(pa.array(rows, pa.int64()))
