"""Ground truth and predictions in one file: each list of objects is read, or it is said that it is not."""
# ruff: noqa: E501 - a table reads better with one line a case

import json
from dataclasses import replace

import pyarrow.compute as pc
import pytest

from metrics.ingest import Reading, inspect, load_combined, read_combined, read_outputs, read_suite
from metrics.ingest.file_roles import assign_roles, describe, see_file
from tests.ingest.files import packed, read_refusal, write
from tests.ingest.one_scene import PREDICTIONS, SIZES, TRUTHS, images, rows_of
from tests.ingest.test_detector_files import boxes, fiftyone, hugging_face


def without_scores(objects, key="confidence"):
    return [{name: value for name, value in thing.items() if name != key} for thing in objects]


def samples(**fields):
    """FiftyOne's samples with those fields: a list of rows, with confidences where `scored`."""
    made = []
    for name, (wide, high) in SIZES.items():
        sample = {
            "filepath": f"data/{name}.png",
            "metadata": {"width": wide, "height": high},
            "tags": [],
            "weather": "day",
        }
        for field, (rows, scored) in fields.items():
            objects = fiftyone([(*row, 0.5)[:7] for row in rows_of(rows, name)])
            sample[field] = {"_cls": "Detections", "detections": objects if scored else without_scores(objects)}
        made.append(sample)
    return {"samples": made}


TWO = {"ground_truth": (TRUTHS, False), "yolo": (PREDICTIONS, True), "rtdetr": (PREDICTIONS[:1], True)}
META = {"name": "my", "media_type": "image"}


def label_studio(*versions):
    def region(row, score=None):
        wide, high = SIZES[row[0]]
        value = {
            "x": row[2] / wide * 100,
            "y": row[3] / high * 100,
            "width": row[4] / wide * 100,
            "height": row[5] / high * 100,
        }
        plain = {
            "type": "rectanglelabels",
            "original_width": wide,
            "original_height": high,
            "value": value | {"rectanglelabels": [row[1]]},
        }
        return plain if score is None else plain | {"score": score}

    return [
        {
            "data": {"image": f"{name}.png"},
            "annotations": [{"result": [region(row) for row in rows_of(TRUTHS, name)]}],
            "predictions": [
                {"model_version": version, "result": [region(row, row[6]) for row in rows_of(PREDICTIONS, name)]}
                for version in versions
            ],
        }
        for name in SIZES
    ]


def plain_records(key, inner):
    return [
        {"image": f"{name}.png", key: without_scores(hugging_face([(*row, 0) for row in rows_of(TRUTHS, name)]), "score"),
         inner: hugging_face(rows_of(PREDICTIONS, name))}
        for name in SIZES
    ]  # fmt: skip


BOTH = {  # file, content, models
    "FiftyOne's samples": ("s.json", samples(**TWO), ("yolo", "rtdetr")),
    "fields of other names": ("s.json", samples(reviewed=(TRUTHS, False), run_1=(PREDICTIONS, True)), ("run_1",)),
    "FiftyOne's predictions": (
        "s.json",
        samples(ground_truth=(TRUTHS, False), predictions=(PREDICTIONS, True)),
        ("s",),
    ),
    "FiftyOne's export": (
        "s.zip",
        {
            "metadata.json": META,
            "samples.json": samples(**TWO),
            **{f"data/{name}": data for name, data in images().items()},
        },
        ("yolo", "rtdetr"),
    ),
    "records of objects and predictions": ("s.json", plain_records("objects", "predictions"), ("s",)),
    "lines of ground truth and a model's own key": ("s.jsonl", plain_records("gt", "detections"), ("s",)),
    "Label Studio": ("s.json", label_studio("v1", "v2"), ("v1", "v2")),
    "Label Studio without the model's version": ("s.json", label_studio(None), ("s",)),
}


@pytest.mark.parametrize(("file", "content", "models"), BOTH.values(), ids=BOTH.keys())
def test_truth_and_a_model_for_each_list(tmp_path, file, content, models):
    path = packed(tmp_path / file, content) if file.endswith(".zip") else write(tmp_path, file, content)
    loaded = load_combined(path, workspace_media=tmp_path / "media")
    suite, outputs = loaded.value
    assert outputs.models == models
    assert sorted(suite.annotations["label"].to_pylist()) == sorted(row[1] for row in TRUTHS)
    first = outputs.predictions.filter(pc.equal(outputs.predictions["model"], models[0]))
    assert boxes(replace(outputs, predictions=first), {name: name for name in SIZES}) == PREDICTIONS
    assert (suite.media is not None) == file.endswith(".zip")
    seen = {"f": see_file(path)}
    roles = assign_roles(seen)
    assert (roles.suite, roles.outputs, inspect(path).models) == ("f", ("f",), models)
    assert describe(seen["f"], "both").endswith(f"predictions of {', '.join(models)}")
    unused = [line.place for line in suite.receipt if line.use == "unused"]
    assert not {"predictions", "ground_truth", *models} & {place.removeprefix("[].") for place in unused}


def test_a_folder_that_fiftyone_exports(tmp_path):
    (tmp_path / "images").mkdir()
    for name, data in images().items():
        (tmp_path / name).write_bytes(data)
    write(tmp_path, "metadata.json", META)
    write(tmp_path, "samples.json", samples(**TWO))
    assert read_combined(tmp_path)[1].models == ("yolo", "rtdetr")


def test_which_list_is_the_truth_is_asked(tmp_path):
    """The likely answer is taken and said; where none is likely, a person has to say."""
    fields = {"ground_truth": (TRUTHS, False), "second": (TRUTHS, False), "yolo": (PREDICTIONS, True)}
    suite, outputs = read_combined(write(tmp_path, "s.json", samples(**fields)))
    said = "\n".join(map(str, suite.receipt))
    assert outputs.models == ("yolo",)
    assert (
        "2 lists without confidences: ground_truth=ground_truth, as it seems; else ground_truth=second or ground_truth=none"
        in said
    )
    assert f"second ({len(TRUTHS)}) is not used: no ground truth, and no predictions without a confidence" in said
    del fields["ground_truth"]
    path = write(tmp_path, "t.json", samples(first=(TRUTHS[:1], False), **fields))
    asked = read_refusal(read_combined, path)
    assert "found 2 lists without confidences; expected an answer, ground_truth=first or ground_truth=second" in asked
    answered = read_combined(path, reading=Reading(answers={"ground_truth": "second"}))
    assert len(answered[0].annotations) == len(TRUTHS)


def test_each_list_is_used_or_named(tmp_path):
    """Law: a suite or outputs alone say which lists of the file they leave."""
    path = write(tmp_path, "s.json", samples(**TWO))
    suite = read_suite(path)
    used = {line.place: line.use for line in suite.receipt}
    assert {field: used[field] for field in TWO} == {"ground_truth": "used", "yolo": "unused", "rtdetr": "unused"}
    outputs = read_outputs(path, suite=suite)
    used = {line.place: line.use for line in outputs.receipt}
    assert {field: used[field] for field in TWO} == {"ground_truth": "unused", "yolo": "used", "rtdetr": "used"}


def test_predictions_of_tasks_that_nobody_annotated(tmp_path):
    tasks = label_studio("v1")
    del tasks[1]["annotations"]
    suite, outputs = read_combined(write(tmp_path, "t.json", json.loads(json.dumps(tasks))))
    assert (len(suite), outputs.models) == (1, ("v1",))
    assert "[].predictions (1) is not used: their tasks have no annotation to compare with" in "\n".join(
        map(str, suite.receipt)
    )
