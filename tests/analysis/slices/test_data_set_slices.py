"""Slices of metrics of the whole data set: AP as pycocotools has it on the slice's images, macro F1 as scikit-learn."""

import contextlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import f1_score

from metrics import evaluate
from metrics.analysis.slices.find_slices import find_slices
from metrics.analysis.slices.slice_outcomes import measures
from metrics.analysis.slices.slice_values import SliceValue, slice_values
from metrics.presentation.questions.where_is_it_worse import search_blocks

SIZE = 90
WEATHER = ("dry", "rain", "snow")


@pytest.fixture(scope="module")
def coco() -> tuple[dict[str, object], list[dict[str, object]]]:
    """Images with fields of their own, of three kinds of weather; the boxes of images in the rain are badly placed."""
    rng = np.random.default_rng(3)
    images, annotations, results = [], [], []
    for place in range(SIZE):
        weather = WEATHER[min(2, place % 4)] if place < SIZE - 4 else "fog"
        images.append({"id": place + 1, "file_name": f"{place}.jpg", "width": 640, "height": 480, "weather": weather})
        for number in range(4):
            box = [150.0 * number, float(rng.integers(0, 300)), float(rng.integers(20, 120)), 80.0]
            kind = int(rng.integers(1, 3))
            annotation = {"id": len(annotations) + 1, "image_id": place + 1, "category_id": kind, "bbox": box}
            annotations.append(annotation | {"area": box[2] * box[3], "iscrowd": 0})
            off = box[2] * (0.6 if weather == "rain" else 0.2) * rng.random()
            result = {"image_id": place + 1, "category_id": kind, "bbox": [box[0] + off, *box[1:]]}
            results.append(result | {"score": round(float(rng.random()), 4)})
    categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    return {"images": images, "annotations": annotations, "categories": categories}, results


def ap_of(truth: dict[str, object], results: list[dict[str, object]], images: list[int]) -> list[float]:
    """AP and AP50 of some images by pycocotools."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO()
        known.dataset = json.loads(json.dumps({"info": {}, **truth}))
        known.createIndex()
        run = COCOeval(known, known.loadRes(json.loads(json.dumps(results))), "bbox")
        run.params.imgIds = images
        run.evaluate()
        run.accumulate()
        run.summarize()
    return [float(one) for one in run.stats[:2]]


def by_label(rows: tuple[SliceValue, ...]) -> dict[str, SliceValue]:
    return {row.label: row for row in rows}


def test_ap_by_a_field_of_coco_images(coco, tmp_path: Path) -> None:
    truth, results = coco
    for name, content in (("truth", truth), ("found", results)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    run = evaluate(tmp_path / "truth.json", tmp_path / "found.json", evaluators=["coco_summary"], workspace=tmp_path)
    whole = [one for one in measures(run) if one.of == "data set"][:2]
    assert [one.title for one in whole] == ["COCO summary: AP", "COCO summary: AP50"], "as the leaderboard has them"
    images = {name: [one["id"] for one in truth["images"] if one["weather"] == name] for name in (*WEATHER, "fog")}
    for place, measure in enumerate(whole):
        table = slice_values(run, run.models[0], measure.evaluator, measure.metric)
        rows = by_label(next(way.slices for way in table.features if way.name == "metadata.weather"))
        assert table.overall.value == pytest.approx(ap_of(truth, results, [*range(1, SIZE + 1)])[place], abs=1e-9)
        for name in WEATHER:
            row, others = rows[name], [image for each, kept in images.items() if each != name for image in kept]
            assert (row.n, row.cases) == (len(images[name]),) * 2
            assert row.value == pytest.approx(ap_of(truth, results, images[name])[place], abs=1e-9)
            assert row.rest == pytest.approx(ap_of(truth, results, others)[place], abs=1e-9)
            assert row.low <= row.value <= row.high
            assert row.difference_low < row.difference < row.difference_high
        assert "fog" not in rows, "fewer than five images"
        assert [name for name in WEATHER if rows[name].worse] == ["rain"]
    found = find_slices(run, run.models[0], whole[0].evaluator, whole[0].metric)
    assert found.slices[0].sentence.startswith("Images with weather ‘rain’: ")
    assert found.slices[0].p < 0.001
    answer, blocks = search_blocks(found)
    assert "significantly worse" in answer.text
    assert blocks[0].link.where["slice"] == found.slices[0].value.slice.address
    assert "status" not in blocks[0].link.where, "no case has an AP"


def test_macro_f1_by_tag(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    truth, tag = rng.choice(["a", "b", "c"], 200), rng.choice(["new", "old"], 200)
    said = np.where(rng.random(200) < np.where(tag == "new", 0.9, 0.5), truth, "a")
    suite = [{"case_id": str(n), "label": one, "site": tag[n]} for n, one in enumerate(truth.tolist())]
    outputs = [{"case_id": str(n), "label": one, "model": "m"} for n, one in enumerate(said.tolist())]
    run = evaluate(suite, outputs, evaluators=["classification"], workspace=tmp_path)
    measure = next(one for one in measures(run) if one.metric == "f1?average=macro")
    table = slice_values(run, "m", measure.evaluator, measure.metric)
    rows = by_label(next(way.slices for way in table.features if way.name == "metadata.site"))
    for name, row in rows.items():
        own = tag == name
        expected = [f1_score(truth[side], said[side], average="macro") for side in (own, ~own)]
        assert [row.value, row.rest] == pytest.approx(expected, abs=1e-12)
    assert rows["old"].worse
    assert not rows["new"].worse
