"""The data of a bundle: texts without keys, in scripts, as a page that was opened from a disk may not fetch files."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypeVar

from metrics.judge.keys import redact
from metrics.presentation.addresses import Value, href
from metrics.presentation.safe_text import shown, shown_tree

RECEIVER = "receiveData"  # the function of bundle.js that each data file calls

Tree = TypeVar("Tree")


@lru_cache(maxsize=50_000)
def clean_text(text: str) -> str:
    """Return a text as it is shown (see metrics.presentation.safe_text), without anything that looks like a key."""
    return redact(shown(text))


def clean(value: Tree) -> Tree:
    """Return `value` with every text in it cleaned."""
    return shown_tree(value, clean_text)


def data_file(name: str, data: Mapping[str, Any]) -> tuple[str, bytes]:
    """Return path and content of the data of that name; the page parses it as JSON, never as a script."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f"data/{name}.js", f"{RECEIVER}({json.dumps(name)},{json.dumps(text, ensure_ascii=False)})\n".encode()


def hash_address(name: str, **values: Value) -> str:
    """Return the address of a view of a bundle: `#/cases?model=…`."""
    return f"#{href(name, **clean(values))}"
