"""What style, length and markdown, has to do with preferences, and who is preferred at equal style."""

import re
from dataclasses import dataclass

import numpy as np

from metrics.analysis.preferences.matches import Source, all_matches
from metrics.analysis.preferences.pairs import TASKS, pair_texts
from metrics.core.array_types import Floats
from metrics.stats.bradley_terry import styled_strengths
from metrics.stats.float_tolerance import falling_order, ratio
from metrics.store import Run, cache_by_run
from metrics.store.rating_sets import Preferences

MARKS = {  # of markdown, counted in an answer
    "headers": re.compile(r"^ {0,3}#{1,6}\s", re.MULTILINE),
    "list items": re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s", re.MULTILINE),
    "bold": re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__"),
}
STYLES = ("length", *MARKS)


@dataclass(frozen=True, slots=True)
class StyleEffect:
    """What one standard deviation more of a style adds to the log-odds of a win, with its 95 % interval and p of 0."""

    style: str
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class StyledStanding:
    """A model's score against the average model at equal style, its 95 % interval and the ranks that it may have."""

    model: str
    score: float
    low: float
    high: float
    best_rank: int
    worst_rank: int


@dataclass(frozen=True, slots=True)
class StyleControl:
    """The models ranked by preferences at equal style, the strongest first, and what each style does, of n matches."""

    standings: tuple[StyledStanding, ...]
    effects: tuple[StyleEffect, ...]
    n: int


def style_counts(text: str) -> tuple[int, ...]:
    """Return the STYLES of an answer: its characters, headers, items of lists and bold passages.

    >>> style_counts("# One\\n- **two**\\n- three")
    (25, 1, 2, 1)
    """
    return len(text), *(len(mark.findall(text)) for mark in MARKS.values())


def style_control(run: Run, source: Source, criterion: str, tag: str | None = None) -> StyleControl | None:
    """Return the models ranked by preferences at equal style; None where the matches are too few or cannot tell.

    Two answers differ in a style by (a − b) / (a + b), 0 where neither has it, in standard deviations; a style that no
    two answers differ in is left out. See metrics.stats.bradley_terry.styled_strengths.
    """
    return _controlled(run, source, criterion, tag, Preferences(run).version)


@cache_by_run(maxsize=16)
def _controlled(run: Run, source: Source, criterion: str, tag: str | None, version: str) -> StyleControl | None:
    del version  # a part of the cache's key
    design = run.sampling_design(tag)
    place = np.full(design.cases, -1)
    place[design.inside] = np.arange(len(design))
    if run.spec.suite.task not in TASKS or len(run.models) < 2:
        return None
    answers = {texts.case_id: texts.answers for texts in pair_texts(run)}
    played = [
        (match, outcome)
        for match in all_matches(run, criterion)
        if (outcome := match.outcome(source)) is not None
        and place[match.case] >= 0
        and answers.get(match.case_id, {}).keys() >= set(match.models)
    ]
    if not played:
        return None
    models = [model for model in run.models if any(model in match.models for match, _ in played)]
    first, second = (np.array([models.index(match.models[end]) for match, _ in played]) for end in (0, 1))
    counts = np.array(
        [[style_counts(answers[match.case_id][model]) for model in match.models] for match, _ in played], np.float64
    )
    apart: Floats = np.nan_to_num(ratio(counts[:, 0] - counts[:, 1], counts.sum(axis=1)))
    used = np.flatnonzero((apart != 0).any(axis=0))
    places = place[[match.case for match, _ in played]]
    outcomes = np.array([outcome for _, outcome in played])
    weights, units = None if design.weights is None else design.weights[places], design.units[places]
    found = styled_strengths(first, second, outcomes, apart[:, used], len(models), weights, units)
    if found is None or not len(used):
        return None
    numbers = (found.value.tolist(), found.low.tolist(), found.high.tolist(), found.p_value.tolist())
    effects = tuple(StyleEffect(STYLES[style], *own) for style, *own in zip(used.tolist(), *numbers, strict=True))
    at = found.strengths
    columns = (at.score.tolist(), at.low.tolist(), at.high.tolist(), at.best.tolist(), at.worst.tolist())
    standings = [StyledStanding(*row) for row in zip(models, *columns, strict=True)]
    return StyleControl(tuple(standings[row] for row in falling_order(at.log).tolist()), effects, len(played))
