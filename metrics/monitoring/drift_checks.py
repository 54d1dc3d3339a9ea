"""Drift: whether the scores of production are distributed like those of a reference run, however often one looks.

At some cuts of the reference's scores the share of scores up to the cut is watched as a pass rate is. A stretch of
production that ends now has drifted where its confidence sequence and the reference's interval have nothing in common.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from metrics.analysis.comparison.shared_cases import changed_parameters, changed_wordings
from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.errors import InputError, InputProblem, one_of
from metrics.core.evaluator import Metric
from metrics.core.registry import wordings
from metrics.monitoring.current_rate import BLOCK
from metrics.monitoring.monitor_store import Monitor
from metrics.monitoring.sessions import UNIT_COLUMNS, units_of
from metrics.stats.drift import drift, exact_share
from metrics.stats.sequential import SEQUENCE_LEVEL, Bounds, bounds, evidence_above, evidence_below, thresholds
from metrics.store import Run, Workspace

MIN_REFERENCE_UNITS = 20  # independent units of the reference, below which nothing is tested
LATEST = 20_000  # samples among which a drift may begin
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)  # of the reference's scores, at which shares are compared
APART = 0.04  # between the reference's shares at two cuts; those closer say the same
ROUNDING = 1e-9


class Cut(NamedTuple):
    """A place among the scores: `value` itself is `inside` what is up to the cut, or it is above the cut."""

    value: float
    inside: bool

    @property
    def edge(self) -> float:
        """The largest score that is not above the cut."""
        return self.value + (ROUNDING if self.inside else -ROUNDING)


@dataclass(frozen=True, slots=True)
class Shift:
    """The share of scores up to `cut`, in the stretch of production that says most, and in the reference run.

    low, high: the stretch's confidence sequence; reference_low, reference_high: the reference's interval; since: the
    number of the stretch's first sample; units: its sessions and lines without one.
    """

    cut: Cut
    share: float
    low: float
    high: float
    since: int
    units: int
    reference: float
    reference_low: float
    reference_high: float


@dataclass(frozen=True, slots=True)
class MetricDrift:
    """One metric's scores in production beside those of the reference run.

    n, mean, ks, psi: of the latest window against the reference, as a description. `shift` is there where the scores
    have drifted: over all metrics, cuts and looks, the chance of ever finding one without a drift is at most 5 %.
    `reason`: why nothing was tested.
    """

    evaluator: str
    metric: str
    n: int
    n_reference: int
    mean: float | None
    mean_reference: float | None
    ks: float | None = None
    psi: float | None = None
    shift: Shift | None = None
    reason: str | None = None

    @property
    def drifted(self) -> bool:
        """Whether the scores have drifted."""
        return self.shift is not None


@dataclass(frozen=True, slots=True)
class Event:
    """Scores of one metric up to a cut; shares: how large a part of each reference unit's they are."""

    row: int
    cut: Cut
    shares: Floats


def reference_of(workspace: Workspace, run_id: str, model: str | None = None) -> dict[str, str]:
    """Return the run, and the one model of it, to measure drift against; RunNotFound, RunError, InputError."""
    run = workspace.run(run_id, finished=True)
    run.table_path("scores")
    if model is None and len(run.models) > 1:
        expected = f"one of the models of run {run.id}: {', '.join(run.models)}"
        raise InputError([InputProblem("--reference-model", "none", expected)])
    if model is not None and model not in run.models:
        raise InputError([InputProblem("--reference-model", repr(model), one_of(model, run.models))])
    return {"run": run.id, "model": model or run.models[0]}


def drifts(monitor: Monitor) -> list[MetricDrift]:
    """Return the drift of each metric from the monitor's reference run; none where it has no reference."""
    reference = monitor.state.reference
    if reference is None:
        return []
    run = Workspace(monitor.folder.parent.parent).run(reference["run"], finished=True)
    clusters = run.sampling_design().units
    rows, events = list[MetricDrift](), list[Event]()
    for entry, _ in monitor.spec.chosen_evaluators.values():
        for metric in entry.metrics:
            if metric.primary or not metric.minor:
                before = run.query(
                    """SELECT value, position FROM scores
                       WHERE model = ? AND evaluator = ? AND metric = ? AND value IS NOT NULL ORDER BY position, run""",
                    [reference["model"], entry.id, metric.name],
                )
                values, units = before["value"].to_numpy(np.float64), clusters[before["position"].to_numpy(np.int64)]
                row = _described(monitor, run, entry.id, metric, values, len(np.unique(units)))
                if row.reason is None:
                    events += [
                        Event(len(rows), cut, np.bincount(codes, values <= cut.edge) / np.bincount(codes))
                        for codes in [np.unique(units, return_inverse=True)[1]]
                        for cut in cuts_of(values, metric)
                    ]
                rows.append(row)
    for place, shift in _shifts(monitor, rows, events).items():
        rows[place] = replace(rows[place], shift=shift)
    return rows


def cuts_of(reference: Floats, metric: Metric) -> list[Cut]:
    """Return the cuts at which shares of scores are compared: just below and at some quantiles of the reference.

    Of those with about the same share of the reference the first, and none that no score can be on the other side of.

    >>> cuts_of(np.repeat([0.0, 1.0], [3, 97]), Metric("passes", "", binary=True))
    [Cut(value=1.0, inside=False)]
    """
    found, shares = list[Cut](), list[float]()
    for value in np.unique(np.quantile(reference, QUANTILES, method="inverted_cdf")).tolist():
        for cut in (Cut(value, inside=False), Cut(value, inside=True)):
            share = float((reference <= cut.edge).mean())
            possible = metric.low <= cut.edge < metric.high
            if possible and not any(abs(share - other) < APART for other in shares):
                found.append(cut)
                shares.append(share)
    return found


def _described(monitor: Monitor, run: Run, evaluator: str, metric: Metric, before: Floats, units: int) -> MetricDrift:
    own = run.evaluators.get(evaluator)
    recent = _recent_scores(monitor, evaluator, metric.name)
    mean, mean_before = (float(values.mean()) if len(values) else None for values in (recent, before))
    reason = None
    if own is None:
        reason = "the reference run does not have this evaluator"
    elif changed_parameters(evaluator, own, monitor.spec.parameters[evaluator]):
        reason = "the reference run used other parameters"
    elif changed := changed_wordings(
        run.wordings(evaluator), wordings(evaluator, monitor.spec.evaluators[evaluator], monitor.spec.resources)
    ):
        reason = f"the reference run used {changed}"
    elif units < MIN_REFERENCE_UNITS:
        reason = f"the reference run has scores of fewer than {MIN_REFERENCE_UNITS} cases"
    elif not len(recent):
        reason = "no recent scores"
    row = MetricDrift(evaluator, metric.name, len(recent), len(before), mean, mean_before, reason=reason)
    if reason is not None:
        return row
    found = drift(before, recent)
    return replace(row, ks=found.ks, psi=found.psi)


def _shifts(monitor: Monitor, rows: list[MetricDrift], events: list[Event]) -> dict[int, Shift]:
    """Return the shift with the most evidence of each row that has drifted."""
    if not events:
        return {}
    level = SEQUENCE_LEVEL / len(events)  # of each event, half of it for either side's interval
    numbers, units = _units(monitor, rows, events)
    found: dict[int, tuple[float, Shift]] = {}
    for event, values in zip(events, units.T, strict=True):
        expected = exact_share(event.shares, level / 2)
        known = ~np.isnan(values)
        shift = shift_of(numbers[known], values[known], event, expected, level / 2)
        if shift is not None and shift[0] > found.get(event.row, (0.0,))[0]:
            found[event.row] = shift
    return {row: shift for row, (_, shift) in found.items()}


def shift_of(numbers: Ints, values: Floats, event: Event, expected: Bounds, level: float) -> tuple[float, Shift] | None:
    """Return the evidence beyond what is needed, and the shift, of the stretch that says most; None without drift."""
    if not len(values):
        return None
    blocks, first = np.unique(numbers // BLOCK, return_index=True)
    kinds, codes = np.unique(values, return_inverse=True)
    counts = np.zeros((len(blocks), len(kinds)), np.int64)
    np.add.at(counts, (np.searchsorted(blocks, numbers // BLOCK), codes), 1)
    counts = counts[::-1].cumsum(axis=0)[::-1]
    needed = thresholds(blocks, level)
    below, above = evidence_below(counts, kinds, expected.low), evidence_above(counts, kinds, expected.high)
    beyond = np.maximum(below, above) - needed
    best = int(beyond.argmax())
    if beyond[best] < 0:
        return None
    low, high = bounds(counts[best], kinds, float(needed[best]))
    n, since = int(counts[best].sum()), int(numbers[first[best]])
    share, reference = float(counts[best] @ kinds / n), float(event.shares.mean())
    return float(beyond[best]), Shift(event.cut, share, low, high, since, n, reference, *expected)


def _units(monitor: Monitor, rows: list[MetricDrift], events: list[Event]) -> tuple[Ints, Floats]:
    """Return the sample at which each unit of production was counted, [unit], and its share of each event."""
    first = max(0, monitor.state.sampled - LATEST) // BLOCK * BLOCK
    samples = monitor.query(f"SELECT {UNIT_COLUMNS} FROM samples WHERE number >= ? ORDER BY number", [first])
    numbers = samples["number"].to_numpy(np.int64)
    scores = np.full((len(numbers), len(events)), np.nan)
    for place in {event.row for event in events}:
        row = rows[place]
        known = monitor.query(
            """SELECT number, value FROM scores WHERE evaluator = ? AND metric = ? AND value IS NOT NULL
               AND number >= ? ORDER BY number""",
            [row.evaluator, row.metric, first],
        )
        column = np.full(len(numbers), np.nan)
        column[np.searchsorted(numbers, known["number"].to_numpy())] = known["value"].to_numpy()
        scores[:, [event.row == place for event in events]] = column[:, None]
    hits: Bools = scores <= np.array([event.cut.edge for event in events])
    found = units_of(samples, hits, ~np.isnan(scores))
    return np.array([unit.number for unit in found], np.int64), np.array([unit.values for unit in found])


def _recent_scores(monitor: Monitor, evaluator: str, metric: str) -> Floats:
    window = monitor.window
    if window.seconds is None:
        recent, bound = "number >= ?", monitor.state.sampled - monitor.state.lately
    else:
        recent, bound = """ "at" > (SELECT max("at") FROM samples) - to_seconds(?)""", window.seconds
    frame = monitor.query(
        f"""SELECT value FROM scores JOIN (SELECT number FROM samples WHERE {recent}) USING (number)
            WHERE evaluator = ? AND metric = ? AND value IS NOT NULL ORDER BY number""",
        [bound, evaluator, metric],
    )
    return frame["value"].to_numpy(np.float64)
