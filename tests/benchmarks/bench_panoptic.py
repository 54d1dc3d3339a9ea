"""Panoptic quality compared with panopticapi's way of counting, on the same maps in one process.

    python -m tests.benchmarks.bench_panoptic [--images 5000] [--rounds 1]

Maps of 480 × 640 pixels with some 20 segments and 12 classes, the predictions moved by some pixels, missed or of
another class. The peer counts as panopticapi's pq_compute_single_core does: numpy.unique over both maps as one number,
then loops over segments. It reads the PNG of every map, as that function does; the second figure leaves that out.
Assay gets run lengths, which it made of such files when they were uploaded. Medians of processor time.
"""

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from PIL import Image

from metrics.core.array_types import Ints
from metrics.core.suite import Outputs, Suite
from tests.benchmarks.table import Row, options, report
from tests.benchmarks.timing import timed
from tests.evaluators.detected import pick, run
from tests.evaluators.panoptic_oracle import Picture, rows_of

CLASSES, HIGH, WIDE, DIFFERENT = 8, 480, 640, 100


def main() -> None:
    given = options(__doc__, images=5_000, rounds=1)
    different = [scene(np.random.default_rng(seed)) for seed in range(min(DIFFERENT, given.images))]
    pictures = [different[place % len(different)] for place in range(given.images)]
    rows = rows_of(different)
    cases, annotations = (repeated(rows[name], given.images) for name in ("cases", "annotations"))
    suite = Suite.from_rows("maps", "segmentation", cases, annotations)
    answered = [{"case_id": row["case_id"], "model": "m"} for row in repeated(rows["cases"], given.images)]
    outputs = Outputs.from_rows(answered, repeated(rows["predictions"], given.images))
    run("panoptic_quality", suite, outputs)  # compiled before
    maps = {id(one): (png(one.truth), png(one.prediction)) for one in different}
    peer, expected = timed(lambda: panopticapi(read(one, maps[id(one)]) for one in pictures), given.rounds)
    bare, _ = timed(lambda: panopticapi(pictures), given.rounds)
    own, found = timed(lambda: run("panoptic_quality", suite, outputs), given.rounds)
    whole, _ = timed(lambda: run("panoptic_quality", suite, outputs, resamples=500), given.rounds)
    difference = abs((pick(found, "PQ").value or 0.0) - expected)
    what = f"panoptic quality of {given.images:,} images of {HIGH} × {WIDE}"
    files, memory = "panopticapi's definition, reading PNG files", "panopticapi's definition, maps in memory"
    rows = [
        Row(f"{what}: processor time", own, "s", peer, files, least=10),
        Row(f"{what}: with 500 half-samples", whole, "s", peer, f"{files}, without intervals", least=10),
        Row(f"{what}: beside maps in memory", own, "s", bare, memory, least=10),
        Row(f"{what}: largest difference", difference, "", most=1e-12),
    ]
    report(rows)


def png(ids: Ints) -> bytes:
    """Return a map as COCO's panoptic files have it: id = red + 256 · green + 256² · blue."""
    buffer = io.BytesIO()
    Image.fromarray(np.stack([ids % 256, ids // 256 % 256, ids // 256**2], axis=2).astype(np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def read(picture: Picture, files: tuple[bytes, bytes]) -> Picture:
    """Return the picture with its maps from their files, decoded as panopticapi does."""
    maps: list[Any] = [np.array(Image.open(io.BytesIO(file)), dtype=np.uint32) for file in files]
    truth, prediction = (one[..., 0] + 256 * one[..., 1] + 256**2 * one[..., 2] for one in maps)
    return picture._replace(truth=truth, prediction=prediction)


def repeated(rows: list[dict[str, Any]], images: int) -> list[dict[str, Any]]:
    """Return the rows of DIFFERENT images as those of `images`, over and over."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        cases.setdefault(row["case_id"], []).append(row)
    count = min(DIFFERENT, images)
    return [row | {"case_id": str(place)} for place in range(images) for row in cases.get(str(place % count), ())]


def scene(rng: np.random.Generator) -> Picture:
    """Return one image of ellipses over bands of stuff."""
    truth, prediction = np.zeros((HIGH, WIDE), np.int64), np.zeros((HIGH, WIDE), np.int64)
    edges = [0, *sorted(rng.integers(20, HIGH - 20, 2).tolist()), HIGH]
    kinds: dict[int, tuple[int, bool]] = {}
    guesses: dict[int, int] = {}
    for band in range(3):
        truth[edges[band] : edges[band + 1]] = band + 1
        prediction[edges[band] + 3 : edges[band + 1] + 3] = band + 1
        kinds[band + 1], guesses[band + 1] = (band, False), band
    y, x = np.mgrid[:HIGH, :WIDE]
    for id in range(10, 10 + int(rng.integers(8, 26))):
        middle, size = rng.uniform(0, 1, 2) * (HIGH, WIDE), np.exp(rng.normal(3.5, 0.7, 2))
        kinds[id] = int(rng.integers(3, CLASSES)), False
        truth[((y - middle[0]) / size[0]) ** 2 + ((x - middle[1]) / size[1]) ** 2 < 1] = id
        if rng.random() < 0.8:
            middle = middle + rng.normal(0, 4, 2)
            prediction[((y - middle[0]) / size[0]) ** 2 + ((x - middle[1]) / size[1]) ** 2 < 1] = id
            guesses[id] = kinds[id][0] if rng.random() < 0.9 else int(rng.integers(3, CLASSES))
    seen, guessed = set(np.unique(truth).tolist()), set(np.unique(prediction).tolist())
    return Picture(truth, prediction, {id: kind for id, kind in kinds.items() if id in seen},
                   {id: kind for id, kind in guesses.items() if id in guessed})  # fmt: skip


def panopticapi(pictures: Iterable[Picture]) -> float:
    """Return PQ, the mean over classes, without crowds."""
    sums = np.zeros((4, CLASSES))
    for one in pictures:
        pairs, counts = np.unique(
            one.truth.astype(np.uint64) * 256**3 + one.prediction.astype(np.uint64), return_counts=True
        )
        areas = dict(zip(*np.unique(one.truth, return_counts=True), strict=True))
        guessed = dict(zip(*np.unique(one.prediction, return_counts=True), strict=True))
        shared = {(int(pair) // 256**3, int(pair) % 256**3): int(n) for pair, n in zip(pairs, counts, strict=True)}
        taken, used = set(), set()
        for (true, guess), n in shared.items():
            if true not in one.true or guess not in one.predicted or one.true[true][0] != one.predicted[guess]:
                continue
            iou = n / (areas[true] + guessed[guess] - n - shared.get((0, guess), 0))
            if iou > 0.5:
                sums[:2, one.predicted[guess]] += iou, 1
                taken.add(true)
                used.add(guess)
        for true, (kind, _) in one.true.items():
            sums[3, kind] += true not in taken
        for guess, kind in one.predicted.items():
            sums[2, kind] += guess not in used and not shared.get((0, guess), 0) / guessed[guess] > 0.5
    whole = sums[1] + sums[2] / 2 + sums[3] / 2
    return float((sums[0][whole > 0] / whole[whole > 0]).mean())


if __name__ == "__main__":
    main()
