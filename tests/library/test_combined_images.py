"""One table of image, label and prediction with the images: a folder or zip beside it, or all in one zip."""

import zipfile
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from metrics.core.errors import InputError
from metrics.engine.evaluation import EvaluationInCode
from metrics.library.input_data import read_data

ROWS = [
    {"image": f"{n}.png", "label": "ab"[n % 2], "prediction": "ab"[n % 3 == 0], "confidence": 0.6} for n in range(8)
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table, its images in a folder and in a zip, and a zip of both; a table whose rows have ids of their own."""
    (tmp_path / "images").mkdir()
    for row in ROWS:
        Image.new("RGB", (20, 10)).save(tmp_path / "images" / row["image"])
    pd.DataFrame(ROWS).to_csv(tmp_path / "table.csv", index=False)
    pd.DataFrame([{"id": f"c{n}", **row} for n, row in enumerate(ROWS)]).to_csv(tmp_path / "ids.csv", index=False)
    for name, own in (("images.zip", []), ("all.zip", ["table.csv"])):
        with zipfile.ZipFile(tmp_path / name, "w") as packed:
            for path in [*(tmp_path / "images").iterdir(), *(tmp_path / each for each in own)]:
                packed.write(path, path.name)
    return tmp_path


@pytest.mark.parametrize(("table", "images"), [
    ("table.csv", "images"), ("table.csv", "images.zip"), ("ids.csv", "images"), ("all.zip", None), (None, "images"),
])  # fmt: skip
@pytest.mark.parametrize("door", ["command", "python", "page"])
def test_the_cases_have_their_images(folder: Path, table: str | None, images: str | None, door) -> None:
    suite = pd.DataFrame(ROWS) if table is None else str(folder / table)
    given = EvaluationInCode(suite=suite, images=None if images is None else str(folder / images))
    found = read_data(given, door).suite
    assert (found.task, len(found)) == ("classification", 8)
    assert all((found.media / name).is_file() for name in found.cases["image"].to_pylist())
    assert found.cases["metadata.image_name"].to_pylist() == [row["image"] for row in ROWS]
    assert found.cases["image_width"].to_pylist() == [20] * 8


def test_images_of_no_case_are_refused(folder: Path) -> None:
    other = folder / "other"
    other.mkdir()
    Image.new("RGB", (20, 10)).save(other / "z.png")
    with pytest.raises(InputError, match="no image of any case"):
        read_data(EvaluationInCode(suite=str(folder / "table.csv"), images=str(other)))
