"""promptfoo's assertions as what evaluators read: conditions, a JSON Schema, budgets, criteria, expected answers.

What none of these can say is left out by name, and a case with such an assertion is not said to pass: its column
`metadata.assertions_left_out` makes the evaluators of assertions withhold a pass.
"""

import csv
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import orjson

from metrics.core.fields import LEFT_OUT, METADATA
from metrics.core.other_names import names_of
from metrics.core.receipt import Use
from metrics.core.rounding import exact_sum
from metrics.ingest.sheet import CODE as CODE_PREFIXES
from metrics.ingest.tables.values import finite, json_text, text_of
from metrics.text.conditions import ConditionError, parse_condition

Record = dict[str, Any]
Given = Mapping[str, Any]
MOST_TOGETHER = 10  # assertions of a set with a threshold, whose combinations become one condition
DEEPEST = 20  # sets within sets, references to templates
TEMPLATE = re.compile(r"\{\{\s*(\w{1,100})\s*\}\}")
SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")
QUOTE = re.compile(r'((?:\\\\)*)\\?"')  # with the backslashes before it
WRITTEN = re.compile(
    r"(?P<type>(?:not-)?[a-z][a-z0-9-]{0,40})(?:\((?P<threshold>[\d.]+)\))?(?::\s*(?P<value>.*))?", re.DOTALL
)
JUDGED = ("llm-rubric", "model-graded-closedqa", "g-eval")
REFERENCED = (  # compared with a reference
    "similar", "factuality", "model-graded-factuality", "levenshtein", "rouge-n", "bleu", "gleu", "meteor",
    "context-recall",
)  # fmt: skip
CODE = ("javascript", "python", "ruby", "webhook", "options.transform", "options.postprocess", "options.transformVars")
BUDGETS = {"cost": ("budget_cost_usd", 1.0), "latency": ("budget_seconds", 1000.0)}


class LeftOutError(ValueError):
    """An assertion that nothing of a case can say; its text is why."""


def quoted(text: str) -> str:
    """Return a condition that holds where a text contains this one."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def expression(pattern: str) -> str:
    """Return a condition that holds where RE2 finds a pattern."""
    return 'regexp("' + QUOTE.sub(r"\1\\x22", pattern) + '")'


def _literal(text: str) -> str:
    return SPECIAL.sub(r"\\\1", text)


def _fold(text: str) -> str:
    return expression("(?i)" + _literal(text))


def _any(parts: Sequence[str]) -> str:
    return "(" + " OR ".join(parts) + ")" if len(parts) > 1 else parts[0]


def _all(parts: Sequence[str]) -> str:
    return " AND ".join(parts)


def _words(value: Any) -> str:
    least, most = (value.get("min", 0), value.get("max", "")) if isinstance(value, Mapping) else (value, value)
    if not all(bound == "" or (str(bound).isdecimal() and int(bound) <= 1000) for bound in (least, most)):
        raise LeftOutError("words are counted up to 1,000")
    count = f"{{{least}}}" if str(least) == str(most) else f"{{{least},{most}}}"
    return expression(rf"\A\s*(?:\S+(?:\s+|\z)){count}\z")


ONE: dict[str, Callable[[str], str]] = {
    "contains": quoted,
    "icontains": _fold,
    "equals": lambda text: expression(rf"\A{_literal(text)}\z"),
    "starts-with": lambda text: expression(rf"\A{_literal(text)}"),
    "ends-with": lambda text: expression(rf"{_literal(text)}\z"),
    "regex": expression,
}
EACH: dict[str, tuple[Callable[[str], str], Callable[[Sequence[str]], str]]] = {
    "contains-any": (quoted, _any), "contains-all": (quoted, _all),
    "icontains-any": (_fold, _any), "icontains-all": (_fold, _all),
}  # fmt: skip


def written_assertion(cell: str) -> Record:
    """Return the assertion in a cell `__expected` of a table: `contains-all: a, b`, `similar(0.8): text`, or a text."""
    text = cell.strip()
    if text.startswith("grade:"):
        return {"type": "llm-rubric", "value": text.removeprefix("grade:").strip()}
    if text.startswith(("fn:", "eval:")):
        return {"type": "javascript", "value": text.partition(":")[2].strip()}
    match = WRITTEN.fullmatch(text)
    if match is None or match["type"].removeprefix("not-") not in names_of("promptfoo"):
        return {"type": "equals", "value": cell}
    made: Record = {"type": match["type"]}
    kind, value = match["type"].removeprefix("not-"), match["value"]
    if match["threshold"]:
        made["threshold"] = _number(match["threshold"])
    if value and kind in (*BUDGETS, "perplexity", "perplexity-score"):
        made["threshold"] = _number(value)
    elif value:
        made["value"] = _parts(value) if kind in EACH else value.strip()
    return made


class Assertions:
    """The assertions of one case, as the columns that they become.

    `templates` are those that a $ref names; `variables` fill {{name}} in their values. `expected` are the expected
    answers that the case has without them: any one of these counts, so that a further reference is left out.
    """

    def __init__(self, variables: Given, templates: Given, expected: Sequence[str] | None = None):
        self.variables, self.templates = variables, templates
        self.known = tuple(expected or ())
        self.conditions: list[str] = []
        self.schemas: list[Any] = []
        self.criteria: list[str] = []
        self.expected: list[str] = []
        self.budgets: dict[str, float] = {}
        self.count = 0
        self.left_out: list[str] = []  # the types of the assertions that are not evaluated
        self.said: list[tuple[str, Use, str]] = []  # of each assertion: its type, and what it became or why it did not

    def add(self, items: Any, threshold: Any = None, depth: int = DEEPEST) -> None:
        """Add the assertions of a test, or of a set; with a threshold they are held together."""
        listed = [self._resolve(item) for item in listed_items(items)]
        counted = [item for item in listed if _number(item.get("weight")) != 0]
        for item in listed:
            if item not in counted:
                self._say(item, "unused", "weight 0: it decides nothing")
        if threshold is not None:
            self._add_together(counted, threshold)
            return
        for item in counted:
            if item.get("type") == "assert-set" and depth:
                self.add(item.get("assert"), item.get("threshold"), depth - 1)
                continue
            self.count += 1
            try:
                self._say(item, "used", self._express(item))
            except LeftOutError as failure:
                self.leave_out(_type(item), str(failure))

    def leave_out(self, kind: str, why: str) -> None:
        """Name an assertion, or what stands in for several, as not evaluated."""
        self.left_out.append(kind)
        self.said.append((kind, "unused", why))

    def columns(self) -> Record:
        """Return what the assertions are as columns of a case."""
        joined = " AND ".join(self.conditions)
        try:
            parse_condition(joined or '""')
        except ConditionError as failure:  # each can be read, but all are too long
            self.leave_out("the conditions", str(failure)[:200])
            joined = ""
        left = f"{self.count - len(self.left_out)} of {self.count} assertions evaluated, not "
        left += ", ".join(dict.fromkeys(self.left_out))
        schema = self.schemas[0] if len(self.schemas) == 1 else {"allOf": self.schemas}
        columns: Record = {
            "conditions": joined or None,
            "json_schema": json_text(schema) if self.schemas else None,
            "criteria": self.criteria or None,
            METADATA + LEFT_OUT: left if self.left_out else None,
        }
        return columns | {METADATA + name: text_of(limit) for name, limit in self.budgets.items()}

    def _say(self, item: Given, use: Use, meaning: str) -> None:
        self.said.append((_type(item), use, meaning))

    def _resolve(self, item: Any, depth: int = DEEPEST) -> Record:
        """Return an assertion with what its $ref names, and its variables filled in."""
        if not isinstance(item, Mapping):
            return {"type": f"{item!r}"[:40]}
        reference = item.get("$ref")
        if isinstance(reference, str) and depth:
            held = self.templates.get(reference.rpartition("/")[2])
            rest = {name: value for name, value in item.items() if name != "$ref"}
            return self._resolve({**held, **rest}, depth - 1) if isinstance(held, Mapping) else {"type": reference}
        return {str(name): self._fill(value) if name == "value" else value for name, value in item.items()}

    def _fill(self, value: Any) -> Any:
        if isinstance(value, str):
            return TEMPLATE.sub(lambda found: text_of(self.variables.get(found[1])) or found[0], value)
        return [self._fill(one) for one in value] if isinstance(value, list) else value

    def _express(self, item: Given) -> str:
        """Add an assertion to what it becomes, and return that in words; LeftOutError where it is nothing."""
        kind = _type(item)
        plain, value, limit = kind.removeprefix("not-"), item.get("value"), item.get("threshold")
        negated = plain != kind
        if plain in CODE:
            raise LeftOutError("code is not run")
        for name in ("transform", "contextTransform"):
            if item.get(name) is not None:
                raise LeftOutError(f"its {name} is not run")
        if any("{{" in text or "{%" in text for text in _texts(value)):
            raise LeftOutError(f"a template that no variable fills: {value!r}"[:120])
        if any(text.strip().startswith(CODE_PREFIXES) for text in _texts(value)):
            raise LeftOutError(f"its value is code, or in another file: {value!r}"[:120])
        if plain in (*ONE, *EACH, "word-count") and not (plain == "equals" and isinstance(value, Mapping | list)):
            self.conditions.append(self._condition(item))
            return "conditions"
        if negated:
            raise LeftOutError("only assertions on the text can be negated")
        if plain == "equals":
            self.schemas.append({"const": value})
            return "json_schema"
        if plain in ("is-json", "is-valid-json"):
            value = read_value(value)
            if not isinstance(value, Mapping | bool | None):
                raise LeftOutError(f"its schema is no object: {value!r}"[:120])
            self.schemas.append({} if value is None else value)
            return "json_schema"
        if plain in BUDGETS:
            column, unit = BUDGETS[plain]
            number = _number(limit if limit is not None else value)
            if number is None:
                raise LeftOutError("it has no threshold from 0 up")
            self.budgets[column] = min(number / unit, self.budgets.get(column, math.inf))
            return f"{METADATA}{column}, the budget of agent_budget"
        note = f"; its threshold {limit} is not taken over: set that of the evaluator" if limit is not None else ""
        if plain in JUDGED and (criteria := [text for text in _texts(value) if text.strip()]):
            self.criteria += criteria
            return "criteria, which byop asks a judge about" + note
        measure = plain.partition(":")[0]  # similar:dot
        named = names_of("promptfoo").get(measure)
        like = named.codes[0].partition(".")[0] if named and named.codes else None
        if measure in REFERENCED and (references := [text for text in _texts(value) if text]):
            if (known := self.known or self.expected) and not {*references} <= {*known}:
                raise LeftOutError(f"the case has another expected answer: {known[0]!r}"[:120])
            self.expected += references
            return f"expected_answers, for {like}" + note
        why = f"no column says it; the evaluator {like} measures the like" if like else "Assay has nothing like it"
        raise LeftOutError(why)

    def _condition(self, item: Given) -> str:
        """Return the condition that an assertion on the text is; LeftOutError where it is none."""
        kind = _type(item)
        plain, value = kind.removeprefix("not-"), item.get("value")
        if item.get("transform") is not None:
            raise LeftOutError("its transform is not run")
        if plain == "word-count":
            made = _words(value)
        elif plain in ONE and isinstance(value, str | int | float) and text_of(value):
            made = ONE[plain](str(text_of(value)))
        elif plain in EACH and (parts := _parts(value)):
            write, join = EACH[plain]
            made = join([write(part) for part in parts])
        else:
            raise LeftOutError("it has no value on the text")
        made = (f"NOT ({made})" if " " in made else f"NOT {made}") if plain != kind else made
        try:
            parse_condition(made)
        except ConditionError as failure:
            raise LeftOutError(f"no condition can say it: {failure}"[:200]) from None
        return made

    def _add_together(self, items: Sequence[Record], threshold: Any) -> None:
        """Add assertions of which a weighted share has to hold, as one condition where all are about the text."""
        self.count += len(items)
        share = _number(threshold)
        weights = [weight if (weight := _number(item.get("weight"))) is not None else 1.0 for item in items]
        try:
            if share is None or len(items) > MOST_TOGETHER or any(_type(item) == "assert-set" for item in items):
                raise LeftOutError("a threshold over too many assertions, or over sets of them")
            together = _at_least([self._condition(item) for item in items], weights, share)
            if together:
                parse_condition(together)
                self.conditions.append(together)
        except (LeftOutError, ConditionError) as failure:
            for item in items:
                why = f"a threshold of {threshold} over assertions of several kinds: {failure}"[:200]
                self.leave_out(_type(item), why)
            return
        for item in items:
            self._say(item, "used", f"conditions, with the threshold {threshold}")


def _at_least(parts: Sequence[str], weights: Sequence[float], share: float) -> str:
    """Return the condition that parts with this share of all weights hold; "" where none has to."""
    wanted = share * exact_sum(weights) - 1e-9
    if wanted <= 0:
        return ""
    enough: list[tuple[int, ...]] = []
    for size in range(1, len(parts) + 1):
        for chosen in combinations(range(len(parts)), size):
            if exact_sum(weights[place] for place in chosen) >= wanted and not any(
                set(one) <= set(chosen) for one in enough
            ):
                enough.append(chosen)
    if not enough:
        raise LeftOutError(f"no part of them reaches {share}")
    return _any(
        [f"({_all([parts[place] for place in chosen])})" if len(chosen) > 1 else parts[chosen[0]] for chosen in enough]
    )


def listed_items(items: Any) -> list[Any]:
    """Return the assertions of a test: its list, or the only one."""
    return items if isinstance(items, list) else [] if items in (None, {}, "") else [items]


def _type(item: Given) -> str:
    return str(item.get("type"))[:60]


def _texts(value: Any) -> list[str]:
    return [text for one in (value if isinstance(value, list) else [value]) if (text := text_of(one)) is not None]


def _parts(value: Any) -> list[str]:
    if isinstance(value, str):  # in which a part with a comma has quotes
        value = [part.strip() for part in next(csv.reader([value.replace("\n", " ")], skipinitialspace=True), [])]
    return [text for text in _texts(value) if text]


def read_value(value: Any) -> Any:
    """Return the JSON that a text is; other values, and other texts, as they are."""
    try:
        return orjson.loads(value) if isinstance(value, str) else value
    except orjson.JSONDecodeError:
        return value


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if finite(number) and number >= 0 else None
