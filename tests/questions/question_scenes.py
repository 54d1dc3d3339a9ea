"""Small documents, and a judge that writes questions from the sentences of its passages."""

import re
from pathlib import Path
from typing import Any

from metrics.text.sentences import sentences
from tests.judge.server import JudgeServer, Request, count_numbered

LIBRARY = """# Riverside Library

## Opening hours

The library opens at nine on weekdays. It is closed on Sundays and on public holidays.

## Fees

A late book costs two crowns a day. Children under fourteen pay nothing at all.

## Study rooms

There are three study rooms for six people each. They can be booked one week ahead.
"""
BREWERY = """<html><head><title>Old Brewery</title><script>fetch("http://127.0.0.1:9/")</script></head><body>
<nav>Home</nav><h1>The old brewery</h1><p>The brewery was built in 1860 &amp; made beer until 1962.</p>
<h2>Visits</h2><p>Guided tours start every Saturday at eleven. They cost eighty crowns.</p>
<table><tr><th>Group</th><th>Price</th></tr><tr><td>Adults</td><td>80</td></tr></table>
<ul><li>Dogs wait outside.</li></ul>
"""
HISTORY = (
    "The history of the library\n\nThe library was founded in 1871 by the paper manufacturer Agnes Holm.\n\n"
    "The first building burned down in 1903. The present house was opened in 1907.\n"
)
ITEM = re.compile(r"^\[(\d+)\] ", re.MULTILINE)


def write_documents(folder: Path) -> Path:
    """Write three documents in three formats, and a file that is none."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "library.md").write_text(LIBRARY)
    (folder / "brewery.html").write_text(BREWERY)
    (folder / "history.txt").write_text(HISTORY)
    (folder / "logo.svg").write_text("<svg/>")
    return folder


def passages(request: Request) -> list[str]:
    parts = ITEM.split(request.data["PASSAGES"])[2::2]
    return ["\n".join(line.strip() for line in part.splitlines()[1:]).strip() for part in parts]


def asked(request: Request) -> int:
    return int(request.data["WANTED"].split()[0])


def written(request: Request) -> Any:
    """A question for each of the last sentences of the passages not asked about yet; its answer is that sentence."""
    found = [sentence for text in passages(request) for sentence in sentences(text) if sentence.endswith(".")]
    chosen = [sentence for sentence in found[::-1] if sentence[:-1] not in request.data.get("ASKED", "")]
    name = request.step.removeprefix("questions_")
    return {
        "questions": [
            {"question": f"As a {name}: what is said where it reads {sentence[:-1]}?", "answer": sentence,
             "quotes": [found[0], sentence]}
            for sentence in chosen[: asked(request)]
        ]
    }  # fmt: skip


def serve_questions(server: JudgeServer) -> dict[str, Any]:
    server.say(lambda request: "WANTED" in request.data, written)
    server.say("questions.check", {"reason": "It follows.", "verdict": "good"})
    server.say("questions.answered", {"reason": "It is left open.", "verdict": "no"})
    server.say("questions.alone", lambda request: [{"verdict": "no"}] * count_numbered(request.data["PASSAGES"]))
    return {"model": "scripted", "base_url": server.url, "backoff": 0.01}
