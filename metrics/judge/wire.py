"""What every chat provider is sent alike, and what it is no longer sent once it has refused it."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from metrics.judge.completion import Messages, Trouble
from metrics.judge.settings import JudgeSettings

SCHEMA_LINE = "The JSON object must fit this JSON schema: "
SCHEMA = "response_format"
# what a provider that refuses a part of a request speaks of
ABOUT_SCHEMA = re.compile(r"response_format|json_schema|json schema|structured|guided|grammar", re.IGNORECASE)
SAMPLING = ("temperature",)
REFUSALS = (400, 422)
MAY_PASS = (408, 409, 425, 429)
HOPELESS = (401, 402, 403, 404, 405)
OVER_THE_LIMIT = 429


class Wire:
    """The form of the requests to one judge; it learns what the judge does not take, for as long as it lives."""

    def __init__(self, settings: JudgeSettings, *, takes_schemas: bool = True):
        self._settings = settings
        self._refused: set[str] = set() if takes_schemas else {SCHEMA}

    def request(self, messages: Messages, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
        """Messages, sampling and the form of the reply: as a schema, or as a line of the prompt."""
        sent = [dict(message) for message in messages]
        request = {
            "messages": sent, "temperature": self._settings.temperature, "max_tokens": self._settings.max_tokens,
        }  # fmt: skip
        if SCHEMA in self._refused:
            sent[0]["content"] += f"\n{SCHEMA_LINE}{json.dumps(schema, ensure_ascii=False)}"
        else:
            form = {"name": name.replace(".", "_"), "schema": schema, "strict": True}
            request[SCHEMA] = {"type": "json_schema", "json_schema": form}
        return {key: value for key, value in request.items() if key not in self._refused}

    def learn(self, status: int | None, said: str, request: Mapping[str, Any]) -> bool:
        """Return whether the request is worth another try without what the provider has just refused."""
        if status not in REFUSALS:
            return False
        about = SCHEMA if ABOUT_SCHEMA.search(said) else next((name for name in SAMPLING if name in said), "")
        if about not in request:
            return False
        self._refused.add(about)
        return True


def trouble_of(status: int | None) -> Trouble:
    """Return what an HTTP status says of other tries and other requests; None: there was no reply."""
    if status in HOPELESS or (status is not None and 300 <= status < 400):
        return "unusable"
    if status is not None and 400 <= status < 500 and status not in MAY_PASS:
        return "refused"
    return "busy"


def retry_after(said: str | None) -> float | None:
    """Seconds that a Retry-After header asks to wait: it gives them, or a date; None without one."""
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return None
