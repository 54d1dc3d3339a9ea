"""Missed thresholds by metric: one line says what holds for many models."""

from collections.abc import Sequence
from dataclasses import dataclass

from metrics.presentation.format import number, plural
from metrics.presentation.phrases import limit, metric_title, with_interval
from metrics.reports.report import Problem

SHOWN = 10  # models of a metric; of more, the rest is one line
CERTAINTY = {"high": "certain", "low": "uncertain", "unknown": "no interval"}
CERTAINTY_KEY = "Certain: the whole 95 % interval misses the threshold. Uncertain: the interval includes it."


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
        return limit(self.problems[0].threshold, self.problems[0].direction)

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
        certain = {0: "not certainly by any", len(self.problems): "certainly"}.get(sure, f"certainly by {sure:,}")
        if len(self.problems) == 1:
            certain = CERTAINTY[worst.severity]
            return f"{self.title} {self.threshold} is missed by {worst.model}: {value}, {certain}."
        who = "every model" if len(self.problems) == self.among else f"{len(self.problems):,} of {self.among:,} models"
        return f"{self.title} {self.threshold} is missed by {who}, {certain}; the most by {worst.model}: {value}."

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Model, value, n, cases on the wrong side and certainty; of more than SHOWN models the rest in one row."""
        lines = [
            (
                one.model, with_interval(one.value, one.low, one.high), f"{one.n:,}",
                "" if one.affected is None else f"{one.affected:,}", CERTAINTY[one.severity],
            )
            for one in self.problems[:SHOWN]
        ]  # fmt: skip
        rest = self.problems[SHOWN:]
        if rest:
            values = [one.value for one in rest if one.value is not None]
            span = f"{number(min(values))} … {number(max(values))}" if values else ""
            certain = sum(one.severity == "high" for one in rest)
            lines.append((f"{plural(len(rest), 'more model')}", span, "", "", f"{certain:,} certain"))
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
