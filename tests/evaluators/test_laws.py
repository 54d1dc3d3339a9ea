"""Laws that hold for every evaluator in the registry, whoever wrote it and whatever its shape."""

import json
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from metrics.core.evaluator import (
    MATCHES,
    Aggregate,
    CaseScore,
    Evaluator,
    Example,
    Findings,
    Parameters,
    Status,
    unreadable_value,
)
from metrics.core.registry import evaluators
from metrics.core.schema import SCORES
from metrics.core.suite import Case, Outputs, Suite, rows_table
from metrics.engine.load_resources import missing_inputs
from metrics.models.embedder import BUNDLED_NAME
from tests.models.word_models import WordPredictor, WordTokens, classifiers
from tests.models.word_vectors import WordVectors

JUDGED = {
    "verdict",
    "holds",
    "supported",
    "passes",
    "correct",
    "relevant",
}  # of a record: it says whether an item holds

EVERY = list(evaluators().values())
CLASSIFIERS = classifiers()
# for what needs a model; an evaluator of other resources is left out
STAND_INS = {"embedder": WordVectors(), "language_model": WordPredictor(), "token_encoder": WordTokens()}
RUNNABLE = [entry for entry in EVERY if STAND_INS.keys() | {"classifier"} >= set(entry.needs)]
BY_CASE = [entry for entry in RUNNABLE if entry.shape != "dataset"]
BY_DATA_SET = [entry for entry in RUNNABLE if entry.shape == "dataset"]
OWN_PROMPT = ("byop",)  # asks the user's prompt
GEOMETRIC = ("detection", "segmentation")
LABELS = ("cat", "dog", "fox")


def named(entries: Iterable[Evaluator]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in entries])


def example_parameters() -> list[Any]:
    return [
        pytest.param(entry, example, id=f"{entry.id}: {example.name}")
        for entry in RUNNABLE
        for example in entry.examples
        if not example.judge  # those are in test_judge_examples
    ]


def score(entry: Evaluator, case: Case, parameters: Parameters | None = None) -> CaseScore:
    """What the engine would store of one case."""
    missing = missing_inputs(entry, case)
    if missing is not None:
        return missing
    parameters = parameters or entry.parameters()
    given = resources(entry, parameters)
    result: CaseScore = (
        entry([case], parameters, **given)[0] if entry.shape == "batch" else entry(case, parameters, **given)
    )
    return result


def resources(entry: Evaluator, parameters: Parameters) -> dict[str, Any]:
    needed = parameters.used(entry.resources)
    return {name: CLASSIFIERS[entry.id] if name == "classifier" else STAND_INS[name] for name in needed}


def tables(given: Mapping[str, Any], task: str) -> tuple[Suite, Outputs]:
    """The data set of an example; one model, whose name may be left out."""
    suite = Suite.from_rows(
        "example", given.get("task", task), given["cases"], given.get("annotations"), given.get("labels", ())
    )
    answered = given.get("outputs") or [{"case_id": row["case_id"]} for row in given["cases"]]
    predictions = given.get("predictions")
    outputs = Outputs.from_rows(
        [{"model": "m", **row} for row in answered],
        None if predictions is None else [{"model": "m", **row} for row in predictions],
    )
    return suite, outputs


def flat(aggregate: Aggregate) -> dict[str, Any]:
    return {
        "metric": aggregate.metric,
        "label": aggregate.label,
        "value": aggregate.value,
        "low": aggregate.low,
        "high": aggregate.high,
        "n": aggregate.n,
        "unscored": aggregate.unscored,
        **aggregate.columns,
    }


def near(value: float | None, expected: float | None, tolerance: float) -> bool:
    return value == expected if value is None or expected is None else math.isclose(value, expected, abs_tol=tolerance)


# What an evaluator declares


@named(EVERY)
def test_it_says_what_it_is(entry: Evaluator) -> None:
    assert entry.title
    assert entry.summary.endswith((".", ":")), "the first line of the docstring defines the evaluator"
    assert len(entry.doc.splitlines()) > 3, "the docstring gives formula and edge cases"
    assert entry.examples, "at least one worked example"
    assert entry.sources
    assert entry.standards
    assert entry.tasks
    assert entry.inputs


@named(EVERY)
def test_it_says_where_it_departs_from_its_source(entry: Evaluator) -> None:
    """Models, wordings and attributions that are Assay's choice are named, whatever else the text says."""
    text = entry.differs_from_source
    assert text.endswith(".")
    assert len(text) > 50
    if {"embedder", "token_encoder"} & set(entry.needs):
        assert BUNDLED_NAME in text
    if entry.prompts and entry.id not in OWN_PROMPT:
        assert "worded by Assay" in text
    if any(metric.name == "generation_failures" for metric in entry.metrics):
        assert "generation_failures" in text or "retrieval_failures" in text


@named(EVERY)
def test_its_metrics_are_whole(entry: Evaluator) -> None:
    for metric in entry.metrics:
        assert metric.description.endswith("."), metric.name
        assert metric.low < metric.high
        if metric.threshold is not None:
            assert metric.low <= metric.threshold <= metric.high
        if metric.binary:
            assert (metric.low, metric.high) == (0, 1)


@named(EVERY)
def test_its_parameters_are_a_form(entry: Evaluator) -> None:
    """All have a default and a description, survive JSON, and refuse what they do not know."""
    parameters = entry.parameters()
    for name, field in entry.parameters.model_fields.items():
        assert field.description, f"{entry.id}.{name}"
    assert entry.parameters.model_validate(json.loads(json.dumps(parameters.model_dump(mode="json")))) == parameters
    with pytest.raises(ValidationError):
        entry.parameters.model_validate({"no_such_parameter": 1})


# Worked examples


@pytest.mark.parametrize(("entry", "example"), example_parameters())
def test_a_worked_example_gives_its_numbers(entry: Evaluator, example: Example) -> None:
    parameters = entry.parameters.model_validate(dict(example.parameters))
    if entry.shape == "dataset":
        stored = rows_table(example.given["scores"], SCORES) if entry.follows else None
        findings = run(entry, *tables(example.given, entry.tasks[0]), parameters, stored)
        found = [flat(row) for row in findings.aggregates]
        assert example.rows
        for expected in example.rows:
            keys = {key: value for key, value in expected.items() if key != "value"}
            rows = [row for row in found if all(key in row and row[key] == value for key, value in keys.items())]
            assert rows, f"no aggregate with {keys}"
            value = rows[0]["value"]
            assert near(value, expected["value"], example.tolerance), f"{keys}: {value}, not {expected['value']}"
        return
    result = score(entry, Case.of(**example.given), parameters)
    assert result.status is example.status, result.reason
    assert example.expect or example.status is not Status.OK
    assert result.status is not Status.NOT_APPLICABLE or set(result.values.values()) <= {None}
    for metric, expected in example.expect.items():
        assert entry.metric(metric)
        value = result.values.get(metric)
        assert near(value, expected, example.tolerance), f"{metric}: {value}, not {expected}"


# What comes out of any input


TEXT = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(["the", "cat", "sat. ", "Paris", "1889", '"', "(", "\n", "今天。", "4111 1111 1111 1111"])
    ).map(" ".join),
    st.sampled_from(["", " ", "{}", "[1, NaN]", '{"a": {"a": 1}}', "NOT", '"Paris" AND NOT regexp("1[89]")', "é" * 99]),
)
TEXTS = st.lists(TEXT, max_size=3).map(tuple)
CASES = st.builds(
    Case,
    case_id=st.just("1"),
    model=st.just("m"),
    question=st.none() | TEXT,
    expected_answers=TEXTS,
    retrieved_contexts=TEXTS,
    answer=st.none() | TEXT,
    citations=TEXTS,
    conditions=st.none() | TEXT,
    json_schema=st.none() | TEXT,
    source_text=st.none() | TEXT,
    trace=st.none() | TEXT,
)
EXAMINED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@named(BY_CASE)
@EXAMINED
@given(case=CASES)
def test_every_case_has_a_value_in_range_or_a_reason(entry: Evaluator, case: Case) -> None:
    result = score(entry, case)
    check_score(entry, result)
    if result.status is Status.OK:
        assert set(result.values) == {metric.name for metric in entry.metrics}
        assert None not in result.values.values() or result.reason


@named(BY_CASE)
@EXAMINED
@given(case=CASES)
def test_the_same_case_gives_the_same_score(entry: Evaluator, case: Case) -> None:
    assert score(entry, case) == score(entry, case)


@named(BY_CASE)
def test_a_case_that_lacks_an_input_is_not_applicable(entry: Evaluator) -> None:
    result = score(entry, Case(case_id="1", model="m"))
    assert result.status is Status.NOT_APPLICABLE
    assert result.reason
    assert not result.values


@named(BY_DATA_SET)
@settings(EXAMINED, max_examples=30)
@given(data=st.data())
def test_every_aggregate_has_a_value_in_range_or_a_reason(entry: Evaluator, data: st.DataObject) -> None:
    suite, outputs = data.draw(data_sets(entry))
    findings = run(entry, suite, outputs)
    assert findings.aggregates
    for row in findings.aggregates:
        metric = entry.metric(row.metric)
        assert row.n >= 0
        assert row.unscored >= 0
        assert (row.low is None) == (row.high is None) == (row.interval is None)
        if row.value is None:
            assert row.reason, row
            assert row.low is None
            continue
        assert unreadable_value(metric, row.value) is None
        if row.low is not None and row.high is not None:
            assert metric.low - 1e-9 <= row.low <= row.high <= metric.high + 1e-9
    keys = [json.dumps([row.metric, row.label, *sorted(row.columns.items())]) for row in findings.aggregates]
    assert len(set(keys)) == len(keys), "an aggregate is named by metric, label and columns"
    known = set(suite.cases["case_id"].to_pylist())
    assert set(findings.cases) <= known
    for result in findings.cases.values():
        check_score(entry, result)
    if findings.matches is not None:
        assert findings.matches.select(MATCHES.names).schema.equals(MATCHES)
        assert findings.matches.column_names[: len(MATCHES)] == MATCHES.names, "own columns come after"
        assert set(findings.matches["case_id"].to_pylist()) <= known


@named(BY_DATA_SET)
@settings(EXAMINED, max_examples=12)
@given(data=st.data(), seed=st.integers(0, 99))
def test_the_order_of_the_cases_changes_nothing(entry: Evaluator, data: st.DataObject, seed: int) -> None:
    """Rows of a case keep their order, which decides ties within it; the cases, whose scores differ, are shuffled.

    Equal scores of different images rank in the order of the images, as in pycocotools.
    """
    suite, outputs = data.draw(data_sets(entry))
    order = suite.cases["case_id"].to_pylist()
    outputs = Outputs(outputs.outputs, None if outputs.predictions is None else untied(outputs.predictions, order))
    random.Random(seed).shuffle(order)
    annotations = None if suite.annotations is None else by_case(suite.annotations, order)
    predictions = None if outputs.predictions is None else by_case(outputs.predictions, order)
    shuffled = run(
        entry,
        Suite(suite.name, suite.task, by_case(suite.cases, order), annotations, suite.labels),
        Outputs(by_case(outputs.outputs, order), predictions),
    )
    plain = run(entry, suite, outputs)
    expected = {json.dumps([row.metric, row.label, *sorted(row.columns.items())]): row for row in plain.aggregates}
    for row in shuffled.aggregates:
        twin = expected.pop(json.dumps([row.metric, row.label, *sorted(row.columns.items())]))
        assert (row.value, row.n, row.unscored) == (pytest.approx(twin.value), twin.n, twin.unscored), row
    assert not expected
    assert dict(shuffled.cases) == dict(plain.cases)


def check_score(entry: Evaluator, result: CaseScore) -> None:
    values = {name: value for name, value in result.values.items() if value is not None}
    for name, value in values.items():
        assert unreadable_value(entry.metric(name), value) is None
    if not values:
        assert result.reason, "no value needs a reason"
        assert result.status is not Status.OK
    if result.evidence is not None:
        json.dumps(result.evidence.record, allow_nan=False)
        lists = [fact for fact in result.evidence.facts.values() if isinstance(fact, list)]
        judged = [entry for fact in lists for entry in fact if isinstance(entry, dict) and JUDGED & entry.keys()]
        assert not judged, "what is judged is a Verdict, not a fact"


def run(
    entry: Evaluator,
    suite: Suite,
    outputs: Outputs,
    parameters: Parameters | None = None,
    scores: pa.Table | None = None,
) -> Findings:
    parameters = parameters or quick(entry)
    stored = {"scores": lengths(outputs) if scores is None else scores} if entry.follows else {}
    findings: Findings = entry(suite, outputs, parameters, **resources(entry, parameters), **stored)
    return findings


def lengths(outputs: Outputs) -> pa.Table:
    """The number of characters of each answer, as if rouge.rougeL were that."""
    same = {"evaluator": "rouge", "metric": "rougeL", "status": "ok"}
    rows = outputs.outputs.to_pylist()
    own = ({"case_id": row["case_id"], "run": row["run"], "value": len(row["answer"] or "")} for row in rows)
    return rows_table(({**same, **row} for row in own), SCORES)


def quick(entry: Evaluator) -> Parameters:
    """The default parameters, with few resamples where their number is one."""
    quick = {"resamples": 20, "of": "rouge.rougeL"}
    own = {name: value for name, value in quick.items() if name in entry.parameters.model_fields}
    return entry.parameters.model_validate(own)


def untied(predictions: pa.Table, order: Sequence[str]) -> pa.Table:
    """The predictions with scores moved a little, differently in each case."""
    rows = zip(predictions["score"].to_pylist(), predictions["case_id"].to_pylist(), strict=True)
    scores = [score * (1 - 1e-4) + 1e-6 * order.index(case_id) for score, case_id in rows]
    return predictions.set_column(predictions.column_names.index("score"), "score", pa.array(scores, pa.float64()))


def by_case(table: pa.Table, order: Sequence[str]) -> pa.Table:
    place = {case_id: index for index, case_id in enumerate(order)}
    rows = sorted(range(table.num_rows), key=lambda row: place[table["case_id"][row].as_py()])
    return table.take(pa.array(rows, pa.int64()))


@st.composite
def data_sets(draw: st.DrawFn, entry: Evaluator) -> tuple[Suite, Outputs]:
    """A small suite of the evaluator's first task and one model's outputs; some of both may be missing."""
    task = entry.tasks[0]
    names = [f"c{index}" for index in range(draw(st.integers(1, 6)))]
    boxed = task in GEOMETRIC
    label = st.sampled_from(LABELS)
    cases = [
        {
            "case_id": name,
            "label": None if boxed else draw(st.none() | label),
            "expected_answers": [] if boxed else draw(st.lists(label, max_size=2)),
            "group": draw(st.sampled_from([None, "g", "h"])),
            "image_width": 100,
            "image_height": 100,
        }
        for name in names
    ]
    objects = st.lists(st.sampled_from(names), max_size=10)
    truths = [
        {"case_id": name, "annotation_id": index, "label": draw(label), "is_crowd": draw(st.booleans()), **box(draw)}
        for index, name in enumerate(draw(objects))
    ]
    predictions = [
        {"case_id": name, "model": "m", "label": draw(label), "score": draw(scores), **(box(draw) if boxed else {})}
        for name in draw(objects)
    ]
    answers = [
        {"case_id": name, "model": "m", "answer": None if boxed else draw(st.none() | label | TEXT)} for name in names
    ]
    suite = Suite.from_rows("random", task, cases, truths if boxed else None, LABELS[:2] if boxed else ())
    return suite, Outputs.from_rows(answers, predictions)


scores = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.9, 1.0])


def box(draw: st.DrawFn) -> dict[str, float]:
    edge = st.sampled_from([0.0, 5.0, 10.0, 40.0])
    side = st.sampled_from([1.0, 10.0, 20.0, 60.0])
    x, y, width, height = draw(edge), draw(edge), draw(side), draw(side)
    return {"x": x, "y": y, "width": width, "height": height, "area": width * height}
