"""promptfoo's configuration (promptfooconfig.yaml, or JSON): its tests are a suite.

A test's place is its case id, as the testIdx of the results is, so that both fit. Variables of defaultTest belong to
every test. Tests in other files, variables that promptfoo expands into several tests, and values that it would run or
open are refused: the results of `promptfoo eval -o` have what they became.
"""

from collections.abc import Mapping
from typing import Any

from metrics.ingest.formats import promptfoo
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.problems import Problems
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import DOCUMENTS, Source

RESULTS = "tests in the file itself, or the results of `promptfoo eval -o results.json`"
NOT_OF_CASES = ("model", "answer", "retrieved_contexts", "duration_s", "cost_usd", "tokens")


def _is_config(source: Source) -> bool:
    document = source.document if source.format in DOCUMENTS else None
    if not isinstance(document, Mapping) or "results" in document:
        return False
    return "tests" in document and not {"prompts", "providers", "defaultTest", "targets"}.isdisjoint(document)


def _read(source: Source, problems: Problems) -> Sheet:
    document = source.document
    if document.get("scenarios"):
        raise source.error("promptfoo scenarios", RESULTS)
    tests = document["tests"]
    elsewhere = tests if isinstance(tests, list) else [tests]
    elsewhere = [test for test in elsewhere if not isinstance(test, Mapping)]
    if elsewhere or not tests:
        found = f"promptfoo tests that are elsewhere: {elsewhere[0]!r}"[:120] if elsewhere else "no promptfoo test"
        raise source.error(found, RESULTS)
    default = document.get("defaultTest")
    shared = default if isinstance(default, Mapping) else {}
    results = [_as_result(place, test, shared) for place, test in enumerate(tests)]
    made = promptfoo.sheet_of(source.name, results, problems)
    for row, result in enumerate(results, 1):
        for name in (name for name, value in result["vars"].items() if isinstance(value, list)):
            expected = "a single value, as promptfoo makes a test of each item; or " + RESULTS
            problems.add(source.name, "a list", expected, row, f"vars.{name}", fatal=True)  # it shifts all ids below
    made.table = made.table.drop_columns([name for name in NOT_OF_CASES if name in made.table.column_names])
    return made


def _as_result(place: int, test: Mapping[str, Any], shared: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test as a result of promptfoo without a response."""
    given = [part.get("vars") for part in (shared, test)]
    variables = {str(name): value for part in given if isinstance(part, Mapping) for name, value in part.items()}
    asserted = [item for part in (shared, test) if isinstance(part.get("assert"), list) for item in part["assert"]]
    return {"testIdx": place, "provider": "none", "vars": variables, "testCase": {**test, "assert": asserted}}


READER = table_reader("promptfoo_config", _is_config, _read)
