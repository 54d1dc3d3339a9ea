"""Bands along contours: those that plain erosion leaves, of random masks in images of all sizes."""

import numpy as np
import pytest
from numpy.typing import NDArray
from pycocotools import mask as reference

from metrics.vision.masks import Shapes, band_distance, bands_of, draw, encode
from tests.evaluators.boundaries import band


@pytest.mark.parametrize("seed", range(100))
def test_bands_equal_plain_erosion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    height, width, ratio = int(rng.integers(1, 40)), int(rng.integers(1, 40)), float(rng.choice([0.02, 0.1, 0.3]))
    pixels: list[NDArray[np.bool_]] = []
    for _ in range(6):
        mask = rng.random((height, width)) < rng.choice([0.0, 0.5, 0.95, 1.0])
        y, x = rng.integers(0, height), rng.integers(0, width)
        mask[y : y + rng.integers(1, height + 1), x : x + rng.integers(1, width + 1)] = True
        pixels.append(mask)
    texts = [reference.encode(np.asfortranarray(mask, np.uint8))["counts"].decode() for mask in pixels]
    found = bands_of(draw(Shapes.of(rle=texts), height, width), ratio)
    distance = band_distance(height, width, ratio)
    expected = [band(mask, distance) for mask in pixels]
    assert encode(found) == [
        reference.encode(np.asfortranarray(each, np.uint8))["counts"].decode() for each in expected
    ]
    assert found.area.tolist() == [int(each.sum()) for each in expected]
