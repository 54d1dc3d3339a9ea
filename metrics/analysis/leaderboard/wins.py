"""What models win and lose, question by question: the metrics that answer one question count once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from metrics.analysis.leaderboard.cells import Cell, Column
from metrics.analysis.leaderboard.ranks import Pair
from metrics.core.input_problems import short
from metrics.core.metric_names import column_name, full_name, list_names
from metrics.core.number_text import number
from metrics.core.presets import QUESTIONS

MAX_NAMED = 3  # questions whose names are all told, less one
cut = partial(short, most=40)  # a model's name


@dataclass(frozen=True, slots=True)
class Tally:
    """How a model stands in each question, as `Right?: 4 metrics`, by the metrics in which it wins or loses.

    It wins a metric where it is significantly better than another model and none is better than it, and loses one
    where another model is better. won: questions of which it wins a metric and loses none; lost: it loses some and wins
    none; mixed: both; the worst loss first. worst: that loss, of those lost, else of the mixed ones. doubts: the
    metrics that it does not lose in which another model is better before correction, see Compared.doubt.
    """

    won: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    mixed: tuple[str, ...] = ()
    worst: str = ""
    doubts: tuple[str, ...] = ()

    @property
    def doubt(self) -> str:
        """The doubts in words: `may be worse in Exact match (by 0.125, uncorrected)`; "" without any."""
        return f"may be worse in {list_names(self.doubts)}" if self.doubts else ""

    def words(self, counted: str = "") -> str:
        """Return the counts, few wins by name, the worst loss: `ahead in 2 (A, B), behind in 3 (worst in C)`."""
        won = f" ({', '.join(self.won)})" if 0 < len(self.won) < MAX_NAMED else ""
        lost, mixed = (
            f"{len(own)} ({'worst in ' * (len(own) > 1)}{own[0]})" if own else "" for own in (self.lost, self.mixed)
        )
        mix = f", mixed in {mixed}" if mixed else ""
        behind = f", behind in {lost or 'none'}" if lost or not self.doubts else ""
        doubt = f", {self.doubt}" if self.doubts else ""
        return f"ahead in {len(self.won) or 'none'}{counted}{won}{behind}{mix}{doubt}"


class Compared(NamedTuple):
    """A metric that compares models: their cells, and which of them is significantly better than which.

    `proven` are the pairs that hold whatever the unscored cases are; `leaning`, by how much the first is ahead, those
    that differ before correction only.
    """

    column: Column
    cells: Mapping[str, Cell]
    pairs: frozenset[Pair]
    proven: frozenset[Pair]
    leaning: Mapping[Pair, float]

    @property
    def title(self) -> str:
        """Evaluator and metric; of what people choose by the metric alone."""
        return column_name(self.column) if self.column.first else full_name(self.column).replace(": ", " · ", 1)

    @property
    def won(self) -> set[str]:
        """The models that are better than another one, with no other better than them."""
        return {one for one, _ in self.proven} - {other for _, other in self.pairs}

    def better_than(self, model: str) -> list[str]:
        """Return the models that are better than one."""
        return [one for one, other in self.pairs if other == model]

    def doubt(self, model: str) -> str:
        """Return by how much a model may be worse, than whom of several: `Exact match (by 0.125 than b, uncorrected)`;
        "" where it may not, or surely is.
        """
        found = {one: gap for (one, other), gap in self.leaning.items() if other == model}
        if not found or self.better_than(model):
            return ""
        one = max(found, key=found.__getitem__)
        than = f" than {cut(one)}" if len(self.cells) > 2 else ""
        return f"{self.title} (by {number(found[one])}{than}, uncorrected)"

    def loss(self, model: str) -> tuple[float, float]:
        """Return how bad a loss is: the share of the other models that are better, then how far the best one is."""
        goodness = [cell.goodness for cell in self.cells.values() if cell.goodness is not None]
        gap = max(goodness, default=0.0) - (self.cells[model].goodness or 0.0)
        return len(self.better_than(model)) / (len(self.cells) - 1), gap


class Question(NamedTuple):
    """What counts once: metrics that answer the question `title`, or one metric without a title.

    Its pairs are those of a metric, without any whose opposite is one of another metric.
    """

    title: str
    metrics: tuple[Compared, ...]
    pairs: frozenset[Pair]
    proven: frozenset[Pair]

    def lost(self, model: str) -> list[Compared]:
        """Return the metrics in which another model is better, the worst loss first."""
        lost = [one for one in self.metrics if one.better_than(model)]
        return sorted(lost, key=lambda one: one.loss(model), reverse=True)


def counted_questions(compared: Sequence[Compared], *, by_metric: bool) -> list[Question]:
    """Return what counts once: each question, or each metric if so wanted, and where only one question is asked."""
    titles = ["" if by_metric else QUESTIONS.get(one.column.evaluator, "") for one in compared]
    grouped: dict[tuple[str, str], list[Compared]] = {}
    for title, one in zip(titles, compared, strict=True):
        grouped.setdefault((title, "") if title and len({*titles}) > 1 else ("", one.column.key), []).append(one)
    return [
        Question(title, tuple(own), *(pairs_ahead(own, proven=proven) for proven in (False, True)))
        for (title, _), own in grouped.items()
    ]


def pairs_ahead(counted: Sequence[Compared] | Sequence[Question], *, proven: bool) -> frozenset[Pair]:
    """Return the pairs of models of which the first one is better in some of these and worse in none."""
    worse = {(other, one) for each in counted for one, other in each.pairs}
    return frozenset(pair for each in counted for pair in (each.proven if proven else each.pairs)) - worse


def tally(model: str, questions: Sequence[Question]) -> Tally:
    """Return how a model stands in these questions."""
    won, lost, mixed, losses_mixed = list[str](), list[str](), list[str](), list[str]()
    for one in sorted(questions, key=lambda one: [loss.loss(model) for loss in one.lost(model)[:1]], reverse=True):
        title, losses = f"{one.title}: " if one.title else "", one.lost(model)
        wins = [metric for metric in one.metrics if model in metric.won]
        if wins and losses:
            mixed.append(f"{title}ahead in {_name_metrics(wins)}, behind in {_name_metrics(losses)}")
        if losses:
            (losses_mixed if wins else lost).append(f"{title}{_name_metrics(losses)}{_to_whom(losses, model)}")
        elif wins:
            won.append(f"{title}{_name_metrics(wins)}")
    doubts = [doubt for question in questions for metric in question.metrics if (doubt := metric.doubt(model))]
    return Tally(tuple(won), tuple(lost), tuple(mixed), next(iter([*lost, *losses_mixed]), ""), tuple(doubts))


def _name_metrics(metrics: Sequence[Compared]) -> str:
    return metrics[0].title if len(metrics) == 1 else f"{len(metrics)} metrics"


def _to_whom(losses: Sequence[Compared], model: str) -> str:
    """Return who is better where there are more than two models: `, last of 3` in the worst loss, `, worse than a`."""
    among = len(losses[0].cells)
    if among == 2:
        return ""
    if len(losses[0].better_than(model)) == among - 1:
        return f", last of {among}"
    return f", worse than {list_names(sorted({cut(one) for loss in losses for one in loss.better_than(model)}))}"
