"""Traces of agents: their steps as plain values, and which tool calls were wasted."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from metrics.text.json_text import JsonError, read_json

MOST_STEPS = 20_000
LONGEST_CYCLE = 20  # calls of a loop's turn
TURNS = 3  # in a row, from which a repeated turn is a loop

Kind = Literal["message", "reasoning", "call"]
# what a step of our own kind may call its parts: the canonical name first
TOOL = ("tool", "tool_name", "function", "toolName", "function_name", "action")
ARGUMENTS = ("arguments", "args", "input_parameters", "parameters", "input", "tool_input", "tool_args", "tool_kwargs",
             "kwargs", "action_input", "inputParameters", "toolInput")  # fmt: skip
RESULT = ("result", "output", "observation", "response")
TEXT = ("text", "content", "message")


class TraceError(ValueError):
    """A trace that cannot be read as one; the text says what was found."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an agent: a call, a message or reasoning.

    A `call` has `tool`, `arguments` and `result` (JSON values; None for none), and `error`: why it failed, None if it
    did not. A `message` or `reasoning` has `role` and `text`. `started` is a time as the trace has it, `seconds` a
    duration, `tokens` and `cost_usd` what the step took, `depth` inside how many others it happened; None if unknown.
    `id` is the trace's own id of a call.
    """

    kind: Kind
    role: str = ""
    text: str = ""
    tool: str = ""
    arguments: Any = None
    result: Any = None
    error: str | None = None
    started: str | None = None
    seconds: float | None = None
    id: str = ""
    tokens: int | None = None
    cost_usd: float | None = None
    depth: int | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the step as it is stored: a JSON object without empty fields."""
        record = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in record.items() if value is not None and value != ""}


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The tool calls of a trace that were wasted, by their positions among its calls.

    redundant   the same tool with the same arguments as an earlier call that did not fail: its result was known
    failed      the call ended in an error
    looping     the second and later turns of a cycle of at most 20 calls that runs at least 3 times in a row
    """

    calls: int
    redundant: tuple[int, ...]
    failed: tuple[int, ...]
    looping: tuple[int, ...]

    @property
    def wasted(self) -> tuple[int, ...]:
        """The calls that are any of the three."""
        return tuple(sorted({*self.redundant, *self.failed, *self.looping}))


def steps_of(text: str) -> tuple[Step, ...]:
    """Return the steps of a stored trace (JSON: an object with `steps`, or their list); TraceError for anything else.

    A step with a tool is a call. Its parts may also have other common names: `name`, `args`, `output`, ….
    """
    try:
        document = read_json(text).value
    except JsonError as failure:
        raise TraceError(f"the trace is not JSON: {failure}") from None
    listed = document.get("steps") if isinstance(document, dict) else document
    if not isinstance(listed, list):
        found = (
            f"an object with {', '.join(list(document)[:8]) or 'nothing'}" if isinstance(document, dict) else "no list"
        )
        raise TraceError(f"the trace has no list of steps but {found[:200]}")
    if len(listed) > MOST_STEPS:
        raise TraceError(f"{len(listed):,} steps, more than {MOST_STEPS:,}")
    wrong = next((place for place, entry in enumerate(listed, 1) if not isinstance(entry, str | Mapping)), None)
    if wrong is not None:
        raise TraceError(f"step {wrong} is {type(listed[wrong - 1]).__name__}, not an object")
    return tuple(map(_step, listed))


def efficiency(steps: Sequence[Step]) -> Efficiency:
    """Return the wasted calls among `steps`; linear in their number."""
    calls = [step for step in steps if step.kind == "call"]
    keys = [json.dumps([call.tool, call.arguments], sort_keys=True) for call in calls]
    known: set[str] = set()
    redundant = []
    for place, (key, call) in enumerate(zip(keys, calls, strict=True)):
        if key in known:
            redundant.append(place)
        if call.error is None:
            known.add(key)
    failed = tuple(place for place, call in enumerate(calls) if call.error is not None)
    return Efficiency(len(calls), tuple(redundant), failed, looping(keys))


def looping(keys: Sequence[str]) -> tuple[int, ...]:
    """Return the positions in the second and later turns of cycles of up to LONGEST_CYCLE with TURNS turns in a row.

    >>> looping("abababc")
    (2, 3, 4, 5)
    """
    found: set[int] = set()
    for length in range(1, min(LONGEST_CYCLE, len(keys) // TURNS) + 1):
        begun = length  # where the present stretch of equal places, one turn apart, began
        for place in range(length, len(keys) + 1):
            if place < len(keys) and keys[place] == keys[place - length]:
                continue
            if place - begun >= (TURNS - 1) * length:
                found.update(range(begun, place))
            begun = place + 1
    return tuple(sorted(found))


def _step(entry: str | Mapping[str, Any]) -> Step:
    if isinstance(entry, str):
        return Step("message", text=entry)
    started, seconds = entry.get("started"), entry.get("seconds")
    tokens, depth = _amount(entry.get("tokens")), _amount(entry.get("depth"))
    common: dict[str, Any] = {
        "error": error_text(entry.get("error")),
        "started": started if isinstance(started, str) else None,
        "seconds": _amount(seconds),
        "cost_usd": _amount(entry.get("cost_usd")),
        "tokens": None if tokens is None else int(tokens),
        "depth": None if depth is None else int(depth),
        "id": text_of(entry.get("id")),
    }
    kind = entry.get("kind")
    tool, arguments, result = first_of(entry, TOOL), first_of(entry, ARGUMENTS), first_of(entry, RESULT)
    if tool is None and "role" not in entry and (arguments, result) != (None, None):
        tool = entry.get("name")
    if isinstance(tool, str) and tool:
        return Step("call", tool=tool, arguments=arguments, result=result, **common)
    text = first_of(entry, (*TEXT, *RESULT))
    reasoning: Kind = "reasoning" if kind == "reasoning" else "message"
    return Step(reasoning, role=text_of(entry.get("role")), text=text_of(text), **common)


def _amount(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e12 else None


def first_of(given: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first of the named entries that is there; None without one."""
    for name in names:
        if (value := given.get(name)) is not None:
            return value
    return None


def error_text(value: Any) -> str | None:
    """Return an error as text; None if there was none."""
    return None if value in (None, False, "", {}, []) else "failed" if value is True else text_of(value)


def text_of(value: Any) -> str:
    """Return a JSON value as text: a string as it is, null as an empty string."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
