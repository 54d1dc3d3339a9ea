"""Replies that fit any schema, with labels that depend on what is asked and on nothing else."""

from hashlib import sha256
from typing import Any

from metrics.judge.typical_reply import typical_reply
from tests.judge.server import Request


def turned_reply(request: Request, about: str) -> Any:
    """Return a reply that fits; `about`: what of the request its labels depend on."""
    turn = int(sha256(about.encode()).hexdigest()[:4], 16)

    def turned(schema: Any) -> Any:
        if isinstance(schema, list):
            return [turned(entry) for entry in schema]
        if not isinstance(schema, dict):
            return schema
        found = {name: turned(entry) for name, entry in schema.items()}
        if labels := found.get("enum"):
            found["enum"] = labels[turn % len(labels) :] + labels[: turn % len(labels)]
        return found

    return typical_reply(turned(request.schema), request.messages)
