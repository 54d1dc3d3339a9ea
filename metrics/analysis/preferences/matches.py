"""Preferences as matches: what people and judges say of two models' answers to one case."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from metrics.analysis.labels.human_labels import case_ids
from metrics.core.rounding import exact_sum
from metrics.core.schema import By
from metrics.store import Run, cache_by_run
from metrics.store.rating_sets import Preferences

Source = Literal["people", "judge", "both"]
SOURCES: tuple[Source, ...] = get_args(Source)
Orders = Mapping[str, float]  # of a judge, by the model that stood first ("": unknown), the outcome for the first model


@dataclass(frozen=True, slots=True)
class Vote:
    """One preference: `outcome` for the match's first model, and the model that stood first (None: unknown)."""

    rater: str
    outcome: float
    shown_first: str | None
    note: str


@dataclass(slots=True)
class Match:
    """One case on which two models meet: the place of the case, the models in the order of their names, the votes."""

    case: int
    case_id: str
    models: tuple[str, str]
    people: list[Vote] = field(default_factory=list)
    judge: list[Vote] = field(default_factory=list)

    def judged(self) -> dict[str, Orders]:
        """Return each judge's outcomes by the model that stood first ("": unknown)."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for vote in self.judge:
            found[vote.rater][vote.shown_first or ""] = vote.outcome
        return dict(found)

    def outcome(self, source: Source) -> float | None:
        """Return 1 where the first model is preferred, 0 where the second is, 0.5 for a tie; None without a vote.

        People: what most of them say. A judge: the side of the mean of its two orders, so that whoever stands first
        gains nothing; of an order alone nothing; where the orders of a file are unknown, what it says. Several judges:
        what most of them say. Both: people and judges as two voters. See `decided`.
        """
        if source == "people":
            return decided([vote.outcome for vote in self.people])
        if source == "judge":
            whole = [list(own.values()) for own in self.judged().values() if is_whole(own)]
            return decided([side(exact_sum(own) / len(own)) for own in whole])
        return decided([one for by in ("people", "judge") if (one := self.outcome(by)) is not None])


def decided(votes: Sequence[float]) -> float | None:
    """Return the outcome with most votes; where several have most, the side of their mean; None without a vote.

    >>> decided([1.0, 0.5, 0.5]), decided([1.0, 0.0]), decided([1.0, 0.5])
    (0.5, 0.5, 1.0)
    """
    counts = Counter(votes)
    most = [vote for vote, times in counts.items() if times == max(counts.values())]
    return side(exact_sum(most) / len(most)) if most else None


def side(mean: float) -> float:
    """Return 1 above the middle, 0 below it, else 0.5."""
    return 0.5 if mean == 0.5 else float(mean > 0.5)


def is_whole(orders: Orders) -> bool:
    """Return whether a judge's outcomes of one match are of both orders, or of an unknown one."""
    return len(orders) > 1 or "" in orders


def all_matches(run: Run, criterion: str) -> tuple[Match, ...]:
    """Return the matches of a run's data for a criterion, read again when preferences change."""
    return _matches(run, criterion, Preferences(run).version)


def preference_criteria(run: Run) -> dict[str, dict[By, int]]:
    """Return how many preferences of people and of judges each criterion has, the most first."""
    table = Preferences(run).table()
    counts = table.group_by(["criterion", "by"], use_threads=False).aggregate([([], "count_all")]).to_pylist()
    found: dict[str, dict[By, int]] = defaultdict(dict)
    for row in sorted(counts, key=lambda row: -row["count_all"]):
        found[row["criterion"]][row["by"]] = row["count_all"]
    return dict(found)


@cache_by_run(maxsize=16)
def _matches(run: Run, criterion: str, version: str) -> tuple[Match, ...]:
    del version  # a part of the cache's key
    table = Preferences(run).table()
    return tuple(_of_rows(run, table.filter(pc.equal(table["criterion"], criterion))))


def _of_rows(run: Run, table: pa.Table) -> Iterable[Match]:
    places = pc.index_in(table["case_id"], case_ids(run)).to_pylist()
    found: dict[tuple[int, str, str], Match] = {}
    for place, row in zip(places, table.to_pylist(), strict=True):
        if place is None or not {row["model_a"], row["model_b"]} <= set(run.models):
            continue
        pair = row["model_a"], row["model_b"]
        match = found.setdefault((place, *pair), Match(place, row["case_id"], pair))
        vote = Vote(row["rater"], row["outcome"], row["shown_first"], row["note"] or "")
        (match.people if row["by"] == "people" else match.judge).append(vote)
    return found.values()
