"""Which output a rater should look at next: drawn at random, or close to the threshold to choose one by."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from metrics.analysis.labels.human_labels import case_ids, draw_order, named_outputs, output_places
from metrics.analysis.labels.labelled_scores import metric_columns, output_scores
from metrics.core.array_types import Ints
from metrics.core.label_schema import Sampling
from metrics.store import Run
from metrics.store.rating_sets import Labels


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
    run: Run,
    criterion: str,
    rater: str,
    only: tuple[str, str] | None = None,
    model: str | None = None,
    threshold: float | None = None,
    skipped: Collection[tuple[str, str]] = (),
    most: int = 10,
) -> Queue:
    """Return the next outputs for a rater to label for a criterion, of all models or one; `skipped` ones come last.

    Every other one is drawn in a random order that depends on the data alone, so that the drawn ones are a simple
    random sample of each model's outputs: only they enter agreement and corrected means. Between them come the outputs
    whose score in the metric `only` is nearest to `threshold` (by default the metric's own, else the median score);
    they help to choose a threshold. Without `only`, all are drawn. A label given beside the judge's verdict is not
    blind: the output is asked for again.
    """
    order = draw_order(run)
    size = run.spec.suite.cases
    inside = order >= 0
    if model is not None:
        inside &= np.repeat(np.arange(len(run.models)) == run.models.index(model), size)
    table = Labels(run).table()
    own = pc.and_(pc.equal(table["rater"], rater), pc.equal(table["criterion"], criterion))
    table = table.filter(pc.and_(own, pc.not_equal(table["sampling"], "seen")))
    labelled = np.zeros(len(order), bool)
    labelled[output_places(run, table)] = True
    late, ids = np.zeros(len(order), bool), case_ids(run)
    for case_id, name in skipped:
        position = pc.index(ids, case_id).as_py()
        if position >= 0 and name in run.models:
            late[run.models.index(name) * size + position] = True
    left = np.flatnonzero(inside & ~labelled)
    random = left[np.lexsort((order[left], late[left]))]
    near = np.array([], np.int64)
    if only is not None:
        column = metric_columns(run)[only]
        scores = output_scores(run, column)
        edge = column.threshold if threshold is None else threshold
        if edge is None:
            edge = float(np.nanmedian(scores)) if (~np.isnan(scores)).any() else 0.0
        distance = np.abs(scores - edge)
        known = left[~np.isnan(distance[left]) & ~late[left]]
        # of equally near ones the last to be drawn: what is picked then says nothing about what is drawn next
        near = known[np.lexsort((-order[known], distance[known]))]
    sampling = table["sampling"].to_pylist()
    # a label given out of turn (after a jump to a case) must not stop the drawing
    drawn_next = sampling.count("drawn") <= len(sampling) - sampling.count("drawn")
    chosen = _interleaved(random, near, drawn_next, most)
    outputs = named_outputs(run, np.array([place for place, _ in chosen], np.int64))
    nexts = tuple(Next(*output, how) for output, (_, how) in zip(outputs, chosen, strict=True))
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
