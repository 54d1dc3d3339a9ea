"""segmentation_iou: against scikit-learn on random data sets, rules by hand, laws, and records that cannot be used."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import InputError
from metrics.core.evaluator import Findings, Status
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.segmentation import _label_maps
from metrics.evaluators.segmentation.segmentation_iou import (
    NOT_IN_BOTH,
    NOTHING,
    SegmentationIouParameters,
    segmentation_iou,
)
from metrics.stats.bootstrap import draw_halves
from metrics.stats.resample_intervals import resample_interval
from metrics.vision import masks, segmentation

LABELS = ("road", "sky", "tree")
HIGH, WIDE = 6, 8


def regions(case: str, bitmap: Any, names: Any = LABELS) -> list[dict[str, Any]]:
    """A record for each label in a bitmap [height, width] of codes."""
    codes = np.ascontiguousarray(np.asarray(bitmap).T).ravel().astype(np.int32)
    found, drawn = segmentation.regions(codes, len(bitmap))
    return [
        {"case_id": case, "label": names[code], "rle": text}
        for code, text in zip(found.tolist(), masks.encode(drawn), strict=True)
    ]


def data_set(pairs: list[tuple[Any, Any]], groups: list[str] | None = None, **more: Any) -> tuple[Suite, Outputs]:
    """Images c0, c1, … with these true and predicted bitmaps."""
    names = [f"c{place}" for place in range(len(pairs))]
    cases = [
        {"case_id": name, "image_height": len(pair[0]), "image_width": len(pair[0][0]), "group": group}
        for name, pair, group in zip(names, pairs, groups or [None] * len(pairs), strict=True)
    ]
    truths = [row for name, pair in zip(names, pairs, strict=True) for row in regions(name, pair[0], **more)]
    guesses = [row for name, pair in zip(names, pairs, strict=True) for row in regions(name, pair[1], **more)]
    suite = Suite.from_rows("s", "segmentation", cases, [row | {"annotation_id": 1} for row in truths], LABELS)
    return suite, outputs_of(names, guesses)


def outputs_of(names: list[str], predictions: list[dict[str, Any]]) -> Outputs:
    return Outputs.from_rows(
        [{"case_id": name, "model": "m"} for name in names], [{"model": "m", **row} for row in predictions]
    )


def judged(suite: Suite, outputs: Outputs, **parameters: Any) -> Findings:
    return segmentation_iou(suite, outputs, SegmentationIouParameters(**{"resamples": 0} | parameters))


def value(findings: Findings, metric: str, label: str | None = None) -> float | None:
    return next(row.value for row in findings.aggregates if (row.metric, row.label) == (metric, label))


bitmaps = st.lists(st.lists(st.integers(0, 2), min_size=WIDE, max_size=WIDE), min_size=HIGH, max_size=HIGH)
data_sets = st.lists(st.tuples(bitmaps, bitmaps), min_size=1, max_size=5)


class TestAgainstScikitLearn:
    @given(data_sets)
    def test_all_numbers(self, pairs):
        from sklearn.metrics import accuracy_score, confusion_matrix, f1_score, jaccard_score

        truth, guess = (np.concatenate([np.ravel(pair[side]) for pair in pairs]) for side in range(2))
        there = sorted({*truth, *guess})
        expected = dict(zip(there, jaccard_score(truth, guess, labels=there, average=None), strict=True))
        found = judged(*data_set(pairs))
        for code, label in enumerate(LABELS):
            assert value(found, "iou", label) == pytest.approx(expected.get(code))
        overlap = f1_score(truth, guess, labels=there, average=None)
        assert [value(found, "dice", LABELS[code]) for code in there] == pytest.approx(overlap)
        assert value(found, "mdice") == pytest.approx(overlap.mean())
        assert value(found, "miou") == pytest.approx(np.mean(list(expected.values())))
        assert value(found, "pixel_accuracy") == pytest.approx(accuracy_score(truth, guess))
        matrix = confusion_matrix(truth, guess, labels=range(3))
        assert {tuple(row.values()) for row in found.curves.to_pylist()} == {
            (LABELS[a], LABELS[b], matrix[a, b]) for a in range(3) for b in range(3) if matrix[a, b]
        }

    @given(data_sets)
    def test_the_score_of_a_case(self, pairs):
        from sklearn.metrics import jaccard_score

        found = judged(*data_set(pairs))
        for place, (truth, guess) in enumerate(pairs):
            there = sorted({*np.ravel(truth), *np.ravel(guess)})
            expected = jaccard_score(np.ravel(truth), np.ravel(guess), labels=there, average=None)
            score = found.cases[f"c{place}"]
            assert score.values["image_miou"] == pytest.approx(expected.mean())
            assert score.evidence.facts["iou"] == pytest.approx(
                {LABELS[code]: share for code, share in zip(there, expected, strict=True)}, abs=1e-6
            )
            assert sum(cell["pixels"] for cell in score.evidence.facts["confusion"]) == HIGH * WIDE


class TestDistances:
    def test_they_are_those_of_scipy_on_random_maps(self):
        """200 pairs of blobs: contours by erosion, all pairs of distances, scipy's Hausdorff distance."""
        from scipy.ndimage import binary_erosion
        from scipy.spatial.distance import cdist, directed_hausdorff

        rng = np.random.default_rng(6)
        pairs = [tuple(np.kron(rng.integers(0, 3, (4, 5)), np.ones((3, 3), int)) for _ in range(2)) for _ in range(200)]
        found = judged(*data_set(pairs), distances=True)
        every = {metric: [] for metric in ("hausdorff", "hausdorff_95")}
        for place, (truth, guess) in enumerate(pairs):
            own = {metric: [] for metric in every}
            for code in range(3):
                one, other = (np.argwhere(mask & ~binary_erosion(mask)) for mask in (truth == code, guess == code))
                if not len(one) or not len(other):
                    continue
                table = cdist(one, other)
                ends = [np.percentile(table.min(axis=axis), 95) for axis in (0, 1)]
                own["hausdorff"].append(max(directed_hausdorff(one, other)[0], directed_hausdorff(other, one)[0]))
                own["hausdorff_95"].append(max(ends))
            for metric, values in own.items():
                mean = np.mean(values) if values else None
                assert found.cases[f"c{place}"].values[metric] == (pytest.approx(mean) if values else None)
                every[metric] += [mean] if values else []
        for metric, values in every.items():
            assert value(found, metric) == pytest.approx(np.mean(values))
            row = next(row for row in found.aggregates if (row.metric, row.label) == (metric, None))
            assert row.low < row.value < row.high

    def test_a_label_in_one_map_alone_has_no_distance_but_a_reason(self):
        sky, road = np.ones((HIGH, WIDE), int), np.zeros((HIGH, WIDE), int)
        found = judged(*data_set([(sky, sky), (sky, road)]), distances=True)
        rows = {row.label: row for row in found.aggregates if row.metric == "hausdorff"}
        assert [(rows[label].value, rows[label].n, rows[label].unscored) for label in (None, "road", "sky")] == [
            (0.0, 1, 1), (None, 0, 1), (0.0, 1, 1),
        ]  # fmt: skip
        assert rows["road"].reason == NOT_IN_BOTH
        assert found.cases["c1"].values["hausdorff"] is None
        assert "hausdorff" not in {row.metric for row in judged(*data_set([(sky, sky)])).aggregates}


class TestLaws:
    @given(data_sets, st.integers(1, 3))
    def test_batches_of_images_change_nothing(self, pairs, images):
        whole = judged(*data_set(pairs))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_label_maps, "IMAGES", images)
            parts = judged(*data_set(pairs))
        assert (parts.aggregates, dict(parts.cases)) == (whole.aggregates, dict(whole.cases))


class TestRules:
    HALVES = np.repeat([[0] * 4 + [1] * 4], HIGH, axis=0)

    @pytest.mark.parametrize(
        "how", [{"ignore_labels": ("sky",)}, {"ignore_index": 7}], ids=["by name", "by the number of its class"]
    )
    def test_ignored_pixels_count_nowhere(self, how):
        guess = np.zeros((HIGH, WIDE), int)
        suite, outputs = data_set([(self.HALVES, guess)])
        suite = Suite("s", "segmentation", suite.cases, suite.annotations, LABELS, category_ids=(3, 7, 9))
        found = judged(suite, outputs, **how)
        assert (value(found, "miou"), value(found, "pixel_accuracy"), value(found, "boundary_iou")) == (1.0, 1.0, 1.0)
        assert "sky" not in {row.label for row in found.aggregates}

    def test_predicting_an_ignored_label_elsewhere_is_wrong(self):
        found = judged(*data_set([(np.zeros((HIGH, WIDE), int), self.HALVES)]), ignore_labels=("sky",))
        assert value(found, "iou", "road") == 0.5
        assert found.curves.to_pylist()[-1] == {"label": "road", "predicted": None, "count": 24}

    def test_an_image_that_is_all_ignored_has_no_score(self):
        ground = np.zeros((HIGH, WIDE), int)
        found = judged(*data_set([(ground, ground), (ground + 1, ground)]), ignore_labels=("sky",))
        assert (found.cases["c1"].status, found.cases["c1"].reason) == (Status.NOT_APPLICABLE, NOTHING)
        assert [(row.n, row.unscored) for row in found.aggregates[:3]] == [(1, 1)] * 3
        assert value(found, "miou") == 1.0

    def test_an_image_without_an_output_is_wrong_everywhere(self):
        suite, outputs = data_set([(self.HALVES, self.HALVES), (self.HALVES, self.HALVES)])
        found = judged(suite, Outputs(outputs.outputs.slice(0, 1), outputs.predictions.slice(0, 2)))
        assert (value(found, "pixel_accuracy"), value(found, "miou")) == (0.5, 0.5)
        assert {row.label for row in found.aggregates} == {None, *LABELS}
        assert found.cases["c1"].evidence.facts["confusion"] == [
            {"truth": "road", "predicted": None, "pixels": 24}, {"truth": "sky", "predicted": None, "pixels": 24},
        ]  # fmt: skip

    def test_what_no_region_covers_is_background_once_the_ground_truth_has_some(self):
        suite, outputs = data_set([(self.HALVES, self.HALVES)])
        half = Suite("s", "segmentation", suite.cases, suite.annotations.slice(0, 1), LABELS)
        found = judged(half, outputs)
        assert (value(found, "iou", "background"), value(found, "iou", "sky")) == (0.0, 0.0)
        named = judged(half, outputs, background="sky")
        assert (value(named, "iou", "sky"), value(named, "miou")) == (1.0, 1.0)
        left_out = judged(half, outputs, ignore_labels=("background",))
        assert (value(left_out, "iou", "sky"), value(left_out, "pixel_accuracy")) == (None, 1.0)

    def test_polygons_run_lengths_and_boxes_of_one_shape_are_one(self):
        ring = [4.0, 0.0, 8.0, 0.0, 8.0, 6.0, 4.0, 6.0]
        sky = {"case_id": "c0", "label": "sky"}
        suite, outputs = data_set([(self.HALVES, self.HALVES)])
        road = [{"case_id": "c0", "label": "road", "rle": outputs.predictions["rle"][0].as_py()}]
        for shape in ({"polygons": [ring]}, {"x": 4.0, "y": 0.0, "width": 4.0, "height": 6.0}):
            assert value(judged(suite, outputs_of(["c0"], [*road, sky | shape])), "miou") == 1.0


class TestIntervals:
    def pairs(self) -> list[tuple[Any, Any]]:
        rng = np.random.default_rng(1)
        truths = rng.integers(0, 3, (12, HIGH, WIDE))
        return [(truth, np.where(rng.random((HIGH, WIDE)) < 0.3, 0, truth)) for truth in truths]

    def test_they_equal_counting_drawn_data_sets(self):
        """Every resample by copying its images, against sums of what was counted once."""
        pairs = self.pairs()
        found = judged(*data_set(pairs), resamples=40, seed=3)
        weights = draw_halves(np.arange(len(pairs), dtype=np.int32), 40, 3)
        drawn = [[pair for pair, times in zip(pairs, row, strict=True) for _ in range(times)] for row in weights]
        samples = np.array([value(judged(*data_set(each)), "miou") for each in drawn])
        row = found.aggregates[0]
        assert (row.low, row.high) == pytest.approx(resample_interval(np.array(row.value), samples, np.inf, 12))

    def test_fewer_than_ten_images_say_why_there_is_none(self):
        found = judged(*data_set(self.pairs()[:9]), resamples=50)
        assert {row.low for row in found.aggregates} == {None}
        assert all(row.reason.startswith("No 95 % interval: fewer than 10 images") for row in found.aggregates)

    def test_one_cluster_has_none(self):
        found = judged(*data_set(self.pairs(), groups=["street"] * 12), resamples=50)
        assert {row.interval for row in found.aggregates} == {None}


def test_everything_that_cannot_be_used_is_listed_at_once(monkeypatch):
    monkeypatch.setattr(_label_maps, "IMAGES", 1)
    halves = TestRules.HALVES
    suite, outputs = data_set([(halves, halves)] * 3)
    cases = suite.cases.set_column(suite.cases.column_names.index("image_width"), "image_width", [[8, 8, None]])
    truths = suite.annotations.to_pylist()
    truths[1] |= {"label": None}
    truths[3] |= {"rle": "11"}
    suite = Suite.from_rows("s", "segmentation", cases.to_pylist(), truths, LABELS)
    guesses = [
        row | {"case_id": name} for name, row in zip(["c1", "c9"], outputs.predictions.to_pylist(), strict=False)
    ]
    with pytest.raises(InputError) as caught:
        judged(suite, outputs_of(["c0", "c1", "c2"], guesses))
    assert [(problem.file, problem.row, problem.column) for problem in caught.value.problems] == [
        ("cases", 3, "image_width"), ("annotations", 2, "label"), ("annotations", 4, "rle"),
        ("predictions", 2, "case_id"),
    ]  # fmt: skip
