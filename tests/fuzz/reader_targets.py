"""A target for each reader of uploads: its bytes read as everything, strictly and with its good rows kept."""
# ruff: noqa: PT017 - what is refused is looked at, too

import io
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from metrics.core.errors import InputError
from metrics.core.suite import OUTPUTS, PREDICTIONS, Suite
from metrics.evaluators.segmentation.segmentation_iou import segmentation_iou
from metrics.ingest import inspect, load_combined, load_outputs, load_suite
from metrics.ingest.media.archive import UNREADABLE
from metrics.ingest.tables.text_cases import USEFUL
from metrics.store.table_files import suite_bytes
from tests.fuzz.mutation import zip_entries, zip_of
from tests.fuzz.reader_seeds import SEEDS
from tests.fuzz.target import Input, Target, usual
from tests.ingest import one_scene


@cache
def good_suites() -> Mapping[str, Suite]:
    """The suites for which the inputs are read as outputs, one of each task."""
    classes = [{"case_id": f"c{number}", "label": "ab"[number % 2]} for number in range(12)]
    ids = [*(f"c{number}" for number in range(20)), "0", "1", "2", "k1", "k2", "k3", "e1", "t1", "007", "NA"]
    with TemporaryDirectory() as folder:
        (Path(folder) / "truth.json").write_text(json.dumps(one_scene.coco(one_scene.TRUTHS)))
        (Path(folder) / "masks.zip").write_bytes(SEEDS["masks"][0].data)
        return {
            "boxes": load_suite(Path(folder) / "truth.json").value,
            "answers": Suite.from_rows("s", "text", [{"case_id": name} for name in ids]),
            "classes": Suite.from_rows("s", "classification", classes),
            "masks": load_suite(Path(folder) / "masks.zip").value,
        }


def upload(given: Input, folder: Path) -> Path:
    """Write an input as a file, or as a folder of a zip's files where its name ends in a slash."""
    if given.name.endswith("/"):
        with suppress(*UNREADABLE):
            entries = zip_entries(given.data)
            if not any(name.startswith("/") or ".." in name or "\0" in name for name in entries):
                for name, content in entries.items():
                    place = folder / "u" / name
                    place.parent.mkdir(parents=True, exist_ok=True)
                    if not name.endswith("/"):
                        place.write_bytes(content)
                return folder / "u"
    path = folder / "file" / (given.name.strip("/") or "u")
    path.parent.mkdir()
    path.write_bytes(given.data)
    return path


def check_readings(given: Input, folder: Path) -> None:
    """Read an upload as everything: each time a good value, or an InputError that lists problems.

    What cannot be previewed cannot be read; what is read without its bad rows lists them; what has none is the same
    read either way; a text suite that is written as a file is the same suite when that is read.
    """
    path = upload(given, folder)
    seen = attempt(partial(inspect, path))
    readings: dict[str, Callable[[bool], Any]] = {
        "suite": lambda keep: load_suite(path, keep_good_rows=keep),
        "combined": lambda keep: load_combined(path, keep_good_rows=keep),
    }
    for name, suite in good_suites().items():
        readings[name] = lambda keep, suite=suite: load_outputs(path, suite=suite, keep_good_rows=keep)  # type: ignore[misc]
    for what, read in readings.items():
        whole = attempt(partial(read, False))
        rest = attempt(partial(read, True)) if whole is None or what == "suite" else whole
        if rest is None:
            assert whole is None, f"read as {what} only where bad rows are an error"
            continue
        assert seen is not None, f"read as {what}, though it has no preview"
        check_good(rest.value)
        if whole is None:
            assert rest.problems, f"read as {what} without what is wrong, which is not listed"
            continue
        assert not whole.problems
        if what == "suite":
            assert rest.value.fingerprint == whole.value.fingerprint, "it differs by how bad rows are treated"
            assert not rest.problems
            check_preview(seen, whole.value)
            check_written(whole.value, folder)
        if what == "masks":
            assert segmentation_iou(good_suites()["masks"], whole.value, segmentation_iou.parameters()).aggregates


def attempt(read: Callable[[], Any]) -> Any:
    """Return what is read, None where it is refused with a list of problems."""
    try:
        return read()
    except InputError as error:
        assert error.problems, "no problem is listed"
        assert str(error)
        return None


def parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def check_good(value: Any) -> None:
    for part in parts(value):
        if isinstance(part, Suite):
            part.cases.validate(full=True)
            ids = part.cases["case_id"]
            assert len(ids) > 0
            assert (ids.null_count, len(ids.unique())) == (0, len(ids))
            if part.annotations is not None:
                part.annotations.validate(full=True)
        else:
            part.outputs.validate(full=True)
            assert part.outputs.column_names[: len(OUTPUTS)] == OUTPUTS.names
            if part.predictions is not None:
                part.predictions.validate(full=True)
                assert part.predictions.schema.names[: len(PREDICTIONS)] == PREDICTIONS.names
        assert len(part.fingerprint) == 64


def check_preview(seen: Any, value: Suite) -> None:
    """Check that the preview told the rows of cases (files of masks) or of objects, with those left out or without."""
    if seen.rows is None or seen.role != "suite":
        return
    left_out = sum(line.count for line in value.receipt if line.use == "unused" and line.place.startswith("rows"))
    counts = {len(value), len(value.annotations) if value.annotations is not None else len(value)}
    told = f"the preview tells {seen.rows} rows; cases and objects are {counts}, left out {left_out}"
    assert any(count <= seen.rows <= count + left_out for count in counts), told


def check_written(suite: Suite, folder: Path) -> None:
    """Check that a suite without images that asks something is the same after it was written and read."""
    if suite.media is not None or suite.annotations is not None or suite.task not in ("text", "classification"):
        return
    kept = [name for name in suite.cases.column_names if suite.cases[name].null_count < len(suite)]
    if USEFUL.isdisjoint(kept):  # its columns are empty in every row: a file of cases that ask nothing is refused
        return
    for ending in ("jsonl", "parquet"):
        file = folder / f"again.{ending}"
        file.write_bytes(suite_bytes(suite, ending))
        again = load_suite(file, task=suite.task).value
        assert again.cases.select(kept).equals(suite.cases.select(kept)), f"written as {ending} it differs"


def mutate_upload(given: Input, seeds: Any, rng: Random) -> Input:
    """Change the bytes, and now and then whether they are a folder or what the file is called."""
    name = usual(given, seeds, rng).name
    if name.endswith((".zip", "/")) and rng.random() < 0.3:
        name = "u/"
    elif rng.random() < 0.1:
        name = "u" + rng.choice(
            ["", ".csv", ".json", ".jsonl", ".parquet", ".tsv", ".xlsx", ".zip", ".csv.gz", ".yaml"]
        )
    return usual(Input(name, given.data), [Input(name, seed.data) for seed in seeds], rng)


def check_images(given: Input, folder: Path) -> None:
    """Check that every stored image is a file, and that one that is missing is told."""
    (folder / "truth.json").write_text(json.dumps(one_scene.coco(one_scene.TRUTHS)))
    (folder / "u.zip").write_bytes(given.data)
    loaded = load_suite(
        folder / "truth.json", images=folder / "u.zip", workspace_media=folder / "media", keep_good_rows=True
    )
    stored = {name for name in loaded.value.cases["image"].to_pylist() if name}
    assert not stored or stored <= {file.name for file in (folder / "media").iterdir()}
    assert loaded.problems or loaded.notes or len(stored) == len(one_scene.SIZES)


def image_seeds() -> list[Input]:
    def archive(kind: str) -> bytes:
        from PIL import Image

        files = {}
        for name, size in one_scene.SIZES.items():
            pixels = io.BytesIO()
            Image.new("RGB", size, (7, 9, 9)).save(pixels, kind)
            files[f"{name}.png"] = pixels.getvalue()
        return zip_of(files)

    return [Input("u.zip", archive(kind)) for kind in ("PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP")]


def reader_target(name: str) -> Target:
    return Target(name, lambda: SEEDS[name], check_readings, (), mutate_upload)


TARGETS = (*map(reader_target, SEEDS), Target("image_archive", image_seeds, check_images))
