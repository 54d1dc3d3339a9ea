"""A library's help desk for the walks: questions in one turn or several, contexts, two models, a judge."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.judge.server import JudgeServer, Request

PASSAGES = {
    "cards": "A library card is free for residents. It is valid for two years.",
    "loans": "Books may be kept for four weeks. A loan can be renewed twice unless another reader waits.",
    "fines": "A late book costs 20 cents a day. No fine is above 5 euros.",
    "rooms": "A reading room holds six people. It can be booked for three hours.",
    "print": "A printed page costs 10 cents. Printers take cards and coins.",
    "hours": "The library opens at nine. On Sundays it is closed.",
}
INVENTED = {  # what `small` says in place of the second sentence, and no passage does
    "cards": "It is valid for life.",
    "fines": "The first week costs nothing.",
    "print": "Colour costs the same.",
}
TALK = "user: Hello, I have just moved here.\nagent: Welcome! How can I help?\nuser: Tell me about {topic}."


def answered(topic: str, model: str) -> str:
    """`large` repeats the passage; `small` invents a second sentence on every second topic."""
    first, second = sentences(PASSAGES[topic])
    return f"{first} {INVENTED.get(topic, second) if model == 'small' else second}"


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in re.findall(r"[^.!?]+[.!?]", text)]


def suite_rows() -> list[dict[str, Any]]:
    """A case for each passage; every second one is the last turn of a talk."""
    return [
        {
            "case_id": f"help-{topic}", "expected_answers": [passage],
            "question": TALK.format(topic=topic) if place % 2 else f"What are the rules for {topic}?",
            "tags": ["several turns" if place % 2 else "one turn"],
        }
        for place, (topic, passage) in enumerate(PASSAGES.items())
    ]  # fmt: skip


def output_rows() -> list[dict[str, Any]]:
    """Both models got the passage of the topic, and the next one."""
    topics = list(PASSAGES)
    return [
        {
            "case_id": f"help-{topic}", "model": model, "answer": answered(topic, model),
            "retrieved_contexts": [PASSAGES[topics[(place + 1) % len(topics)]], PASSAGES[topic]],
        }
        for place, topic in enumerate(topics)
        for model in ("small", "large")
    ]  # fmt: skip


def csv_of(rows: list[dict[str, Any]]) -> bytes:
    """The rows as an uploaded file; lists are JSON."""
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(
        {name: json.dumps(cell) if isinstance(cell, list) else cell for name, cell in row.items()} for row in rows
    )
    return file.getvalue().encode()


def instruct(judge: JudgeServer) -> None:
    """Let the judge take each sentence for a claim, and believe it where a context has it word by word."""
    judge.say("claims", lambda request: {"claims": sentences(request.data["TEXT"])})
    judge.say("entailment", _entailment)


def _entailment(request: Request) -> list[dict[str, Any]]:
    contexts = _items(request.data["CONTEXTS"])
    rows = []
    for claim in _items(request.data["CLAIMS"]):
        found = [place for place, context in enumerate(contexts, 1) if claim in context]
        reason = f"Context {found[0]} says so." if found else "No context says so."
        rows.append({"reason": reason, "quote": claim if found else "", "supported_by": found})
    return rows


def _items(block: str) -> list[str]:
    return [item.strip() for item in re.split(r"^\[\d+\] ", block, flags=re.MULTILINE) if item.strip()]


def helpdesk_run(folder: Path) -> Run:
    """A sealed run of the help desk: faithfulness by the judge, and ROUGE."""
    suite, outputs = Suite.from_rows("helpdesk", "text", suite_rows()), Outputs.from_rows(output_rows())
    with JudgeServer() as judge:
        instruct(judge)
        resources = {"judge": {"model": "scripted", "base_url": judge.url}}
        return finished(Workspace(folder), suite, outputs, "faithfulness", "rouge", resources=resources)
