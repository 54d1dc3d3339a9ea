"""Boundary AP's overlap of masks."""

from dataclasses import replace
from typing import NamedTuple

from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._matched import Scene
from metrics.vision.mask_bands import BoundaryOverlap
from metrics.vision.masks import MaskOverlap


class Boundaries(NamedTuple):
    """Masks overlap as much as they or the bands along their contours do, whichever is less."""

    dilation_ratio: float

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene with this overlap; of boxes, as where the size of an image is unknown, there is no other."""
        overlap = scene.objects.overlap
        if not isinstance(overlap, MaskOverlap):
            return scene
        along = BoundaryOverlap.of(overlap, self.dilation_ratio)
        return replace(scene, objects=replace(scene.objects, overlap=along), _overlaps={})
