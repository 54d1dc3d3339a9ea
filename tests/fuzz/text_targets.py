"""Targets for texts that people, models and judges write: replies, conditions, JSON, traces, lists, templates …"""

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from metrics.core.errors import Unreadable
from metrics.core.unicode_forms import normalized
from metrics.ingest.formats.label_studio import brush
from metrics.ingest.media.drawn_objects import Faulty
from metrics.ingest.tables.lists import ListForm, understand
from metrics.ingest.traces.stored_trace import read_trace
from metrics.judge.completion import CallFailed
from metrics.judge.replies import Items, read
from metrics.targets import json_path, templates
from metrics.targets.answers import answer_of
from metrics.text.agents.steps import inline_steps, steps
from metrics.text.agents.traces import TraceError, efficiency
from metrics.text.condition_form import condition_of, form_of
from metrics.text.conditions import ConditionError, parse_condition
from metrics.text.json_text import JsonError, read_json, violations
from metrics.vision import rle
from tests.fuzz.target import Input, Target, any_text, text_of
from tests.ingest import trace_samples
from tests.ingest.test_annotation_shapes import brushed
from tests.ingest.test_lists import CELLS
from tests.judge.reply_forms import Given
from tests.judge.reply_table import JSON, WORDS
from tests.judge.unread_table import UNREAD

ANSWERS = ("", "Paris is the capital, 1889.", "PARIS", 'a "quoted" text', "e\u0301", "今天。", "x" * 3_000)
CONDITIONS = (
    '"Paris"', '"Paris" AND NOT "Lyon"', '("a" OR "b") AND regexp("1[89]\\\\d+")', 'NOT (“Zoë” || !"x") && "y"',
    'regexp("a\\"b") or not "\\\\"', '"a" AND ("b" OR ("c" AND NOT ("d" OR "e")))',
)  # fmt: skip
SCHEMA = {
    "type": "object", "properties": {"a": {"type": "integer", "minimum": 0}, "b": {"$ref": "#/$defs/text"}},
    "required": ["a"], "additionalProperties": False,
    "patternProperties": {"^x_": {"type": "array", "uniqueItems": True}},
    "$defs": {"text": {"type": "string", "pattern": "^[a-z]+$", "format": "date"}},
}  # fmt: skip
VALUES = ({"a": 1, "b": "x", "x_1": [1, 1.0]}, {"a": -1, "c": None}, [1, "a", {"a": 2}], "2024-02-30", 1e308, None)
FIELDS = {"question": "Q {answer} {{x}}?", "contexts": ["one", "two"], "metadata": {"odd-name": "v", "n": "\ud800"}}
DOCUMENT = {"choices": [{"message": {"content": "hi"}}], "docs": [{"text": "a"}, {"text": "b"}], "odd name": {"1": 0}}
PLACES = ("choices[0].message.content", "docs[*].text", '$["odd name"].1', "docs[-1]['text']", "docs[*]", "")


def texts(*listed: str, name: str = "text") -> list[Input]:
    return [Input(name, text.encode("utf-8", "surrogatepass")) for text in listed]


@cache
def replies() -> tuple[Given, ...]:
    return (*JSON, *UNREAD, *WORDS)


@cache
def forms() -> dict[str, Any]:
    return {given.form.__name__: given.form for given in replies()}


def check_reply(given: Input, _: Path) -> None:
    """What is read of a judge's reply fits its form, and is the same where a judge says it plainly."""
    form = forms().get(given.name, forms()["Verdict"])
    reply = read(any_text(given.data), form)
    assert type(reply) is form
    if isinstance(reply, Items):
        found, why = reply.by_number(4)
        assert found.keys() | why.keys() <= {1, 2, 3, 4}
        return
    plain = read(written(reply), form)
    assert read(written(plain), form) == plain


def written(reply: Any) -> str:
    return json.dumps(reply.model_dump(mode="json"), allow_nan=False)


def check_condition(given: Input, _: Path) -> None:
    """A condition says the same of a text by itself, of a column of texts, and after it was a form."""
    text = text_of(given.data)
    condition = parse_condition(text)
    found = [condition.terms_in(answer) for answer in ANSWERS]
    assert condition.found_in(pa.array([*ANSWERS, None] * 10)) == [*found, None] * 10
    assert len(condition.forbidden) == len(condition.terms)
    form = form_of(text)
    if form is not None:
        again = parse_condition(condition_of(form))
        assert [again.holds(again.terms_in(answer)) for answer in ANSWERS] == [*map(condition.holds, found)]


def check_json(given: Input, _: Path) -> None:
    """JSON that is read, in the composed characters in which texts come, is the same when it is written and read."""
    value = read_json(normalized("NFC", any_text(given.data))).value
    assert json.dumps(read_json(json.dumps(value)).value) == json.dumps(value)


def check_schema(given: Input, _: Path) -> None:
    """A schema finds the same violations twice, none beyond the limit, with and without formats."""
    schema = text_of(given.data)
    for value in VALUES:
        found = violations(value, schema, limit=5)
        assert len(found) <= 5
        assert found == violations(value, schema, limit=5)
        violations(value, schema, formats=True)


def check_trace(given: Input, _: Path) -> None:
    """A trace as it is stored has the steps that it had, and counts no more wasted calls than calls."""
    trace = read_trace(text_of(given.data))
    again = read_trace(trace.text)
    assert (again.steps, again.answer, again.question) == (tuple(trace.steps), trace.answer, trace.question)
    told = efficiency(trace.steps)
    assert len(told.wasted) <= told.calls


def check_list(given: Input, _: Path) -> None:
    """The items of a cell, written as JSON, are the same items."""
    text = text_of(given.data)
    for form in (ListForm(), ListForm(semicolons=True), ListForm(numbers=False, passages=True), ListForm(parts=True)):
        rule, items = understand(text, form)
        if items is not None and rule in ("JSON array", "Python list"):
            assert understand(json.dumps(items, ensure_ascii=False), form) == ("JSON array", items)


def check_runs(given: Input, _: Path) -> None:
    """Runs that are read are the same runs when they are written."""
    runs = rle.decode(text_of(given.data))
    assert rle.decode(rle.encode(runs)) == runs


def json_of(text: str) -> Any:
    """Return the JSON value of a text. Raises ValueError, also where lists in lists have no end."""
    try:
        return json.loads(text)
    except RecursionError as failure:
        raise ValueError("nested too deeply") from failure


def check_brush(given: Input, _: Path) -> None:
    """A brush is a bitmap of the size of its image."""
    document = json_of(text_of(given.data))
    assert brush(document, 14, 10).shape == (10, 14)


def check_path(given: Input, _: Path) -> None:
    """A path finds something of the document, or names the step that fails."""
    json_path.find(DOCUMENT, json_path.parse_path(text_of(given.data)))


def check_template(given: Input, _: Path) -> None:
    """Templates are filled; what has no placeholder stays as it is, and an address stays ASCII where it was."""
    text = text_of(given.data)
    filled = templates.fill(text, FIELDS)
    assert filled == text or templates.PLACEHOLDER.search(text)
    address = templates.fill_url(text, FIELDS)
    assert address.isascii() or not text.isascii()
    assert isinstance(templates.fill_json([text, {text: text}], FIELDS), list)


def check_answer(given: Input, _: Path) -> None:
    """An answer of a target can stand in a table."""
    row = answer_of(json_of(any_text(given.data))).as_row()
    json.dumps(row, allow_nan=False).encode("utf-8")
    pa.Table.from_pylist([{name: value for name, value in row.items() if name != "metadata"} | {"x": 1}])


def check_steps(given: Input, _: Path) -> None:
    """The steps in a text are parts of it."""
    text = text_of(given.data)
    for found in (steps(text), inline_steps(text)):
        assert all(isinstance(step, str) and step for step in found)


def spread(seeds: Iterable[Any]) -> list[Input]:
    return texts(*(json.dumps(one) for one in seeds))


def brushes() -> list[Input]:
    import numpy as np

    pixels = np.zeros((10, 14), bool)
    pixels[2:5, 3:9] = pixels[7, 0] = True
    return spread([brushed(pixels)])


ANSWERED = (
    "Paris",
    {"answer": "Paris", "contexts": [{"text": "a", "id": 1}, "b"], "citations": ["1"], "tokens": 3, "cost": 0.1},
    {"output": "Paris", "trace": {"steps": [{"tool": "a"}]}, "label": "x", "score": 0.5, "more": {"a": [1]}},
    {"error": "down"}, {"response": "x", "artifacts": [{"path": "a.txt"}], "trace": trace_samples.CHAT},
)  # fmt: skip
SCHEMAS = (SCHEMA, True, {"items": SCHEMA, "anyOf": [{"type": "array"}, {}]})
CELL_TEXTS = (*(cell for cell, *_ in CELLS.values()), "['a', \"b\", 1.5]", '["a", 2]', "a; b;c")
RUNS = ("`i1`K5L3", "0`0", rle.encode([400, 600, 19_000, 0, 5]))
TEMPLATES = ("{question} {{n}} {odd-name}", "https://a/?q={question}&c={contexts}", "{contexts}")
STEPS = ("1. Open. 2) Close.\n- Look\nStep 3: End", "First a; then (1) b, (2) c.", "a) x b) y")


def said() -> list[Input]:
    return [Input(given.form.__name__, given.text.encode("utf-8", "surrogatepass")) for given in replies()]


TARGETS = (
    Target("judge_reply", said, check_reply, (Unreadable,)),
    Target("condition", lambda: texts(*CONDITIONS), check_condition, (ConditionError,)),
    Target("json_text", lambda: spread([*VALUES, SCHEMA, DOCUMENT]), check_json, (JsonError,)),
    Target("json_schema", lambda: spread(SCHEMAS), check_schema, (JsonError,)),
    Target("trace", lambda: spread(kind for kind, _ in trace_samples.KINDS.values()), check_trace, (TraceError,)),
    Target("list_cell", lambda: texts(*CELL_TEXTS), check_list),
    Target("run_lengths", lambda: texts(*RUNS), check_runs, (ValueError,)),
    Target("brush", brushes, check_brush, (Faulty, ValueError)),
    Target("json_path", lambda: texts(*PLACES), check_path, (ValueError, KeyError)),
    Target("template", lambda: texts(*TEMPLATES), check_template),
    Target("target_answer", lambda: spread(ANSWERED), check_answer, (CallFailed, ValueError)),
    Target("agent_steps", lambda: texts(*STEPS), check_steps),
)
