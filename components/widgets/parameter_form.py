"""A form for an evaluator's parameters, from the JSON schema of its pydantic model."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from components.widgets.literal import literal

if TYPE_CHECKING:
    from metrics.core.evaluator import Metric

Kind = Literal["number", "integer", "boolean", "choice", "text", "prose", "numbers", "texts", "json"]
PROSE = 1_000  # characters from which on a text that may have so many gets several lines


@dataclass(frozen=True, slots=True)
class ParameterField:
    """One parameter: what the form asks for. `optional` ones may stay empty, which means None.

    `options` are the only values of a choice, or the only texts of a list of texts; none: any. `words` say what a value
    is called, and "" what an empty field shows.
    """

    name: str
    kind: Kind
    description: str = ""
    default: Any = None
    low: float | None = None
    high: float | None = None
    options: tuple[Any, ...] = ()
    optional: bool = False
    named: str = ""
    words: Mapping[Any, str] | None = None

    @property
    def title(self) -> str:
        """The title that the schema gives it, else the name as words."""
        words = self.named or self.name.replace("_", " ")
        return words[:1].upper() + words[1:]


def fields(schema: Mapping[str, Any]) -> tuple[ParameterField, ...]:
    """Return the fields of a JSON schema of one flat object, in its order."""
    definitions = schema.get("$defs", {})
    return tuple(_field(name, entry, definitions) for name, entry in schema.get("properties", {}).items())


def value_text(value: Any) -> str:
    """Return a parameter's value in words: none, yes, texts separated by commas; anything else as JSON."""
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"null": "none", "true": "yes", "false": "no", "": "empty"}.get(text, text)


def _field(name: str, entry: Mapping[str, Any], definitions: Mapping[str, Any]) -> ParameterField:
    branches = [_resolve(branch, definitions) for branch in entry.get("anyOf", [entry])]
    optional = any(branch.get("type") == "null" for branch in branches)
    # where numbers of both kinds are allowed, the wider one makes the form
    branches = sorted(
        (branch for branch in branches if branch.get("type") != "null"), key=lambda b: b.get("type") == "integer"
    )
    kind = branches[0] if branches else {}
    options = tuple(kind.get("enum", (kind["const"],) if "const" in kind else ()))
    items = kind.get("items")
    return ParameterField(
        name,
        _kind(kind, options, definitions),
        entry.get("description", ""),
        entry.get("default"),
        kind.get("minimum", kind.get("exclusiveMinimum")),
        kind.get("maximum", kind.get("exclusiveMaximum")),
        options or (tuple(_resolve(items, definitions).get("enum", ())) if isinstance(items, Mapping) else ()),
        optional,
        title if (title := entry.get("title", "")).casefold() != name.replace("_", " ") else "",
        entry.get("values"),
    )


def _resolve(entry: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = entry.get("$ref") or next((part["$ref"] for part in entry.get("allOf", []) if "$ref" in part), None)
    return definitions.get(reference.rpartition("/")[2], {}) if reference else entry


def _kind(entry: Mapping[str, Any], options: tuple[Any, ...], definitions: Mapping[str, Any]) -> Kind:
    if options:
        return "choice"
    if entry.get("type") == "array":
        items = [*entry.get("prefixItems", ()), *([entry["items"]] if isinstance(entry.get("items"), Mapping) else [])]
        types = {_resolve(item, definitions).get("type") for item in items}
        if types and types <= {"number", "integer"}:
            return "numbers"
        return "texts" if types == {"string"} else "json"
    if entry.get("type") == "string" and entry.get("maxLength", 0) >= PROSE:
        return "prose"
    kinds: dict[Any, Kind] = {"number": "number", "integer": "integer", "boolean": "boolean", "string": "text"}
    return kinds.get(entry.get("type"), "json")


def threshold_form(metrics: Sequence[Metric], key: str, start: Mapping[str, float]) -> dict[str, float]:
    """Draw a choice among metrics, and a field for the threshold of each chosen one; return those by metric.

    `metrics` are an evaluator's, `start` the thresholds to begin with. Without a metric to choose nothing is drawn.
    """
    known = {metric.name: metric for metric in metrics if not metric.primary and metric.direction.value != "none"}
    if not known:
        return {}
    chosen = st.multiselect(
        "Thresholds of other metrics", known, [name for name in start if name in known], key=f"{key}.thresholds",
        help="Metrics that get a threshold of your own: models on its wrong side have a problem, and the metric is "
        "shown on the leaderboard.",
    )  # fmt: skip
    given: dict[str, float] = {}
    for place, name in zip(cycle(st.columns(2)), chosen, strict=False):
        metric = known[name]
        low, high = (end if isfinite(end) else None for end in (metric.low, metric.high))
        begun = start.get(name, metric.threshold if isfinite(metric.threshold or 0.0) else None)
        value = place.number_input(
            name, low, high, begun, 0.05 if metric.high <= 1 else 1.0, "%.4g", f"{key}.thresholds.{name}",
            f"{metric.description} A model has a problem {'above' if metric.direction.value == 'lower' else 'below'} "
            "this value.", placeholder="no threshold",
        )  # fmt: skip
        if value is not None:
            given[name] = value
    return given


def parse_numbers(text: str) -> list[float]:
    """Numbers parted by commas, semicolons or blanks; ValueError naming the first that is none."""
    numbers = []
    for word in text.replace(",", " ").replace(";", " ").split():
        try:
            number = float(word)
        except ValueError:
            raise ValueError(f"{word!r} is not a number") from None
        numbers.append(int(number) if number.is_integer() and "." not in word and "e" not in word.lower() else number)
    return numbers


def parameter_form(
    schema: Mapping[str, Any],
    key: str,
    default_threshold: float | None = None,
    start: Mapping[str, Any] | None = None,
    elsewhere: Collection[str] = (),
    empty: str = "default",
    columns: int = 2,
) -> dict[str, Any]:
    """Draw the form in `columns`, beginning with `start`; the values that differ from their defaults.

    Fields drawn `elsewhere` are left out. An empty field shows the word `empty`, which says what that means. An entry
    that cannot be read says so and keeps the default.
    """
    given: dict[str, Any] = {}
    asked = [field for field in fields(schema) if field.name not in elsewhere]
    for field, place in zip(asked, cycle(st.columns(columns)), strict=False):
        with place:
            placeholder = empty
            if field.name == "threshold" and default_threshold is not None:
                placeholder = f"default {default_threshold:g}"
            try:
                begun = replace(field, default=(start or {}).get(field.name, field.default))
                value = _widget(begun, f"{key}.{field.name}", placeholder)
            except ValueError as failure:
                st.error(f"{field.title}: {literal(str(failure))}. The default is kept.", icon=":material/error:")
                continue
            if value != field.default:
                given[field.name] = value
    return given


def _widget(field: ParameterField, key: str, placeholder: str) -> Any:
    label, hint, words = field.title, field.description or None, field.words or {}
    placeholder = words.get("", placeholder)
    if field.kind == "boolean" and field.optional:
        begun = None if field.default is None else (True, False).index(field.default)
        return st.selectbox(
            label, (True, False), begun, lambda yes: "yes" if yes else "no", key, hint, placeholder=placeholder
        )
    if field.kind == "boolean":
        return st.toggle(label, value=bool(field.default), key=key, help=hint)
    if field.kind == "choice":
        start = field.options.index(field.default) if field.default in field.options else None
        return st.selectbox(
            label, field.options, start, lambda value: words.get(value, value), key, hint, placeholder=placeholder
        )
    if field.kind in ("number", "integer"):
        cast: Callable[[Any], Any] = int if field.kind == "integer" else float
        low, high, start = (None if end is None else cast(end) for end in (field.low, field.high, field.default))
        step = cast(1) if cast is int or high is None or high > 1 else 0.05
        style = None if cast is int else "%.4g"
        return st.number_input(label, low, high, start, step, style, key, hint, placeholder=placeholder)
    if field.kind == "texts":
        shown = list(field.default or [])
        chosen = st.multiselect(
            label, list(dict.fromkeys([*field.options, *shown])), shown, key=key, help=hint,
            accept_new_options=not field.options,
            placeholder="choose" if field.options else words.get("", "type one, then Enter"),
        )  # fmt: skip
        return field.default if chosen == shown else chosen
    if field.kind == "numbers":
        shown_text = ", ".join(f"{number:g}" for number in field.default or [])
        text = st.text_input(label, shown_text, key=key, help=hint, placeholder="0.5, 0.75")
        return field.default if text == shown_text else parse_numbers(text)
    if field.kind == "json":
        start_text = "" if field.default is None else json.dumps(field.default)
        text = st.text_area(label, start_text, key=key, help=hint, placeholder="JSON")
        if text == start_text:
            return field.default
        try:
            return json.loads(text) if text.strip() else None
        except json.JSONDecodeError as failure:
            raise ValueError(f"not JSON ({failure.msg} at character {failure.pos + 1})") from None
    draw = partial(st.text_area, height="content") if field.kind == "prose" else st.text_input
    text = draw(label, field.default or "", key=key, help=hint, placeholder=placeholder)
    return field.default if text == (field.default or "") else text
