"""A judge that knows the truth about planted claims: it reads what it is shown, and nothing else.

A planted claim is a sentence such as "Mill 17 has 3 wheels." The judge lists those of a text, and finds a claim
supported by the contexts that hold it word for word. It refuses a request that is larger than its window, and stops at
its token limit in the middle of a word, as servers do.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from metrics.judge.typical_reply import NUMBERED
from tests.judge.server import Fault, JudgeServer, Request

PLANTED = re.compile(r"Mill \d+ has \d+ wheels\.")
CHARACTERS_PER_TOKEN = 4  # of English


def planted(number: int, wheels: int = 2) -> str:
    """A claim that can be told from every other."""
    return f"Mill {number} has {wheels} wheels."


def prose(claims: Iterable[str], characters: int) -> str:
    """A text of about that many characters: the claims in order, among sentences that claim nothing."""
    stated = list(claims)
    share = max(0, characters // max(1, len(stated)) - 25)
    lines = []
    for place, claim in enumerate(stated):
        filler = f"Well, who would have thought of it, dear reader of page {place}? "
        lines.append((filler * (share // len(filler) + 1))[:share].rpartition(" ")[0] + f" {claim}")
    return "\n\n".join(" ".join(lines[start : start + 3]) for start in range(0, len(lines), 3))


class PerfectJudge:
    """The judge's replies, and how a server sends them: `window` in tokens, `most` tokens of a reply."""

    def __init__(self, server: JudgeServer, window: int = 16_384, most: int = 4_096) -> None:
        self._server, self._window, self._most = server, window, most
        self.cut = 0
        server.say(lambda request: bool(request.step), self._reply)
        server.fail_by(self._fault)

    def _fault(self, request: Request) -> Fault | None:
        limit = self._window - self._most
        asked = (request.characters + len(json.dumps(request.schema))) // CHARACTERS_PER_TOKEN
        if asked > limit:
            message = f"maximum context length exceeded: {asked} tokens, at most {limit} beside the reply"
            return Fault(400, body=json.dumps({"error": {"message": message}}))
        text = self._server.said(request)
        if len(text) <= self._most * CHARACTERS_PER_TOKEN:
            return None
        self.cut += 1
        return Fault(text=text[: self._most * CHARACTERS_PER_TOKEN], cut=True)

    def _reply(self, request: Request) -> Any:
        data = request.data
        if request.step == "claims":
            return {"claims": PLANTED.findall(data["TEXT"])}
        if request.step == "entailment":
            contexts = _items(data["CONTEXTS"])
            return [_entailed(claim, contexts) for claim in _items(data["CLAIMS"])]
        if request.step == "hallucination_contexts_contradiction":
            return [_contradicted(context, data["ANSWER"]) for context in _items(data["CONTEXTS"])]
        if request.step == "context_precision_useful":
            said = set(PLANTED.findall(data["EXPECTED"]))
            return [_yes(bool(said & set(PLANTED.findall(context)))) for context in _items(data["CONTEXTS"])]
        if request.step in ("context_relevance_relevant", "answer_relevance_relevant"):
            (items,) = [block for name, block in data.items() if name != "QUESTION"]
            return [
                _yes(any(int(found) % 2 == 0 for found in re.findall(r"Mill (\d+)", item))) for item in _items(items)
            ]
        if request.step == "citation_support":
            claims = PLANTED.findall(data["STATEMENT"])
            held = [claim for claim in claims if claim in data["PASSAGE"]]
            support = "none" if not held else "full" if len(held) == len(claims) else "partial"
            return {"reason": "so", "quote": held[0] if held else "", "support": support}
        if request.step == "answer_relevancy_questions":
            return [{"question": "What of the mills?", "evasive": "no"}] * 3
        if request.step == "no_answer":
            return {"reason": "so", "attempted": "yes" if PLANTED.search(data["ANSWER"]) else "no"}
        if request.step == "umbrela_grade":
            grade = 3 if PLANTED.search(data["PASSAGE"]) else 0
            return {"intent": "mills", "match": grade, "trust": grade, "grade": grade}
        raise AssertionError(f"the perfect judge does not know {request.step}")


def _items(block: str) -> list[str]:
    return [text.strip() for text in NUMBERED.split(block)[1:]]


def _entailed(claim: str, contexts: list[str]) -> dict[str, Any]:
    numbers = [number for number, context in enumerate(contexts, 1) if claim in context]
    return {
        "reason": "It says so." if numbers else "Nothing says so.", "quote": claim if numbers else "",
        "supported_by": numbers,
    }  # fmt: skip


def _contradicted(context: str, answer: str) -> dict[str, Any]:
    """A context that gives a mill of the answer another number of wheels."""
    said = dict(re.findall(r"Mill (\d+) has (\d+) wheels\.", answer))
    for mill, wheels in re.findall(r"Mill (\d+) has (\d+) wheels\.", context):
        if said.get(mill, wheels) != wheels:
            return {"reason": "Another number.", "quote": planted(int(mill), int(wheels)), "verdict": "contradict"}
    return {"reason": "", "quote": "", "verdict": "agree"}


def _yes(holds: bool) -> dict[str, str]:
    return {"reason": "", "verdict": "yes" if holds else "no"}
