"""Paths in JSON: `choices[0].message.content`, `docs[*].text`, `$["odd name"]`. Nothing is ever evaluated."""

import re
from collections.abc import Sequence
from typing import Any

PART = re.compile(r"""\.?([^.\[\]"']+)|\[(-?\d{1,9}|\*)\]|\[(?:"([^"]*)"|'([^']*)')\]""")

Step = str | int | None  # a key, a place in a list, None: every item


def parse_path(text: str) -> tuple[Step, ...]:
    """Return the steps of a path, none of an empty one. Raises ValueError with the place that cannot be read."""
    steps: list[Step] = []
    at = 1 if text.startswith("$") else 0
    while at < len(text):
        found = PART.match(text, at)
        if found is None:
            raise ValueError(f"the path {text!r} cannot be read from {text[at:]!r} on; it looks like docs[0].text")
        name, place, quoted, single = found.groups()
        if place is not None:
            steps.append(None if place == "*" else int(place))
        else:
            steps.append(next(part for part in (name, quoted, single) if part is not None))
        at = found.end()
    return tuple(steps)


def find(value: Any, path: Sequence[Step]) -> Any:
    """Return what stands at a path, a list where the path has `[*]`. Raises KeyError naming the step that fails."""
    for place, step in enumerate(path):
        if step is None:
            if not isinstance(value, list):
                raise KeyError(f"no list at {_path_text(path[:place])}")
            return [find(item, path[place + 1 :]) for item in value]
        fits = isinstance(value, list) if isinstance(step, int) else isinstance(value, dict)
        try:
            if not fits:
                raise LookupError
            value = value[step]
        except LookupError:
            raise KeyError(f"nothing at {_path_text(path[: place + 1])}") from None
    return value


def _path_text(path: Sequence[Step]) -> str:
    if not path:
        return "the beginning"
    parts = (f"[{'*' if step is None else step}]" if not isinstance(step, str) else f".{step}" for step in path)
    return "".join(parts).lstrip(".")
