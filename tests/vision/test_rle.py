"""Run lengths against pycocotools, and the rings that are traced around their masks."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from pycocotools import mask as theirs

from metrics.vision import rle
from metrics.vision.outlines import bitmap_rings, mask_rings

BITMAPS = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=12))


def runs_of(mask: np.ndarray) -> list[int]:
    """The runs of 0s and 1s in turn, column by column."""
    flat = mask.T.ravel().tolist()
    runs = [len(list(group)) for _, group in itertools.groupby(flat)]
    return [0, *runs] if flat[0] else runs


def compressed(mask: np.ndarray) -> str:
    return theirs.encode(np.asfortranarray(mask, np.uint8))["counts"].decode()


@given(BITMAPS)
def test_text_box_and_area_are_pycocotools(mask: np.ndarray) -> None:
    text = compressed(mask)
    runs = runs_of(mask)
    assert rle.decode(text) == runs
    assert rle.encode(runs) == text
    found = {"size": list(mask.shape), "counts": text.encode()}
    assert rle.box(runs, mask.shape[0]) == tuple(theirs.toBbox(found))
    assert rle.area(runs) == theirs.area(found)


@given(st.lists(st.integers(0, 2**40), max_size=9))
def test_long_runs_are_read_as_they_were_written(runs: list[int]) -> None:
    assert rle.decode(rle.encode(runs)) == runs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("/", r"character '/' is no run-length code", id="below"),
        pytest.param("1p", r"character 'p' is no run-length code", id="above"),
        pytest.param("o" * 13 + "0", r"character '0' is no run-length code", id="beyond 64 bits"),
        pytest.param("1P", r"the code ends inside a run", id="cut off"),
    ],
)
def test_what_is_no_code_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rle.decode(text)


def test_the_ends_of_the_codes_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rle.decode("0") == [0]
    assert rle.decode("o0") == [31]
    assert rle.decode("?") == [15]
    assert rle.decode("o" * 12 + "0") == [2**60 - 1]
    monkeypatch.setattr(rle, "MAX_RUNS", 3)
    assert rle.decode("111") == [1, 1, 1]
    with pytest.raises(ValueError, match="more than 3 runs"):
        rle.decode("1111")


def filled(rings: list[list[float]], shape: tuple[int, int]) -> np.ndarray:
    """The pixels inside an odd number of rings: to their right lie as many vertical edges."""
    inside = np.zeros(shape, np.int64)
    y, x = np.mgrid[: shape[0], : shape[1]] + 0.5
    for ring in rings:
        corners = list(zip(ring[::2], ring[1::2], strict=True))
        for (x0, y0), (x1, y1) in itertools.pairwise([*corners, corners[0]]):
            if x0 == x1:
                inside += (x < x0) & (y > min(y0, y1)) & (y < max(y0, y1))
    return inside % 2 == 1


@given(BITMAPS)
def test_rings_enclose_the_mask(mask: np.ndarray) -> None:
    rings = bitmap_rings(mask)
    assert (filled(rings, mask.shape) == mask).all()
    for ring in rings:
        corners = list(zip(ring[::2], ring[1::2], strict=True))
        for a, b, c in zip(corners, corners[1:], corners[2:], strict=False):
            assert len({a[0], b[0], c[0]}) > 1
            assert len({a[1], b[1], c[1]}) > 1


@given(BITMAPS, st.integers(0, 3), st.integers(0, 3))
def test_rings_of_run_lengths_stand_where_the_mask_does(mask: np.ndarray, right: int, down: int) -> None:
    """A mask within a larger image, of which its box is traced."""
    height, width = mask.shape[0] + down + 2, mask.shape[1] + right + 1
    image = np.zeros((height, width), bool)
    image[down : down + mask.shape[0], right : right + mask.shape[1]] = mask
    box = rle.box(runs_of(image), height)
    assert (filled(mask_rings(compressed(image), height, box), image.shape) == image).all()
    beyond = (box[0] - 4.5, box[1] - 4.5, box[2] + 9.0, box[3] + 9.0)
    assert (filled(mask_rings(compressed(image), height, beyond), image.shape) == image).all()


def test_only_what_is_in_the_box_is_traced() -> None:
    image = np.ones((6, 8), bool)
    found = filled(mask_rings(compressed(image), 6, (2.0, 1.0, 3.0, 2.5)), (6, 8))
    assert np.argwhere(found).min(axis=0).tolist() == [1, 2]
    assert np.argwhere(found).max(axis=0).tolist() == [3, 4]  # lines up to 3.5, columns up to 5
    assert found.sum() == 9
    assert mask_rings(compressed(image), 6, (2.0, 6.0, 3.0, 1.0)) == []
    assert mask_rings(compressed(image), 6, (2.0, 1.0, 0.0, 1.0)) == []


@pytest.mark.parametrize(("finest", "ring"), [(10, 9.0), (9, 9.0), (5, 9.0), (2, 9.0), (1, 9.0)])
def test_large_masks_are_sampled(finest: int, ring: float) -> None:
    full = bitmap_rings(np.ones((4, 9), bool), 100, 50, finest)
    assert [sorted(set(one)) for one in full] == [[50.0, 54.0, 100.0, 109.0]]


def test_the_sample_is_of_every_step() -> None:
    mask = np.zeros((2, 10), bool)
    mask[0, [0, 3, 4, 5]] = True  # of columns 0, 4, 8 with steps of 4
    assert filled(bitmap_rings(mask, finest=3), (2, 10)).tolist() == [[True] * 8 + [False] * 2] * 2
    assert filled(bitmap_rings(mask, finest=10), (2, 10)).tolist() == mask.tolist()


def test_a_hole_is_a_ring_of_its_own() -> None:
    mask = np.ones((3, 3), bool)
    mask[1, 1] = False
    assert sorted(len(ring) for ring in bitmap_rings(mask)) == [8, 8]
    assert bitmap_rings(np.zeros((2, 2), bool)) == []
