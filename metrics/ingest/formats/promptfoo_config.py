"""promptfoo's configuration (promptfooconfig.yaml, or JSON): its tests are a suite.

A test's place is its case id, as the testIdx of the results is, so that both fit; variables that are lists make a test
of each combination, as each datum of a scenario does of its tests. Variables, assertions and options of defaultTest
belong to every test. Tests in other files, and variables that promptfoo would run or open, are refused: the results of
`promptfoo eval -o` have what they became. Prompts, providers and transforms are not used, which the receipt says.
"""

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any

from metrics.ingest.formats import promptfoo
from metrics.ingest.formats.json_records import first_value, line_values
from metrics.ingest.formats.promptfoo_assertions import listed_items
from metrics.ingest.formats.table_reader import table_reader
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import DOCUMENTS, Problems, Source
from metrics.ingest.tables.columns import fold
from metrics.ingest.unused_leaves import TAKEN, note_leaves

RESULTS = "tests in the file itself, or the results of `promptfoo eval -o results.json`"
NOT_OF_CASES = ("model", "answer", "retrieved_contexts", "duration_s", "cost_usd", "tokens", "error")
TRANSFORMS = ("transform", "postprocess", "transformVars")
USED = ("vars", "assert", "threshold", *(f"options.{fold(name)}" for name in (
    *TRANSFORMS, "disableDefaultAsserts", "disableVarExpansion")))  # fmt: skip
OF_TESTS = ("tests", "scenarios", "assertionTemplates")
MOST_TESTS = 100_000


def _is_config(source: Source) -> bool:
    document = source.document if source.format in DOCUMENTS else None
    if source.format == "jsonl" and isinstance(first := first_value(source), Mapping) and "vars" in first:
        document = [value for _, value in islice(line_values(source, Problems()), 100)]
    if isinstance(document, list):  # a file of tests that a configuration names
        return any(isinstance(test, Mapping) and {"vars", "assert"} <= test.keys() for test in document[:100])
    if not isinstance(document, Mapping) or "results" in document:
        return False
    held = {"prompts", "providers", "defaultTest", "targets", "scenarios"} & document.keys()
    tests = listed_items(document.get("tests"))[:100]
    asserting = any(isinstance(test, Mapping) and {"vars", "assert"} <= test.keys() for test in tests)
    return held >= {"prompts", "providers"} or bool(held and {"tests", "scenarios"} & document.keys()) or asserting


def _read(source: Source, problems: Problems) -> Sheet:
    typed = _whole(promptfoo.read_document(source, problems))
    document = _whole(source.document) if source.format == "yaml" else typed
    tests, shared = _tests_of(document), document.get("defaultTest") or {}
    for one in (*tests, shared):
        held = one.get("vars", one.get("path")) if isinstance(one, Mapping) else ""
        if not isinstance(held, Mapping | None):
            raise source.error(f"promptfoo tests that are elsewhere: {one!r}"[:120], RESULTS)
    if not tests:
        raise source.error("no promptfoo test", RESULTS)
    pairs = zip(tests, _tests_of(typed), strict=True)
    expanded = (made for test, own in pairs for made in _expand(test, own, shared, typed.get("defaultTest") or {}))
    results = [  # without a response
        {"testIdx": place, "provider": "none", "vars": test["vars"], "testCase": test}
        for place, test in enumerate(islice(expanded, MOST_TESTS + 1))
    ]
    if len(results) > MOST_TESTS:
        raise source.error(f"more than {MOST_TESTS:,} combinations of variables", RESULTS)
    templates = typed.get("assertionTemplates")
    made = promptfoo.sheet_of(source, results, problems, templates if isinstance(templates, Mapping) else {}, tests)
    beside = {name: value for name, value in document.items() if name not in OF_TESTS}
    note_leaves(source.name, problems, [beside], (), {f"default_test.{name}": TAKEN for name in USED})
    made.table = made.table.drop_columns([name for name in NOT_OF_CASES if name in made.table.column_names])
    return made


def _whole(document: Any) -> Any:
    return {"tests": document} if isinstance(document, list) else document


def _tests_of(document: Mapping[str, Any]) -> list[Any]:
    """Return the tests of a configuration, then each test of its scenarios with each of their data."""
    tests = listed_items(document.get("tests"))
    for scenario in listed_items(document.get("scenarios")):
        held = scenario if isinstance(scenario, Mapping) else {"config": scenario}
        sides = [listed_items(held.get("config")), listed_items(held.get("tests") or [{}])]
        if not all(isinstance(one, Mapping) for side in sides for one in side):
            return [*tests, scenario]
        tests = [*tests, *islice((_merge(*chosen) for chosen in product(*sides)), MOST_TESTS + 1)]
    return tests


def _merge(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return a test of the data of a scenario and of what each of its tests has beside."""
    made = {name: value for part in parts for name, value in part.items()}
    for name in ("vars", "options"):
        held = [part.get(name) or {} for part in parts]
        elsewhere = next((one for one in held if not isinstance(one, Mapping)), None)
        made[name] = elsewhere or {key: value for one in held if isinstance(one, Mapping) for key, value in one.items()}
    return {**made, "assert": [item for part in parts for item in listed_items(part.get("assert"))]}


def _join(name: str, *parts: Any) -> dict[str, Any]:
    """Return the objects of that name in tests as one."""
    held = (part.get(name) for part in parts)
    return {str(key): value for one in held if isinstance(one, Mapping) for key, value in one.items()}


def _expand(texts: Any, test: Any, shared_texts: Any, shared: Any) -> Iterator[dict[str, Any]]:
    """Yield a test with what all share, once for each combination of the variables that are lists of texts."""
    # `texts`: the same with texts for numbers, from which variables are taken.
    variables, listing = _join("vars", shared_texts, texts), _join("vars", shared, test)
    options = _join("options", shared, test)
    parts = (test,) if options.get("disableDefaultAsserts") is True else (shared, test)
    asserted = [item for part in parts for item in listed_items(part.get("assert"))]
    asserted += [{"type": f"options.{name}", "value": options[name]} for name in TRANSFORMS if options.get(name)]
    whole = {"threshold": shared.get("threshold"), **test, "assert": asserted}
    lists = [
        value if isinstance(own := listing.get(name), list) and own and isinstance(own[0], str) else [value]
        for name, value in variables.items()
    ]
    if options.get("disableVarExpansion") is True:
        lists = [[value] for value in variables.values()]
    for values in product(*lists):
        yield {**whole, "vars": dict(zip(variables, values, strict=True))}


READER = table_reader("promptfoo_config", _is_config, _read)
