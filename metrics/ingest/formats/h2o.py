"""H2O Eval Studio JSON: test suites (tests[{key, documents, test_cases[…]}]) and test labs (dataset.inputs, models).

A case's group is its test, whose cases share documents. Constraints become one condition: all of a list, any of a list
within it, REGEXP:… an expression. A relationship of type perturbation_source says which case this one is a variant of.
"""

from typing import Any

import numpy as np

from metrics.core.suite import METADATA
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems, Source
from metrics.ingest.tables.values import finite, tables_of, text_of, without
from metrics.ingest.unused_leaves import TAKEN, note_leaves

CASE = "an object with key and prompt"
INPUT = "an object with input, actual_output and model_key"
REGEXP = "REGEXP:"
SOURCE = "perturbation_source"
PERTURBED = "perturbed"  # the kind of a variant: the files tell none
NUMBERS = ("model_key", "actual_duration", "cost", "constraints", "output_constraints")
READS = {
    **dict.fromkeys(("key", "test_case_key"), "case_id"), **dict.fromkeys(("prompt", "input"), "question"),
    **dict.fromkeys(("condition", "output_condition"), "conditions"), **dict.fromkeys(NUMBERS, TAKEN),
    "expected_output": "expected_answers", "categories": "tags", "relationships.target": TAKEN,
    "relationships.type": TAKEN, "test_key": "group", "corpus": "metadata.corpus", "actual_output": "answer",
    "context": "retrieved_contexts",
}  # fmt: skip
BESIDE = {"models.key": TAKEN, "models.llm_model_name": "model", "models.name": "model", "tests.key": "group"}
CONSTRAINTS = "texts, REGEXP:expressions, or lists of them"


def _is_suite(source: Source) -> bool:
    document = source.document
    tests = document.get("tests") if isinstance(document, dict) else None
    return isinstance(tests, list) and any(isinstance(test, dict) and "test_cases" in test for test in tests)


def _is_lab(source: Source) -> bool:
    document = source.document
    dataset = document.get("dataset") if isinstance(document, dict) else None
    return isinstance(dataset, dict) and isinstance(dataset.get("inputs"), list)


def read_suite(source: Source, problems: Problems) -> Sheet:
    """Return the test cases as a sheet, counted from 1 through all tests."""
    cases: list[Any] = []
    groups: list[str | None] = []
    documents: list[Any] = []
    for place, test in enumerate(source.document["tests"], 1):
        held = test.get("test_cases") if isinstance(test, dict) else None
        if not isinstance(held, list):
            problems.add(source.name, f"test {place} without test_cases", "an array test_cases", column="tests")
            problems.left_out += 1
            continue
        cases += held
        groups += [text_of(test.get("key"))] * len(held)
        documents += [test.get("documents")] * len(held)
    records = [
        {
            "case_id": text_of(case.get("key")) or f"?{place}",  # a problem below
            "question": text_of(case.get("prompt")),
            **_shared(case, "constraints", "condition"),
            "group": group,
            METADATA + "documents": text_of(paths) if paths else None,
        }
        for place, (case, group, paths) in enumerate(zip(_objects(cases), groups, documents, strict=True))
    ]
    tests = [without(test, "test_cases", "documents") for test in source.document["tests"]]
    beside = {**source.document, "tests": tests}
    return _sheet(source, records, cases, CASE, ("key", "prompt"), "constraints", problems, "test_cases[]", beside)


def read_lab(source: Source, problems: Problems) -> Sheet:
    """Return the inputs of a test lab as a sheet, counted from 1: case and answer in every row."""
    inputs = source.document["dataset"]["inputs"]
    names = _model_names(source.document.get("models"))
    records = []
    for row in _objects(inputs):
        model = text_of(row.get("model_key"))
        key = text_of(row.get("test_case_key")) or text_of(row.get("key"))  # the row's own is case_model
        record = {
            "case_id": key.removesuffix("_" + model) if key and model else key,
            "question": text_of(row.get("input")),
            **_shared(row, "output_constraints", "output_condition"),
            "group": text_of(row.get("test_key")) or None,
            METADATA + "corpus": text_of(row.get("corpus")) if row.get("corpus") else None,
            "model": names.get(model or "", model) or "?",  # a problem below
            "answer": text_of(row.get("actual_output")),
            "retrieved_contexts": row["context"] if isinstance(row.get("context"), list) and row["context"] else None,
            "duration_s": row.get("actual_duration"),
            "cost_usd": row.get("cost"),
        }
        if model and record.get("perturbs"):
            record["perturbs"] = str(record["perturbs"]).removesuffix("_" + model)
        records.append(record)
    if all(record["case_id"] is None for record in records):
        for record in records:
            del record["case_id"]
    beside = {**source.document, "dataset": without(source.document["dataset"], "inputs")}
    sheet = _sheet(
        source, records, inputs, INPUT, ("input", "model_key"), "output_constraints", problems, "inputs[]", beside
    )
    for name in ("actual_duration", "cost"):
        values = [row.get(name) for row in _objects(inputs)]
        wrong = [value is not None and not (finite(value) and value >= 0) for value in values]
        sheet.report(np.array(wrong, bool) & ~sheet.bad, name, values, "a number of at least 0")
    return sheet


def condition(constraints: Any) -> str | None:
    """Return constraints as one condition.

    >>> condition(["Paris", ["1889", "REGEXP:18+9"]])
    '"Paris" AND ("1889" OR regexp("18+9"))'

    ValueError where they are not texts, or lists of texts within a list.
    """
    if constraints is None or constraints in ([], ""):
        return None
    if not isinstance(constraints, list):
        return _term(constraints)
    parts = []
    for item in constraints:
        if isinstance(item, list) and item:
            choices = " OR ".join(map(_term, item))
            parts.append(f"({choices})" if len(item) > 1 else choices)
        else:
            parts.append(_term(item))
    return " AND ".join(parts)


def _term(text: Any) -> str:
    if not isinstance(text, str) or not text:
        raise ValueError("no text")
    if text.startswith(REGEXP):
        pattern = text.removeprefix(REGEXP).replace('"', '\\"')
        return f'regexp("{pattern}")'
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _shared(case: dict[str, Any], constraints: str, written: str) -> dict[str, Any]:
    """Return what test cases and inputs have in common, under our column names."""
    expected = text_of(case.get("expected_output"))
    try:
        spelled = text_of(case.get(written)) or condition(case.get(constraints))
    except ValueError:
        spelled = None
    tags = case.get("categories")
    tags = [tags] if isinstance(tags, str) and tags else tags
    kept = [tag for tag in tags if isinstance(tag, str) and tag.strip()] if isinstance(tags, list) else []
    related = case.get("relationships")
    related = _objects(related) if isinstance(related, list) else []
    source = next((text for one in related if one.get("type") == SOURCE and (text := text_of(one.get("target")))), None)
    return {
        "expected_answers": [expected] if expected else None,
        "conditions": spelled,
        "tags": kept or None,
        "perturbs": source,
        "perturbation": None if source is None else PERTURBED,
    }


def _objects(values: list[Any]) -> list[dict[str, Any]]:
    return [value if isinstance(value, dict) else {} for value in values]


def _model_names(models: Any) -> dict[str, str]:
    """Return key → name of each model; the key is added to names that two models share."""
    names: dict[str, str] = {}
    for model in models if isinstance(models, list) else []:
        key = text_of(model.get("key")) if isinstance(model, dict) else None
        if key:
            names[key] = text_of(model.get("llm_model_name") or model.get("name")) or key
    given = list(names.values())
    twice = {name for name in given if given.count(name) > 1} if len(given) < 1_000 else set(given)
    return {key: f"{name} ({key})" if name in twice else name for key, name in names.items()}


def _sheet(
    source: Source, records: list[dict[str, Any]], found: list[Any], expected: str, needed: tuple[str, ...],
    constraints: str, problems: Problems, root: str, beside: dict[str, Any],
) -> Sheet:  # fmt: skip
    """Return the records as a sheet, and say what of them, and of what is `beside` them, is unused."""
    # Rows without an object, a needed value or readable constraints are problems.
    note_leaves(source.name, problems, found, records, READS, root)
    note_leaves(source.name, problems, [beside], records, BESIDE)
    rows = np.arange(1, len(found) + 1, dtype=np.int64)
    sheet = Sheet(source.name, tables_of([records]), rows, problems)
    sheet.report_values((not isinstance(value, dict) for value in found), None, found, expected)
    objects = _objects(found)
    for name in needed:
        values = [value.get(name) for value in objects]
        wrong = (not isinstance(value, str) or not value.strip() for value in values)
        sheet.report_values(wrong, name, values, "a text")
    values = [value.get(constraints) for value in objects]
    sheet.report_values((not _spells(value) for value in values), constraints, values, CONSTRAINTS)
    return sheet


def _spells(constraints: Any) -> bool:
    try:
        condition(constraints)
    except ValueError:
        return False
    return True


SUITE = table_reader("h2o_suite", _is_suite, read_suite)
LAB = table_reader("h2o_lab", _is_lab, read_lab)
