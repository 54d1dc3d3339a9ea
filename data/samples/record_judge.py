"""Records the replies of the judged sample again, from the verdicts that verdicts.txt has by hand.

    python -m data.samples.record_judge

No model is asked: the questions of the evaluators are answered by looking up the claims that they are about. A context
supports a claim whose words from the handbook it holds; it is useful where it supports a claim of the expected answer.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from data.samples.make_rag import blocks as sections
from data.samples.record_conversations import ITEM, record
from metrics.core.suite import Outputs, Suite
from metrics.judge.completion import Completion, Messages
from metrics.judge.typical_reply import blocks

SOURCE = Path(__file__).parent / "rag-judged" / "verdicts.txt"


class Claim(NamedTuple):
    """A claim, the fact that it states, the words of the handbook that it follows from, whether it is to the point."""

    case: str
    of: str
    text: str
    fact: str
    words: str
    relevant: bool


def claims() -> list[Claim]:
    """The claims of verdicts.txt."""
    lines = "\n".join(line for line in SOURCE.read_text("utf-8").splitlines() if not line.startswith("#"))
    found = []
    for case, own in sections(lines).items():
        for line in own:
            who, _, rest = line.partition(": ")
            text, fact, words, *off = (part.strip() for part in f"{rest} ".split("|"))
            found.append(Claim(case, who, text, fact, words, not off))
    return found


class ByHand:
    """A judge that says what verdicts.txt says."""

    def __init__(self, cases: Mapping[tuple[str, str], tuple[str, str]]) -> None:
        """`cases`: case and who answers, by question and answer."""
        self.cases = cases
        self.claims = claims()

    async def complete(self, messages: Messages, schema: Mapping[str, Any], name: str) -> Completion:  # noqa: ARG002
        """Return the claims of a text, or the verdicts on those that are asked about."""
        found = blocks(messages)
        if name == "claims":
            case, who = self.cases[found.get("QUESTION", ""), found["TEXT"]]
            own = [claim.text for claim in self.claims if (claim.case, claim.of) == (case, who)]
            return Completion(json.dumps({"claims": own}, ensure_ascii=False))
        items = [text for _, text in ITEM.findall(found.get("CLAIMS", ""))]
        contexts = [text for _, text in ITEM.findall(found.get("CONTEXTS", ""))]
        if name.endswith("useful"):
            (case,) = {case for (question, _), (case, _) in self.cases.items() if question == found["QUESTION"]}
            words = [claim.words for claim in self.claims if (claim.case, claim.of) == (case, "expected")]
            made = [_verdict(any(each in context for each in words)) for context in contexts]
        elif name.endswith("relevant"):
            made = [_verdict(self._claim(text).relevant) for text in items]
        else:
            made = [self._entailed(self._claim(text), contexts) for text in items]
        return Completion(
            json.dumps({"replies": [{"id": n, **one} for n, one in enumerate(made, 1)]}, ensure_ascii=False)
        )

    async def close(self) -> None:
        """There is nothing to close."""

    def _claim(self, text: str) -> Claim:
        return next(claim for claim in self.claims if claim.text == text)

    def _entailed(self, claim: Claim, contexts: list[str]) -> dict[str, Any]:
        """Return which contexts support a claim: passages by their words, other claims by their fact."""
        others = {one.text: one for one in self.claims}
        holds = [
            claim.fact == others[text].fact != "" if text in others else bool(claim.words) and claim.words in text
            for text in contexts
        ]
        first = next((text for text, own in zip(contexts, holds, strict=True) if own), "")
        quote = claim.words if claim.words and claim.words in first else first
        return {"reason": "", "quote": quote, "supported_by": [n for n, own in enumerate(holds, 1) if own]}


def _verdict(holds: bool) -> dict[str, Any]:
    return {"reason": "", "verdict": "yes" if holds else "no"}


def by_hand(suite: Suite, outputs: Outputs) -> ByHand:
    """The judge of the sample's questions and answers."""
    questions = {row["case_id"]: row["question"] for row in suite.cases.to_pylist()}
    expected = {row["case_id"]: row["expected_answers"] for row in suite.cases.to_pylist()}
    said = {
        (questions[row["case_id"]], row["answer"]): (row["case_id"], row["model"])
        for row in outputs.outputs.to_pylist()
    }
    return ByHand(
        said | {(questions[case], text): (case, "expected") for case, texts in expected.items() for text in texts}
    )


if __name__ == "__main__":
    record("rag-judged", by_hand)
