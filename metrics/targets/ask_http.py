"""An HTTP endpoint as a target."""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from metrics.core.errors import MissingResource
from metrics.judge.completion import CallFailed
from metrics.judge.exchange import connector, exchange, is_this_machine
from metrics.judge.keys import REDACTED, redact_start
from metrics.judge.wire import OVER_THE_LIMIT, trouble_of, wait_asked_for
from metrics.targets.answers import LISTS, LONGEST_REPLY, Answer, answer_from, answer_of, clean, wrong
from metrics.targets.description import VARIABLE, HttpTarget
from metrics.targets.json_path import find, parse_path
from metrics.targets.templates import Fields, fill_json, fill_url

if TYPE_CHECKING:
    import aiohttp

MAX_ERROR_SHOWN, MAX_REPLY_SHOWN = 200, 80
PATHS = {"contexts": "retrieved_contexts"}  # field of the description → column, where they differ


class HttpAsker:
    """Sends one request a case; redirects are not followed, so that nothing goes to another host."""

    def __init__(self, target: HttpTarget):
        self._target = target
        columns = ("answer", "contexts", "context_ids", "citations", "trace", "cost_usd", "tokens")
        self._paths = {PATHS.get(name, name): parse_path(path) for name in columns if (path := getattr(target, name))}
        self._session: aiohttp.ClientSession | None = None

    def request(self, fields: Fields, run: int) -> Any:
        """Return method, address and body; repeats differ by their number, which is not sent."""
        sent = {"method": self._target.method, "url": fill_url(self._target.url, fields), "repeat": run}
        return sent if self._target.method == "GET" else sent | {"body": fill_json(self._target.body, fields)}

    async def send(self, request: Mapping[str, Any]) -> Answer:
        """Return the answer in the response. Raises CallFailed."""
        content = None
        if "body" in request:
            content = json.dumps(request["body"], ensure_ascii=False).encode("utf-8", "replace")
        status, headers, body = await exchange(
            self._connected(), request["method"], request["url"], content, self._target.timeout, LONGEST_REPLY
        )
        text = body.decode("utf-8", "replace")
        for name in self._target.variables:  # an endpoint may repeat what it was sent
            text = text.replace(os.environ[name], REDACTED)
        if not 200 <= status < 300:
            place = redact_start(headers.get("Location", ""), MAX_ERROR_SHOWN)
            where = f" to {place}, which is not followed" if 300 <= status < 400 else ""
            said = clean(redact_start(text, MAX_ERROR_SHOWN) + where)
            wait = wait_asked_for(headers)
            raise CallFailed(f"HTTP {status}: {said}", trouble_of(status), wait, status == OVER_THE_LIMIT)
        return self._parse_reply(text)

    def _parse_reply(self, text: str) -> Answer:
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError):
            if self._paths:
                raise wrong(f"no JSON: {redact_start(text, MAX_REPLY_SHOWN)!r}") from None
            return answer_of(text)
        if not self._paths:
            return answer_of(reply)
        given = {}
        for name, path in self._paths.items():
            try:
                given[name] = find(reply, path)
            except KeyError as failure:
                if name in ("answer", "trace"):
                    raise wrong(f"{failure.args[0]} of the reply, where the {name} should be") from None
        for name in LISTS:
            if isinstance(given.get(name), list) and any(isinstance(item, list) for item in given[name]):
                given[name] = [part for item in given[name] for part in (item if isinstance(item, list) else [item])]
        return answer_from(given)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def _connected(self) -> "aiohttp.ClientSession":
        """Return the session with its connections, created within the event loop that uses it."""
        if self._session is None:
            import aiohttp

            self._session = aiohttp.ClientSession(
                connector=connector(self._target.concurrency),
                headers={"Content-Type": "application/json", "Accept-Encoding": "identity", **_headers(self._target)},
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,  # a small body never becomes a large one
                trust_env=not is_this_machine(self._target.url),
            )
        return self._session


def _headers(target: HttpTarget) -> dict[str, str]:
    """Return the headers with their values. Raises MissingResource where a variable is not set or cannot be sent."""
    missing = [name for name in target.variables if not os.environ.get(name)]
    if missing:
        raise MissingResource(f"the target {target.title} needs {' and '.join(missing)} in the environment")
    values = {name: VARIABLE.sub(lambda found: os.environ[found[1]], text) for name, text in target.headers.items()}
    unusable = [name for name, text in values.items() if not (text.isascii() and text.isprintable())]
    if unusable:
        raise MissingResource(
            f"the header {unusable[0]} of {target.title} would hold a line break or a character outside ASCII; "
            "set its environment variable again"
        )
    return values
