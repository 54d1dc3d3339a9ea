"""The headline of a leaderboard: which model leads, the same sentence wherever a run is summed up."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metrics.analysis.leaderboard.family import main_columns
from metrics.analysis.leaderboard.leaderboard import Cell, Column, Leaderboard
from metrics.analysis.leaderboard.ranks import Pair
from metrics.core.metric_names import column_name, full_name

FIRST = ("coco_summary", "average_precision")  # evaluators whose primary metric, AP, goes before a count of metrics
MOST_NAMED = 3  # models or metrics named in a row
MOST_NAME = 40  # characters of a model's name
OTHERS = 2  # models behind the leaders whose counts are given


@dataclass(frozen=True, slots=True)
class Headline:
    """Which of the `models` lead, over the primary metric of each evaluator, metrics of one number counted once.

    One model is ahead of another where it is significantly better in `first`, the metric that decides first, or, where
    that decides nothing, in more of the `compared` metrics (titles) than the other one; `ahead` has these pairs.
    leaders: the models that none is ahead of, if each of them is ahead of every other model; else empty.

    models: in the order of the answer, leaders first; wins: in how many of the compared metrics each model is best or
    tied for best, no other model being significantly better; differing: in how many any two models differ
    significantly. scored: the metrics with a value; missed, judged: those on the wrong side of their threshold by every
    model, and those that have one; failed: those of which the evaluation of a case ended in an error, so that no
    threshold is said to be met; lost: those in which another model is significantly better than every leader; unproven:
    why a model that leads on the scored cases may not lead, in words: with the unscored ones another may be as good.
    """

    models: tuple[str, ...]
    leaders: tuple[str, ...]
    wins: Mapping[str, int]
    compared: tuple[str, ...]
    differing: int
    first: str | None
    scored: int
    missed: tuple[str, ...]
    judged: int
    failed: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    ahead: tuple[Pair, ...] = ()
    unproven: Mapping[str, str] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The answer to "Which model should I pick?"; of a single model, how it stands to its thresholds."""
        if not self.scored:
            return "No metric has a value, so no model can be recommended."
        if len(self.models) == 1:
            return self._alone()
        if not self.compared:
            return f"No significance tested: none of {_metrics(self.scored)} has data to compare the models on."
        metrics = f"any of {_metrics(len(self.compared))}" if len(self.compared) > 1 else self.compared[0]
        if not self.differing:
            return f"No significant difference between the models in {metrics}."
        if self.unproven and not self.leaders:
            return f"No leader is named: {'; '.join(self.unproven.values())}."
        if not self.leaders:
            return self._undecided()
        names = _list_names([_cut(model) for model in self.leaders])
        verb = "leads" if len(self.leaders) == 1 else "lead together"
        if len(self.compared) == 1:
            return f"{names} {verb}: {'best' if len(self.leaders) == 1 else 'tied for best'} in {self.compared[0]}."
        times = self.wins[self.leaders[0]]
        before = "" if self.first is None else f"{self.first} and in "
        others = self.models[len(self.leaders) : len(self.leaders) + OTHERS]
        rest = "; ".join(f"{_cut(model)} in {self.wins[model]}" for model in others)
        count = f"{times} of {_metrics(len(self.compared))}" + ("" if self.first is None else " overall")
        lost = f"; worse than another model in {_list_names(self.lost)}" if self.lost else ""
        return f"{names} {verb}: best or tied for best in {before}{count}{f' ({rest})' if rest else ''}{lost}."

    def _undecided(self) -> str:
        """Return how the models stand where there are differences, but none is ahead of all others."""
        if len(self.compared) == 1:
            best = [_cut(model) for model in self.models if self.wins[model]]
            if len(best) > 1:
                return f"No single model leads: {_list_names(best)} are tied for best in {self.compared[0]}."
            return f"No model leads: none is significantly better than every other one in {self.compared[0]}."
        count = _metrics(len(self.compared))
        if len({*self.wins.values()}) == 1:
            return f"No model leads: each is best or tied for best in {self.wins[self.models[0]]} of {count}."
        each = "; ".join(f"{_cut(model)} in {self.wins[model]}" for model in self.models[: OTHERS + 1])
        return f"No model leads: of {count}, best or tied for best are {each}."

    def _alone(self) -> str:
        model = _cut(self.models[0])
        if self.missed:
            missed = f"{len(self.missed)} of {_metrics(self.judged)}: {_list_names(self.missed)}"
            return f"{model} misses the threshold in {missed}."
        open_ = f"cases of {_list_names(self.failed)} could not be evaluated" if self.failed else ""
        if met := self.judged - len(self.failed):
            return f"{model} meets the threshold in {_metrics(met)}{'; ' + open_ if open_ else ''}."
        if self.judged:
            return f"{model} meets no threshold yet: {open_}."
        return f"{model} is the only model, and none of {_metrics(self.scored)} has a threshold."


def headline(board: Leaderboard, keys: Collection[str] | None = None, models: Sequence[str] | None = None) -> Headline:
    """Return the headline of a leaderboard, or of its columns with these keys and of these models."""
    shown = tuple(board.models if models is None else models)
    every = [(column, _cells_of(board, column, shown)) for column in primary_columns(board, keys)]
    scored = [(column, own) for column, own in every if any(cell.value is not None for cell in own.values())]
    compared = [(column, own) for column, own in scored if sum(map(_is_ranked, own.values())) > 1]
    better = {column.key: _better_pairs(board, column, own) for column, own in compared}
    best = {
        column.key: [
            model for model, cell in own.items() if _is_ranked(cell) and not _is_beaten(model, better[column.key])
        ]
        for column, own in compared
    }
    wins = {model: sum(model in own for own in best.values()) for model in shown}
    decisive = next((one for name in FIRST for one, _ in compared if one.evaluator == name and best[one.key]), None)
    first = None if decisive is None else decisive.key
    ahead = _pairs_ahead(better, first)
    behind = {other for _, other in ahead}
    leaders = tuple(model for model in shown if model not in behind)
    leads = behind and all((model, other) in ahead for model in leaders for other in behind)
    leaders = leaders if leads else ()
    certain = _pairs_ahead({key: _without_overtaken(board, key, own) for key, own in better.items()}, first)
    unproven = {
        model: reason
        for model in leaders
        if (reason := _why_unproven(board, model, [column for column, _ in compared], ahead - certain))
    }
    differing = sum(map(bool, better.values()))
    judged = [(column, own) for column, own in scored if column.threshold is not None]
    return Headline(
        models=tuple(sorted(shown, key=lambda model: (model not in leaders, model in behind, -wins[model]))),
        leaders=tuple(model for model in leaders if model not in unproven),
        wins=wins,
        compared=tuple(full_name(column) for column, _ in compared),
        differing=differing,
        first=None if decisive is None or len(compared) < 2 else column_name(decisive),
        scored=len(scored),
        missed=tuple(full_name(column) for column, own in judged if _all_miss(own)),
        judged=len(judged),
        lost=tuple(full_name(column) for column, _ in compared if not {*best[column.key]} & {*leaders}),
        failed=tuple(
            full_name(column) for column, own in judged if any("error" in cell.counts for cell in own.values())
        ),
        ahead=tuple(sorted(ahead)),
        unproven=unproven,
    )


def _without_overtaken(board: Leaderboard, key: str, better: Collection[Pair]) -> set[Pair]:
    """Return the pairs of better and worse models of a metric that hold whatever the unscored cases are."""
    return {(one, other) for one, other in better if other not in board.overtaking.get((one, key), ())}


def _why_unproven(board: Leaderboard, model: str, columns: Iterable[Column], doubtful: Collection[Pair]) -> str | None:
    """Return why a leader may not lead, in words: with its unscored cases it may not be ahead of another model."""
    for column in columns:
        for other in board.overtaking.get((model, column.key), ()):
            if (model, other) in doubtful:
                cells = {name: board.cells[name, column.key] for name in (model, other)}
                shares = ", ".join(f"{_cut(name)} {100 * cell.missing_share:.0f} %" for name, cell in cells.items())
                return (
                    f"{_cut(model)} is ahead of {_cut(other)} in {full_name(column)} on the scored cases, but with the "
                    f"unscored ones ({shares}) the lead may not hold"
                )
    return None


def _better_pairs(board: Leaderboard, column: Column, models: Collection[str]) -> set[Pair]:
    """Return which of these models are significantly better than which in a metric."""
    found = board.ranks[column.key].significant if column.key in board.ranks else ()
    return {(one, other) for one, other in found if one in models and other in models}


def _is_beaten(model: str, better: Collection[Pair]) -> bool:
    return any(other == model for _, other in better)


def _pairs_ahead(better: Mapping[str, Collection[Pair]], first: str | None) -> set[Pair]:
    """Return which model is ahead of which, by the pairs of each metric; `first` is the key of the one that decides."""
    wins = Counter(pair for pairs in better.values() for pair in pairs)
    more = {(one, other) for (one, other), count in wins.items() if count > wins[other, one]}
    decisive = () if first is None else better[first]
    return {(one, other) for one, other in more if (other, one) not in decisive} | {*decisive}


def _cells_of(board: Leaderboard, column: Column, models: Sequence[str]) -> dict[str, Cell]:
    """Return the cells of a column by model."""
    cells = {model: board.cells.get((model, column.key)) for model in models}
    return {model: cell for model, cell in cells.items() if cell is not None}


def _is_ranked(cell: Cell) -> bool:
    return cell.rank is not None


def _all_miss(cells: Mapping[str, Cell]) -> bool:
    """Return whether every model with a value is on the wrong side of the threshold."""
    return all(cell.value is None or cell.problem for cell in cells.values())


def primary_columns(board: Leaderboard, keys: Collection[str] | None = None) -> list[Column]:
    """Return the main column of each evaluator, of all columns or those with these keys; see main_columns."""
    return main_columns(column for column in board.columns if keys is None or column.key in keys)


def _list_names(names: Sequence[str]) -> str:
    """Return names as a list in words, the first MOST_NAMED of them: `a, b and c`, `a, b, c and 4 more`."""
    if len(names) > MOST_NAMED:
        return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"
    return " and ".join([*filter(None, [", ".join(names[:-1])]), *names[-1:]])


def _metrics(count: int) -> str:
    return f"{count} metric" + ("" if count == 1 else "s")


def _cut(name: str) -> str:
    return name if len(name) <= MOST_NAME else name[: MOST_NAME - 1] + "…"
