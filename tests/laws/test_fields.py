"""Every column of cases and outputs is reached through every door, from its one declaration."""

import re
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, get_type_hints

import pytest

from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore, Metric, Parameters
from metrics.core.evaluator_decorator import evaluator
from metrics.core.fields import CASE_FIELDS, FIELDS, OUTPUT_FIELDS, TABLES, Case, Field, Task
from metrics.core.label_fields import ANNOTATION_FIELDS, CLASS_FIELDS, OBJECT_TABLE_FIELDS, PREDICTION_FIELDS
from metrics.core.suite import ANNOTATIONS, CASES, OUTPUTS, PREDICTIONS
from metrics.engine.load_resources import missing_inputs
from metrics.ingest import read_outputs, read_suite
from metrics.ingest.tables.columns import fold
from metrics.library.random_inputs import random_case, random_data_set
from metrics.presentation.viewers.case_texts import case_blocks
from tests.ingest.files import write

TABLES_OF_FIELDS = (CASE_FIELDS, OUTPUT_FIELDS, ANNOTATION_FIELDS, PREDICTION_FIELDS)
ROOT = Path(__file__).parents[2]
OF_SUITES = [field for field in CASE_FIELDS if field.role != "image"]
# what the reader makes of the column of another one, or demands beside it
BESIDE: dict[str, dict[str, Any]] = {
    "correct_choice": {"choices": ["a", "b"]}, "reference_grades": {"reference_context_ids": ["a"]},
    "perturbs": {"case_id": "7"}, "context_ids": {"retrieved_contexts": ["one"]},
    "choice_logprobs": {"choices": ["a"]},
}  # fmt: skip


def spellings(fields: list[Field] | tuple[Field, ...]) -> list[Any]:
    """Return each column with each of its names, and the task in which it is known by that one."""
    return [
        pytest.param(field, name, task, id=f"{field.name}={name}")
        for field in fields
        for task in dict.fromkeys((field.tasks[0] if field.tasks else "text", *field.aliases_in))
        for name in (field.name, *field.aliases, *field.aliases_in.get(task, ()))
    ]


def sample(field: Field) -> Any:
    return [field.samples[0]] if field.is_list else field.samples[0]


def test_a_case_has_the_declared_types_and_is_empty_by_default() -> None:
    hints = get_type_hints(Case)
    for name in FIELDS.keys() & hints.keys() - {"case_id", "model", "run"}:
        field = FIELDS[name]
        item = str if not field.is_number else int if field.is_whole else float
        assert hints[name] == (tuple[item, ...] if field.is_list else item | None), name  # type: ignore[valid-type]
        assert Case._field_defaults[name] == (() if field.is_list else None)
    assert hints.keys() - FIELDS.keys() == {"position", "files", "metadata"}


def test_the_schemas_are_the_declared_columns_each_once() -> None:
    for fields, schema in zip(TABLES_OF_FIELDS, (CASES, OUTPUTS, ANNOTATIONS, PREDICTIONS), strict=True):
        assert [field.name for field in fields] == schema.names
        assert len(set(schema.names)) == len(schema.names)


@pytest.mark.parametrize("fields", [OF_SUITES, OUTPUT_FIELDS, OBJECT_TABLE_FIELDS, CLASS_FIELDS])
def test_no_name_means_two_columns_of_a_file(fields: list[Field]) -> None:
    names = [name for field in fields for name in (field.name, *field.aliases)]
    assert sorted(set(names)) == sorted(names)
    assert [fold(name) for name in names] == names


@pytest.mark.parametrize(
    "field", list(chain(*TABLES_OF_FIELDS, CLASS_FIELDS, OBJECT_TABLE_FIELDS)), ids=lambda field: field.name
)
def test_a_column_says_what_it_is(field: Field) -> None:
    assert re.fullmatch(r"[A-Z][^.]*", field.title)
    assert re.fullmatch(r"[\w ].*\.", field.help)
    assert field.samples or FIELDS.get(field.name) is not field or field.role == "image", "the laws need values of it"


@pytest.mark.parametrize(("field", "name", "task"), spellings(OF_SUITES))
def test_a_suite_is_read_by_each_name_of_a_column(tmp_path: Path, field: Field, name: str, task: Task) -> None:
    row = {"case_id": "1", "question": "q"} | BESIDE.get(field.name, {})
    row |= {"label": "cat"} if task == "classification" and not name.startswith("label") else {}
    row = {key: value for key, value in row.items() if key != field.name} | {name: sample(field)}
    suite = read_suite(write(tmp_path, "s.jsonl", [row]), task=task)
    assert suite.cases[field.name].to_pylist() == [sample(field)]


@pytest.mark.parametrize(("field", "name", "task"), spellings(OUTPUT_FIELDS))
def test_outputs_are_read_by_each_name_of_a_column(tmp_path: Path, field: Field, name: str, task: Task) -> None:
    case = {"case_id": "7", "question": "q", "choices": ["a"], "true_value": 1.0}
    suite = read_suite(write(tmp_path, "s.jsonl", [case]), task=task)
    answer = {"predicted_value": 2.0} if task == "regression" else {"answer": "a"}
    row = {"case_id": "7", "model": "m"} | answer | BESIDE.get(field.name, {})
    row = {key: value for key, value in row.items() if key != field.name} | {name: sample(field)}
    row |= {name: field.samples[0]} if name == "passage" else {}  # one a row
    outputs = read_outputs(write(tmp_path, "o.jsonl", [row]), suite=suite)
    size = next((size for ending, size in field.units.items() if name.endswith(ending)), 1)
    value = sample(field) if size == 1 else sample(field) / size
    found = outputs.outputs[field.name].to_pylist()
    assert found == [value] or field.syntax == "trace", "a trace is stored in one form"
    assert found != [None]


def test_random_inputs_have_every_column_that_evaluators_read() -> None:
    chance = Random(1)
    cases = [random_case(chance) for _ in range(200)]
    have = {name for name in Case._fields for case in cases if getattr(case, name) not in (None, ())}
    for task in ("text", "classification", "regression"):
        suite, outputs = random_data_set(chance, task)
        have |= {
            name
            for table in (suite.cases, outputs.outputs)
            for name in table.column_names
            if len(table[name].drop_null())
        }
    wanted = {field.name for field in FIELDS.values() if field.role in ("ask", "expect", "help", "answer", "measure")}
    assert wanted - have == {"error"}


def test_the_case_page_shows_all_that_a_case_asks_and_is_checked_by() -> None:
    own = [field for field in CASE_FIELDS if field.role in ("ask", "expect", "help")]
    case = dict.fromkeys(CASES.names) | {field.name: sample(field) for field in own}
    shown = dict(case_blocks(case))
    missing = {field.name for field in own if field.title not in shown and field.title.removesuffix("s") not in shown}
    assert missing == {"reference_contexts"}, "passages are listed below"


@pytest.mark.parametrize("name", [*FIELDS, *TABLES])
def test_an_evaluator_may_ask_for_a_column_and_what_a_case_lacks_is_named(name: str) -> None:
    def same(case: Case, parameters: Parameters) -> CaseScore:
        """The share of nothing."""
        return CaseScore({"same": 1.0})

    entry = evaluator(inputs=(name,), metrics=(Metric("same", "Nothing."),))(same)
    assert (entry.id, entry.title) == ("same", "Same")
    if name in Case._fields and Case._field_defaults[name] in (None, ()) and name != "error":
        (score,) = missing_inputs(entry, Cases.of([Case(case_id="1")])).values()
        assert score.reason == f"the case has no {FIELDS[name].words}"


def test_an_unknown_input_of_an_evaluator_is_refused() -> None:
    with pytest.raises(ValueError, match="evaluator same: the input 'anser', expected one of"):
        evaluator(id="same", inputs=("anser",), metrics=(Metric("same", "Nothing."),))(lambda _: None)


def test_the_documents_name_every_column_of_uploads() -> None:
    text = (ROOT / "docs" / "formats.md").read_text()
    for field in (*OF_SUITES, *OUTPUT_FIELDS, *CLASS_FIELDS, *OBJECT_TABLE_FIELDS):
        assert re.search(rf"^\| `{field.name}` \| \S", text, re.M), field.name
