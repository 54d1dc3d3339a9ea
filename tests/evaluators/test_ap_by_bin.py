"""ap_by_bin: against pycocotools where the bins are of area, against itself by other columns and by whole images."""

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from metrics.evaluators.detection.ap_by_bin import MOST_BINS, UNKNOWN
from metrics.vision.matching import AREAS, IOU_THRESHOLDS
from tests.evaluators.detected import outputs_of, pick, run, suite_and_outputs, suite_of
from tests.random_seeds import seeds
from tests.vision.coco_oracle import coco_eval, random_scene

BINS = {"≤ 1024": "small", "1024–9216": "medium", "≥ 9216": "large"}
CAT, FAR = ("a", "cat", 0, 0, 100, 100), ("a", "cat", 200, 0, 50, 50)


def test_bins_of_area_equal_pycocotools():
    for seed in seeds(15, 200):
        scene = random_scene(seed)
        expected = coco_eval(*scene, IOU_THRESHOLDS, tuple(AREAS.values()), [100]).eval["precision"][..., 0]
        findings = run("ap_by_bin", *suite_and_outputs(scene))
        for name, area in BINS.items():
            part = expected[:, :, :, list(AREAS).index(area)]
            known = part[part > -1]
            value = pick(findings, "AP_bin", bin=name).value
            assert value == (pytest.approx(known.mean(), abs=1e-9) if known.size else None), seed


@pytest.mark.parametrize("seed", [3, 8])
def test_any_column_follows_the_rule_of_areas(seed):
    suite, outputs = suite_and_outputs(random_scene(seed))
    sides = pc.multiply(outputs.predictions["width"], outputs.predictions["height"])
    sized = replace(suite, annotations=suite.annotations.append_column("metadata.size", suite.annotations["area"]))
    predictions = outputs.predictions.append_column("metadata.size", sides.cast(pa.string()))
    by_column = run("ap_by_bin", sized, replace(outputs, predictions=predictions), column="size")
    for ours, own in zip(by_column.aggregates, run("ap_by_bin", suite, outputs).aggregates, strict=True):
        assert (ours.metric, ours.label, ours.value, ours.n) == (own.metric, own.label, own.value, own.n)


def test_bins_of_images_score_these_images_alone():
    suite, outputs = suite_and_outputs(random_scene(8))
    weather = ["rain" if place % 2 else "sun" for place in range(len(suite))]
    marked = replace(suite, cases=suite.cases.append_column("metadata.weather", pa.array(weather)))
    findings = run("ap_by_bin", marked, outputs, column="weather", edges=[])
    for value in ("rain", "sun"):
        some = marked.filter(weather=value)
        alone = run("coco_summary", some, outputs.restricted(case_ids=some.cases["case_id"].combine_chunks()))
        assert pick(findings, "AP_bin", bin=value).value == pytest.approx(pick(alone, "AP").value, abs=1e-12)


def test_without_the_column_there_is_a_reason():
    outputs = outputs_of((*CAT, 0.9), cases="a")
    found = pick(run("ap_by_bin", suite_of(CAT, cases="a"), outputs, column="distance"), "AP_bin")
    assert (found.value, found.reason) == (None, UNKNOWN.format("distance"))


def test_too_many_values_ask_for_edges():
    many = [("a", "cat", 20 * place, 0, 10, 10, {"distance": place}) for place in range(MOST_BINS + 1)]
    findings = run("ap_by_bin", suite_of(*many, cases="a"), outputs_of(cases="a"), column="distance", edges=[])
    assert "more than 50: give the edges of bins" in pick(findings, "AP_bin").reason
