"""Whether a judge is biased by the length of an answer, the model that wrote it, or the order of things."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow.compute as pc

from metrics.analysis.labels.human_labels import output_places
from metrics.analysis.labels.judge_agreement import FEWEST
from metrics.analysis.labels.judgements import judge_names
from metrics.analysis.labels.labelled_scores import LabelledScores, labelled_scores, metric_columns, output_scores
from metrics.analysis.leaderboard.leaderboard import Column
from metrics.core.array_types import Floats
from metrics.core.arrow import stored_rows
from metrics.core.sampling_design import cluster_codes
from metrics.stats.paired_intervals import difference_intervals
from metrics.stats.ratios import ratio
from metrics.stats.regression import clustered_coefficient
from metrics.store import Run

DUMMIES = 6  # distinct labels up to which each is a level of its own; above, the label is a number
SWAPPED = re.compile(  # kinds of variants in which only the order of items changes; swapped words are not among them
    r"(swap(ped)?|(re)?order(ed)?|shuffled?|positions?)"
    r"|(position|order|answer|response|option|context|passage)s?_(swap(ped)?|(re)?order(ed)?|shuffled?|reversed)"
)
PIECE = re.compile(r"[a-z]{3,}")  # of a model's name: the family
COMMON = {"chat", "instruct", "base", "mini", "large", "small", "turbo", "preview", "latest", "local", "openai", "the"}


@dataclass(frozen=True, slots=True)
class Bias:
    """One check: `effect` on the judge's score with its 95 % interval, over `n` outputs.

    length: change of the score per doubling of the answer's words; model: difference of `about`'s answers from the
    others' (`own`: the judge is of that model's family); both at equal labels. position: difference of variants with
    another order from their originals. `found`: the interval excludes 0.
    """

    kind: Literal["length", "model", "position"]
    about: str
    effect: float
    low: float
    high: float
    n: int
    own: bool = False

    @property
    def found(self) -> bool:
        """Whether the effect is significant."""
        return self.low > 0 or self.high < 0


def biases(run: Run, criterion: str, only: tuple[str, str], tag: str | None = None) -> list[Bias]:
    """Return the checks that the data allow, for one metric at equal labels of one criterion."""
    both = labelled_scores(run, *only, criterion, tag=tag)
    return [*_length(run, both), *_models(run, both), *_position(run, metric_columns(run)[only])]


def _length(run: Run, both: LabelledScores) -> Iterator[Bias]:
    words = _words(run)[both.place]
    there = words > 0
    part = both.part(there)
    if len(part.score) <= FEWEST:
        return
    found = clustered_coefficient(np.log2(words[there]), _levels(part.label), part.score, part.clusters)
    if found is not None:
        yield Bias("length", "", found.value, found.low, found.high, len(part.score))


def _models(run: Run, both: LabelledScores) -> Iterator[Bias]:
    judges = {piece for name in judge_names(run) for piece in _family(name)}
    for index in np.unique(both.model).tolist() if len(np.unique(both.model)) > 1 else []:
        mine = (both.model == index).astype(np.float64)
        found = clustered_coefficient(mine, _levels(both.label), both.score, both.clusters)
        if found is not None:
            own = bool(judges & _family(run.models[index]))
            n = int(mine.sum())
            yield Bias("model", run.models[index], found.value, found.low, found.high, n, own)


def _position(run: Run, column: Column) -> Iterator[Bias]:
    """Yield the check of order, without labels: a variant that differs only in order deserves the same score."""
    cases = run.case_columns(["case_id", "perturbs", "perturbation"])
    origin = pc.index_in(cases["perturbs"], cases["case_id"].combine_chunks()).to_pylist()
    kinds = cases["perturbation"].to_pylist()
    variants = [
        place for place, (before, kind) in enumerate(zip(origin, kinds, strict=True))
        if before is not None and kind and SWAPPED.fullmatch(kind.casefold())
    ]  # fmt: skip
    if not variants:
        return
    originals = [origin[place] for place in variants]
    scores = output_scores(run, column).reshape(len(run.models), -1)
    apart = (scores[:, variants] - scores[:, originals]).ravel()
    known = ~np.isnan(apart)
    if known.sum() <= FEWEST:
        return
    codes = cluster_codes(np.tile(originals, len(run.models))[known])
    low, high = difference_intervals(apart[known][:, None], clusters=codes)
    if not np.isnan(low[0]):
        mean = float(apart[known].mean())
        yield Bias("position", "", mean, float(low[0]), float(high[0]), int(known.sum()))


def _levels(label: Floats) -> Floats:
    """Return the labels as columns of a regression without constant: [n, k]."""
    kinds = np.unique(label)
    if len(kinds) > DUMMIES:
        return label[:, None]
    return np.asarray(label[:, None] == kinds[1:], np.float64)


def _words(run: Run) -> Floats:
    """Return how many words each output's answer has; the mean of its repeats."""
    table = stored_rows(run.input_path("outputs/outputs.parquet"), ["case_id", "model", "answer"])
    counts = pc.list_value_length(pc.utf8_split_whitespace(pc.utf8_trim_whitespace(table["answer"])))
    words = pc.fill_null(counts, 0).to_numpy().astype(np.float64)
    places, size = output_places(run, table), len(run.models) * run.spec["suite"]["cases"]
    times = np.bincount(places, minlength=size)
    return ratio(np.bincount(places, words, size), times, 0.0)


def _family(name: str) -> set[str]:
    return set(PIECE.findall(name.rpartition("/")[2].casefold())) - COMMON
