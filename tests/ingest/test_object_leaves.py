"""No leaf of a file of objects is lost: changed, what is read changes, it is refused, or the receipt names it."""

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import load_outputs, load_suite
from tests.ingest.files import packed, write
from tests.ingest.test_coco_variants import each, results, ring, truth

Document = Any
MARKS = {int: 77, float: 0.123, str: "mark", bool: True, type(None): "mark"}


def coco_truth() -> Document:
    """Return a ground truth with all that COCO, LVIS and key point files have, and some that tools add."""
    gt = truth()
    gt |= {"info": {"year": 2024}, "licenses": [{"id": 1, "name": "CC"}], "custom": {"a": [{"b": 1}]}, "type": "x"}
    each(gt["images"], license=1, coco_url="u", flickr_url="z", date_captured="2024", tags=["night"])
    each(gt["images"], weather={"sky": "grey"}, neg_category_ids=[2], not_exhaustive_category_ids=[1])
    each(gt["annotations"], segmentation=lambda record: [ring(record)], attributes={"occluded": False, "id": 3})
    each(gt["annotations"], ignore=0, num_keypoints=1, keypoints=[15, 15, 2], track=[1, 2])
    each(gt["categories"], supercategory="animal", keypoints=["nose"], skeleton=[[1, 1]], isthing=1, image_count=3)
    each(gt["categories"], frequency="c", synonyms=["x"])
    return gt


def coco_results() -> Document:
    found = results()
    each(found, id=1, file_name=lambda record: "ab"[record["image_id"] - 1] + ".jpg", area=5.0, iscrowd=0)
    each(found, segmentation=lambda record: [ring(record)], keypoints=[15, 15, 2], extra={"embedding": [0.5, 1]})
    each(found, category_name="cat", model="m")
    return found


def createml() -> Document:
    box = {"x": 50, "y": 40, "width": 20, "height": 10, "unit": "px"}
    thing = {"label": "cat", "confidence": 0.5, "coordinates": box, "tracking": {"id": "a"}}
    return [{"image": "a.jpg", "annotations": [thing], "checksum": "x"}]


def label_studio() -> Document:
    region = {
        "id": "r", "type": "rectanglelabels", "from_name": "label", "to_name": "image", "original_width": 100,
        "original_height": 50, "image_rotation": 0, "origin": "manual", "meta": {"text": ["note"]},
        "value": {"x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["cat"]},
    }  # fmt: skip
    answer = {"id": 5, "result": [region], "was_cancelled": False, "lead_time": 3.5}
    task = {"id": 1, "data": {"image": "a.jpg", "weather": "rain"}, "annotations": [answer], "meta": {"x": 1}}
    return [task | {"predictions": [{"score": 0.5, "result": []}]}]


VOC = """<annotation><folder>f</folder><filename>a.jpg</filename><source><database>d</database></source>
<size><width>100</width><height>50</height><depth>3</depth></size><segmented>0</segmented>
<object><name>cat</name><pose>Left</pose><truncated>0</truncated><difficult>0</difficult><occluded>0</occluded>
<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>
<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part></object></annotation>"""
CVAT = """<annotations><version>1.1</version><meta><task><id>7</id><name>job</name><labels>
<label><name>cat</name><color>red</color></label></labels></task></meta>
<image id="0" name="a.jpg" width="100" height="50" subset="train"><box label="cat" source="manual" occluded="0" xtl="1"
ytl="2" xbr="30" ybr="40" z_order="0"><attribute name="mood">angry</attribute>
<attribute name="score">0.5</attribute></box>
<points label="cat" points="1,2" occluded="0"/><tag label="night" source="manual"/></image></annotations>"""
DOCUMENTS: dict[str, tuple[Document, str]] = {
    "coco": (coco_truth(), "t.json"), "createml": (createml(), "t.json"), "label_studio": (label_studio(), "t.json"),
    "voc": (ElementTree.fromstring(VOC), "a.xml"), "cvat": (ElementTree.fromstring(CVAT), "t.xml"),
    "kitti": ("cat 0.1 1 -1.5 10 20 30 40 1.1 1.2 1.3 2.1 2.2 2.3 0.4 0.9", "a.txt"),
    "dota": ("imagesource:GoogleEarth\ngsd:0.5\n1 2 30 2 30 40 1 40 cat 0", "a.txt"),
}  # fmt: skip
LINES = {  # what the fields of a line are called
    "kitti": "type truncated occluded alpha left top right bottom height width length x y z rotation_y score".split(),
    "dota": ["imagesource", "gsd", *"x1 y1 x2 y2 x3 y3 x4 y4 class difficult".split()],
}
Change = tuple[str, Document]  # the path of a leaf, and the document with another value there


def json_changes(document: Any) -> Iterator[Change]:
    def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [leaf for key, item in inner for leaf in leaves(item, (*path, key))] or [path]

    for path in leaves(document):
        changed = place = copy.deepcopy(document)
        for step in path[:-1]:
            place = place[step]
        if not isinstance(place[path[-1]], list | dict):
            place[path[-1]] = MARKS[type(place[path[-1]])]
            yield "".join("[]" if isinstance(step, int) else f".{step}" for step in path).removeprefix("."), changed


def xml_changes(root: Any) -> Iterator[Change]:
    paths = {root: root.tag}
    for item in root.iter():
        paths |= {inner: f"{paths[item]}.{inner.tag}" for inner in item}
    for place, item in enumerate(root.iter()):
        for name in item.attrib:
            changed = copy.deepcopy(root)
            [*changed.iter()][place].set(name, "mark")
            yield f"{paths[item]}.{'mark' if item.tag == 'attribute' else name}", changed
        if (item.text or "").strip():
            changed = copy.deepcopy(root)
            [*changed.iter()][place].text = "mark"
            yield f"{paths[item]}.{item.get('name')}" if item.get("name") else paths[item], changed


def line_changes(text: str, names: list[str]) -> Iterator[Change]:
    fields = text.replace("\n", " \n ").split(" ")
    values = [place for place, field in enumerate(fields) if field != "\n"]
    for place, name in zip(values, names, strict=True):
        changed = [*fields]
        changed[place] = f"{name}:mark" if ":" in fields[place] else "77"
        yield name, " ".join(changed).replace(" \n ", "\n")


def changes(name: str, document: Document) -> Iterator[Change]:
    if isinstance(document, str):
        return line_changes(document, LINES[name])
    return xml_changes(document) if isinstance(document, ElementTree.Element) else json_changes(document)


def stored(tmp_path: Path, document: Document, file: str) -> Path:
    """Write a document as an upload: JSON and CVAT by themselves, files of one image in a zip."""
    if isinstance(document, ElementTree.Element):
        document = ElementTree.tostring(document, "unicode")
    if file[0] == "t":
        return write(tmp_path, file, document if isinstance(document, str) else json.dumps(document))
    return packed(tmp_path / "t.zip", {file: document})


def lost(
    document: Document, all_changes: Iterator[Change], read: Callable[[Document], tuple[str, list[str]]]
) -> list[str]:
    """Return the leaves whose change is neither read nor refused nor named."""
    before, _ = read(document)
    found = []
    for path, changed in all_changes:
        try:
            after, unused = read(changed)
        except InputError:
            continue
        if after == before and not any(f".{path}".find(f".{place}") >= 0 for place in unused):
            found.append(path)
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_leaf_of_ground_truth_is_lost(tmp_path, name):
    document, file = DOCUMENTS[name]

    def read(given: Document) -> tuple[str, list[str]]:
        suite = load_suite(stored(tmp_path, given, file)).value
        return suite.fingerprint, [line.place for line in suite.receipt if line.use == "unused"]

    assert lost(document, changes(name, document), read) == []


def suite_of(tmp_path: Path, name: str) -> Suite:
    document, file = DOCUMENTS[name]
    return load_suite(stored(tmp_path, document, file)).value


def scored_label_studio() -> Document:
    tasks = label_studio()
    region = tasks[0]["annotations"][0]["result"][0]
    return [tasks[0] | {"predictions": [{"id": 3, "score": 0.5, "model_version": "v", "result": [region]}]}]


@pytest.mark.parametrize(
    ("name", "document"),
    [("coco", coco_results()), ("createml", createml()), ("label_studio", scored_label_studio())],
    ids=["coco", "createml", "label_studio"],
)
def test_no_leaf_of_predictions_is_lost(tmp_path, name, document):
    suite = suite_of(tmp_path, name)

    def read(given: Document) -> tuple[str, list[str]]:
        outputs = load_outputs(stored(tmp_path, given, "t.json"), suite=suite).value
        return outputs.fingerprint, [line.place for line in outputs.receipt if line.use == "unused"]

    assert lost(document, changes(name, document), read) == []


def test_receipts_name_paths_and_say_why(tmp_path):
    lines = {line.place: line for line in suite_of(tmp_path, "coco").receipt}
    assert str(lines["annotations[].attributes.occluded"]) == (
        "t.json: annotations[].attributes.occluded (3) is not used: nothing that is evaluated has this name, such as "
        "'False'"
    )
    assert str(lines["annotations[].bbox"]) == "t.json: annotations[].bbox (3) is x, y, width, height"
    assert lines["info.year"].meaning == "it describes the data set"
