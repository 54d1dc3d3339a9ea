"""Suites whose labels have keys stay so when they are edited and merged."""

from dataclasses import replace

import pytest

from metrics.core.errors import InputError
from metrics.core.label_keys import keys_of
from metrics.core.suite import Suite
from metrics.suites.suite_merge import merge
from metrics.suites.suite_rows import add_cases, change_cases, relabel_objects


def pets(*labels: str, first: int = 1) -> Suite:
    rows = [{"case_id": str(number), "label": label} for number, label in enumerate(labels, first)]
    names = sorted({name for label in labels for name in label.split("; ")})
    suite = Suite.from_rows("pets", "classification", rows, labels=names)
    return replace(suite, label_keys=keys_of(names))


def test_keys_of_edited_and_of_merged_suites():
    suite = pets("breed=pug; colour=red", "breed=husky")
    changed = change_cases(suite, [{"case_id": "2", "label": "breed=husky; colour=black"}])
    assert changed.labels == ("breed=husky", "breed=pug", "colour=red", "colour=black")
    assert changed.label_keys == ("breed", "colour")
    added = add_cases(suite, [{"case_id": "3", "label": "size=big"}])
    assert added.label_keys == ("breed", "colour", "size")
    merged = merge(pets("breed=pug"), pets("colour=red", first=2)).suite
    assert merged.labels == ("breed=pug", "colour=red")
    assert merged.label_keys == ("breed", "colour")
    with pytest.raises(InputError, match="found labels without keys; expected labels with keys"):
        merge(pets("breed=pug"), pets("red", first=2))


def test_a_label_without_a_key_is_refused():
    with pytest.raises(InputError, match="the label 'black'; expected labels with keys, such as breed=husky"):
        change_cases(pets("breed=pug; colour=red", "breed=husky"), [{"case_id": "2", "label": "black"}])
    boxes = [
        {"case_id": "a", "annotation_id": 1, "label": "class=car", "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}
    ]
    scene = replace(Suite.from_rows("s", "detection", [{"case_id": "a"}], boxes), label_keys=("class",))
    assert relabel_objects(scene, {"a": {1: "class=bus"}}).label_keys == ("class",)
    with pytest.raises(InputError, match="the label 'bus'"):
        relabel_objects(scene, {"a": {1: "bus"}})
