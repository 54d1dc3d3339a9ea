"""Which evaluators match by another benchmark's rules than COCO's, for whoever matches their objects again."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from metrics.core.suite import Suite
from metrics.evaluators.detection._federated import Federated
from metrics.evaluators.detection._matched import Benchmark
from metrics.evaluators.detection.coco_summary import Boundaries
from metrics.evaluators.detection.keypoint_summary import KeyPoints
from metrics.evaluators.detection.open_images_ap import OpenImages, parents_of
from metrics.evaluators.detection.voc_ap import PascalVoc

BENCHMARKS: Mapping[str, Callable[[Mapping[str, Any], Suite], Benchmark]] = {
    "boundary_ap": lambda parameters, suite: Boundaries(parameters.get("dilation_ratio", 0.02)),  # noqa: ARG005
    "keypoint_summary": lambda parameters, suite: KeyPoints(tuple(parameters.get("sigmas", ()))),  # noqa: ARG005
    "lvis_summary": lambda parameters, suite: Federated(),  # noqa: ARG005 - it has no setting
    "open_images_ap": lambda parameters, suite: OpenImages(
        parents_of(suite.classes) if parameters.get("expand_hierarchy", True) else ()
    ),
    "oriented_ap": lambda parameters, suite: PascalVoc(),  # noqa: ARG005
    "voc_ap": lambda parameters, suite: PascalVoc(parameters.get("inclusive_pixels", True)),  # noqa: ARG005
}


Matching = Annotated[
    Literal[
        "coco_summary", "boundary_ap", "keypoint_summary", "lvis_summary", "open_images_ap", "oriented_ap", "voc_ap"
    ],
    Field(
        description="The evaluator by whose rules objects match: keypoint_summary compares key points (OKS), voc_ap "
        "and oriented_ap leave difficult objects aside, lvis_summary and open_images_ap what nobody looked for."
    ),
]


def benchmark_of(evaluator: str | None, parameters: Mapping[str, Any], suite: Suite) -> Benchmark | None:
    """Return the rules of an evaluator with these parameters; None for COCO's.

    `matching` among the parameters names another evaluator whose rules they are, each class for itself.
    """
    if "matching" in parameters:
        evaluator, parameters = parameters["matching"], {"expand_hierarchy": False}
    make = BENCHMARKS.get(evaluator or "")
    return None if make is None else make(parameters, suite)
