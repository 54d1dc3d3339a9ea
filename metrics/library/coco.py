"""coco_summary(): COCO's twelve numbers of ground truth and the results of a model, at once."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from metrics.core.array_types import Floats
from metrics.library.plain_coco import read_plain
from metrics.stats.float_tolerance import mean_over
from metrics.vision.coco_columns import IouType
from metrics.vision.coco_lines import Line, summary_lines
from metrics.vision.image_resampling import resample
from metrics.vision.masks import MaskOverlap
from metrics.vision.matching import AREAS, IOU_THRESHOLDS, has_threshold, match
from metrics.vision.objects import Objects, prepare
from metrics.vision.precision_recall import MAX_DETS, Ranking

Numbers = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class CocoSummary:
    """The numbers by name, None where pycocotools prints −1; `per_class` by category name, empty by default."""

    values: Numbers
    per_class: Mapping[str, Numbers]

    def __getitem__(self, name: str) -> float | None:
        """Return one of the numbers: summary["AP50"]."""
        return self.values[name]


@dataclass(frozen=True, eq=False, slots=True)
class CocoData:
    """Ground truth and results as sorted columns, to be summarised any number of times; `labels` by category id."""

    objects: Objects
    labels: tuple[str, ...]

    def summary(
        self,
        *,
        max_dets: Sequence[int] = MAX_DETS,
        iou_thresholds: Sequence[float] = IOU_THRESHOLDS,
        per_class: bool = False,
    ) -> CocoSummary:
        """Return the twelve numbers; see coco_summary. AP50 and AP75 are None where `iou_thresholds` lacks theirs."""
        found = match(self.objects, iou_thresholds)
        ranking = Ranking.of(self.objects, found)
        every = summary_lines(sorted(set(max_dets)))
        lines = [line for line in every if line.iou is None or has_threshold(found.thresholds, line.iou)]
        itself = np.ones((1, self.objects.images), np.uint8)

        def estimates(place: tuple[str, int]) -> tuple[Floats, Floats]:
            precision = any(line.precision for line in lines if (line.area, line.max_dets) == place)
            area = list(AREAS).index(place[0])
            return resample(ranking, itself, area=area, max_dets=place[1], precision=precision)

        places = list(dict.fromkeys((line.area, line.max_dets) for line in lines))
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            by_place = dict(zip(places, threads.map(estimates, places), strict=True))
        by_class = {line: line.of(by_place[line.area, line.max_dets], found.thresholds)[0] for line in lines}
        return CocoSummary(
            _named({line: float(mean_over(values, 0)) for line, values in by_class.items()}),
            {
                label: _named({line: float(values[k]) for line, values in by_class.items()})
                for k, label in enumerate(self.labels if per_class else ())
            },
        )


def read_coco(gt_json: Any, results_json: Any, *, iou_type: IouType = "bbox") -> CocoData:
    """Read ground truth and the results of one model as columns: what `evaluate` takes, and COCO's documents in memory.

    Raises InputError listing every problem, as `evaluate` does.
    """
    paths = isinstance(gt_json, str | Path) and isinstance(results_json, str | Path)
    plain = read_plain(Path(gt_json), Path(results_json), iou_type) if paths else None
    if plain is None:
        from metrics.library.coco_inputs import read_objects

        return CocoData(*read_objects(gt_json, results_json, iou_type))
    truth, found = plain
    overlap = None
    truth_box, box, area = truth.box, found.box, None
    if truth.masks is not None and found.masks is not None:
        overlap = MaskOverlap(found.masks, truth.masks, truth.crowd)
        truth_box, box = truth.masks.box, found.masks.box
        area = found.box[:, 2] * found.box[:, 3] if found.boxed else found.masks.area
    return CocoData(
        prepare(
            images=len(truth.image_ids), classes=len(truth.labels),
            truth_image=truth.image, truth_class=truth.category, truth_box=truth_box, truth_area=truth.area,
            crowd=truth.crowd,
            prediction_image=found.image, prediction_class=found.category, prediction_box=box, prediction_area=area,
            score=found.score, overlap=overlap,
        ),
        truth.labels,
    )  # fmt: skip


def coco_summary(
    gt_json: Any,
    results_json: Any,
    *,
    iou_type: IouType = "bbox",
    max_dets: Sequence[int] = MAX_DETS,
    per_class: bool = False,
) -> CocoSummary:
    """Return COCO's twelve numbers of the results of one model, equal to pycocotools 2.0 to 1e-9.

        summary = coco_summary("instances_val2017.json", "results.json")
        summary["AP"], summary.values

    Both may be whatever `evaluate` takes (files and folders of any format, data frames, Suite and Outputs), or COCO's
    documents in memory.

    AP, AP50, AP75, AP_small, AP_medium, AP_large, AR_1, AR_10, AR_100, AR_small, AR_medium, AR_large: the definitions
    are those of the evaluator of the same name. Any list of `max_dets` works: AP and the recalls by area take its
    largest, and each that is not 1, 10 or 100 adds an AR_<maxDets>. iou_type "segm" compares masks. A category without
    ground truth is left out of the means; None where all are.

    InputError lists, with file and record, all that cannot be evaluated: NaN scores, unknown images and categories,
    negative sizes, boxes without four numbers, ids twice. An annotation of id 0 counts
    like any other; pycocotools reads that id as no match. `read_coco` keeps the columns for further summaries.
    """
    return read_coco(gt_json, results_json, iou_type=iou_type).summary(max_dets=max_dets, per_class=per_class)


def _named(values: Mapping[Line, float]) -> Numbers:
    return MappingProxyType(
        {
            f"AR_{line.max_dets}" if line.metric == "AR" else line.metric: None if np.isnan(value) else value
            for line, value in values.items()
        }
    )
