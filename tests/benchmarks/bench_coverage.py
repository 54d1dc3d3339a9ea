"""How often the 95 % intervals hold the truth, by simulation: of shares, means, classification, detection; ranks.

    python -m tests.benchmarks.bench_coverage [classification | detection | interpolated]

A line per size: the mean coverage over the kinds of scores, then the least and the largest, in per cent; of
classification also how often its paired test finds a difference of two equally good models. interpolated: AP of all and
of 11 points. Two hours; naming a part leaves out the rest.
"""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from metrics.evaluators.detection.voc_ap import bias_of
from metrics.stats.bootstrap import bootstrap_means, draw_halves
from metrics.stats.intervals import wilson
from metrics.stats.model_ranking import compare_pairs, rank_bounds
from metrics.stats.resample_intervals import BIAS, has_enough_truths, resample_interval
from metrics.vision.image_resampling import resample
from metrics.vision.matching import match
from metrics.vision.objects import prepare
from metrics.vision.precision_recall import Ranking
from tests.benchmarks.classification_draws import classification
from tests.benchmarks.coco_scene import coco_scene
from tests.benchmarks.detection_draws import (
    DETECTORS,
    Draw as Detections,
    all_points_estimates,
    counts,
    draw,
    draw_expanded,
    estimates,
    interpolated_estimates,
)

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
SAMPLES = 1_000  # a column each, of one resampling
BAND = (93.0, 97.0)
FALSE = "false positives:"
SIZES = (5, 10, 20, 50, 200)
CLUSTERS = (5, 10, 20, 50)
SCENES = ((4, 50), (4, 100), (4, 300), (20, 100), (20, 300))  # labels, images of 3 objects
DETECTION = (  # labels, ground truths a label, images
    (1, 5, 15), (1, 15, 15), (1, 40, 50), (5, 5, 50), (5, 15, 15), (5, 15, 50), (5, 40, 150), (20, 5, 50), (20, 8, 100),
    (20, 15, 100), (20, 40, 500), (80, 5, 150), (80, 8, 150), (80, 15, 500), (80, 40, 500),
)  # fmt: skip
INTERPOLATED = ((1, 15, 15), (1, 40, 50), (5, 15, 50), (5, 40, 150), (20, 8, 100), (20, 15, 100))
PARTS = 6  # large data sets whose mean is the truth of AP of 11 points
SHARES = np.linspace(0.02, 0.98, 97)
SCORES: dict[str, tuple[Draw, float]] = {
    "beta(2, 5)": (lambda rng, size: rng.beta(2, 5, size), 2 / 7),
    "beta(½, ½)": (lambda rng, size: rng.beta(0.5, 0.5, size), 0.5),
    "beta(8, 2)": (lambda rng, size: rng.beta(8, 2, size), 0.8),
    "beta(5, ½)": (lambda rng, size: rng.beta(5, 0.5, size), 10 / 11),
    "beta(.3, 3)": (lambda rng, size: rng.beta(0.3, 3, size), 1 / 11),
    "70 % 0": (lambda rng, size: np.where(rng.random(size) < 0.7, 0.0, rng.beta(2, 2, size)), 0.15),
    "85 % 1": (lambda rng, size: np.where(rng.random(size) < 0.85, 1.0, rng.beta(1, 3, size)), 0.8875),
    "90 % 1, else ½": (lambda rng, size: np.where(rng.random(size) < 0.9, 1.0, 0.5), 0.95),
    "quarters": (lambda rng, size: rng.choice(5, size, p=[0.05, 0.1, 0.15, 0.2, 0.5]) / 4, 0.75),
    "narrow": (lambda rng, size: 0.9 + 0.02 * rng.standard_normal(size).clip(-4, 4), 0.9),
}
ZEROS_AND_ONES: dict[str, tuple[Draw, float]] = {
    f"{share:.0%}": (lambda rng, size, share=share: (rng.random(size) < share).astype(float), share)
    for share in (0.1, 0.3, 0.5, 0.8)
}


def main() -> None:
    print(f"{'coverage of 95 % intervals, %':<80}{'mean':>7}{'least':>7}{'most':>7}")
    for name, coverages in rows():
        held = 100 * np.asarray(coverages)
        least, most = BAND
        if name.startswith("true ranks"):  # their ranges are tests inverted
            least, most = 95.0, 100.0
        if "truths a label" in name:
            least, most = 90.0, 100.0
        if name.startswith(FALSE):
            least, most = 0.0, 6.0
        outside = "" if least <= held.mean() <= most else f"  outside {least:.0f}–{most:.0f}"
        print(f"{name:<80}{held.mean():>7.1f}{held.min():>7.1f}{held.max():>7.1f}{outside}", flush=True)


def rows() -> Iterator[tuple[str, list[float] | Floats]]:
    """The name and the coverages of each line."""
    part = (sys.argv[1:] or [""])[0]
    if not part:
        yield from of_cases()
    if part in ("", "classification"):
        for name, held, false in classification():
            yield name, [held]
            yield f"{FALSE} {name}", [false]
    if part == "classification":
        return
    if part in ("", "interpolated"):
        yield from detection(INTERPOLATED, compute=interpolated_estimates, parts=PARTS)
        for name, coverages in detection(INTERPOLATED, sample=draw_expanded, compute=all_points_estimates, parts=PARTS):
            yield f"Open Images: {name}", coverages
    if part == "interpolated":
        return
    yield from detection()
    for labels, images in SCENES:
        yield (
            f"mAP, {labels} labels, {3 * images // labels} truths a label, matched",
            [average_precision(labels, images)],
        )


def of_cases() -> Iterator[tuple[str, list[float] | Floats]]:
    """Shares and means of independent and of clustered cases, and ranks."""
    for n in SIZES:
        yield f"shares (Wilson), n = {n}", shares(n)
    for n in SIZES:
        yield f"means (bootstrap), n = {n}", [means(n, *kind) for kind in SCORES.values()]
    for count in CLUSTERS:
        yield f"means, {count} clusters of 1–7", [clustered(count, *kind) for kind in SCORES.values()]
    for count in CLUSTERS:
        yield f"shares, {count} clusters of 1–7", [clustered(count, *kind) for kind in ZEROS_AND_ONES.values()]
    for models in (4, 12):
        yield f"true ranks of {models} models within, n = 100", [true_ranks(models)]


def shares(n: int) -> Floats:
    """Exactly, by true share."""
    bounds = np.array([wilson(k, n) for k in range(n + 1)])
    held = (bounds[:, :1] <= SHARES) & (bounds[:, 1:] >= SHARES)
    return (binom.pmf(np.arange(n + 1)[:, None], n, SHARES) * held).sum(axis=0)


def means(n: int, draw: Draw, mean: float) -> float:
    """Of n independent cases."""
    low, high = bootstrap_means(draw(np.random.default_rng(n), (n, SAMPLES)), low=0.0, high=1.0)
    return float(np.mean((low <= mean) & (mean <= high)))


def clustered(count: int, draw: Draw, mean: float) -> float:
    """Of clusters of 1 to 7 cases, half of which have the score that is common to their cluster."""
    rng = np.random.default_rng(count)
    clusters = np.repeat(np.arange(count), rng.integers(1, 8, count))
    own = draw(rng, (count, SAMPLES))[clusters]
    scores = np.where(rng.random(own.shape) < 0.5, own, draw(rng, own.shape))
    low, high = bootstrap_means(scores, None, clusters, low=0.0, high=1.0)
    return float(np.mean((low <= mean) & (mean <= high)))


def detection(
    designs: Sequence[tuple[int, int, int]] = DETECTION,
    *,
    sample: Callable[..., Detections] = draw,
    compute: Callable[[Detections, NDArray[np.uint8]], dict[str, Floats]] = estimates,
    parts: int = 1,
    data_sets: int = 150,
    halves: int = 200,
) -> Iterator[tuple[str, list[float]]]:
    """Of each metric of labels and of means over labels, by ground truths a label, over data sets and detectors.

    The truth is the mean over `parts` large data sets: precision at recall 0 rests on the best few predictions of any.
    Data sets with too few ground truths for an interval of a mean AP do not count for it.
    """
    found: dict[str, list[float]] = defaultdict(list)
    for labels, truths, images in designs:
        whole = min(300_000, max(3_000, 30_000 * images // truths)) // parts
        itself = np.ones((1, whole), np.uint8)
        for quality in DETECTORS:
            large = [
                compute(sample(labels, truths * whole / images, whole, quality, 1 + part), itself)
                for part in range(parts)
            ]
            truth = {name: np.mean([one[name] for one in large], axis=0) for name in large[0]}
            held: dict[str, list[bool]] = defaultdict(list)
            for seed in range(data_sets):
                data = sample(labels, truths, images, quality, 1_000 + seed)
                drawn = draw_halves(np.arange(images, dtype=np.int32), halves, seed)
                weights = np.concatenate([np.ones((1, images), np.uint8), drawn])
                for name, values in compute(data, weights).items():
                    objects = counts(data, name)
                    if name.startswith("mean AP") and not has_enough_truths(objects):
                        continue
                    sizes = objects if values.ndim > 1 else objects.sum()
                    bias = BIAS if "11 points" not in name else bias_of("eleven_points", averaged="AP of" in name)
                    low, high = resample_interval(values[0], values[1:], sizes, images, bias=bias)
                    inside = (low <= truth[name][0]) & (truth[name][0] <= high)
                    held[name] += np.atleast_1d(inside)[~np.isnan(np.atleast_1d(values[0]))].tolist()
            for name, own in held.items():
                if len(own) < data_sets / 2:
                    continue
                if labels > 1 or name.endswith("of a label"):
                    several = "" if name.endswith("of a label") else f", {labels} labels"
                    found[f"{name}{several}, {truths} truths a label"].append(float(np.mean(own)))
    yield from found.items()


def average_precision(labels: int, images: int, data_sets: int = 400, halves: int = 200) -> float:
    """Of mAP at IoU .5 and .75 over data sets of so many images; the truth is that of 40,000."""
    whole = np.ones((1, 40_000), np.uint8)
    truth = _map(labels, 40_000, 1, whole)[0]
    held = 0
    for seed in range(data_sets):
        drawn = draw_halves(np.arange(images, dtype=np.int32), halves, seed)
        found = _map(labels, images, 100 + seed, np.concatenate([np.ones((1, images), np.uint8), drawn]))
        low, high = resample_interval(found[0], found[1:], 3 * images, images)
        held += bool(low <= truth <= high)
    return held / data_sets


def _map(labels: int, images: int, seed: int, weights: NDArray[np.uint8]) -> Floats:
    columns = prepare(**coco_scene(images=images, classes=labels, per_image=3, detections=8, seed=seed))
    found = match(columns, (0.5, 0.75))
    average, _ = resample(Ranking.of(columns, found), weights)
    return np.nanmean(average, axis=(1, 2))


def true_ranks(models: int, suites: int = 500, n: int = 100) -> float:
    """Share of suites in which every model's range holds its true ranks; half of the models are equal."""
    truth = np.concatenate([np.full(models // 2, 0.5), np.linspace(0.55, 0.8, models - models // 2)])
    best = 1 + (truth > truth[:, None] + 1e-9).sum(axis=1)
    worst = (truth >= truth[:, None] - 1e-9).sum(axis=1)
    rng = np.random.default_rng(models)
    held = 0
    for _ in range(suites):
        hard = rng.random((n, 1))  # a case is hard for every model
        right = (0.5 * hard + 0.5 * rng.random((n, models)) < truth).astype(float)
        low, high = rank_bounds(compare_pairs(right), models)
        held += bool(((low <= best) & (high >= worst)).all())
    return held / suites


if __name__ == "__main__":
    main()
