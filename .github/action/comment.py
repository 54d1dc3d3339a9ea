"""The step of the action that comments: the report becomes a comment on the pull request, or replaces its own old one.

It needs nothing but the standard library. A token that may not write (a pull request from a fork) is a warning.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

MOST = 65_000  # characters of a comment; the limit is 65,536
PAGE = 100  # comments asked for at once
REFUSED = (401, 403, 404)


class NoRedirect(HTTPRedirectHandler):
    """The token goes to the address of the API and no other."""

    def redirect_request(self, *_: Any) -> None:
        """Follow no redirect."""


def ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
    """Return the reply of the API."""
    request = Request(
        os.environ.get("GITHUB_API_URL", "https://api.github.com") + path,
        None if body is None else json.dumps(body).encode(),
        {
            "Authorization": f"Bearer {os.environ['GITHUB_TOKEN']}", "Accept": "application/vnd.github+json",
            "Content-Type": "application/json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "assay-action",
        },
        method=method,
    )  # fmt: skip
    with build_opener(NoRedirect()).open(request, timeout=30) as reply:
        return json.load(reply)


def own_comment(comments: str, marker: str) -> int | None:
    """Return the id of the comment that an earlier run wrote: a bot's, as anybody can write the marker."""
    page = 0
    while True:
        page += 1
        found = ask("GET", f"{comments}?per_page={PAGE}&page={page}")
        for comment in found:
            if comment["user"]["type"] == "Bot" and (comment["body"] or "").startswith(marker):
                return int(comment["id"])
        if len(found) < PAGE:
            return None


def body_of(report: str, marker: str) -> str:
    """Return the comment's text; of a long report whole lines, and that it was cut."""
    text = f"{marker}\n{report}"
    if len(text) <= MOST:
        return text
    return text[:MOST].rpartition("\n")[0] + "\n\nThe report was cut here; the artifact has all of it.\n"


def main() -> int:
    """Create or update the comment; return the exit code."""
    name = os.environ.get("ASSAY_NAME") or "assay"
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,60}", name):
        print(f"::error::the name {name!r} has other characters than letters, digits, dots, hyphens".replace("\n", " "))
        return 2
    marker = f"<!-- assay: {name} -->"
    report = (Path(os.environ.get("ASSAY_FOLDER") or "assay-report") / "report.md").read_text(encoding="utf-8")
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    issues = f"/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    comments = f"{issues}/{int(event['pull_request']['number'])}/comments"
    try:
        old = own_comment(comments, marker)
        body = {"body": body_of(report, marker)}
        found = ask("POST", comments, body) if old is None else ask("PATCH", f"{issues}/comments/{old}", body)
    except HTTPError as failure:
        if failure.code in REFUSED:
            print(f"::warning::no comment: the token may not write here (HTTP {failure.code}); see permissions")
            return 0
        print(f"::error::no comment: HTTP {failure.code}")
        return 1
    except URLError as failure:
        print(f"::error::no comment: {failure.reason}".replace("\n", " "))
        return 1
    print(f"{'commented' if old is None else 'updated'}: {found.get('html_url', '')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
