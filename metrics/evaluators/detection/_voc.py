"""Average precision by Pascal VOC's rules, of boxes and of outlines."""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pyarrow.compute as pc
from pydantic import Field

from metrics.core.array_types import Bools, Floats
from metrics.core.suite import METADATA, Outputs, Suite
from metrics.evaluators.detection._interpolated import EVERY
from metrics.evaluators.detection._matched import DetectionParameters, Matched, Scene
from metrics.stats.resample_intervals import BIAS
from metrics.vision.geometry import whole
from metrics.vision.image_resampling import resample

OLD_DIFFICULT = METADATA + "difficult"  # "1" in suites stored before the column
INCLUSIVE = np.array([0.0, 0.0, 1.0, 1.0])  # pixels: from xmin to xmax there are xmax − xmin + 1
POINTS: dict[str, Floats] = {"all_points": np.zeros(0), "eleven_points": np.arange(11) / 10}

Interpolation = Literal["all_points", "eleven_points"]
INTERPOLATION = (
    "all_points: the area under the interpolated curve, as VOC since 2010; eleven_points: its mean at recall 0, .1, "
    "… 1, as VOC 2007."
)


class InterpolatedParameters(DetectionParameters):
    """How precision is averaged."""

    interpolation: Interpolation = Field("all_points", description=INTERPOLATION)


class PascalVoc(NamedTuple):
    """Pascal VOC: each prediction claims the object that it overlaps most; difficult objects are ignored."""

    inclusive_pixels: bool = False

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene without difficult objects, its boxes with their last pixels where these count."""
        objects = scene.objects
        ignored = objects.crowd | difficult_objects(suite)
        if self.inclusive_pixels and scene.geometry == "box":
            objects = replace(
                objects,
                truth_box=objects.truth_box + INCLUSIVE,
                prediction_box=objects.prediction_box + INCLUSIVE,
            )
        return replace(scene, objects=objects, ignored=ignored, nearest=True, _overlaps={})


def difficult_objects(suite: Suite) -> Bools:
    """Return which annotations are marked as difficult [G]."""
    table = suite.annotations
    if table is None:
        return np.zeros(0, np.bool_)
    marked = whole(table["difficult"]).fill_null(False)
    if OLD_DIFFICULT in table.column_names:
        marked = pc.or_(marked, pc.equal(whole(table[OLD_DIFFICULT]), "1").fill_null(False))
    return np.array(marked, np.bool_)


def bias_of(interpolation: Interpolation, *, averaged: bool = False) -> float:
    """Return the bias that `resample_interval` takes off AP at one IoU threshold, or averaged over ten.

    A sample's recall passes each of 11 points or not, which moves AP by up to 1/11 either way and drowns the upward
    bias that half-samples show; averaged over thresholds the steps are smaller. Taken off as from a smooth AP, 95 %
    intervals held 74 to 99 % of the true values at one threshold and 67 to 100 % of those averaged; so they hold 89 to
    100 % of both: `python -m tests.benchmarks.bench_coverage interpolated`.
    """
    if interpolation == "all_points":
        return BIAS
    return 1.0 if averaged else 0.0


def average_precisions(found: Matched, parameters: InterpolatedParameters) -> Floats:
    """Return AP [1 + B, K, T] of all predictions: of the data set, then of its resamples."""
    weights = found.scene.weights(parameters.resamples, parameters.seed)
    return resample(found.ranking, weights, max_dets=EVERY, recalls=POINTS[parameters.interpolation])[0]
