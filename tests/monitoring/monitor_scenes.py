"""Production lines for the tests of monitoring, and monitors that judge them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from metrics.monitoring import Monitor, Spec, create
from metrics.store import Workspace

CONTACT = "Write to jane.doe@acme-corp.org."  # fails pii_leakage
PLAIN = "The river runs past an old mill."


def line(index: int, passes: bool = True, **more: Any) -> dict[str, Any]:
    """One interaction; without `passes` its answer leaks an address."""
    answer = f"{PLAIN if passes else CONTACT} Answer {index}."
    return {"id": f"r-{index:05d}", "question": f"What is said of {index}?", "answer": answer, **more}


def write(path: Path, lines: Iterable[dict[str, Any] | bytes], end: bytes = b"\n") -> Path:
    """A file of those lines; bytes stand as they are."""
    texts = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in lines]
    path.write_bytes(b"\n".join(texts) + end)
    return path


def begun(workspace: Path, name: str = "chat", **spec: Any) -> Monitor:
    """A monitor by `pii_leakage` that samples every line unless told otherwise."""
    given = {"evaluators": {"pii_leakage": {}}, "rate": 1.0} | spec
    return create(Workspace(workspace), name, Spec(**given).complete())
