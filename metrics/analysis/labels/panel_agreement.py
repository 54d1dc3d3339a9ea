"""Agreement within a panel of judges, or among the draws of one judge that was asked repeatedly."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from metrics.analysis.labels.judge_agreement import FEWEST, Stat, stat_of
from metrics.analysis.labels.raters import Raters, all_raters, pairs_of_raters
from metrics.core.array_types import Floats, Ints
from metrics.core.evaluator import Metric
from metrics.core.sampling_design import cluster_codes
from metrics.judge.settings import settings_of
from metrics.stats import rater_agreement as statistics
from metrics.store import Run

DIGITS = 9  # to which two values are the same


@dataclass(frozen=True, slots=True)
class PanelAgreement:
    """How far judges agree on the primary metric of an evaluator, or the draws of one `judge` ("": the judges).

    `raters`: α and Fleiss' κ of all, then Cohen's κ and the share of equal values of each pair; see Raters. `alike`:
    the mean share of the judges (or draws) that gave an output's most frequent value, which of draws is the
    self-consistency. `disputed` of `n` outputs with two values or more have different ones.
    """

    evaluator: str
    metric: str
    judge: str
    raters: tuple[Raters, ...]
    alike: Stat
    disputed: int
    n: int


def has_panel(run: Run) -> bool:
    """Return whether several judges, or several draws of one, scored each case of the run."""
    setting = run.spec.judge
    return bool(setting) and any(
        len(settings.judges) > 1 or judge.repeats > 1
        for settings in (settings_of(setting),)
        for judge in settings.judges
    )


def panel_agreement(run: Run) -> list[PanelAgreement]:
    """Return the agreement of a run's judges by evaluator, then of each judge's draws; none without a panel.

    Metrics of yes and no: κ and nominal α; others: interval α, or of metrics from 0 up without an upper end (seconds,
    counts) ratio α. Intervals by resampling whole cases (or groups).
    """
    if not has_panel(run):
        return []
    settings = settings_of(run.spec.judge)
    alone = settings.name if not settings.panel else ""
    found = []
    for name in run.evaluators:
        entry = run.evaluator(name)
        rows = run.query(
            "SELECT position, json_extract_string(evidence, '$.panel.judges') AS judges FROM scores "
            "WHERE evaluator = ? AND json_extract_string(evidence, '$.panel.judges') IS NOT NULL ORDER BY position",
            [name],
        )
        if entry is None or rows.empty:
            continue
        records = [json.loads(text) for text in rows["judges"]]
        clusters = cluster_codes(run.sampling_design().units[rows["position"].to_numpy()])
        metric = entry.primary
        for judge, group in _groups(records, alone):
            if (made := _agreement(name, metric, judge, group, clusters)) is not None:
                found.append(made)
    return found


def _groups(
    records: Sequence[Sequence[Mapping[str, Any]]], alone: str
) -> Iterator[tuple[str, list[Sequence[Mapping[str, Any]]]]]:
    """Yield the judges' records of each output ("": of the judges), then those of the draws of each judge.

    Where one judge is `alone`, the records are those of its draws.
    """
    yield alone, list(records)
    drawn = dict.fromkeys(record["judge"] for judges in records for record in judges if "draws" in record)
    for name in drawn:
        yield (
            name,
            [next((record.get("draws", ()) for record in judges if record["judge"] == name), ()) for judges in records],
        )


def _agreement(
    evaluator: str, metric: Metric, judge: str, records: Sequence[Sequence[Mapping[str, Any]]], clusters: Ints
) -> PanelAgreement | None:
    names = list(dict.fromkeys(record["judge"] for judges in records for record in judges))
    ratings = np.full((len(records), len(names)), np.nan)
    for row, judges in enumerate(records):
        for record in judges:
            value = record["values"].get(metric.name)
            if value is not None:
                ratings[row, names.index(record["judge"])] = round(float(value), DIGITS)
    rated = (~np.isnan(ratings)).sum(axis=1) > 1
    if rated.sum() < FEWEST:
        return None
    ratings, own = ratings[rated], cluster_codes(clusters[rated])
    draws = statistics.draws_of(own)
    alike = stat_of((draws * _alike(ratings)).sum(axis=1) / draws.sum(axis=1), own, 0.0)
    raters = (
        *all_raters(ratings, own, _level(metric), enough=FEWEST),
        *pairs_of_raters(names, ratings, own, enough=FEWEST),
    )
    disputed = int((np.nanmax(ratings, axis=1) > np.nanmin(ratings, axis=1)).sum())
    return PanelAgreement(evaluator, metric.name, judge, raters, alike, disputed, len(ratings))


def _level(metric: Metric) -> statistics.Level:
    """Return at which level two values of a metric are compared."""
    if metric.binary:
        return "nominal"
    return "ratio" if metric.low == 0 and math.isinf(metric.high) else "interval"


def _alike(ratings: Floats) -> Floats:
    """Return for each row the share of its values that equal its most frequent one."""
    counts = (ratings[:, :, None] == ratings[:, None, :]).sum(axis=2)
    return np.asarray(counts.max(axis=1) / (~np.isnan(ratings)).sum(axis=1), dtype=np.float64)
