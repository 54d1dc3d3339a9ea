"""Files of kinds that are not read: each is refused by its name, with what to upload instead."""

from pathlib import Path

import pytest

from metrics.core.errors import InputError
from metrics.ingest import read_suite
from tests.ingest.files import write

REFUSED = {
    "ground truth of MOT": ("gt.txt", "1,1,912,484,97,109,0,7,1\n2,1,912,484,97,109,0,7,0.9\n"),
    "detections of MOT": ("det.csv", "1, -1, 794.27, 247.59, 71.245, 174.88, 4.56, -1, -1, -1\n" * 3),
}


@pytest.mark.parametrize(("name", "text"), REFUSED.values(), ids=REFUSED.keys())
def test_tracks_are_refused_by_name(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InputError) as refused:
        read_suite(write(tmp_path, name, text))
    assert str(refused.value) == (
        f"{name}: found tracks of objects through the frames of a video (MOT); expected one image a frame, with "
        "a table of image, label and box: tracking through video is not evaluated"
    )
