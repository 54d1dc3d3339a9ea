"""What the images of a suite hold, and which look alike."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance

from metrics.core.suite import Suite
from metrics.suites.image_contents import ClassCount, image_contents, near_duplicate_images


def scene(seed: int) -> Image.Image:
    """Draw an image of random discs."""
    random = np.random.default_rng(seed)
    image = Image.new("RGB", (160, 120), tuple(random.integers(0, 255, 3).tolist()))
    draw = ImageDraw.Draw(image)
    for _ in range(12):
        x, y, r = (int(random.integers(*ends)) for ends in ((0, 160), (0, 120), (8, 40)))
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(random.integers(0, 255, 3).tolist()))
    return image


CHANGES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "the-same": lambda image: image,
    "smaller": lambda image: image.resize((80, 60)),
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.1),
    "turned": lambda image: image.rotate(180),
    "another": lambda _: scene(99),
}


@pytest.mark.parametrize("change", CHANGES)
def test_copies_look_alike_and_others_do_not(tmp_path: Path, change: str) -> None:
    scene(1).save(tmp_path / "a.png")
    CHANGES[change](scene(1)).save(tmp_path / "b.jpg", quality=70)
    scene(2).save(tmp_path / "c.png")
    (tmp_path / "broken.png").write_bytes(b"none")
    cases = [{"case_id": name[0], "image": name} for name in ("a.png", "b.jpg", "c.png", "broken.png", "gone.png")]
    suite = replace(Suite.from_rows("s", "detection", cases, [], labels=("cat",)), media=tmp_path)
    found = near_duplicate_images(suite)
    expected = [] if change in ("turned", "another") else [("a", "b")]
    assert [(pair.case_id, pair.other) for pair in found] == expected


def test_what_a_suite_holds() -> None:
    box: dict[str, Any] = {"x": 0.0, "y": 0.0, "width": 10.0, "height": 10.0}
    objects: list[dict[str, Any]] = [
        box | {"case_id": "a", "label": "cat"}, box | {"case_id": "a", "label": "cat", "width": 103.0},
        box | {"case_id": "a", "label": "dog", "area": 9_216.0},
        box | {"case_id": "b", "label": "cat", "is_crowd": True},
    ]  # fmt: skip
    rows = [row | {"annotation_id": place, "is_crowd": row.get("is_crowd", False)} for place, row in enumerate(objects)]
    cases = [
        {"case_id": "a", "image_width": 8, "image_height": 6}, {"case_id": "b", "image_width": 8, "image_height": 6},
        {"case_id": "c"},
    ]  # fmt: skip
    found = image_contents(Suite.from_rows("s", "detection", cases, rows, labels=("cat", "dog", "owl")))
    assert (found.images, found.objects, found.without_objects) == (3, 3, ("c",))
    assert found.classes == (ClassCount("cat", 2, 1), ClassCount("dog", 1, 1), ClassCount("owl", 0, 0))
    assert found.sizes == {"small": 1, "medium": 1, "large": 1}
    assert found.image_sizes == {"8 × 6": 2, "unknown": 1}
