"""The calibrations that come with Assay: measured on public and our own labels.

Those of embedders by tests/benchmarks/bench_thresholds, those of the local judge by bench_local_judge.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from metrics.core.calibration import Calibration, calibration_of

TABLE = Path(__file__).with_name("calibrations.json")


@cache
def shipped() -> Sequence[Calibration]:
    """Return the calibrations of known weights, by evaluator and metric."""
    return tuple(calibration_of(record) for record in json.loads(TABLE.read_text(encoding="utf-8")))
