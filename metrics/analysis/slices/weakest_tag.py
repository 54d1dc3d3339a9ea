"""The tag whose cases a model does worst on, tested against the rest and corrected for every tag."""

from __future__ import annotations

import numpy as np

from metrics.analysis.slices.slice_features import features, mask_of
from metrics.analysis.slices.slice_outcomes import outcomes
from metrics.analysis.slices.slice_values import SliceValue, valued
from metrics.core.errors import InputError
from metrics.stats import slice_search
from metrics.store import Run, cache_by_run

LEAST = 5  # cases of a tag, and of the rest
MOST_CASES = 20_000  # of a run that is tested when its insights are read; the page Slices tests larger ones
DRAWS = 399


@cache_by_run(maxsize=2048)
def weakest_tag(run: Run, model: str, evaluator: str, metric: str) -> tuple[SliceValue, float] | None:
    """Return the tag with the worst mean of a metric with a value per case, and its p.

    None without two groups of cases, or without a value.

    p: that tags have nothing to do with the values, by shuffling (metrics.stats.slice_search.search), corrected for
    every tag and pair of tags. Tags with fewer than LEAST cases, or all but so few, are left out.
    """
    if run.spec.suite.cases > MOST_CASES:
        return None
    try:
        data = outcomes(run, model, evaluator, metric, False)
    except InputError:  # none of the model's cases has a value
        return None
    way = next((way for way in features(data.known) if way.name == "tag"), None)
    if way is None:
        return None
    masks = [(one, mask_of(data.known, [one])) for one in way.conditions]
    sizes = [(one, mask) for one, mask in masks if LEAST <= mask.sum() <= len(mask) - LEAST]
    rows = valued(data, np.array([mask for _, mask in sizes]).reshape(len(sizes), -1), [(one,) for one, _ in sizes])
    sign = -1.0 if data.measure.direction == "lower" else 1.0
    worst = min(
        (place for place, row in enumerate(rows) if row.value is not None),
        key=lambda place: sign * (rows[place].value or 0.0), default=None,
    )  # fmt: skip
    if worst is None:
        return None
    found = slice_search.search(
        data.badness, list(way.facets), data.weights, data.clusters, least=LEAST, draws=DRAWS
    )  # fmt: skip
    alone = np.flatnonzero(found.candidates.second < 0).tolist()
    same = [place for place in alone if (found.mask(place) == sizes[worst][1]).all()]
    return rows[worst], float(found.p[same[0]]) if same else 1.0
