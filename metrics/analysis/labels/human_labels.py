"""People's labels of a run's outputs, criterion by criterion, as arrays in the order of the run's outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.schema import LABEL_KEY
from metrics.stats.float_tolerance import ratio
from metrics.stats.judge_correction import draw_chances
from metrics.store import Run, cache_by_run
from metrics.store.rating_sets import DrawSizes, Labels

if TYPE_CHECKING:
    import pandas as pd

WORDS = {1.0: "pass", 0.0: "fail", None: "unsure"}


@dataclass(frozen=True, slots=True)
class Criterion:
    """What outputs were labelled for: `graded` from `low` to `high`, else pass (1) or fail (0)."""

    name: str
    labels: int
    unsure: int
    raters: int
    graded: bool
    low: float
    high: float

    @property
    def middle(self) -> float:
        """The midpoint between fail and pass: labels above it pass, unless another grade is chosen."""
        return (self.low + self.high) / 2


@dataclass(frozen=True, eq=False)
class HumanLabels:
    """All labels of one criterion. An output's index is `model · cases + position`; NaN means no label.

    ratings: [outputs, raters], NaN also where the rater is unsure; turns: [outputs, raters] the random order in which
    an output's raters decide on it, −1 where a rater gave no label, not even unsure; by_place: [outputs, most] the
    first, second … label of each output in the order in which they were added; random: whether each output belongs to a
    random sample of its model's, so that it stands for the others; chances: with which chance each labelled output was
    to be drawn, also unequally (see judge_correction.draw_chances), NaN where it is not known; unanswered: by model,
    how many outputs that were drawn for labelling have no label. A label given beside the judge's verdict ("seen")
    counts only where the output has no blind one, and for that output alone.

    Where raters differ, no output is left out, as outputs on which all agree are the easy ones. Means take the mean of
    an output's labels; what needs one label (a verdict, a guarantee) takes that of one rater, drawn at random.
    """

    criterion: Criterion
    raters: tuple[str, ...]
    ratings: Floats
    turns: Ints
    by_place: Floats
    random: Bools
    chances: Floats
    unanswered: Mapping[str, int]

    @cached_property
    def label_counts(self) -> Ints:
        """How many labels each output has."""
        return np.asarray((~np.isnan(self.ratings)).sum(axis=1), np.int64)

    @cached_property
    def means(self) -> Floats:
        """The mean of each output's labels, of pass and fail the share of passes; NaN without a label."""
        return self.means_with(np.nan)

    def means_with(self, unsure: float) -> Floats:
        """Return the mean of each output's labels, with those of raters who are unsure as `unsure`; NaN: left out."""
        counted = ~np.isnan(self.ratings) if np.isnan(unsure) else self.turns >= 0
        filled = np.where(np.isnan(self.ratings), 0.0 if np.isnan(unsure) else unsure, self.ratings)
        return ratio(np.where(counted, filled, 0.0).sum(axis=1), counted.sum(axis=1))

    @cached_property
    def split(self) -> Bools:
        """Whether two labels of an output differ."""
        return np.asarray(np.fmin.reduce(self.ratings, axis=1) < np.fmax.reduce(self.ratings, axis=1), bool)

    @cached_property
    def has_answer(self) -> Bools:
        """Whether an output has a label, be it unsure."""
        return np.asarray((self.turns >= 0).any(axis=1), bool)

    @cached_property
    def unsure(self) -> Bools:
        """Whether every rater of an output is unsure."""
        return np.asarray(self.has_answer & (self.label_counts == 0), bool)

    def drawn_raters(self, unsure: bool = False) -> Ints:
        """Return for each output the index of one of its raters, drawn at random; any where it has none.

        unsure: raters who are unsure are drawn too; else one who is sure where there is any.
        """
        known = self.turns >= 0 if unsure else ~np.isnan(self.ratings)
        return np.asarray(np.where(known, self.turns, np.iinfo(np.int64).max).argmin(axis=1), np.int64)

    def draw_labels(self, unsure: bool = False) -> Floats:
        """Return for each output the label of the rater drawn for it; NaN where there is none, or it is unsure."""
        return self.ratings[np.arange(len(self.ratings)), self.drawn_raters(unsure)]


def criteria(run: Run) -> tuple[Criterion, ...]:
    """Return the criteria that a run's outputs were labelled for, the most labelled first; none without labels."""
    table = Labels(run).table()
    found = []
    for name in table["criterion"].unique().to_pylist():
        own = table.filter(pc.equal(table["criterion"], name))
        values = own["value"].drop_null().to_numpy()
        ends = np.concatenate([values, *(own[name].drop_null().to_numpy() for name in ("low", "high"))])
        graded = not bool(np.isin(ends, (0.0, 1.0)).all())
        low, high = (float(ends.min()), float(ends.max())) if graded else (0.0, 1.0)
        raters = len(own["rater"].unique())
        found.append(Criterion(name, len(values), own["value"].null_count, raters, graded, low, high))
    return tuple(sorted(found, key=lambda one: -one.labels))


def exported(run: Run) -> pd.DataFrame:
    """Return every label of a run's data as a file that can be uploaded again, `label` in words or as a number."""
    import pandas as pd

    graded = {one.name for one in criteria(run) if one.graded}
    rows = []
    for row in Labels(run).table().to_pylist():
        value = row["value"]
        words = f"{value:g}" if row["criterion"] in graded and value is not None else WORDS[value]
        rows.append(row | {"label": words})
    return pd.DataFrame(rows, columns=[*LABEL_KEY, "label", "sampling", "given"])


def human_labels(run: Run, criterion: str) -> HumanLabels:
    """Return the labels of one criterion, read again when labels change. Raises KeyError where there are none."""
    return _human_labels(run, criterion, Labels(run).version)


@cache_by_run(maxsize=16)
def _human_labels(run: Run, criterion: str, version: str) -> HumanLabels:
    import pandas as pd

    del version  # a part of the cache's key
    facts = {one.name: one for one in criteria(run)}[criterion]
    table = Labels(run).table()
    table = table.filter(pc.equal(table["criterion"], criterion))
    places, size = output_places(run, table), run.spec.suite.cases
    outputs = len(run.models) * size
    blind = np.array([how != "seen" for how in table["sampling"].to_pylist()], bool)
    kept = blind | ~np.isin(places, places[blind])
    table, places, blind = table.filter(pa.array(kept)), places[kept], blind[kept]
    coded = table["rater"].combine_chunks().dictionary_encode()
    raters = tuple(coded.dictionary.to_pylist())
    values = table["value"].to_numpy(zero_copy_only=False).astype(np.float64)
    ratings = np.full((outputs, len(raters)), np.nan)
    ratings[places, coded.indices.to_numpy()] = values
    known = ~np.isnan(values)
    nth = pd.Series(places[known]).groupby(places[known]).cumcount().to_numpy()  # how many rows before have the place
    by_place = np.full((outputs, int(nth.max(initial=0)) + 1), np.nan)
    by_place[places[known], nth] = values[known]
    turns = np.full(ratings.shape, -1, np.int64)
    turns[places, coded.indices.to_numpy()] = 0
    several = (turns[places] == 0).sum(axis=1) > 1
    turns[places[several], coded.indices.to_numpy()[several]] = _turns(run, table.filter(pa.array(several)))
    drawn = _random(run, criterion, table.filter(pa.array(blind)), places[blind])
    return HumanLabels(facts, raters, ratings, turns, by_place, *drawn)


def _turns(run: Run, table: pa.Table) -> Ints:
    """Return a random number for each label, which depends on the run's data, its output and its rater alone."""
    seed = run.spec.suite.fingerprint + run.spec.outputs.fingerprint
    names = zip(*(table[name].to_pylist() for name in ("model", "case_id", "rater")), strict=True)
    return (_digests([(seed, *one) for one in names]) >> np.uint64(1)).astype(np.int64)


def output_places(run: Run, table: pa.Table) -> Ints:
    """Return the index of the output that each row of `table` (case_id, model) is about."""
    ids = case_ids(run)
    position = pc.index_in(table["case_id"], ids).to_numpy(zero_copy_only=False)
    model = pc.index_in(table["model"], pa.array(run.models, pa.string())).to_numpy(zero_copy_only=False)
    return np.asarray(model.astype(np.int64) * len(ids) + position, np.int64)


def named_outputs(run: Run, places: Ints) -> list[tuple[str, str]]:
    """Return case id and model of the outputs with these indices."""
    ids = case_ids(run)
    model, position = np.divmod(places, len(ids))
    found = zip(ids.take(pa.array(position)).to_pylist(), model.tolist(), strict=True)
    return [(case_id, run.models[index]) for case_id, index in found]


def case_ids(run: Run) -> pa.Array:
    """Return the ids of the suite's cases, in its order."""
    return run.case_columns(["case_id"])["case_id"].combine_chunks()


def _random(run: Run, criterion: str, table: pa.Table, places: Ints) -> tuple[Bools, Floats, dict[str, int]]:
    """Return which labelled outputs are in the random sample, the chances of those that were drawn, how many of which
    have no label, by model.

    table: the blind labels. Outputs are drawn in the order of `draw_order`, so a model's sample is everything up to the
    last that was drawn, including outputs before it that were labelled for another reason. Later draws alone would not
    be one: they leave out what was picked before. With all outputs of a model labelled, they are its sample.
    """
    sampling = np.array(table["sampling"].to_pylist(), object)
    order = draw_order(run).reshape(len(run.models), -1)

    def marked(chosen: Ints) -> Bools:
        found = np.zeros(order.size, bool)
        found[chosen] = True
        return found.reshape(order.shape)

    labelled, drawn = marked(places), marked(places[sampling == "drawn"])
    reached = order <= np.where(drawn, order, -1).max(axis=1, initial=-1, keepdims=True)
    all_labelled = (labelled | (order < 0)).all(axis=1, keepdims=True)
    elsewhere, weighted = marked(places[sampling == "random"]), marked(places[sampling == "weighted"])
    reached |= all_labelled | elsewhere
    stored = stored_sizes(run, criterion)
    sizes = np.ones(order.size) if stored is None else stored
    weighted &= stored is not None  # labels that came without the chances they rest on are like picked ones
    chances = np.full(order.shape, np.nan)
    shares = model_ranks(run, order).reshape(order.shape)
    for model, own in enumerate(order >= 0):
        each = (every[model, own] for every in (shares, sizes.reshape(order.shape), drawn, weighted, elsewhere))
        chances[model, own] = draw_chances(*each)
    chances[all_labelled & (order >= 0)] = 1.0
    unanswered = (~np.isnan(chances) & ~labelled).sum(axis=1)
    chances[~labelled] = np.nan
    return (reached & labelled).ravel(), chances.ravel(), dict(zip(run.models, unanswered.tolist(), strict=True))


def model_ranks(run: Run, order: Ints) -> Floats:
    """Return each output's place among its model's in the random `order`, as a share in (0, 1]; NaN without output."""
    found = np.full((len(run.models), run.spec.suite.cases), np.nan)
    for model, ranks in enumerate(order.reshape(found.shape)):
        own = ranks >= 0
        found[model, own] = (np.argsort(np.argsort(ranks[own])) + 1) / max(1, own.sum())
    return found.ravel()


def stored_sizes(run: Run, criterion: str) -> Floats | None:
    """Return the relative chance of each output with which it is drawn for a criterion; None where none is stored."""
    table = DrawSizes(run, criterion).table()
    if table is None:
        return None
    found = np.ones(len(run.models) * run.spec.suite.cases)
    found[output_places(run, table)] = table["size"].to_numpy()
    return found


@cache_by_run(maxsize=8)
def draw_order(run: Run) -> Ints:
    """Return each output's rank in the random order of labelling, which depends on the data alone; −1: no output."""
    stored = run.needed("outputs/outputs.parquet").rows(["case_id", "model"])
    table = stored.group_by(["case_id", "model"]).aggregate([])
    places = output_places(run, table)
    seed = run.spec.suite.fingerprint + run.spec.outputs.fingerprint
    pairs = zip(table["model"].to_pylist(), table["case_id"].to_pylist(), strict=True)
    keys = _digests([(seed, *pair) for pair in pairs])
    found = np.full(len(run.models) * run.spec.suite.cases, -1, np.int64)
    found[places[np.argsort(keys, kind="stable")]] = np.arange(len(keys))
    return found


def _digests(names: Sequence[tuple[str, ...]]) -> NDArray[np.uint64]:
    """Return a number for each tuple of names, the first 64 bits of its SHA-256."""
    found = b"".join(hashlib.sha256("\x1f".join(one).encode()).digest()[:8] for one in names)
    return np.frombuffer(found, ">u8").astype(np.uint64)
