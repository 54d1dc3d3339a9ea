"""What goes with a judge's scores besides the labels: the length of an answer, the model that wrote it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow.compute as pc

from metrics.analysis.labels.human_labels import output_places
from metrics.analysis.labels.judgements import judge_names
from metrics.analysis.labels.labelled_scores import LabelledScores, labelled_scores
from metrics.analysis.labels.manipulations import all_equal, tolerance_of
from metrics.core.array_types import Floats
from metrics.core.rounding import at_least
from metrics.stats.corrections import holm, is_significant
from metrics.stats.correlation import Coefficient, clustered_coefficient
from metrics.stats.float_tolerance import ratio
from metrics.store import Run

FEWEST = 20  # labelled outputs for a hint
DUMMIES = 6  # distinct labels up to which each is a level of its own; above, the label is a number
PIECE = re.compile(r"[a-z]{3,}")  # of a model's name: the family
COMMON = {"chat", "instruct", "base", "mini", "large", "small", "turbo", "preview", "latest", "local", "openai", "the"}


@dataclass(frozen=True, slots=True)
class BiasHint:
    """What goes with a judge's score at equal labels: `effect` on it with its 95 % interval, over `n` outputs.

    length: change of the score per doubling of the answer's words; model: difference of `about`'s answers from the
    others' (`own`: the judge is of that model's family). p: of no effect; adjusted: after Holm's correction over the
    models. `found`: adjusted p at most .05, and the effect not below the tolerance.

    A hint and no proof: where labels are coarse or noisy and longer answers are truly better, an unbiased judge has an
    effect too, since a label does not hold all of the quality that it stands for. Variants of one answer prove it, see
    metrics.analysis.labels.manipulations.
    """

    kind: Literal["length", "model"]
    about: str
    effect: float
    low: float
    high: float
    p: float
    adjusted: float
    n: int
    tolerance: float
    own: bool = False

    @property
    def is_biased(self) -> bool:
        """Whether the effect is significant and matters."""
        return is_significant(self.adjusted) and at_least(abs(self.effect), self.tolerance)


def bias_hints(run: Run, criterion: str, only: tuple[str, str], tag: str | None = None) -> list[BiasHint]:
    """Return the hints that labels of a criterion give for one metric; none where all its scores are equal.

    Of labels given at random where there are any, as for agreement.
    """
    labelled = labelled_scores(run, *only, criterion, tag=tag)
    both = labelled.part(labelled.counted)
    if len(both.score) < FEWEST or all_equal(both.score):
        return []
    return [*_length(run, both), *_models(run, both)]


def _length(run: Run, both: LabelledScores) -> Iterator[BiasHint]:
    words = _words(run)[both.place]
    there = words > 0
    part = both.part(there)
    if len(part.score) < FEWEST:
        return
    found = clustered_coefficient(np.log2(words[there]), _levels(part.label), part.score, part.clusters)
    if found is not None:
        tolerance, n = tolerance_of(both.column, both.score), len(part.score)
        yield BiasHint("length", "", found.value, found.low, found.high, found.p, found.p, n, tolerance)


def _models(run: Run, both: LabelledScores) -> Iterator[BiasHint]:
    judges = {piece for name in judge_names(run) for piece in _family(name)}
    found = {
        index: coefficient
        for index in (np.unique(both.model).tolist() if len(np.unique(both.model)) > 1 else [])
        if (coefficient := _of_model(both, index)) is not None
    }
    adjusted = holm(np.array([one.p for one in found.values()], np.float64)).tolist()
    for (index, one), p in zip(found.items(), adjusted, strict=True):
        own = bool(judges & _family(run.models[index]))
        n = int((both.model == index).sum())
        tolerance = tolerance_of(both.column, both.score)
        yield BiasHint("model", run.models[index], one.value, one.low, one.high, one.p, p, n, tolerance, own)


def _of_model(both: LabelledScores, index: int) -> Coefficient | None:
    mine = (both.model == index).astype(np.float64)
    return clustered_coefficient(mine, _levels(both.label), both.score, both.clusters)


def _levels(label: Floats) -> Floats:
    """Return the labels as columns of a regression without constant: [n, k]."""
    kinds = np.unique(label)
    if len(kinds) > DUMMIES:
        return label[:, None]
    return np.asarray(label[:, None] == kinds[1:], np.float64)


def _words(run: Run) -> Floats:
    """Return how many words each output's answer has; the mean of its repeats."""
    table = run.needed("outputs/outputs.parquet").rows(["case_id", "model", "answer"])
    counts = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(table["answer"])))
    words = pc.fill_null(counts, 0).to_numpy().astype(np.float64)
    places, size = output_places(run, table), len(run.models) * run.spec.suite.cases
    times = np.bincount(places, minlength=size)
    return ratio(np.bincount(places, words, size), times, 0.0)


def _family(name: str) -> set[str]:
    return set(PIECE.findall(name.rpartition("/")[2].casefold())) - COMMON
