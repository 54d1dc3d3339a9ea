"""The law of leaves for exports of tools: a changed value changes what is read, is refused, or is said to be unused."""
# ruff: noqa: E501 - a table reads better with one line a file

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from metrics.core.errors import InputError
from metrics.ingest import inspect, load_combined, load_suite
from tests.ingest.files import write
from tests.ingest.test_promptfoo import document, result
from tests.ingest.test_tool_exports import SPANS, SPEC, braintrust, choice, event, langsmith_run, lm, observation

OPIK = {"id": "i", "data": {"input": {"q": "Capital?", "tone": "mild"}, "expected_output": "Paris", "note": "easy"}, "assertions": ["It names the town"], "source": "manual"}  # fmt: skip
MLFLOW = {
    "inputs": {"question": "Capital?", "tone": "mild"}, "source": "people",
    "outputs": {"response": "Paris", "retrieved_context": [{"doc_uri": "file-1", "content": "It is Paris."}]},
    "expectations": {
        "expected_response": "Paris.", "expected_facts": ["Paris is it"], "guidelines": ["Be brief"], "level": "easy",
        "expected_retrieved_context": [{"doc_uri": "file-1", "content": "It is so."}],
    },
}  # fmt: skip
H2O_CASE = {
    "key": "c1", "prompt": "Capital?", "categories": ["towns"], "relationships": [], "expected_output": "Paris",
    "constraints": ["Paris"], "creator": "Ann",
}  # fmt: skip
H2O_INPUT = {
    "key": "c1_m", "test_case_key": "c1", "input": "Capital?", "corpus": ["a.pdf"], "context": ["It is Paris."],
    "expected_output": "Paris", "actual_output": "Paris.", "actual_duration": 1.5, "cost": 0.25, "model_key": "m",
    "metrics": {"score": 0.75},
}  # fmt: skip
CONFIG = {
    "description": "towns", "prompts": ["{{question}}"], "providers": [{"id": "openai:x", "config": {"seed": 11}}],
    "defaultTest": {"options": {"provider": "openai:grader"}, "assert": [{"type": "cost", "threshold": 0.5}]},
    "tests": [
        {"description": "capital", "vars": {"question": "Capital?", "topic": "towns"}, "metadata": {"level": "easy"},
         "assert": [{"type": "icontains", "value": "paris", "metric": "named"}, {"type": "javascript", "value": "true"}]}
    ],
    "outputPath": "out.html",
}  # fmt: skip
FILES: dict[str, tuple[str, Any]] = {
    "lm-eval": ("a.json", [lm(), lm(1)]),
    "lm-eval, choices": ("a.json", [choice(1, "-3.5", "-0.5")]),
    "LangSmith": ("a.json", [langsmith_run(), langsmith_run(id="r2", trace_id="r2", reference_example_id="e2")]),
    "Langfuse": ("a.json", [observation()]),
    "Braintrust": ("a.json", [braintrust(), braintrust(id="b2", span_id="y", root_span_id="y", is_root=False)]),
    "Phoenix": ("a.json", SPANS),
    "OpenAI evals, a log": ("a.json", [SPEC, event(0, "sampling", prompt="Capital?", sampled=["Paris"]), event(1, "match", correct=True, expected="Paris")]),
    "OpenAI evals, a data set": ("a.json", [{"input": "Capital?", "ideal": ["Paris"], "topic": "towns"}]),
    "Opik": ("a.json", {"name": "towns", "items": [OPIK]}),
    "MLflow": ("a.json", [MLFLOW | {"tags": {"by": "Ann"}}]),
    "promptfoo": ("a.json", document(result(), result(1))),
    "promptfoo's configuration": ("a.json", CONFIG),
    "H2O, a suite": ("a.json", {"name": "s", "tests": [{"key": "t", "documents": ["a.pdf"], "test_cases": [H2O_CASE]}]}),
    "H2O, a test lab": ("a.json", {"name": "lab", "dataset": {"inputs": [H2O_INPUT]}, "models": [{"key": "m", "llm_model_name": "big", "temperature": 0.5}]}),
    "records under a name": ("a.json", {"version": "one", "items": [{"question": "Capital?", "expected_answer": "Paris", "topic": "towns"}]}),
}  # fmt: skip


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value of a document that is neither empty nor holds others."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if value in ("", {}, []) or value is None:
        return
    if not isinstance(value, dict | list):
        yield path
    for key, inner in items:
        yield from leaves(inner, (*path, key))


def changed(document: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy with another value of the same type at a path."""
    made = copy.deepcopy(document)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    value = inner[path[-1]]
    inner[path[-1]] = not value if isinstance(value, bool) else value + 977 if isinstance(value, int) else (
        value + 0.0625 if isinstance(value, float) else "changed " + value)  # fmt: skip
    return made


def what_is_read(path: Any, role: str) -> tuple[Any, list[str]] | None:
    """Return the tables that are read, and the places that the receipt says are unused; None where it is refused."""
    try:
        if role == "suite":
            suite = load_suite(path).value
            tables = [suite.cases.to_pydict()]
        else:
            suite, outputs = load_combined(path).value
            tables = [suite.cases.to_pydict(), outputs.outputs.to_pydict()]
    except InputError:
        return None
    return repr(tables), [line.place for line in suite.receipt if line.use == "unused"]


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_a_leaf_is_used_refused_or_said_to_be_unused(tmp_path, name, content):
    path = write(tmp_path, name, content)
    role = inspect(path).role
    before = what_is_read(path, role)
    assert before is not None
    silent = []
    for place in leaves(content):
        after = what_is_read(write(tmp_path, name, changed(content, place)), role)
        last = next(str(key) for key in reversed(place) if isinstance(key, str))
        named = after is not None and any(unused.replace("[]", "").endswith(last) for unused in after[1])
        if after is not None and after[0] == before[0] and not named:
            silent.append(place)
    assert not silent


def test_what_is_unused_has_its_count_and_an_example(tmp_path):
    rows = [braintrust(), braintrust(id="b2", span_id="y", root_span_id="y")]
    suite, _ = load_combined(write(tmp_path, "a.json", rows)).value
    lines = {line.place: line for line in suite.receipt if line.use == "unused"}
    assert (lines["root_span_id"].count, lines["root_span_id"].example) == (2, "x")
