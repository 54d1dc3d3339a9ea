"""Reading JSON strictly and validating it by a schema: nothing is fetched, and no pattern backtracks."""

import json
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import islice
from math import isfinite
from types import FunctionType, SimpleNamespace
from typing import Any, Literal, NoReturn

from metrics.core.unicode_forms import normalized, without_halves
from metrics.text.json_formats import has_format, steps_of
from metrics.text.patterns import compiled

MAX_DEPTH = 64
MAX_INTEGER_DIGITS = 4_000  # Python refuses to convert more than 4,300
MAX_STEPS = 2_000_000  # of one validation: keywords that are applied, and what they compare; some ten seconds
REF_STEPS = 40  # that following a reference takes
STEP_CHARACTERS = 100  # of a message, which quotes the value, that count as a step
LEVELS = {"[": 1, "{": 1, "]": -1, "}": -1}
# Strings as a whole, so that their brackets do not count; one that is never closed runs to the end.
STRUCTURE = re.compile(r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
UNEVALUATED, FINDER = "unevaluatedProperties", "find_evaluated_property_keys_by_schema"  # jsonschema's
Rule = Callable[[Any, Any, Any, Any], "Iterator[Any] | None"]  # of validator, keyword's value, instance and schema


class JsonError(ValueError):
    """A text that is not JSON, or a schema that cannot be used; the text says where and why."""


class TooLarge(JsonError):
    """A validation that takes too many steps; `number`: a value that is beyond the schema's arithmetic."""

    def __init__(self, text: str, *, number: bool = False):
        super().__init__(text)
        self.number = number


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value, and the object keys that were given twice (the last one counts)."""

    value: Any
    duplicates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """A violation of a schema: JSON path of the value, keyword of the schema, message."""

    path: str
    keyword: str
    message: str


def read_json(text: str) -> Document:
    """Return the JSON value of `text` by RFC 8259; JsonError for anything else, also NaN and more than 64 levels.

    A byte order mark at the beginning is ignored, as the RFC allows.
    """
    text = text.removeprefix("\ufeff")
    if text.count("[") + text.count("{") > MAX_DEPTH:
        _refuse_depth(text)
    duplicates: dict[str, None] = {}

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            duplicates.update((key, None) for key, count in counts.items() if count > 1)
        return value

    try:
        value = json.loads(text, object_pairs_hook=members, parse_constant=_refuse_constant, parse_int=bounded_integer)
    except json.JSONDecodeError as failure:
        raise JsonError(f"{failure.msg} at line {failure.lineno}, column {failure.colno}") from None
    if "\\u" in text:  # the text is composed and whole, what its escapes stand for may not be
        value = _compose(value)
    return Document(value, tuple(duplicates))


def _compose(value: Any) -> Any:
    """Return a JSON value with its texts and keys in composed characters (NFC), U+FFFD for halves of pairs."""
    if isinstance(value, str):
        return normalized("NFC", without_halves(value))
    if isinstance(value, dict):
        return {_compose(key): _compose(part) for key, part in value.items()}
    return list(map(_compose, value)) if isinstance(value, list) else value


def violations(value: Any, schema: str, limit: int = 20, formats: bool = False) -> list[Violation]:
    """Return the first `limit` violations of `schema` (JSON text) by `value`; none if it is valid.

    JsonError if the schema cannot be used: it is not JSON, not a schema, refers to something outside itself, which is
    never fetched, or takes more than MAX_STEPS steps to check or to apply: keywords, and what they compare. Drafts 3
    to 2020-12, the last if $schema names none. Patterns run in RE2. With `formats` a string must have the `format` of
    its schema (see `has_format`); else `format` says nothing. A schema is taken out of the wrappings of APIs.
    """
    from referencing.exceptions import Unresolvable

    try:
        _steps.set([MAX_STEPS])
        validator = _validator(schema, formats)
        _steps.set([MAX_STEPS])
        errors = list(islice(validator.iter_errors(value), limit))
    except Unresolvable as failure:
        raise JsonError(f"the schema refers to {failure.ref!r}, which is not in it; nothing is fetched") from None
    except RecursionError:
        raise JsonError("the schema refers to itself endlessly") from None
    except OverflowError:
        raise TooLarge("a number is too large for the schema's arithmetic", number=True) from None
    return [Violation(error.json_path, str(error.validator), error.message) for error in errors]


@lru_cache(maxsize=64)
def _validator(schema: str, formats: bool) -> Any:
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    parsed = _read_schema(schema)
    if not isinstance(parsed, dict | bool):
        raise JsonError(f"the schema is {type(parsed).__name__}, not an object or a boolean")
    draft = validator_for(parsed, default=Draft202012Validator)
    of_schemas = _bounded(draft, "schema")(draft.META_SCHEMA, format_checker=draft.FORMAT_CHECKER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # Python's of [[, though RE2 reads the pattern
        for error in of_schemas.iter_errors(parsed):
            raise JsonError(f"the schema is not valid at {error.json_path}: {error.message}")
    return _bounded(draft, "formats" if formats else "value")(parsed, registry=REGISTRY)


def _read_schema(schema: str) -> Any:
    """Return the schema in a text, out of the wrappings in which it is sent to a model."""
    try:
        parsed = read_json(schema).value
    except JsonError as failure:
        raise JsonError(f"the schema is not JSON: {failure}") from None
    for _ in WRAPPINGS:
        if isinstance(parsed, dict) and not {"$schema", "properties", "$ref"} & set(parsed):
            named = next((name for name in WRAPPINGS if isinstance(parsed.get(name), dict)), None)
            parsed = parsed[named] if named else parsed
    return parsed


def says_nothing(schema: str) -> str | None:
    """Return why a schema with members tests nothing: none of them is a keyword that does; else None.

    The schemas {} and true are meant to test nothing. JsonError as of `violations`.
    """
    from jsonschema import Draft3Validator, Draft4Validator, Draft201909Validator, Draft202012Validator

    parsed = _read_schema(schema)
    drafts: tuple[Any, ...] = (Draft3Validator, Draft4Validator, Draft201909Validator, Draft202012Validator)
    known = {keyword for draft in drafts for keyword in draft.VALIDATORS}
    if not isinstance(parsed, dict) or not parsed or known & set(parsed):
        return None
    return f"the schema tests nothing: {', '.join(map(repr, list(parsed)[:5]))} are no keywords that do"


# keys under which APIs take a schema: {"type": "json_schema", "json_schema": {"name": …, "strict": …, "schema": …}}
WRAPPINGS = (
    "response_format", "json_schema", "schema", "format", "text", "function", "parameters", "input_schema",
    "inputSchema", "outputSchema", "response_schema", "responseSchema", "guided_json", "definition",
)  # fmt: skip
_steps: ContextVar[list[int]] = ContextVar("steps")  # those that are left


def _spend(steps: int = 1) -> None:
    left = _steps.get()
    left[0] -= steps
    if left[0] < 0:
        raise TooLarge(f"the schema takes more than {MAX_STEPS:,} steps, the most that a validation may take")


@cache
def _bounded(draft: Any, of: Literal["schema", "value", "formats"]) -> Any:
    """Return a draft's validator whose steps are counted: of schemas, else of values by rules of our own."""
    from attrs import fields
    from jsonschema import validators

    rules: dict[str, Rule] = (
        {}
        if of == "schema"
        else {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "uniqueItems": _unique_items,
            "anyOf": _any_of,
            "oneOf": _one_of,
            "multipleOf": _multiple_of,
            "divisibleBy": _multiple_of,
            "format": _format if of == "formats" else lambda *_: None,
        }
    )
    every = {**draft.VALIDATORS, **{keyword: rule for keyword, rule in rules.items() if keyword in draft.VALIDATORS}}
    if UNEVALUATED in every:
        every[UNEVALUATED] = _with_re2(every[UNEVALUATED])
    steps = {keyword: REF_STEPS if "Ref" in keyword or keyword == "$ref" else 1 for keyword in every}
    counted = {keyword: _counted(rule, steps[keyword]) for keyword, rule in every.items()}
    # unevaluated… walks through the schema without keywords; it asks for each part whether it is a boolean
    types = draft.TYPE_CHECKER.redefine("boolean", _is_boolean)
    made: Any = validators.extend(draft, counted, type_checker=types)  # type: ignore[no-untyped-call]
    plain = made.evolve

    def evolve(self: Any, **changes: Any) -> Any:
        """Keep to bounded validators where a part of the schema names its own $schema."""
        found = plain(self, **changes)
        if hasattr(found, "bounded"):
            return found
        other: Any = type(found)
        own = {field.alias: getattr(found, field.name) for field in fields(other) if field.init}
        return _bounded(other, of)(**own)

    made.evolve, made.bounded = evolve, True
    return made


def _is_boolean(_: Any, value: Any) -> bool:
    _spend()
    return isinstance(value, bool)


def _counted(rule: Rule, steps: int) -> Rule:
    def spending(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _spend(steps + (len(wanted) if isinstance(wanted, list | dict) else 0))
        for error in rule(validator, wanted, instance, schema) or ():
            _spend(len(error.message) // STEP_CHARACTERS)
            yield error

    return spending


def _refuse_depth(text: str) -> None:
    depth = 0
    for match in STRUCTURE.finditer(text):
        depth += LEVELS.get(match[0], 0)
        if depth > MAX_DEPTH:
            raise JsonError(f"nested deeper than {MAX_DEPTH} levels at character {match.start() + 1}")


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError(f"{name}, which JSON does not have")


def bounded_integer(digits: str) -> int:
    """Return the whole number of these digits; JsonError for more than MAX_INTEGER_DIGITS."""
    if len(digits) > MAX_INTEGER_DIGITS:
        raise JsonError(f"an integer of {len(digits):,} digits")
    return int(digits)


def _with_re2(rule: Any) -> Rule:
    """Return jsonschema's rule for unevaluatedProperties with its patterns in RE2: it sees a module `re` of ours."""

    def search(pattern: str, text: str) -> Any:
        _spend()
        return _compiled(pattern).search(text)

    def rebuilt(function: Any, **names: Any) -> Any:
        return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)

    finder = rebuilt(rule.__globals__[FINDER], re=SimpleNamespace(search=search))
    finder.__globals__[FINDER] = finder
    made: Rule = rebuilt(rule, **{FINDER: finder})
    return made


def _compiled(pattern: str) -> Any:
    try:
        return compiled(pattern, longest=sys.maxsize)
    except ValueError as failure:
        raise JsonError(f"RE2 cannot read the schema's pattern {pattern!r}: {failure}") from None


def _error(message: str) -> Any:
    from jsonschema import ValidationError  # on use, as all of it

    return ValidationError(message)


def _pattern(validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not _compiled(pattern).search(instance):
        yield _error(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, part in patterns.items():
        _spend(len(instance))
        for name, value in instance.items():
            if _compiled(pattern).search(name):
                yield from validator.descend(value, part, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    patterns = [_compiled(pattern) for pattern in schema.get("patternProperties", {})]
    declared = schema.get("properties", {})
    _spend(len(instance) * (1 + len(patterns)))
    extra = [name for name in instance if name not in declared and not any(p.search(name) for p in patterns)]
    if validator.is_type(allowed, "object"):
        for name in extra:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and extra:
        yield _error(f"additional properties are not allowed: {', '.join(map(repr, extra[:10]))}")


def _any_of(validator: Any, parts: Sequence[Any], instance: Any, _schema: Any) -> Iterator[Any]:
    """Find values that no part takes. jsonschema keeps what is wrong by every part, which doubled parts make gigabytes
    of.
    """
    if not any(_fits(validator, part, instance) for part in parts):
        yield _error(f"{instance!r} is not valid under any of the given schemas")


def _one_of(validator: Any, parts: Sequence[Any], instance: Any, _schema: Any) -> Iterator[Any]:
    fitting = list(islice((part for part in parts if _fits(validator, part, instance)), 2))
    if not fitting:
        yield _error(f"{instance!r} is not valid under any of the given schemas")
    elif len(fitting) > 1:
        yield _error(f"{instance!r} is valid under each of {', '.join(map(repr, fitting))}")


def _fits(validator: Any, part: Any, instance: Any) -> bool:
    return next(validator.descend(instance, part), None) is None


def _format(validator: Any, name: str, instance: Any, _schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "string"):
        return
    _spend(steps_of(instance, name))
    if not has_format(instance, name):
        yield _error(f"{instance!r} does not have the format {name}")


def _multiple_of(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    """Find numbers that are no multiple in decimals, as they are written: 0.3 is one of 0.1."""
    if not validator.is_type(instance, "number"):
        return
    if not isfinite(instance):  # a number beyond a float
        raise OverflowError
    if Fraction(str(instance)) % Fraction(str(step)):
        yield _error(f"{instance!r} is not a multiple of {step!r}")


def _unique_items(validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[Any]:
    if wanted and validator.is_type(instance, "array") and len(set(map(identity, instance))) < len(instance):
        yield _error("the array has equal elements")


def identity(value: Any) -> Any:
    """Return a hashable key that is equal for equal JSON values: 1 is 1.0 but not true.

    Whole numbers are text there: numbers whose hashes are equal are easily made, and as many compared one by one.
    """
    if isinstance(value, dict):
        return frozenset((key, identity(part)) for key, part in value.items())
    if isinstance(value, list):
        return tuple(map(identity, value))
    if isinstance(value, bool | str) or value is None:
        return (type(value).__name__, value)
    whole = isinstance(value, int) or value.is_integer()
    return hex(int(value)) if whole else value
