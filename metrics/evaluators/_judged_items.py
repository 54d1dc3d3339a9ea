"""What evaluators share that ask a judge about items: claims, sentences, contexts or opinions, a verdict on each."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any, Protocol

from metrics.core.evaluator import CaseScore
from metrics.core.evidence import Evidence, Holds, Verdict, yes_or_no
from metrics.judge.label_probabilities import keep_shares
from metrics.judge.steps import YesNoReply

RELEVANCE = {"yes": "relevant", "no": "irrelevant"}
NOTHING_RETRIEVED = "nothing was retrieved"
BLANK_CONTEXT = YesNoReply(id=0, verdict="no", reason="the context is blank")
keep_shares(BLANK_CONTEXT, [{"yes": 0.0, "no": 1.0}])  # it is certain, so the others' probabilities count
WEIGHTED = "weighted by the judge's probabilities"
SHARE_IS_EXPECTED = (  # how every share of verdicts differs from its source
    "Where the judge tells the probabilities of its verdicts, the share is the expected one; the source counts "
    "verdicts. "
)


class ItemVerdict(Protocol):
    """The judge's reply about one item."""

    @property
    def verdict(self) -> str:
        """One of the words that the judge chooses from."""

    @property
    def reason(self) -> str:
        """Why, in the judge's words."""

    def probability(self, field: str, label: str) -> float | None:
        """Return the judge's probability of one label of a field; None where it was not handed on."""


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
            probability=reply.probability("verdict", good),
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
    """Return the share of the verdicts that are `holds`; the evidence has all as `group`, the number as `counted`.

    Without a verdict the share is 0.
    """
    count = sum(verdict.holds == holds for verdict in judged)
    share, weighted = expected_share(judged, holds)
    evidence = Evidence({group: judged}, {counted: count, **weighted, **(facts or {})})
    return CaseScore({metric: share}, evidence=evidence)


def expected_share(judged: Sequence[Verdict], holds: Holds = "yes") -> tuple[float, dict[str, str]]:
    """Return the share of the verdicts that are `holds`, and the fact for the evidence where it is weighted.

    Where the judge's probability p of every verdict is known, the share is the expected one, the mean of p (of 1 − p
    for "no"); else that of the verdicts as they are. Without any it is 0.
    """
    if not judged:
        return 0.0, {}
    known = [verdict.probability for verdict in judged if verdict.probability is not None]
    if len(known) < len(judged):
        return sum(verdict.holds == holds for verdict in judged) / len(judged), {}
    mean = fsum(known) / len(known)
    return mean if holds == "yes" else 1 - mean, {"share": WEIGHTED}


def least_share(judged: Sequence[Verdict]) -> float:
    """Return the judge's lowest probability of a good verdict; 0 or 1 where it tells none, 0 without a verdict."""
    shares = [float(one.holds == "yes") if one.probability is None else one.probability for one in judged]
    return min(shares, default=0.0)
