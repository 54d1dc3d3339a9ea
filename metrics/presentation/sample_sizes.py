"""How many cases a suite needs, in words: what is asked about each kind of number, and the answer."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from metrics.presentation.format import number, plural
from metrics.stats.power import Aim, Kind, aim as aim, design_effect as design_effect

SERIES = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked about a kind: its title, what to expect (label, usual value, highest, help), how many models."""

    title: str
    label: str
    usual: float
    high: float | None
    help: str
    models: int = 1


QUESTIONS: Mapping[Kind, Question] = {
    "share": Question(
        "A share", "Expected share", 0.8, 0.99,
        "The share of cases that pass, as far as you can guess; 0.5 takes the most cases.",
    ),
    "mean": Question(
        "A mean", "Spread of the scores", 0.3, None,
        "The standard deviation of the scores over cases. Scores from 0 to 1: usually 0.2 to 0.4, at most 0.5.",
    ),
    "wins": Question(
        "Two models, right or wrong", "Share of cases where they differ", 0.2, 1.0,
        "In how many cases only one of the two models is right: of similar ones 0.1 to 0.3. Both answer all cases.", 2,
    ),
    "difference": Question(
        "Two models, scores", "Spread of the differences", 0.3, None,
        "The standard deviation of the differences case by case; smaller than that of the scores where the models find "
        "the same cases hard. Both answer all cases.", 2,
    ),
    "kappa": Question(
        "Agreement κ", "Expected κ", 0.6, 0.99,
        "Cohen's κ of judge and people, or of two raters, on outputs labelled pass or fail at random.",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Costs:
    """What answers cost in dollars: of each of `models`, `repeats` times a case; budget: what may be spent, or None."""

    answer: float = 0.0
    models: int = 1
    repeats: int = 1
    budget: float | None = None

    def of(self, cases: int) -> float:
        """Return the dollars of so many cases."""
        return cases * self.models * self.repeats * self.answer

    @property
    def affordable(self) -> int | None:
        """How many cases the budget pays for; None without a budget or a price."""
        one = self.of(1)
        return None if self.budget is None or not one else math.floor(self.budget / one + 1e-9)


def answer_lines(aim: Aim, wanted: float, costs: Costs) -> Iterator[str]:
    """Yield how many cases a wanted width and a wanted difference need, and what the budget gives."""
    width, difference = aim.cases_for_width(wanted), aim.cases_to_detect(wanted)
    yield (
        f"{plural(width, 'case')}{_price(costs, width)} for a 95 % interval of ± {number(wanted)}; "
        f"{plural(difference, 'case')}{_price(costs, difference)} to detect a difference of {number(wanted)} "
        "in 80 % of evaluations."
    )
    if (most := costs.affordable) is not None:
        gives = (
            f"± {number(aim.half_width(most))}, and a difference of {number(aim.detectable(most))} is detected"
            if math.isfinite(aim.detectable(most))
            else "too few for any interval"
        )
        yield f"A budget of ${costs.budget:,.2f} pays for {plural(most, 'case')}: {gives}."


def sizes(aim: Aim, wanted: float, costs: Costs) -> list[int]:
    """Return the numbers of cases to show, 10, 20, 50 … until the wanted precision and the budget are in sight."""
    far = max(1_000, aim.cases_to_detect(wanted), min(costs.affordable or 0, 10**6))
    every = [lead * 10**power for power in range(1, 10) for lead in SERIES]
    return every[: next(place for place, size in enumerate(every) if size >= far) + 1]


def _price(costs: Costs, cases: int) -> str:
    return f" (${costs.of(cases):,.2f})" if costs.answer else ""
