"""Calibrations: what is known about a metric with the models that it rests on, and the threshold that labels set.

A threshold belongs to a model: .75 means one thing for the cosines of one embedder and another for those of the next.
A metric of an evaluator that uses local weights therefore declares none; labelled data give it one, or show that it
does not separate good from bad, for one set of weights.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

FEWEST_LABELS = 30  # labels needed for a calibration
LEAST_AUC = 0.6  # a metric below it, or whose interval reaches chance, separates too little for a threshold
CHANCE = 0.5


@dataclass(frozen=True, slots=True)
class Calibration:
    """A metric (or a parameter that is a cutoff) of an evaluator, measured on labels with certain models.

    `models`: the sha256 of the weights of each local model, and the judge, by resource; `settings`: the
    parameters that differ from their defaults. `auc`: the chance that a good item scores better than a bad one, 0 … 1,
    with its 95 % interval; `balanced`: (sensitivity + specificity) / 2 of the threshold on items that did not set it.
    `threshold` is None where the metric does not separate them. `n` labels, `passed` of them good; `data` says which;
    `sets` are the figures of each set of labels, where there are several (data, good, sets_the_threshold, n, passed,
    auc, balanced, and the ends of their intervals).
    """

    evaluator: str
    version: int
    metric: str
    models: Mapping[str, str]
    threshold: float | None
    n: int
    passed: int
    data: str
    auc: float
    auc_low: float
    auc_high: float
    balanced: float | None = None
    balanced_low: float | None = None
    balanced_high: float | None = None
    procedure: str = ""
    sets: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def separates(self) -> bool:
        """Whether the metric tells good from bad: AUC ≥ .6, and its interval above chance."""
        return separates(self.auc, self.auc_low)

    @property
    def key(self) -> tuple[Any, ...]:
        """What a later calibration replaces: the same metric with the same models and settings."""
        return self.evaluator, self.version, self.metric, _sorted(self.models), _sorted(self.settings)

    def record(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def separates(auc: float, low: float) -> bool:
    """Return whether an AUC with this lower end of its interval is enough for a threshold."""
    return auc >= LEAST_AUC and low > CHANCE


def calibration_of(record: Mapping[str, Any]) -> Calibration:
    """Return the calibration of a record, without what a later version added; TypeError where it lacks a field."""
    known = {one.name for one in fields(Calibration)}
    own = {name: value for name, value in record.items() if name in known}
    return Calibration(**own | {"sets": tuple(own.get("sets", ()))})


def latest(calibrations: Iterable[Calibration]) -> list[Calibration]:
    """Return the last calibration of each key."""
    return list({one.key: one for one in calibrations}.values())


def _sorted(values: Mapping[str, Any]) -> str:
    return repr(sorted(values.items()))


def with_thresholds(values: Mapping[str, Any], calibrated: Mapping[str, float]) -> dict[str, Any]:
    """Return an evaluator's parameter values with the calibrated thresholds: those of parameters, and of metrics."""
    cutoffs = {name: value for name, value in calibrated.items() if name in values}
    own = {name: value for name, value in calibrated.items() if name not in cutoffs}
    return {**values, **cutoffs, **({"thresholds": own | dict(values.get("thresholds") or {})} if own else {})}
