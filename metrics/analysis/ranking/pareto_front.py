"""Which models are dominated: significantly worse than another one in some criteria, and better in none."""

from collections.abc import Sequence
from dataclasses import dataclass

from metrics.analysis.ranking.objectives import Objective, chosen_objectives
from metrics.core.rounding import NEAR
from metrics.stats.corrections import is_significant
from metrics.store import Run


@dataclass(frozen=True, slots=True)
class Placing:
    """How a model stands to the others.

    dominated_by: models than which it is, criterion by criterion, significantly worse or of equal value, and
    significantly worse in one; perhaps_by: models than which it is significantly worse in one and better by value in
    none, though not every difference is significant. Empty both: it is on the front.
    """

    model: str
    dominated_by: tuple[str, ...]
    perhaps_by: tuple[str, ...]

    @property
    def on_front(self) -> bool:
        """Whether no model dominates it, for certain or perhaps."""
        return not self.dominated_by and not self.perhaps_by


@dataclass(frozen=True, slots=True)
class ParetoFront:
    """The models of a run by several criteria, those on the front first; unplaced: those that lack a number of one."""

    objectives: tuple[Objective, ...]
    placings: tuple[Placing, ...]
    unplaced: tuple[str, ...]


def pareto_front(run: Run, keys: Sequence[str], tag: str | None = None, models: Sequence[str] = ()) -> ParetoFront:
    """Return which models are dominated by which in the criteria with these keys, over all cases or those with a tag.

    keys: of columns of the leaderboard, or quantities of the answers (cost_usd, duration_s, tokens), see `objectives`;
    models: of these models only, default all. Significant is what the leaderboard's ranks are made of: the paired test
    with Holm's correction over all metrics and pairs of models of the run. A domination that is not `perhaps` needs
    every difference significant, so that it is wrong in at most 5 % however many criteria there are (Berger 1982).
    InputError on a key that is none.
    """
    chosen = chosen_objectives(run, keys, tag)
    asked = [model for model in run.models if not models or model in models]
    placed = [model for model in asked if all(model in one.numbers for one in chosen)]
    found = []
    for model in placed:
        known = [_domination(chosen, other, model) for other in placed]
        surely, perhaps = (
            tuple(other for other, own in zip(placed, known, strict=True) if own is kind) for kind in (True, False)
        )
        found.append(Placing(model, surely, perhaps))
    found.sort(key=lambda one: (not one.on_front, bool(one.dominated_by)))
    return ParetoFront(tuple(chosen), tuple(found), tuple(model for model in asked if model not in placed))


def _domination(chosen: Sequence[Objective], better: str, worse: str) -> bool | None:
    """Return whether one model dominates another: True for certain, False perhaps, None not at all."""
    if better == worse:
        return None
    significant, open_ = 0, 0
    for one in chosen:
        apart = one.numbers[better].value - one.numbers[worse].value
        apart = -apart if one.column.direction == "lower" else apart
        p = None if one.ranks is None else one.ranks.adjusted.get((better, worse))
        if p is not None and is_significant(p):
            significant += 1
        elif apart < -NEAR or (one.ranks is not None and is_significant(one.ranks.adjusted.get((worse, better), 1.0))):
            return None
        elif apart > NEAR:
            open_ += 1
    return None if not significant else open_ == 0
