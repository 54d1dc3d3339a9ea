"""promptfoo results: results{version, results[{testIdx, promptIdx, vars, provider, response, latencyMs, cost, …}]}.

A test (testIdx) is a case and a provider is a model; a provider that was given several prompts counts as one model for
each. The question is a variable with a usual name, else the only variable, else the prompt as sent. Expected answers
are a variable with a usual name, else what an assertion compares the output with; `context` is what was retrieved, as
in promptfoo's own context assertions. Assertions become conditions, JSON Schemas, budgets and criteria, see
promptfoo_assertions; as they are written, they and promptfoo's verdicts are kept as metadata. Variables that promptfoo
would run or open are refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from metrics.core.suite import METADATA
from metrics.ingest.formats.json_records import first_value, line_values
from metrics.ingest.formats.promptfoo_assertions import Assertions, listed_items
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.formats.tool_records import metadata, references
from metrics.ingest.output_parts import UNNAMED
from metrics.ingest.sheet import CODE, Sheet
from metrics.ingest.source import Problems, Source
from metrics.ingest.tables.columns import SUITE_ALIASES, fold
from metrics.ingest.tables.values import finite, flatten, json_text, tables_of, text_of
from metrics.ingest.unused_leaves import TAKEN, note_leaves
from metrics.ingest.yaml_documents import load_yaml

EXPECTED_NAMES = ("expected_answers", *SUITE_ALIASES["expected_answers"])
RETRIEVED = ("context", "contexts", "retrieved_contexts", "retrieval_context", "documents", "passages")
EXPECTED = "a result with testIdx, provider, vars and response"
VERDICTS = ("success", "score", "namedScores", "error", "failureReason")
ERROR = 2  # as a reason for which a result failed: the provider gave no answer
NO_TEMPLATES: Mapping[str, Any] = {}
NUMBERS = (
    "test_idx", "prompt_idx", "latency_ms", "provider.label", "response.token_usage.total",
    "response.cost", "vars", "test_case.vars", "test_case.assert",
    "test_case.threshold", "test_case.options.disable_default_asserts", "test_case.options.disable_var_expansion",
)  # fmt: skip
READS = {
    **dict.fromkeys(NUMBERS, TAKEN), **{fold(name): f"metadata.promptfoo.{name}" for name in VERDICTS},
    "provider": "model", "provider.id": "model", "prompt": "question", "prompt.raw": "question",
    "response.output": "answer", "cost": "cost_usd", "test_case.description": "metadata.description",
    "test_case.metadata": "metadata",
}  # fmt: skip
Record = dict[str, Any]


def read(source: Source, problems: Problems) -> Sheet:
    """Return the results as a sheet with a row each, under our column names."""
    document = read_document(source, problems)
    results = _results(document) or []
    sheet = sheet_of(source, results, problems)
    if not isinstance(document, Mapping):
        return sheet
    beside = {name: value for name, value in document.items() if name != "results"}
    inner = document["results"]
    if isinstance(inner, Mapping):
        beside["results"] = {name: value for name, value in inner.items() if name != "results"}
    note_leaves(source.name, problems, [beside], (), {})
    return sheet


def sheet_of(
    source: Source, results: list[Any], problems: Problems, templates: Mapping[str, Any] = NO_TEMPLATES,
    tests: Sequence[Any] = (),
) -> Sheet:  # fmt: skip
    """Return results as a sheet with a row each, under our column names; `templates` of assertions, by name.

    `tests`: those of a configuration, which has no results.
    """
    name = source.name
    good = [result if isinstance(result, dict) else {} for result in results]
    variables = [_variables(result) for result in good]
    question = _question_of(variables)
    models = _models(good)
    each = zip(good, variables, models, strict=True)
    records = [_record(result, given or {}, question, model) for result, given, model in each]
    _add_assertions(source, records, good, variables, templates, problems)
    rows = np.arange(1, len(results) + 1, dtype=np.int64)
    asked: dict[Any, Any] = {}
    if any(asked.setdefault(one["case_id"], one["question"]) != one["question"] for one in records):
        for record, given in zip(records, variables, strict=True):  # prompts differ within a case: its rows share these
            record["question"] = text_of(given) if given else None
    codes = [_code(given or {}) for given in variables]
    for row, (record, code) in enumerate(zip(records, codes, strict=True)):  # so that a problem below is listed once
        record["case_id"] = record["case_id"] or f"?{row}"
        record["model"] = record["model"] or UNNAMED
        record["expected_answers"] = None if code else record["expected_answers"]
    reads = {path.removeprefix("test_case."): columns for path, columns in READS.items()} if tests else READS
    note_leaves(name, problems, tests or results, records, reads, "tests[]" if tests else "results[]")
    sheet = Sheet(name, tables_of([records]), rows, problems)
    _check(sheet, results, good, variables, models, codes)
    return sheet


def _check(
    sheet: Sheet, results: list[Any], good: list[Record], variables: list[Record | None], models: Sequence[str | None],
    codes: list[tuple[str, str, str] | None],
) -> None:  # fmt: skip
    """Record as problems what is wrong with results, and variables that promptfoo would run or open."""
    report = sheet.report_values
    report((not isinstance(result, dict) for result in results), None, results, EXPECTED)
    tests = [result.get("testIdx") for result in good]
    report((type(test) is not int or test < 0 for test in tests), "testIdx", tests, "a whole number of at least 0")
    report((given is None for given in variables), "vars", [result.get("vars") for result in good], "an object")
    report((not model for model in models), "provider", [result.get("provider") for result in good], "a provider's id")
    answers = [result.get("response") for result in good]
    report((not isinstance(answer, dict | None) for answer in answers), "response", answers, "an object with output")
    for key in ("latencyMs", "cost"):
        numbers = [result.get(key) for result in good]
        wrong = (value is not None and not _amount(value) for value in numbers)
        report(wrong, key, numbers, "a number of at least 0")
    for variable, prefix in sorted({code[:2] for code in codes if code}):
        values = [code[2] if code and code[:2] == (variable, prefix) else None for code in codes]
        expected = f"plain text: cells that begin with {prefix} are code and are refused"
        sheet.report(np.array([value is not None for value in values], bool), variable, values, expected)


def _add_assertions(
    source: Source, records: list[Record], results: list[Record], variables: list[Record | None],
    templates: Mapping[str, Any], problems: Problems,
) -> None:  # fmt: skip
    """Add to each record what the assertions of its test are; what became of them is said once a test."""
    known: dict[str, Record] = {}
    left: dict[str, int] = {}
    total = 0
    for record, result, given in zip(records, results, variables, strict=True):
        test = result.get("testCase")
        test = test if isinstance(test, Mapping) else {}
        key = str(record["case_id"])
        if key not in known and test.get("assert"):
            made = Assertions(given or {}, templates, record["expected_answers"])
            made.add(test["assert"], test.get("threshold"))
            known[key] = made.columns() | metadata("promptfoo.assert", json_text(test["assert"]))
            total += made.count
            for kind, use, meaning in made.said:
                problems.note(source.name, f"assert[{kind}]", use, meaning, 1)
            for kind in made.left_out:
                left[kind] = left.get(kind, 0) + 1
            if not record["expected_answers"]:
                known[key]["expected_answers"] = list(dict.fromkeys(made.expected)) or None
        record.update(known.get(key, {}))
    if left:
        kinds = ", ".join(f"{kind} ({number:,})" for kind, number in left.items())
        number = sum(left.values())
        verb = "is" if number == 1 else "are"
        source.notes.append(
            f"{source.name}: {number:,} of {total:,} assertions {verb} not evaluated, and no case with such a one is "
            f"said to pass: {kinds}."
        )


def read_document(source: Source, problems: Problems) -> Any:
    """Return the document with numbers as numbers; of JSONL the list of its lines."""
    if source.format == "jsonl":
        return [value for _, value in line_values(source, problems)]
    return load_yaml(source.data.to_pybytes(), typed=True) if source.format == "yaml" else source.document


def _results(document: Any) -> list[Any] | None:
    """Return the results that `promptfoo eval -o` writes, or those of the `results` inside it; None for other files."""
    inner = document.get("results") if isinstance(document, dict) else document
    if isinstance(inner, dict):
        inner = inner.get("results")
    if not isinstance(inner, list) or not inner:
        return None
    known = (result.keys() for result in inner[:100] if isinstance(result, dict))
    return inner if any("testIdx" in names and not names.isdisjoint(("vars", "response")) for names in known) else None


def _variables(result: dict[str, Any]) -> dict[str, Any] | None:
    """Return the test's variables, empty where it has none, None where they are not an object."""
    given = result.get("vars")
    test = result.get("testCase")
    if given is None and isinstance(test, dict):
        given = test.get("vars")
    if given is None:
        return {}
    return {str(name): value for name, value in given.items()} if isinstance(given, dict) else None


def _question_of(variables: list[dict[str, Any] | None]) -> str | None:
    """Return the variable that is the question: one with a usual name, else the only one not a context or an answer."""
    names = dict.fromkeys(name for given in variables for name in given or {})
    usual = ("question", *SUITE_ALIASES["question"], "message")
    for alias in usual:
        for name in names:
            if fold(name) == alias:
                return name
    known = (*RETRIEVED, *EXPECTED_NAMES)
    others = [name for name in names if fold(name) not in known and not name.startswith("__")]
    return others[0] if len(others) == 1 else None


def _models(results: list[dict[str, Any]]) -> list[str | None]:
    """Return the provider of each result, with the prompt's number where the provider was given several."""
    names = [_provider(result.get("provider")) for result in results]
    places = [place if isinstance(place := result.get("promptIdx"), int) else 0 for result in results]
    given: dict[str | None, set[int]] = {}
    for name, place in zip(names, places, strict=True):
        given.setdefault(name, set()).add(place)
    prompts = {name: sorted(own) for name, own in given.items()}
    return [
        f"{name} (prompt {prompts[name].index(place) + 1})" if name and len(prompts[name]) > 1 else name
        for name, place in zip(names, places, strict=True)
    ]


def _provider(provider: Any) -> str | None:
    if isinstance(provider, dict):
        provider = provider.get("label") or provider.get("id")
    return provider if isinstance(provider, str) and provider.strip() else None


def _record(result: dict[str, Any], given: dict[str, Any], question: str | None, model: str | None) -> dict[str, Any]:
    prompt = result.get("prompt")
    raw = prompt.get("raw") if isinstance(prompt, dict) else prompt
    response = result.get("response")
    response = response if isinstance(response, dict) else {}
    usage = response.get("tokenUsage")
    latency = result.get("latencyMs")
    record = {
        "case_id": text_of(result.get("testIdx")),
        "question": text_of(given.get(question) if question else raw),
        "expected_answers": _expected(given, result),
        "retrieved_contexts": references(next((given[name] for name in given if fold(name) in RETRIEVED), None)),
        "model": model,
        "answer": text_of(response.get("output")),
        "error": text_of(
            response.get("error") or (result.get("error") if result.get("failureReason") == ERROR else None)
        ),
        "duration_s": latency / 1000 if latency is not None and _amount(latency) else None,
        "cost_usd": next((cost for cost in (result.get("cost"), response.get("cost")) if _amount(cost)), None),
        "tokens": usage.get("total") if isinstance(usage, dict) and type(usage.get("total")) is int else None,
    }
    test = result.get("testCase")
    if isinstance(test, dict) and isinstance(test.get("description"), str):
        record[METADATA + "description"] = test["description"]
    record |= metadata("", own) if isinstance(test, dict) and isinstance(own := test.get("metadata"), dict) else {}
    known = (*RETRIEVED, *EXPECTED_NAMES)
    others = [name for name in given if name != question and fold(name) not in known]
    rest = {METADATA + name: text_of(given[name]) for name in others}
    verdicts = flatten({METADATA + "promptfoo": {name: result[name] for name in VERDICTS if name in result}})
    return record | rest | {name: text_of(value) for name, value in verdicts.items() if value not in (None, {}, "")}


def _expected(given: dict[str, Any], result: dict[str, Any]) -> list[str] | None:
    for name, value in given.items():
        if fold(name) in EXPECTED_NAMES:
            return references(value)
    test = result.get("testCase")
    asserted = listed_items(test.get("assert")) if isinstance(test, dict) else []
    equal = [item for item in asserted if isinstance(item, dict) and item.get("type") == "equals"]
    values = [item.get("value") for item in equal]
    texts = [text_of(value) for value in values if not isinstance(value, dict | list)]
    return list(dict.fromkeys(text for text in texts if text and not text.strip().startswith(CODE))) or None


def _amount(value: Any) -> bool:
    return finite(value) and value >= 0


def _code(given: dict[str, Any]) -> tuple[str, str, str] | None:
    """Return name, prefix and text of the first value of a variable that promptfoo would run or open."""
    for name, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text.strip().startswith(CODE):
                return "vars." + name, next(prefix for prefix in CODE if text.strip().startswith(prefix)), text
    return None


def _recognises(source: Source) -> bool:
    return _results([first_value(source)] if source.format == "jsonl" else source.document) is not None


READER = table_reader("promptfoo", _recognises, read)
