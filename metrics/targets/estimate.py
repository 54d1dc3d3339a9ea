"""What completing a suite would ask, before it is asked: calls, recorded answers, tokens, dollars."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics.core.suite import Suite
from metrics.judge.budget import price
from metrics.targets.ask_all import Question
from metrics.targets.asker import open_asker
from metrics.targets.complete import questions_of
from metrics.targets.description import ModelTarget, Target
from metrics.targets.recording import folder_of, read_entries

CHARACTERS_PER_TOKEN = 4  # of English prose, about
CENT = 0.01
REPLY = 200  # tokens of an answer, where none is recorded


@dataclass(frozen=True, slots=True)
class TargetEstimate:
    """The approximate cost of one target: calls, recorded answers, failed ones among those, tokens, dollars.

    Tokens are None for a target that is no language model, dollars also where the price is unknown.
    """

    name: str
    calls: int
    recorded: int
    failed: int
    tokens: int | None
    usd: float | None

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.calls:,} call{'s' * (self.calls != 1)}, {self.recorded:,} recorded"]
        if self.failed:
            parts.append(f"{self.failed:,} of them failed (--retry-errors asks them again)")
        if self.tokens is not None and self.calls:
            parts.append(f"about {self.tokens:,} tokens, {_dollars(self.usd)}")
        return "; ".join(parts)


def estimate(
    suite: Suite, targets: Sequence[Target], repeats: int, workspace: Path, retry_errors: bool = False
) -> list[TargetEstimate]:
    """Return what each target would be asked; nothing is sent.

    An answer of a language model is taken to be as long as the recorded ones, or REPLY tokens.
    """
    return [_estimate(suite, target, repeats, workspace, retry_errors) for target in targets]


def _estimate(suite: Suite, target: Target, repeats: int, workspace: Path, retry_errors: bool) -> TargetEstimate:
    entries = read_entries(folder_of(workspace, target))
    questions = {question.key: question for question in questions_of(suite, target, open_asker(target), repeats)}
    failed = sum("error" in entries[key] for key in questions if key in entries)
    left = [one for key, one in questions.items() if key not in entries or (retry_errors and "error" in entries[key])]
    tokens, usd = None, None
    if isinstance(target, ModelTarget):
        prompts = sum(map(_prompt_tokens, left))
        replies = len(left) * _usual(target, list(entries.values()))
        tokens, usd = prompts + replies, price(target.settings(), prompts, replies) if left else 0.0
    return TargetEstimate(target.title, len(left), len(questions) - len(left), failed, tokens, usd)


def _dollars(usd: float | None) -> str:
    if usd is None:
        return "price unknown"
    return "no price" if not usd else f"about ${usd:.2f}" if usd >= CENT else "less than a cent"


def _prompt_tokens(question: Question) -> int:
    return sum(len(message["content"]) for message in question.request["messages"]) // CHARACTERS_PER_TOKEN + 1


def _usual(target: ModelTarget, entries: Sequence[Any]) -> int:
    """Return the tokens of an answer: the mean of the recorded ones, or REPLY."""
    lengths = [len(entry["answer"]) // CHARACTERS_PER_TOKEN + 1 for entry in entries if "answer" in entry]
    return min(target.max_tokens, round(sum(lengths) / len(lengths)) if lengths else REPLY)
