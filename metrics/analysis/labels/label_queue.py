"""Which output a rater should look at next: drawn at random for the means, close to the threshold for the rest."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.analysis.labels.human_labels import draw_order, output_places
from metrics.analysis.labels.judge_agreement import case_ids, metric_columns, output_scores
from metrics.core.label_schema import Sampling
from metrics.store import Run
from metrics.store.label_sets import Labels

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Next:
    """One output to label, and why: `drawn` at random, or `picked` because its score is near the threshold."""

    case_id: str
    model: str
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Queue:
    """How many of `total` outputs a rater has labelled, and which come next."""

    done: int
    drawn: int
    total: int
    next: tuple[Next, ...]


def queue(
    run: Run, criterion: str, rater: str, only: tuple[str, str] | None = None, model: str | None = None,
    threshold: float | None = None, skipped: Collection[tuple[str, str]] = (), most: int = 10,
) -> Queue:  # fmt: skip
    """Return the next outputs for a rater to label for a criterion, of all models or one; `skipped` ones come last.

    Every other one is drawn in a random order that depends on the data alone, so that the drawn ones are a simple
    random sample of each model's outputs: only they enter corrected means. Between them come the outputs whose score in
    the metric `only` is nearest to the threshold, where a label says most about the judge; they count for agreement
    alone, as do all outputs that were picked in another way. Without `only`, all are drawn.
    """
    order = draw_order(run)
    size = run.spec["suite"]["cases"]
    inside = order >= 0
    if model is not None:
        inside &= np.repeat(np.arange(len(run.models)) == run.models.index(model), size)
    table = Labels(run).table()
    mine = pc.and_(pc.equal(table["rater"], rater), pc.equal(table["criterion"], criterion))
    table = table.filter(mine)
    labelled = np.zeros(len(order), bool)
    labelled[output_places(run, table)] = True
    ids = case_ids(run)
    place_of = {name: place for place, name in enumerate(ids)}
    late = np.zeros(len(order), bool)
    for case_id, name in skipped:
        if case_id in place_of and name in run.models:
            late[run.models.index(name) * size + place_of[case_id]] = True
    left = np.flatnonzero(inside & ~labelled)
    random = left[np.lexsort((order[left], late[left]))]
    near = np.array([], np.int64)
    if only is not None:
        distance = np.abs(_scores(run, only) - _threshold(run, only, threshold))
        known = left[~np.isnan(distance[left]) & ~late[left]]
        near = known[np.lexsort((order[known], distance[known]))]
    sampling = table["sampling"].to_pylist()
    # a label given out of turn (after a jump to a case) must not stop the drawing
    drawn_next = sampling.count("drawn") <= len(sampling) - sampling.count("drawn")
    chosen = _interleaved(random, near, drawn_next, most)
    nexts = tuple(Next(ids[int(place) % size], run.models[int(place) // size], how) for place, how in chosen)
    return Queue(int((inside & labelled).sum()), sampling.count("drawn"), int(inside.sum()), nexts)


def _interleaved(random: Ints, near: Ints, drawn_next: bool, most: int) -> list[tuple[int, Sampling]]:
    """Return outputs of both streams in turn, each once; the next random one counts as drawn in any case."""
    found: list[tuple[int, Sampling]] = []
    taken: set[int] = set()
    streams: dict[Sampling, list[int]] = {"drawn": random.tolist(), "picked": near.tolist()}
    turn: Sampling = "drawn" if drawn_next else "picked"
    while len(found) < most:
        streams = {how: [place for place in places if place not in taken] for how, places in streams.items()}
        if not streams["drawn"]:
            break
        how: Sampling = turn if streams[turn] else "drawn"
        place = streams[how][0]
        found.append((place, "drawn" if place == streams["drawn"][0] else how))
        taken.add(place)
        turn = "picked" if turn == "drawn" else "drawn"
    return found


def _scores(run: Run, only: tuple[str, str]) -> NDArray[np.float64]:
    column = metric_columns(run)[only]
    return np.concatenate([output_scores(run, name, column) for name in run.models])


def _threshold(run: Run, only: tuple[str, str], given: float | None) -> float:
    """Return the given threshold, the metric's own, or the median score."""
    own = metric_columns(run)[only].threshold if given is None else given
    if own is not None:
        return own
    scores = _scores(run, only)
    return float(np.nanmedian(scores)) if (~np.isnan(scores)).any() else 0.0
