"""Which output a rater should label next: drawn at random, or with a higher chance where its score leaves doubt."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from metrics.analysis.labels import human_labels
from metrics.analysis.labels.labelled_scores import metric_columns, output_scores
from metrics.core.array_types import Floats, Ints
from metrics.core.schema import Sampling
from metrics.stats.judge_correction import draw_sizes
from metrics.store import Run
from metrics.store.rating_sets import DrawSizes, Labels


@dataclass(frozen=True, slots=True)
class Next:
    """One output to label, and why: `drawn` at random, or `weighted`: with a chance that its score makes higher."""

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
    mixed: bool = True,
) -> Queue:
    """Return the next outputs for a rater to label for a criterion, of all models or one; `skipped` ones come last.

    Every other one is drawn in a random order that depends on the data alone, so that the drawn ones are a simple
    random sample of each model's outputs: they enter agreement and corrected means. Those between are drawn in the same
    order, divided by each output's relative chance, which is higher near the `threshold` of the metric `only`, where a
    label narrows the corrected mean most: they enter corrected means by their chances (see judge_correction) and help
    to choose a threshold. With `mixed` off all are drawn so; without `only`, none. A label given beside the judge's
    verdict is not blind: the output is asked for again.
    """
    order = human_labels.draw_order(run)
    size = run.spec.suite.cases
    inside = order >= 0
    if model is not None:
        inside &= np.repeat(np.arange(len(run.models)) == run.models.index(model), size)
    table = Labels(run).table()
    own = pc.and_(pc.equal(table["rater"], rater), pc.equal(table["criterion"], criterion))
    table = table.filter(pc.and_(own, pc.not_equal(table["sampling"], "seen")))
    labelled = np.zeros(len(order), bool)
    labelled[human_labels.output_places(run, table)] = True
    late, ids = np.zeros(len(order), bool), human_labels.case_ids(run)
    for case_id, name in skipped:
        position = pc.index(ids, case_id).as_py()
        if position >= 0 and name in run.models:
            late[run.models.index(name) * size + position] = True
    left = np.flatnonzero(inside & ~labelled)
    random = left[np.lexsort((order[left], late[left]))]
    doubtful = np.array([], np.int64)
    if only is not None:
        sizes = draw_sizes_of(run, criterion, only, threshold)
        ranks = human_labels.model_ranks(run, order)
        early = left[~late[left]]
        doubtful = early[np.argsort((ranks / sizes)[early], kind="stable")]
    sampling = table["sampling"].to_pylist()
    # a label given out of turn (after a jump to a case) must not stop the drawing
    drawn_next = mixed and sampling.count("drawn") <= len(sampling) - sampling.count("drawn")
    chosen = _interleaved(random, doubtful, drawn_next, most, mixed)
    outputs = human_labels.named_outputs(run, np.array([place for place, _ in chosen], np.int64))
    nexts = tuple(Next(*output, how) for output, (_, how) in zip(outputs, chosen, strict=True))
    return Queue(int((inside & labelled).sum()), sampling.count("drawn"), int(inside.sum()), nexts)


def draw_sizes_of(run: Run, criterion: str, only: tuple[str, str], threshold: float | None = None) -> Floats:
    """Return each output's relative chance to be drawn for a criterion: the stored one, else by its score in `only`.

    The score at which a label is most doubtful is `threshold`, by default the metric's own, else the median score.
    """
    if (stored := human_labels.stored_sizes(run, criterion)) is not None:
        return stored
    column = metric_columns(run)[only]
    scores = output_scores(run, column).reshape(len(run.models), -1)
    known = scores[~np.isnan(scores)]
    if not len(known) or known.min() == known.max():
        return np.ones(scores.size)
    low, high = max(column.low, known.min()), min(column.high, known.max())
    middle = column.threshold if threshold is None else threshold
    if middle is None or not low < middle < high:
        middle = float(np.median(known))
    if not low < middle < high:
        middle = (low + high) / 2
    return np.concatenate([draw_sizes(own, low, high, middle) for own in scores])


def keep_draw_sizes(run: Run, criterion: str, only: tuple[str, str], threshold: float | None = None) -> bool:
    """Store the relative chances that the queue draws by, before the first label that rests on them.

    Return whether those stored are of this metric: a label drawn by other chances counts as picked.
    """
    stored = DrawSizes(run, criterion)
    if stored.metric() is None:
        places = np.flatnonzero(human_labels.draw_order(run) >= 0)
        sizes = draw_sizes_of(run, criterion, only, threshold)[places]
        stored.keep(human_labels.named_outputs(run, places), sizes.tolist(), only)
    return stored.metric() == only


def _interleaved(
    random: Ints, doubtful: Ints, drawn_next: bool, most: int, mixed: bool = True
) -> list[tuple[int, Sampling]]:
    """Return outputs of both streams in turn, or of the doubtful alone while there are any, each once."""
    found: list[tuple[int, Sampling]] = []
    taken: set[int] = set()
    streams: dict[Sampling, list[int]] = {"drawn": random.tolist(), "weighted": doubtful.tolist()}
    turn: Sampling = "drawn" if drawn_next else "weighted"
    while len(found) < most:
        streams = {how: [place for place in places if place not in taken] for how, places in streams.items()}
        if not streams["drawn"]:
            break
        how: Sampling = turn if streams[turn] else "drawn"
        place = streams[how][0]
        found.append((place, how))
        taken.add(place)
        turn = "drawn" if mixed and turn == "weighted" else "weighted"
    return found
