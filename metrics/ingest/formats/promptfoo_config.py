"""promptfoo's configuration (promptfooconfig.yaml, or JSON): its tests are a suite.

A test's place is its case id, as the testIdx of the results is, so that both fit; variables that are lists make a test
of each combination. Variables, assertions and options of defaultTest belong to every test. Tests in other files, and
values that promptfoo would run or open, are refused: the results of `promptfoo eval -o` have what they became. Prompts,
providers and transforms are not used, which the receipt says.
"""

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from metrics.ingest.formats import promptfoo
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.formats.unused_leaves import note_leaves
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import DOCUMENTS, Source
from metrics.ingest.tables.columns import fold
from metrics.ingest.yaml_documents import load_yaml

RESULTS = "tests in the file itself, or the results of `promptfoo eval -o results.json`"
NOT_OF_CASES = ("model", "answer", "retrieved_contexts", "duration_s", "cost_usd", "tokens")
TRANSFORMS = ("transform", "postprocess", "transformVars")
USED = ("vars", "assert", "threshold", *(f"options.{fold(name)}" for name in (
    *TRANSFORMS, "disableDefaultAsserts", "disableVarExpansion")))  # fmt: skip
MOST_TESTS = 100_000


def _is_config(source: Source) -> bool:
    document = source.document if source.format in DOCUMENTS else None
    if isinstance(document, list):  # a file of tests that a configuration names
        return any(isinstance(test, Mapping) and {"vars", "assert"} <= test.keys() for test in document[:100])
    if not isinstance(document, Mapping) or "results" in document:
        return False
    return "tests" in document and not {"prompts", "providers", "defaultTest", "targets"}.isdisjoint(document)


def _read(source: Source, problems: Problems) -> Sheet:
    document = _whole(source.document)
    if document.get("scenarios"):
        raise source.error("promptfoo scenarios", RESULTS)
    tests = document["tests"]
    elsewhere = [tests]
    if isinstance(tests, list):
        elsewhere = [one for one in tests if not isinstance(one, Mapping) or ("path" in one and "vars" not in one)]
    if elsewhere or not tests:
        found = f"promptfoo tests that are elsewhere: {elsewhere[0]!r}"[:120] if elsewhere else "no promptfoo test"
        raise source.error(found, RESULTS)
    shared = document.get("defaultTest") or {}
    if not isinstance(shared, Mapping):
        raise source.error(f"a promptfoo defaultTest that is elsewhere: {shared!r}"[:120], RESULTS)
    typed = _whole(load_yaml(source.data.to_pybytes(), typed=True)) if source.format == "yaml" else document
    pairs = zip(tests, typed["tests"], strict=True)
    expanded = (made for test, own in pairs for made in _expand(test, own, shared, typed.get("defaultTest") or {}))
    results = [_as_result(place, test) for place, test in enumerate(islice(expanded, MOST_TESTS + 1))]
    if len(results) > MOST_TESTS:
        raise source.error(f"more than {MOST_TESTS:,} combinations of variables", RESULTS)
    templates = typed.get("assertionTemplates")
    made = promptfoo.sheet_of(source, results, problems, templates if isinstance(templates, Mapping) else {}, "tests[]")
    beside = {name: value for name, value in document.items() if name not in ("tests", "assertionTemplates")}
    note_leaves(source.name, problems, [beside], (), tuple(f"default_test.{name}" for name in USED))
    made.table = made.table.drop_columns([name for name in NOT_OF_CASES if name in made.table.column_names])
    return made


def _whole(document: Any) -> Any:
    return {"tests": document} if isinstance(document, list) else document


def _expand(texts: Any, test: Any, shared_texts: Any, shared: Any) -> Iterator[dict[str, Any]]:
    """Yield a test with what all share, once for each combination of the variables that are lists of texts.

    `texts`: the same with texts for numbers, from which variables are taken.
    """
    given = [part.get("vars") for part in (shared_texts, texts)]
    variables = {str(name): value for part in given if isinstance(part, Mapping) for name, value in part.items()}
    held = [part.get("options") for part in (shared, test)]
    options = {name: value for part in held if isinstance(part, Mapping) for name, value in part.items()}
    parts = (test,) if options.get("disableDefaultAsserts") is True else (shared, test)
    asserted = [item for part in parts if isinstance(part.get("assert"), list) for item in part["assert"]]
    asserted += [{"type": f"options.{name}", "value": options[name]} for name in TRANSFORMS if options.get(name)]
    whole = {"threshold": shared.get("threshold"), **test, "assert": asserted}
    lists = [
        value if isinstance(value, list) and value and isinstance(value[0], str) else [value]
        for value in variables.values()
    ]
    if options.get("disableVarExpansion") is True:
        lists = [[value] for value in variables.values()]
    for values in product(*lists):
        yield {**whole, "vars": dict(zip(variables, values, strict=True))}


def _as_result(place: int, test: dict[str, Any]) -> dict[str, Any]:
    """Return a test as a result of promptfoo without a response."""
    return {"testIdx": place, "provider": "none", "vars": test["vars"], "testCase": test}


READER = table_reader("promptfoo_config", _is_config, _read)
