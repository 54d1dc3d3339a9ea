"""What the tests of several image formats are compared with."""

import pytest

from metrics.ingest import read_outputs, read_suite
from tests.ingest import one_scene
from tests.ingest.files import write


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """COCO's numbers of the scene in COCO's own format."""
    folder = tmp_path_factory.mktemp("coco")
    suite = read_suite(write(folder, "truth.json", one_scene.coco(one_scene.TRUTHS)))
    results = [
        {
            "image_id": list(one_scene.SIZES).index(image) + 1, "category_id": 1 + (label == "dog"), "bbox": box,
            "score": score,
        }
        for image, label, *box, score in one_scene.PREDICTIONS
    ]  # fmt: skip
    return one_scene.scores(suite, read_outputs(write(folder, "m.json", results), suite=suite))
