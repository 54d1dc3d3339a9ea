"""What evaluators share that ask a judge about items: claims, sentences, contexts or opinions, a verdict on each."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from metrics.core.evaluator import CaseScore
from metrics.core.evidence import Evidence, Holds, Verdict, yes_or_no
from metrics.judge.steps import YesNoReply

RELEVANCE = {"yes": "relevant", "no": "irrelevant"}
BLANK_CONTEXT = YesNoReply(id=0, verdict="no", reason="the context is blank")


class ItemVerdict(Protocol):
    """The judge's reply about one item."""

    @property
    def verdict(self) -> str:
        """One of the words that the judge chooses from."""

    @property
    def reason(self) -> str:
        """Why, in the judge's words."""


def item_verdicts(
    items: Iterable[str], replies: Sequence[ItemVerdict], labels: Mapping[str, str], contexts: Sequence[int] = ()
) -> list[Verdict]:
    """Return a verdict on each item.

    `labels` are the words in the evidence for the words of the judge, the good one first. `contexts` are the numbers of
    the contexts that the items come from; 0: from none.
    """
    good = next(iter(labels))
    return [
        Verdict(
            item,
            yes_or_no(reply.verdict == good),
            labels[reply.verdict],
            reply.reason,
            (("contexts", context),) if context else (),
        )
        for item, reply, context in zip(items, replies, contexts or [0] * len(replies), strict=True)
    ]


def context_verdicts(replies: Sequence[ItemVerdict], labels: Mapping[str, str]) -> list[Verdict]:
    """Return a verdict on each retrieved context, in their order."""
    numbers = range(1, len(replies) + 1)
    return item_verdicts([f"Context {number}" for number in numbers], replies, labels, numbers)


def share_score(
    metric: str,
    group: str,
    judged: Sequence[Verdict],
    counted: str,
    holds: Holds = "yes",
    facts: Mapping[str, Any] | None = None,
) -> CaseScore:
    """Return the share of the verdicts that are `holds`; the evidence has all as `group`, the number as `counted`."""
    count = sum(verdict.holds == holds for verdict in judged)
    evidence = Evidence({group: judged}, {counted: count, **(facts or {})})
    return CaseScore({metric: count / len(judged)}, evidence=evidence)
