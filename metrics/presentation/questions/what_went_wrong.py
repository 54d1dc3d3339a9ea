"""Which models miss which thresholds? One line says what holds for many models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from metrics import analysis
from metrics.analysis import Column, Leaderboard
from metrics.core.conventions import limit
from metrics.core.registry import title_of
from metrics.core.rounding import none_if_nan
from metrics.presentation.blocks import Block, Link, Note, Sentence, table
from metrics.presentation.format import count, number, plural
from metrics.presentation.guarantee_words import whose_thresholds
from metrics.presentation.phrases import metric_title, with_interval
from metrics.presentation.question import QUICK, question
from metrics.store import Run

TITLE, ASKS = "Problems", "Which thresholds are missed, and what stands out?"
MAX_MODELS = 10  # of a metric; of more, the rest is one line
HEADS = ("Model", "Value (95 % interval)", "n", "Cases missing it", "Certainty")
CERTAINTY = {"high": "significant", "low": "uncertain", "unknown": "no interval"}
CERTAINTY_KEY = "Significant: the whole 95 % interval misses the threshold. Uncertain: the interval includes it."


@dataclass(frozen=True, slots=True)
class Problem:
    """A model on the wrong side of a threshold; `affected`: how many of its cases are, None where none has a value."""

    model: str
    evaluator: str
    evaluator_title: str
    title: str
    value: float | None
    low: float | None
    high: float | None
    threshold: float | None
    direction: str
    n: int
    severity: str
    message: str
    affected: int | None = None
    threshold_of: str = ""

    @property
    def limit(self) -> str:
        """The threshold with its sign, and whose it is, see core.conventions.limit."""
        return limit(self.threshold, self.direction, self.threshold_of)


@question("problems", TITLE, ASKS, "problems", short=QUICK)
def what_went_wrong(run: Run) -> list[Block]:
    """Return the missed thresholds, worst first; nothing for a run in which no number has a threshold."""
    found, board = list(missed_thresholds(run)), analysis.leaderboard(run)
    groups = problem_groups(found, len(board.models))
    judged = judged_columns(board)
    if not judged:
        return []
    sentence = Sentence(
        f"{answer(found, len(board.models))}; {whose_thresholds(judged)}.", link=Link("problems", "See the problems")
    )
    if not groups:
        return [sentence]
    spans = [(f"{group.title} {group.threshold}", len(group.rows)) for group in groups]
    rows = [row for group in groups for row in group.rows]
    return [sentence, table("Missed thresholds", HEADS, rows, (1, 2, 3), groups=spans), Note(CERTAINTY_KEY)]


def answer(found: Sequence[Problem], models: int) -> str:
    """Return how many thresholds are missed by how many of the models, in a sentence without its full stop."""
    if not found:
        return "No model is on the wrong side of a threshold"
    who = len({one.model for one in found})
    sure = sum(one.severity == "high" for one in found)
    misses = f"{count(who)} of {plural(models, 'model')} {'misses' if who == 1 else 'miss'} thresholds"
    certain = f"{count(sure) if sure else 'none'} significantly (whole 95 % interval on the wrong side)"
    return f"{misses}, {count(len(found))} in all: {certain}"


def judged_columns(board: Leaderboard) -> list[Column]:
    """Return the columns shown that have a threshold and a number of some model."""
    scored = {key for (_, key), cell in board.cells.items() if cell.value is not None}
    return [one for one in board.columns if one.threshold is not None and not one.minor and one.key in scored]


def missed_thresholds(run: Run) -> Iterator[Problem]:
    """Yield the missed thresholds of a run, most severe first; flips of perturbed cases have their own question."""
    found = analysis.problems(run)
    yield from problem_rows(found[found["kind"] == "threshold"])


def problem_rows(found: pd.DataFrame) -> Iterator[Problem]:
    """Yield the rows of analysis.problems that are of thresholds."""
    for row in found.to_dict("records"):
        yield Problem(
            row["model"],
            row["evaluator"],
            title_of(row["evaluator"]),
            row["metric"],
            none_if_nan(row["value"]),
            none_if_nan(row["low"]),
            none_if_nan(row["high"]),
            none_if_nan(row["threshold"]),
            row["direction"],
            int(row["n"]),
            row["severity"],
            row["message"],
            None if pd.isna(row["affected"]) else int(row["affected"]),
            row["threshold_of"],
        )


@dataclass(frozen=True, slots=True)
class ProblemGroup:
    """The models, out of `among`, on the wrong side of one threshold, the farthest from it first."""

    problems: tuple[Problem, ...]
    among: int

    @property
    def title(self) -> str:
        """The metric, without arrow."""
        return metric_title(self.problems[0], arrow=False)

    @property
    def threshold(self) -> str:
        """The threshold with its sign: `≥ 0.5`."""
        return self.problems[0].limit

    @property
    def models(self) -> tuple[str, ...]:
        """The models that miss it."""
        return tuple(problem.model for problem in self.problems)

    @property
    def sentence(self) -> str:
        """Who misses it, how certainly, and who the most."""
        worst = self.problems[0]
        value = with_interval(worst.value, worst.low, worst.high)
        if self.among == 1:
            cases = "" if worst.affected is None else f"; {plural(worst.affected, 'case')} on the wrong side"
            return f"{self.title} {self.threshold} is missed: {value}, {CERTAINTY[worst.severity]}{cases}."
        sure = sum(problem.severity == "high" for problem in self.problems)
        certain = {0: "not significantly by any", len(self.problems): "significantly"}.get(
            sure, f"significantly by {sure:,}"
        )
        if len(self.problems) == 1:
            certain = CERTAINTY[worst.severity]
            return f"{self.title} {self.threshold} is missed by {worst.model}: {value}, {certain}."
        who = "every model" if len(self.problems) == self.among else f"{len(self.problems):,} of {self.among:,} models"
        return f"{self.title} {self.threshold} is missed by {who}, {certain}; the most by {worst.model}: {value}."

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Model, value, n, cases on the wrong side and certainty; of more than MAX_MODELS the rest in one row."""
        lines = [
            (
                one.model,
                with_interval(one.value, one.low, one.high),
                f"{one.n:,}",
                "" if one.affected is None else f"{one.affected:,}",
                CERTAINTY[one.severity],
            )
            for one in self.problems[:MAX_MODELS]
        ]
        if rest := self.problems[MAX_MODELS:]:
            values = [one.value for one in rest if one.value is not None]
            span = f"{number(min(values))} … {number(max(values))}" if values else ""
            certain = sum(one.severity == "high" for one in rest)
            lines.append((f"{plural(len(rest), 'more model')}", span, "", "", f"{certain:,} significant"))
        return tuple(lines)


def problem_groups(problems: Sequence[Problem], among: int) -> tuple[ProblemGroup, ...]:
    """Return the problems of `among` models by metric and threshold, those of most models first."""
    found: dict[tuple[str, str, float | None], list[Problem]] = {}
    for problem in problems:
        found.setdefault((problem.evaluator, problem.title, problem.threshold), []).append(problem)
    groups = [
        ProblemGroup(tuple(sorted(own, key=lambda one: -abs((one.value or 0.0) - (one.threshold or 0.0)))), among)
        for own in found.values()
    ]
    return tuple(sorted(groups, key=lambda group: -sum(one.severity == "high" for one in group.problems)))
