"""Two models case by case: the cases behind a difference, regressions first, and on how many b is barely worse."""

from collections.abc import Mapping
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from metrics.analysis.cases.case_pages import PREVIEW, TEXT, CasePage, cut
from metrics.analysis.comparison.case_values import case_values
from metrics.analysis.comparison.compare import check_pair
from metrics.analysis.comparison.shared_cases import paired_designs
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.core.array_types import Floats
from metrics.core.errors import InputError
from metrics.stats.paired_intervals import CaseShare, share_within
from metrics.store import Run, cache_by_run
from metrics.store.run_tables import listed

Kind = Literal["losses", "wins", "ties"]


def differences(
    run: Run,
    model_a: str,
    model_b: str,
    evaluator: str,
    metric: str,
    kind: Kind = "losses",
    limit: int = 100,
    offset: int = 0,
    tag: str | None = None,
    other: Run | None = None,
) -> CasePage:
    """Return the cases on which b is worse than a (losses), better (wins) or equal (ties), largest difference first.

    Columns: case_id, preview, a, b, difference (b − a, repeats averaged). For a metric without a better end a win is
    the higher value. InputError where there is nothing to compare or the metric has no values per case.
    """
    other = other or run
    check_pair(run, model_a, other, model_b)
    position, a, b, apart = _pairs(run, model_a, other, model_b, evaluator, metric, tag)
    known = run.metric(evaluator, metric)
    lower = known is not None and known.direction.value == "lower"
    better = -apart if lower else apart
    chosen = np.flatnonzero({"losses": better < 0, "wins": better > 0, "ties": better == 0}[kind])
    shown = chosen[np.argsort(-np.abs(apart[chosen]), kind="stable")][offset : offset + limit]
    texts = run.query(
        f"""SELECT position, case_id, left({TEXT}, {PREVIEW + 1}) AS preview
            FROM suite_cases WHERE position IN ({listed(position[shown].tolist())})"""
    ).set_index("position")
    texts = texts.assign(preview=texts["preview"].map(cut))
    rows = texts.reindex(position[shown]).assign(a=a[shown], b=b[shown], difference=apart[shown])
    return CasePage(rows.reset_index(drop=True), len(chosen))


@cache_by_run(maxsize=8)
def _pairs(
    run: Run, model_a: str, other: Run, model_b: str, evaluator: str, metric: str, tag: str | None
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Return position, value of a, value of b and b − a of every pair."""
    design, key = run.sampling_design(tag), (evaluator, metric)
    a, b = (case_values(of, model, design, [key]).get(key) for of, model in ((run, model_a), (other, model_b)))
    if a is None or b is None:
        raise InputError(f"{evaluator} has no values per case of {metric!r} for both models")
    both = np.flatnonzero(a.present & b.present)
    return design.inside[both], a.values[both], b.values[both], b.minus(a)[both]


def shares_within(
    run: Run, model_a: str, model_b: str, margins: Mapping[str, float], tag: str | None = None, other: Run | None = None
) -> dict[str, CaseShare]:
    """Return the share of cases on which b is at most a margin worse than a: `margins` by column key, 0 or more.

    Of the cases for which both have a value. It says how often b falls short case by case, which a mean within its
    margin does not: half of the cases may be worse and the other half better. Metrics of the whole data set, and those
    without a better end, are left out. `other` is the run that b is taken from, where that is not `run`.
    """
    of_a, of_b = paired_designs(run, other or run, tag)
    columns = {
        column.key: column
        for column in leaderboard(run, tag).columns
        if column.key in margins and column.direction != "none" and column.label_key is None
    }
    keys = [(column.evaluator, column.metric) for column in columns.values()]
    a, b = case_values(run, model_a, of_a, keys), case_values(other or run, model_b, of_b, keys)
    found = {}
    for (key, column), name in zip(columns.items(), keys, strict=True):
        if name not in a or name not in b:
            continue
        both = a[name].present & b[name].present
        apart = b[name].minus(a[name])[both]
        better = -apart if column.direction == "lower" else apart
        share = share_within(better, margins[key], *of_b.of_part(both))
        if share is not None:
            found[key] = share
    return found
