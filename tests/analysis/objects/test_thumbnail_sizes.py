"""How large the thumbnail of a part of a picture is."""

import pytest
from PIL import Image

from metrics.analysis.objects.thumbnails import SIDE, Window, _cut


@pytest.mark.parametrize(
    ("picture", "window", "size"),
    [
        pytest.param((30, 20), None, (30, 20), id="small pictures keep their pixels"),
        pytest.param((SIDE, SIDE // 2), None, (SIDE, SIDE // 2), id="as large as can be"),
        pytest.param((2 * SIDE, SIDE), None, (SIDE, SIDE // 2), id="wide"),
        pytest.param((SIDE, 4 * SIDE), None, (SIDE // 4, SIDE), id="high"),
        pytest.param((3 * SIDE, 1), None, (SIDE, 1), id="never without a pixel"),
        pytest.param((4 * SIDE, 4 * SIDE), (10, 20, 40, 30), (30, 10), id="a small part of a large picture"),
        pytest.param((4 * SIDE, 4 * SIDE), (0, 0, 2 * SIDE, SIDE), (SIDE, SIDE // 2), id="a large part"),
    ],
)
def test_thumbnails_are_no_larger_than_their_side(
    picture: tuple[int, int], window: Window | None, size: tuple[int, int]
) -> None:
    assert _cut(Image.new("RGB", picture), window).size == size
