"""The pages of a segmentation run: leaderboard, cases, the confusion of pixels, examples, the gallery's way out."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from metrics.analysis import compare
from metrics.store import Run
from tests.ingest.files import packed
from tests.ingest.test_mask_images import mask
from tests.pages.conftest import Look, Open
from tests.pages.page_scenes import masks_run, panoptic_run, told
from tests.pages.reading import give, press


@pytest.fixture
def run(look_at: Look) -> Run:
    return look_at(masks_run)


def maps_run(folder: Path) -> Run:
    return panoptic_run(folder, seed=3, pictures=40)


def words(page: AppTest) -> list[str]:
    assert not page.exception
    return [text.value for text in page.text]


def drawn(page: AppTest) -> dict:
    """What the viewer is given."""
    return told(page, "image_viewer")


def test_the_mistakes_of_an_image(run: Run, open_page: Open) -> None:
    page = open_page("case", run=run.id, case="p0", model="late")
    viewer = drawn(page)
    late, exact = viewer["panels"]
    assert (late["title"], late["counts"]) == ("late", "✗ 66.7 % of 9,600 pixels wrong")
    assert [each["lines"] for each in late["objects"]["mistaken"]] == [
        "road predicted as water, 4,800 pixels", "sky predicted as water, 1,600 pixels",
    ]  # fmt: skip
    assert list(exact["objects"]) == ["truth", "ignored"]
    assert viewer["image"].startswith("data:image/jpeg;base64,")
    assert (viewer["width"], viewer["height"]) == (120, 90)
    assert page.dataframe[0].value.to_numpy().tolist() == [["road", "water", 4800], ["sky", "water", 1600]]


def test_the_classes_of_an_image(run: Run, open_page: Open) -> None:
    viewer = drawn(open_page("case", run=run.id, case="p0", model="late", show="classes"))
    titles = {panel["title"]: set(panel["objects"]) for panel in viewer["panels"]}
    assert titles == {
        "Ground truth": {"class road", "class sky"},
        "late": {"class water", "class sky"},
        "exact": {"class road", "class sky"},
    }
    viewer = drawn(open_page("case", run=run.id, case="p0", show="classes", label="sky"))
    assert {kind for panel in viewer["panels"] for kind in panel["objects"]} == {"class sky"}


def test_a_cell_of_the_confusion_lists_its_images(run: Run, open_page: Open) -> None:
    page = open_page("curves", run=run.id, model="late")
    assert "Most frequent mistakes" in words(page)
    page = open_page("curves", run=run.id, model="late", truth="sky", predicted="road")
    assert "late: sky, predicted as road" in words(page)
    listed = page.dataframe[0].value
    assert listed[["case_id", "pixels"]].to_numpy().tolist() == [["p1", 1600], ["p2", 1600], ["p3", 1600]]
    assert listed["picture"].str.startswith("data:image/jpeg").all()
    assert "3 images" in [caption.value for caption in page.caption]


def test_the_confusion_of_segments_has_its_numbers_and_lists_segments(look_at: Look, open_page: Open) -> None:
    maps = look_at(maps_run)
    page = open_page("curves", run=maps.id, view="confusion")
    assert [metric.label for metric in page.metric] == ["PQ ↑", "SQ ↑", "RQ ↑", "PQ things ↑", "PQ stuff ↑"]
    cells = maps.curves("panoptic_quality").set_index(["label", "predicted"])["count"]
    page = open_page("curves", run=maps.id, view="confusion", truth="a", predicted="missed")
    assert "m: a, missed" in words(page)
    assert f"{cells['a', 'missed']} segments" in [caption.value for caption in page.caption]


@pytest.mark.parametrize("show", ["segments", "classes", "mistakes"])
def test_every_region_has_its_style(look_at: Look, open_page: Open, show: str) -> None:
    """What no segment covers is background, a class that the suite does not list."""
    viewer = drawn(open_page("case", run=look_at(maps_run).id, show=show))
    kinds = {kind for panel in viewer["panels"] for kind in panel["objects"]}
    assert kinds
    assert kinds <= viewer["styles"].keys()


def test_the_leaderboard_has_the_three_numbers(run: Run, open_page: Open) -> None:
    heatmap = told(open_page("leaderboard", run=run.id), "heatmap")
    assert heatmap["models"] == ["exact", "late"]
    assert [column["key"].partition("/")[2] for column in heatmap["columns"]] == [
        "miou", "pixel_accuracy", "boundary_iou",
    ]  # fmt: skip


def test_the_worst_image_comes_first(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, model="late")
    assert told(page, "case_list")["cases"][0]["id"] == "p0"


def test_the_gallery_shows_the_wrong_regions_of_the_worst_images(
    run: Run, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    monkeypatch.setattr("components.viewers.tile_gallery.gallery", lambda data, key: given.append((key, data["tiles"])))
    page = open_page("gallery", run=run.id, model="late")
    assert "late: the largest wrong regions of each image, the worst images first" in words(page)
    ((key, tiles),) = given
    assert key == "regions"
    lines = [tile["lines"][1:4:2] for tile in tiles]
    assert (lines[0], lines.count(["road", "is sky"])) == (["water", "is road"], 3)
    assert all("show=mistakes" in tile["href"] and tile["image"] for tile in tiles)
    page = open_page("gallery", run=run.id, model="exact")
    assert page.info[0].value == "These images have no wrong region."


def test_models_are_compared_on_resamples_of_the_images(run: Run) -> None:
    found = compare(run, "late", "exact")
    metrics = {row.column.metric: row for row in found.resampled}
    assert set(metrics) == {"miou", "mdice", "pixel_accuracy", "boundary_iou"}
    assert metrics["miou"].difference > 0.4
    assert not found.rows


@pytest.mark.parametrize("name", ["compare", "problems", "report", "runs", "evaluate"])
def test_every_other_page_opens(run: Run, open_page: Open, name: str) -> None:
    assert not open_page(name, run=run.id).exception


def test_zips_of_masks_are_understood_and_started(workspace, tmp_path, open_page, started):
    rows = [[0, 0, 1, 1], [0, 0, 1, 1]]
    truth = {"a.png": mask(rows), "b.png": mask(rows), "labels.txt": "road\nsky\n"}
    models = {f"{model}/a.png": mask(rows) for model in ("unet", "vit")}
    page = open_page("evaluate")
    give(page, 0, "streets.zip", packed(tmp_path / "truth.zip", truth).read_bytes())
    assert "2 masks, 2 classes, 0 images" in "\n".join(words(page))
    give(page, 0, "models.zip", packed(tmp_path / "models.zip", models | {"vit/b.png": mask(rows)}).read_bytes())
    said = "\n".join(words(page))
    assert "streets: 2 cases, segmentation" in said
    assert "2 models: unet, vit" in said
    assert "1 answer missing: all their pixels count as wrong" in said
    assert not [field.label for field in page.text_input if field.label.startswith("Model that made")]
    press(page, "Start")
    [run] = started
    assert list(run.evaluators) == ["segmentation_iou"]
    assert run.outputs.models == ("unet", "vit")
