"""Strict JSON against json, schemas against jsonschema, and neither fetched, hung nor overflown."""

import json
import re
import tracemalloc
import warnings
from contextlib import suppress

import jsonschema
import pytest
from hypothesis import given, strategies as st

from metrics.text import json_text
from metrics.text.json_formats import has_format
from metrics.text.json_text import JsonError, read_json, says_nothing, violations

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.0, 0.5]) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abx", max_size=2), inner, max_size=3),
    max_leaves=6,
)
SCHEMAS = st.recursive(
    st.sampled_from([
        {}, True, False, {"type": "object"}, {"type": ["integer", "null"]}, {"minimum": 1}, {"pattern": "^a"},
        {"enum": [1, "a"]}, {"uniqueItems": True}, {"minItems": 2}, {"required": ["a"]}, {"const": {"a": 1}},
    ]),
    lambda inner: st.fixed_dictionaries({}, optional={
        "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "x"]), inner, max_size=2),
        "additionalProperties": inner, "items": inner, "anyOf": st.lists(inner, min_size=1, max_size=2), "not": inner,
    }),
    max_leaves=5,
)  # fmt: skip


@given(VALUES)
def test_what_json_writes_is_read(value: object) -> None:
    assert read_json(json.dumps(value)).value == value


@pytest.mark.parametrize(("text", "message"), [
    pytest.param("", "Expecting value at line 1, column 1", id="empty"),
    pytest.param("{'a': 1}", "line 1, column 2", id="single-quotes"),
    pytest.param("[1,\n2,]", "line 2", id="trailing-comma"),
    pytest.param("{} x", "Extra data at line 1, column 4", id="more-after"),
    pytest.param("[NaN]", "NaN, which JSON does not have", id="nan"),
    pytest.param("-Infinity", "-Infinity, which JSON does not have", id="infinity"),
    pytest.param('"a\nb"', "control character", id="line-break-in-a-string"),
    pytest.param("9" * 5000, "an integer of 5,000 digits", id="huge-integer"),
    pytest.param("[" * 65 + "]" * 65, "nested deeper than 64 levels at character 65", id="deep"),
    pytest.param("[" * 1_000_000, "nested deeper than 64 levels", id="very-deep"),
])  # fmt: skip
def test_what_is_not_json_says_where(text: str, message: str) -> None:
    with pytest.raises(JsonError, match=re.escape(message)):
        read_json(text)


def test_brackets_in_strings_are_no_levels() -> None:
    assert read_json(json.dumps("[" * 100 + '\\"{')).value == "[" * 100 + '\\"{'
    assert read_json(json.dumps([[]] * 100)).value == [[]] * 100


def test_duplicate_keys_are_noted_and_the_last_counts() -> None:
    document = read_json('[{"a": 1, "a": 2}, {"b": 1}, {"c": {"d": 0, "d": 0}}]')
    assert (document.duplicates, document.value[0]) == (("a", "d"), {"a": 2})


@given(value=VALUES, schema=SCHEMAS)
def test_validity_equals_jsonschema(value: object, schema: object) -> None:
    assert (not violations(value, json.dumps(schema))) is jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("value", [[1, 1.0], [1, True], [{"a": [1]}, {"a": [1.0]}], ["1", 1], [0, False, None, "", []]])
def test_unique_items_equal_jsonschema(value: list[object]) -> None:
    schema = {"uniqueItems": True}
    assert (not violations(value, json.dumps(schema))) is jsonschema.Draft202012Validator(schema).is_valid(value)


def test_violations_say_where() -> None:
    schema = {"properties": {"a": {"items": {"type": "integer", "minimum": 0}}}, "additionalProperties": False}
    found = violations({"a": [1, "x", -1], "b": 2}, json.dumps(schema))
    assert sorted((entry.path, entry.keyword) for entry in found) == [
        ("$", "additionalProperties"), ("$.a[1]", "type"), ("$.a[2]", "minimum"),
    ]  # fmt: skip
    assert len(violations(["x"] * 100, '{"items": {"type": "integer"}}')) == 20


@pytest.mark.parametrize(("schema", "message"), [
    pytest.param("{", "the schema is not JSON", id="not-json"),
    pytest.param("[]", "the schema is list, not an object", id="list"),
    pytest.param('{"type": "text"}', "the schema is not valid at $.type", id="not-a-schema"),
    pytest.param('{"$ref": "https://example.com/x"}', "refers to 'https://example.com/x'", id="remote-ref"),
    pytest.param('{"$ref": "file:///etc/passwd"}', "refers to 'file:///etc/passwd'", id="file-ref"),
    pytest.param('{"$ref": "#/$defs/none"}', "refers to", id="dangling-ref"),
    pytest.param('{"$ref": "#"}', "refers to itself endlessly", id="endless"),
    pytest.param('{"pattern": "(a)\\\\1"}', "RE2 cannot read", id="back-reference"),
])  # fmt: skip
def test_a_schema_that_cannot_be_used(schema: str, message: str) -> None:
    with pytest.raises(JsonError, match=re.escape(message)):
        violations("a", schema)


def test_a_meta_schema_is_known_without_fetching() -> None:
    schema = '{"$ref": "https://json-schema.org/draft/2020-12/schema"}'
    assert not violations({"type": "object"}, schema)
    assert violations({"type": 1}, schema)


def test_a_recursive_schema_on_a_deep_value() -> None:
    value: object = None
    for _ in range(60):
        value = [value]
    assert not violations(value, '{"items": {"$ref": "#"}}')


def doubled(part: str, times: int = 26) -> str:
    """A schema whose parts refer to the next one twice: 2²⁶ ways through a text of less than 2 kB."""
    parts = {f"a{each}": json.loads(part.replace("NEXT", f"#/$defs/a{each + 1}")) for each in range(times)}
    return json.dumps({"$defs": parts | {f"a{times}": {}}, "$ref": "#/$defs/a0"})


ALL_OF = '{"allOf": [{"$ref": "NEXT"}, {"$ref": "NEXT"}]}'
LETTERS = dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 1)
WALKED = '{"$ref": "NEXT", "$dynamicRef": "NEXT"}'


@pytest.mark.parametrize(("value", "schema"), [
    pytest.param(1, doubled(ALL_OF), id="doubled-references"),
    pytest.param({"x": 1}, '{"unevaluatedProperties": false, ' + doubled(WALKED)[1:], id="walked-unevaluated"),
    pytest.param([*range(900)], json.dumps({"items": {"enum": [*range(1000, 1900), *range(900)]}}), id="long-enum"),
    pytest.param([LETTERS] * 5000, json.dumps({"items": {"required": [*LETTERS]}}), id="long-required"),
    pytest.param([1] * 3000, json.dumps({"anyOf": [{"type": "string"}] * 900}), id="long-messages"),
    pytest.param(dict.fromkeys(map(str, range(900)), 1),
        json.dumps({"patternProperties": {f"x{each}": {} for each in range(900)}}), id="many-patterns"),
    pytest.param(1, json.dumps({"allOf": [{}] * 5000}), id="a-large-schema"),
])  # fmt: skip
@pytest.mark.attack(
    "suite author", "a 1.9 kB schema of 26 doubled $refs hangs a run", "a validation has a budget of steps"
)
def test_a_validation_has_a_budget_of_steps(monkeypatch: pytest.MonkeyPatch, value: object, schema: str) -> None:
    monkeypatch.setattr(json_text, "MAX_STEPS", 100_000)
    with pytest.raises(JsonError, match="the schema takes more than 100,000 steps"):
        violations(value, schema)
    assert violations(1, doubled(ALL_OF, times=5)) == [], "the next validation has a budget of its own"


@pytest.mark.attack(
    "suite author",
    "doubled anyOf keep gigabytes of what is wrong by each part before the steps are counted",
    "nothing is kept of a part that does not fit, and following a reference counts as many steps",
)
@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_doubled_parts_end_at_their_steps_in_little_memory(monkeypatch: pytest.MonkeyPatch, keyword: str) -> None:
    monkeypatch.setattr(json_text, "MAX_STEPS", 100_000)
    part = json.dumps({keyword: [{"$ref": "NEXT"}, {"$ref": "NEXT"}]})
    schema = doubled(part).replace('"a26": {}', '"a26": {"type": "string"}')
    violations(1, "{}")  # the libraries are loaded
    tracemalloc.start()
    with pytest.raises(JsonError, match="the schema takes more than 100,000 steps"):
        violations(1, schema)
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.attack(
    "model", "expressions and host names whose format takes seconds to check", "checking them counts as steps"
)
@pytest.mark.parametrize(("name", "texts"), [
    pytest.param("regex", [f"(?i){each}[\0-\uffff]" for each in range(90)], id="sets-that-ignore-case"),
    pytest.param("idn-hostname", ["\u0301\u0323" * 4_900] * 9, id="accents-in-the-wrong-order"),
    pytest.param("email", ["a@" + "\u0301\u0323" * 4_900] * 9, id="of-an-address"),
])  # fmt: skip
def test_formats_that_take_long_count_as_steps(monkeypatch: pytest.MonkeyPatch, name: str, texts: list[str]) -> None:
    monkeypatch.setattr(json_text, "MAX_STEPS", 100_000)
    schema = json.dumps({"items": {"format": name}})
    with pytest.raises(JsonError, match="the schema takes more than 100,000 steps"):
        violations(texts, schema, formats=True)
    violations(texts[:3], schema, formats=True)


@pytest.mark.attack(
    "suite author", "a part of a schema names a $schema, to have its own validator", "it is kept bounded"
)
def test_a_part_with_its_own_draft_is_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    for draft in ("2020-12/schema", "2019-09/schema"):
        part = {"$schema": f"https://json-schema.org/draft/{draft}"}
        with pytest.raises(JsonError, match="RE2 cannot read the schema's pattern"):
            violations("a", json.dumps({"allOf": [part | {"pattern": r"(a)\1"}]}))
    monkeypatch.setattr(json_text, "MAX_STEPS", 100_000)
    bomb = json.loads(doubled(ALL_OF))
    bomb["$defs"]["a0"] |= part
    with pytest.raises(JsonError, match="steps"):
        violations(1, json.dumps(bomb))


@pytest.mark.attack(
    "model", "40,000 numbers with equal hashes make comparing them slow", "whole numbers are told by text"
)
def test_numbers_with_equal_hashes_are_told_apart_quickly() -> None:
    numbers = [each * (2**61 - 1) for each in range(40_000)]
    assert violations(numbers, '{"uniqueItems": true}') == []
    assert len(violations([*numbers, float(numbers[3])], '{"uniqueItems": true}')) == (float(numbers[3]) in numbers)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" * 4_000, "1e-400"])
@pytest.mark.parametrize("rule", ["multipleOf", "minimum", "maximum", "exclusiveMinimum"])
def test_numbers_beyond_a_float_are_compared(number: str, rule: str) -> None:
    for bound in (0.1, 3, 10**300):
        with suppress(JsonError):  # with a reason
            assert len(violations(read_json(number).value, json.dumps({rule: bound}))) <= 1


@pytest.mark.parametrize(("schema", "value", "valid"), [
    ({"multipleOf": 0.1}, 0.3, True), ({"multipleOf": 0.01}, 4.35, True), ({"multipleOf": 0.01}, 19.999, False),
    ({"multipleOf": 0.0001}, 0.0075, True), ({"multipleOf": 2}, 7, False), ({"multipleOf": 1e-8}, 12391239123, True),
    ({"$schema": "http://json-schema.org/draft-03/schema#", "divisibleBy": 0.1}, 1.1, True),
    ({"patternProperties": {"^a": True}, "unevaluatedProperties": False}, {"ab": 1}, True),
    ({"patternProperties": {"^a": True}, "unevaluatedProperties": False}, {"ba": 1}, False),
    ({"allOf": [{"patternProperties": {"^a": {"type": "string"}}}], "properties": {"b": True},
      "unevaluatedProperties": {"type": "null"}}, {"a": "x", "b": 1, "c": None}, True),
    ({"allOf": [{"patternProperties": {"^a": {"type": "string"}}}], "unevaluatedProperties": False}, {"a": "x", "c": 1},
     False),
    ({"$schema": "https://json-schema.org/draft/2019-09/schema", "patternProperties": {"a$": True},
      "unevaluatedProperties": False}, {"ba": 1, "b": 2}, False),
])  # fmt: skip
def test_decimals_and_unevaluated_properties(schema: object, value: object, valid: bool) -> None:
    assert (not violations(value, json.dumps(schema))) is valid


@pytest.mark.attack("model", "patterns of unevaluatedProperties backtrack", "they run in RE2")
def test_patterns_of_unevaluated_properties_do_not_backtrack() -> None:
    schema = {"patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False}
    assert violations({"a" * 5_000 + "!": 1}, json.dumps(schema))


NUMBER = {"type": "object", "properties": {"price": {"type": "number"}}}


@pytest.mark.parametrize("wrapped", [
    NUMBER, {"name": "offer", "strict": True, "schema": NUMBER},
    {"type": "json_schema", "json_schema": {"name": "offer", "schema": NUMBER}},
    {"response_format": {"type": "json_schema", "json_schema": {"name": "offer", "schema": NUMBER}}},
    {"type": "function", "function": {"name": "offer", "parameters": NUMBER}},
    {"name": "offer", "input_schema": NUMBER},
    {"response_mime_type": "application/json", "response_schema": NUMBER}, {"guided_json": NUMBER},
    {"format": {"type": "json_schema", "name": "offer", "schema": NUMBER}},
    {"properties": {"schema": {"type": "object"}, "price": {"type": "number"}}},
])  # fmt: skip
def test_a_schema_is_taken_out_of_the_wrapping_of_an_api(wrapped: object) -> None:
    schema = json.dumps(wrapped)
    assert [found.path for found in violations({"price": "a lot"}, schema)] == ["$.price"]
    assert violations({"price": 1}, schema) == []
    assert says_nothing(schema) is None


@pytest.mark.parametrize(("schema", "why"), [
    ('{"typ": "object", "title": "x"}', "the schema tests nothing: 'typ', 'title' are no keywords that do"),
    ('{"schema": {"propertys": {}}}', "the schema tests nothing: 'propertys' are no keywords that do"),
    ("{}", None), ("true", None), ('{"const": 1}', None), ('{"extends": {}}', None), ('{"$ref": "#"}', None),
])  # fmt: skip
def test_a_schema_without_a_keyword_tests_nothing(schema: str, why: str | None) -> None:
    assert says_nothing(schema) == why


def test_texts_and_keys_are_composed_even_where_they_are_escaped() -> None:
    assert read_json('{"gro\\u0308sse": ["e\\u0301", {"u\\u0308": 1}]}').value == {"grösse": ["é", {"ü": 1}]}


def test_an_escaped_half_of_a_character_is_replaced() -> None:
    assert read_json(r'{"a\ud800": ["x\udc00y", "\ud83d\ude00"]}').value == {"a\ufffd": ["x\ufffdy", "\U0001f600"]}


def test_a_pattern_of_nested_brackets_gives_no_warning() -> None:
    pattern = "^[[a]$"  # Python warns that [[ may begin a set of sets one day; RE2 reads the pattern
    re.purge()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert violations("[", json.dumps({"pattern": pattern})) == []
        assert violations({"[": 1}, json.dumps({"patternProperties": {"[[b]": {"type": "number"}}})) == []
        assert has_format("[[c]", "regex")
