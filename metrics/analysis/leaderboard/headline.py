"""The headline of a leaderboard: what each model wins and loses, the same sentence wherever a run is summed up."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from metrics.analysis.leaderboard.family import main_columns
from metrics.analysis.leaderboard.leaderboard import NOT_EVALUATED, Cell, Column, Leaderboard
from metrics.analysis.leaderboard.ranks import Pair, Ranks
from metrics.analysis.leaderboard.wins import Compared, Tally, counted_questions, cut, pairs_ahead, tally
from metrics.core.metric_names import full_name, list_names

MAX_TOLD = 3  # models whose wins and losses, or equal numbers, are told
MIN_SAME = 3  # equal numbers from which on two models are called the same


@dataclass(frozen=True, slots=True)
class Headline:
    """Which model leads, if any, and what each of the `models` wins and loses.

    It rests on the `compared` metrics (titles): the main one of each evaluator, or those that the user chose
    (`chosen`), without exact copies of one (`copies`: how many). `differing`: those in which any two models differ
    significantly. What is `counted` (in words) are the questions that they answer (metrics.core.presets), or the
    metrics: those chosen, those that answer none, all where only one question is asked.

    In a question one model is ahead of another if it is significantly better in some metric and worse in none;
    altogether, if it is ahead in some question and the other one in none, or if it is better in `first`, the metric
    that decides before all others; `ahead` has these pairs. leader: the model that is ahead of every other one; with
    `unproven`, in words, why the one that would lead may not: unscored cases could undo it.

    models: by the first metric, the best first; sorted_by: the key of its column; identical: models whose numbers are
    those of another one everywhere, by name, which are compared once and come last. besides: other columns in which
    models differ. scored: how many metrics have a value; missed, judged: those on the wrong side of their threshold by
    every model, and how many have one; failed: those of which the evaluation of a case ended in an error, so that no
    threshold is said to be met.
    """

    models: tuple[str, ...]
    leader: str | None
    tallies: Mapping[str, Tally]
    compared: tuple[str, ...]
    differing: tuple[str, ...]
    first: str | None
    scored: int
    missed: tuple[str, ...]
    judged: int
    chosen: bool = False
    counted: str = ""
    copies: int = 0
    failed: tuple[str, ...] = ()
    ahead: tuple[Pair, ...] = ()
    unproven: str | None = None
    identical: Mapping[str, str] = field(default_factory=dict)
    besides: tuple[str, ...] = ()
    sorted_by: str | None = None

    @property
    def ranked(self) -> tuple[str, ...]:
        """The models that differ, the leader first."""
        different = [model for model in self.models if model not in self.identical]
        return tuple(sorted(different, key=lambda model: model != self.leader))

    @property
    def sentence(self) -> str:
        """The answer to "Which model should I pick?"; of a single model, how it stands to its thresholds."""
        decisive = "decisive" if self.chosen else "main"
        if not self.scored:
            return f"No {'decisive ' * self.chosen}metric has a value, so no model can be recommended."
        if len(self.models) == 1:
            return self._alone()
        same = [f"{cut(one)} has the same numbers as {cut(other)}" for one, other in self.identical.items()]
        return f"{'; '.join([self._answer(decisive), *same[:MAX_TOLD]])}."

    def _answer(self, decisive: str) -> str:
        if len(self.ranked) == 1:
            return "No model can be told from another"
        if not self.compared:
            return f"No significance tested: none of {_count(self.scored, 'metric')} has data to compare the models on"
        if not self.differing:
            metrics = len(self.compared) + self.copies
            where = self.compared[0] if metrics == 1 else f"any of {metrics} {decisive} metrics"
            besides = f"; they differ in {list_names(self.besides)}" if self.besides else ""
            return f"No significant difference between the models in {where}{besides}"
        if self.unproven:
            return f"No leader is named: {self.unproven}"
        if len(self.compared) == 1:
            return self._in_one()
        counted = f" of {self.counted}"
        if self.leader is not None:
            where = f" in {self.first}" if self.first else ""
            return f"{cut(self.leader)} leads{where}: {self.tallies[self.leader].words(counted)}"
        first, second, *_ = (self.tallies[model] for model in self.ranked)
        is_mirrored = len(self.ranked) == 2 and (len(first.won), len(first.lost)) == (len(second.lost), len(second.won))
        told = self.ranked[: 1 if is_mirrored else MAX_TOLD]
        each = [f"{cut(told[0])} is {first.words(counted)}"]
        each += [f"{cut(model)} {self.tallies[model].words()}" for model in told[1:]]
        more = 0 if is_mirrored else len(self.ranked) - len(told)
        return f"No clear choice: {'; '.join([*each, *([_count(more, 'more model')] if more else [])])}"

    def _in_one(self) -> str:
        """Return how the models stand in the only metric that compares them."""
        (metric,) = self.compared
        if self.leader is not None:
            return f"{cut(self.leader)} leads: best in {metric}"
        best = [cut(model) for model in self.ranked if not self.tallies[model].lost]
        if len(best) > 1:
            return f"No clear choice: {list_names(best)} are not significantly different in {metric}"
        return f"No clear choice: none is significantly better than every other one in {metric}"

    def _alone(self) -> str:
        model = cut(self.models[0])
        if self.missed:
            missed = f"{len(self.missed)} of {_count(self.judged, 'metric')}: {list_names(self.missed)}"
            return f"{model} misses the threshold in {missed}."
        open_ = f"cases of {list_names(self.failed)} could not be evaluated" if self.failed else ""
        if met := self.judged - len(self.failed):
            return f"{model} meets the threshold in {_count(met, 'metric')}{'; ' + open_ if open_ else ''}."
        if self.judged:
            return f"{model} meets no threshold yet: {open_}."
        return (
            f"{model} has values in {_count(self.scored, 'metric')}: set thresholds, or add a model to compare it with."
        )


def headline(board: Leaderboard, keys: Collection[str] | None = None, models: Sequence[str] | None = None) -> Headline:
    """Return the headline of a leaderboard, or of its columns with these keys and of these models."""
    every_model = tuple(board.models if models is None else models)
    identical = _identical_models(board, every_model)
    shown = tuple(model for model in every_model if model not in identical)
    chosen = [
        column for column in board.columns if column.key in board.decisive and (keys is None or column.key in keys)
    ]
    every = [(column, _cells_of(board, column, shown)) for column in chosen or primary_columns(board, keys)]
    scored = [(column, own) for column, own in every if any(cell.value is not None for cell in own.values())]
    every_compared = _compared_metrics(board, scored)
    compared = _without_copies(every_compared)
    copies = len(every_compared) - len(compared)
    metrics = f"{'different ' * bool(copies)}{'decisive' if chosen else 'main'} metrics"
    differing = [one for one in compared if one.pairs]
    questions = counted_questions(compared, by_metric=bool(chosen))
    asked = any(one.title for one in questions)
    tallies = {model: tally(model, questions) for model in shown}
    first = next((one for one in compared[:1] if one.column.first and one.pairs and not chosen), None)
    ahead = pairs_ahead(questions, proven=False).union(() if first is None else first.pairs)
    certain = pairs_ahead(questions, proven=True).union(() if first is None else first.proven)
    leading, leader = (_leader(shown, pairs) for pairs in (ahead, certain))
    alone = leader is not None and first is not None and _leader(shown, first.pairs) == leader
    judged = [(column, own) for column, own in scored if column.threshold is not None]
    return Headline(
        models=tuple(
            each
            for model in _order_models(shown, scored, tallies, leader)
            for each in (model, *(one for one, twin in identical.items() if twin == model))
        ),
        leader=leader,
        tallies=tallies,
        compared=tuple(one.title for one in compared),
        differing=tuple(one.title for one in differing),
        first=first.title if first is not None and alone else None,
        scored=len(scored),
        missed=tuple(
            full_name(column) for column, own in judged if all(c.value is None or c.problem for c in own.values())
        ),
        judged=len(judged),
        chosen=bool(chosen),
        counted=f"{len(questions)} {'questions' if asked else metrics}",
        copies=copies,
        failed=tuple(
            full_name(column) for column, own in judged if any("error" in cell.counts for cell in own.values())
        ),
        ahead=tuple(sorted(certain)),
        identical=identical,
        sorted_by=scored[0][0].key if scored else None,
        besides=_besides(board, [column for column, _ in every], keys),
        unproven=_why_unproven(board, leading, differing) if leading is not None and leader is None else None,
    )


def _compared_metrics(board: Leaderboard, scored: Sequence[tuple[Column, Mapping[str, Cell]]]) -> list[Compared]:
    """Return the metrics that compare two models or more."""
    found = []
    for column, cells in scored:
        own = {model: cell for model, cell in cells.items() if cell.rank is not None}
        if len(own) < 2:
            continue
        known = board.ranks.get(column.key) or Ranks({}, {})
        pairs = frozenset(pair for pair in known.significant if own.keys() >= {*pair})
        leaning = {pair: known.gaps[pair] for pair in known.leaning if own.keys() >= {*pair}}
        proven = frozenset(pair for pair in pairs if pair[1] not in board.overtaking.get((pair[0], column.key), ()))
        found.append(Compared(column, own, pairs, proven, leaning))
    return found


def _without_copies(compared: Sequence[Compared]) -> list[Compared]:
    """Return the metrics without exact copies of one before."""
    found: dict[object, Compared] = {}
    for one in compared:
        numbers = tuple((model, cell.value, cell.low, cell.high, cell.n) for model, cell in one.cells.items())
        found.setdefault((numbers, one.pairs, frozenset(one.leaning)), one)
    return [*found.values()]


def _leader(models: Sequence[str], ahead: Collection[Pair]) -> str | None:
    """Return the model that is ahead of every other one."""
    leads = (model for model in models if all((model, other) in ahead for other in models if other != model))
    return next(leads, None) if len(models) > 1 else None


def _order_models(
    models: Sequence[str], scored: Sequence[tuple[Column, Mapping[str, Cell]]], tallies: Mapping[str, Tally],
    leader: str | None,
) -> list[str]:  # fmt: skip
    """Return the models by the first metric, best first, equal ones by what they win and lose."""
    column, cells = scored[0] if scored else (None, {})
    sign = 1.0 if column is not None and column.direction == "lower" else -1.0
    first = {model: math.inf if cell.value is None else sign * cell.value for model, cell in cells.items()}
    return sorted(
        models,
        key=lambda model: (first.get(model, 0.0), model != leader, len(tallies[model].lost) - len(tallies[model].won)),
    )


def _identical_models(board: Leaderboard, models: Sequence[str]) -> dict[str, str]:
    """Return the models whose numbers are in every column those of one before, with that one.

    At least MIN_SAME of the numbers lie inside their metric's range: those at its ends are easily equal by chance.
    """
    found: dict[object, str] = {}
    identical: dict[str, str] = {}
    for model in models:
        cells = [(column, board.cells.get((model, column.key), NOT_EVALUATED)) for column in board.columns]
        telling = (cell.value is not None and column.low < cell.value < column.high for column, cell in cells)
        if sum(telling) >= MIN_SAME:
            numbers = tuple((cell.value, cell.low, cell.high, cell.n, cell.unscored) for _, cell in cells)
            other = found.setdefault(numbers, model)
            identical |= {model: other} if other != model else {}
    return identical


def _besides(board: Leaderboard, counted: Sequence[Column], keys: Collection[str] | None) -> tuple[str, ...]:
    """Return the other columns that are shown in which models differ significantly."""
    others = [column for column in board.columns if column not in counted and column.direction != "none"]
    shown = [column for column in others if (not column.minor if keys is None else column.key in keys)]
    return tuple(
        full_name(column) for column in shown if column.key in board.ranks and board.ranks[column.key].significant
    )


def _why_unproven(board: Leaderboard, model: str, differing: Sequence[Compared]) -> str:
    """Return why a model may not lead, in words: with its unscored cases it may not be ahead of another one."""
    one, other = next(
        (one, other) for one in differing for better, other in sorted(one.pairs - one.proven) if better == model
    )
    cells = {name: board.cells[name, one.column.key] for name in (model, other)}
    shares = ", ".join(f"{cut(name)} {100 * cell.missing_share:.0f} %" for name, cell in cells.items())
    return (
        f"{cut(model)} is ahead of {cut(other)} in {full_name(one.column)} on the scored cases, but with the "
        f"unscored ones ({shares}) the lead may not hold"
    )


def _cells_of(board: Leaderboard, column: Column, models: Sequence[str]) -> dict[str, Cell]:
    """Return the cells of a column by model."""
    return {model: board.cells.get((model, column.key), NOT_EVALUATED) for model in models}


def primary_columns(board: Leaderboard, keys: Collection[str] | None = None) -> list[Column]:
    """Return the main column of each evaluator, of all columns or those with these keys; see main_columns."""
    return main_columns(column for column in board.columns if keys is None or column.key in keys)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
