"""A Report: what is reported about a finished run, as plain frozen data that every renderer draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from metrics.presentation.blocks import Answer, Heatmap, Table, WorstCase

if TYPE_CHECKING:
    from metrics.presentation.questions.what_stands_out import Insight
    from metrics.presentation.questions.what_went_wrong import Problem


@dataclass(frozen=True, slots=True)
class Fact:
    """One named fact; with `code` (fingerprints, ids) it is set in a fixed-width font."""

    name: str
    value: str
    code: bool = False


@dataclass(frozen=True, slots=True)
class FactGroup:
    """Facts under one heading."""

    title: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """The first page after the headline: the numbers behind it, and sentences on certainty, failures and next steps."""

    table: Table
    sure: tuple[str, ...]
    fails: tuple[str, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MethodMetric:
    """What one number of an evaluator means."""

    name: str
    description: str
    low: float
    high: float
    direction: str
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Method:
    """How an evaluator computes its numbers: definition, details (formula, edge cases), metrics, parameters."""

    evaluator: str
    title: str
    version: int
    definition: str
    details: tuple[str, ...] = ()
    metrics: tuple[MethodMetric, ...] = ()
    parameters: tuple[Fact, ...] = ()
    sources: tuple[str, ...] = ()
    standards: tuple[str, ...] = ()
    differs_from: str = ""
    differs_from_source: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """A finished run, ready to be rendered; what was not chosen is empty.

    `headline` answers the reader's question in one sentence, `summary` makes a page of it; `evaluators` are titles.
    `sections` are the answers that come before the charts, the leaderboard first, `appendices` those after the cases;
    neighbours of one name share a section. `problems` and `insights` are the numbers behind them; `remarks` say what
    the report leaves out.
    """

    title: str
    run: str
    created: str
    headline: str
    evaluators: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    summary: Summary | None = None
    sections: tuple[Answer, ...] = ()
    charts: tuple[Answer, ...] = ()
    worst: tuple[WorstCase, ...] = ()
    appendices: tuple[Answer, ...] = ()
    methods: tuple[Method, ...] = ()
    facts: tuple[FactGroup, ...] = ()
    problems: tuple[Problem, ...] = ()
    insights: tuple[Insight, ...] = ()
    remarks: tuple[str, ...] = ()

    def section(self, name: str) -> Answer | None:
        """Return the first answer of a section; None where the report has none."""
        return next((one for one in (*self.sections, *self.appendices) if one.name == name), None)

    @property
    def heatmap(self) -> Heatmap | None:
        """The leaderboard, where it was chosen and has a number."""
        return next((one for answer in self.sections for one in answer.blocks if isinstance(one, Heatmap)), None)
