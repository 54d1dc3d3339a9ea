"""Classes of predictions that the suite does not have: found, proposed, settled as chosen, and never by default."""

import json

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.ingest import load_outputs, read_outputs, read_suite
from metrics.ingest.lint import ClassChoice, fix, lint, settle, unknown_classes
from tests.evaluators.detected import pick, run
from tests.ingest.files import packed, picture, write
from tests.ingest.lint.spoiled import ap, harbour, outputs_of, results


@pytest.fixture(scope="module")
def suite():
    return harbour()


@pytest.fixture
def extra(suite, tmp_path):
    """The clean results and, in 40 of the images, a box of class 90."""
    more = [{"image_id": n, "category_id": 90, "bbox": [5, 5, 50, 50], "score": 0.99} for n in range(1, 41)]
    return outputs_of(suite, tmp_path, [*results(), *more])


def test_ignored_they_leave_the_clean_numbers_and_as_false_they_lower_precision(suite, tmp_path, extra):
    clean = outputs_of(suite, tmp_path, results())
    settled = settle(suite, extra, ClassChoice(rest="ignore"))
    assert settled.fingerprint == clean.fingerprint
    assert settled.changes == (
        {
            "model": "tern-base", "change": "ignore", "predictions": 40,
            "text": "predictions of classes that the suite does not have ignored",
        },
    )  # fmt: skip
    clean = outputs_of(suite, tmp_path, results())
    settled = settle(suite, extra, ClassChoice(rest="false"))
    assert ap(suite, settled) == ap(suite, clean)
    hallucinated = [
        pick(run("detection_confusion", suite, outputs), "hallucinated").value for outputs in (clean, settled)
    ]
    assert hallucinated[0] < hallucinated[1]


def test_mapped_they_count_as_the_class(suite, tmp_path):
    renamed = [
        record | {"category_id": 90 if record["category_id"] == 3 else record["category_id"]} for record in results()
    ]
    outputs = outputs_of(suite, tmp_path, renamed)
    settled = settle(suite, outputs, ClassChoice.parse(["category_id 90=buoy"]))
    assert settled.fingerprint == outputs_of(suite, tmp_path, results()).fingerprint
    assert settled.changes[0]["text"] == "class category_id 90 taken for buoy"
    with pytest.raises(InputError, match="'category_id 90' taken for 'bouy'; expected a class of the suite"):
        settle(suite, outputs, ClassChoice.parse(["category_id 90=bouy"]))


def test_names_of_tables_and_the_nearest_classes(tmp_path):
    truth = write(tmp_path, "truth.csv", "image,label,x,y,w,h\na.jpg,traffic light,1,1,4,3\na.jpg,cat,1,1,4,3\n")
    found = write(
        tmp_path, "m.csv",
        "image,label,score,x,y,w,h\na.jpg,Traffic_Light,.9,1,1,4,3\na.jpg,cat,.9,1,1,4,3\na.jpg,zebra,.8,1,1,4,3\n"
        "a.jpg,zebra,.7,1,1,4,3\n",
    )  # fmt: skip
    suite = read_suite(truth)
    outputs = load_outputs(found, suite=suite, keep_unknown_classes=True).value
    seen = [(each.name, each.count, each.models, each.nearest) for each in unknown_classes(suite, outputs)]
    assert seen == [("zebra", 2, ("m",), ()), ("Traffic_Light", 1, ("m",), ("traffic light",))]
    settled = settle(suite, outputs, ClassChoice.parse(["Traffic_Light=traffic light", "ignore"]))
    assert settled.predictions["label"].to_pylist() == ["traffic light", "cat"]
    with pytest.raises(InputError, match="predictions of 2 classes that the suite does not have"):
        settle(suite, outputs, ClassChoice.parse(["Traffic_Light=traffic light"]))


def test_numbers_beyond_the_names_of_yolo(tmp_path):
    pixels = {"images/a.png": picture(20, 10)}
    truth = packed(tmp_path / "t.zip", {"classes.txt": "cat\ndog", "labels/a.txt": "0 .5 .5 .2 .2", **pixels})
    found = packed(tmp_path / "m.zip", {"labels/a.txt": "0 .5 .5 .2 .2 .9\n2 .5 .5 .2 .2 .8"})
    suite = read_suite(truth)
    with pytest.raises(InputError, match="a class from 0 to 1"):
        read_outputs(found, suite=suite)
    outputs = load_outputs(found, suite=suite, keep_unknown_classes=True).value
    assert [each.name for each in unknown_classes(suite, outputs)] == ["class 2"]


@pytest.mark.parametrize(("items", "names", "rest"), [
    (["ignore"], {}, "ignore"), (["false"], {}, "false"), (["kitty=cat", "a=b"], {"kitty": "cat", "a": "b"}, ""),
    (["names.json", "false"], {"kitty": "cat"}, "false"), (["names.csv"], {"kitty": "cat", "a, b": "dog"}, ""),
], ids=["ignore", "false", "names", "json", "csv"])  # fmt: skip
def test_parse(items, names, rest, tmp_path):
    (tmp_path / "names.json").write_text(json.dumps({"kitty": "cat"}))
    (tmp_path / "names.csv").write_text('kitty,cat\n"a, b",dog\n')
    given = [str(tmp_path / item) if item.startswith("names.") else item for item in items]
    choice = ClassChoice.parse(given)
    assert (dict(choice.names), choice.rest) == (names, rest)


@pytest.mark.parametrize(("item", "message"), [
    ("drop", "expected respell, ignore, false, NAME=CLASS"), ("=cat", "expected respell, ignore, false, NAME=CLASS"),
    ("gone.json", "No such file"), ("list.json", "rows of two columns"), ("three.csv", "rows of two columns"),
])  # fmt: skip
def test_parse_refuses(item, message, tmp_path):
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "three.csv").write_text("a,b,c\n")
    with pytest.raises(InputError, match=message):
        ClassChoice.parse([str(tmp_path / item) if "." in item else item])


@pytest.mark.parametrize("name", ["000139.jpg", "139", "0139.png"])
def test_image_numbers_may_have_zeros_in_front(tmp_path, name):
    """Names that are padded in one of two files are the same image."""
    truth = write(tmp_path, "truth.csv", "image,label,x,y,w,h\n000139.jpg,cat,1,1,4,3\n000285.jpg,cat,1,1,4,3\n")
    found = write(tmp_path, "m.csv", f"image,label,score,x,y,w,h\n{name},cat,.9,1,1,4,3\n")
    suite = read_suite(truth)
    outputs = read_outputs(found, suite=suite)
    assert outputs.predictions["case_id"].to_pylist() == ["000139.jpg"]


ANIMALS = ("Cat", "dog", "owl")
NUMBERS = ("1", "2", "3")


def classified(classes, predicted, count=30):
    """Return cases of the classes in turn, and what a model predicts for each class."""
    cases = [{"case_id": str(n), "label": classes[n % 3]} for n in range(count)]
    rows = [{"case_id": str(n), "model": "m"} for n in range(count)]
    told = [row | {"label": predicted[n % 3], "score": 1.0} for n, row in enumerate(rows)]
    return Suite.from_rows("s", "classification", cases), Outputs.from_rows(rows, told)


@pytest.mark.parametrize(("classes", "predicted", "unknown"), [
    (ANIMALS, ("cat", "DOG", "owl"), {"DOG": ("dog",), "cat": ("Cat",)}),
    (ANIMALS, ("Cat", "dog", "zebra"), {"zebra": ()}),
    (NUMBERS, ("1.0", "2", "3"), {"1.0": ("1",)}), (NUMBERS, ("0", "1", "2"), {"0": ()}), (ANIMALS, ANIMALS, {}),
], ids=["case", "another class", "a float", "an offset", "none"])  # fmt: skip
def test_classification_is_asked_as_detection_is(classes, predicted, unknown):
    suite, outputs = classified(classes, predicted)
    assert {each.name: each.nearest for each in unknown_classes(suite, outputs)} == unknown
    mapped = [f"{name}={nearest[0]}" for name, nearest in unknown.items() if nearest]
    settled = settle(suite, outputs, ClassChoice.parse([*mapped, "ignore"]))
    assert set(settled.predictions["label"].to_pylist()) <= set(suite.labels)
    assert settle(suite, outputs, ClassChoice(rest="false")).predictions.equals(outputs.predictions)
    if unknown:
        with pytest.raises(InputError, match="that the suite does not have"):
            settle(suite, outputs, ClassChoice())


@pytest.mark.parametrize(("classes", "predicted", "name"), [
    (NUMBERS, ("0", "1", "2"), "classes+1"), (("0", "1", "2"), NUMBERS, "classes-1"),
    (ANIMALS, ("0", "1", "2"), "classes-from-0"),
    (ANIMALS, ("1", "2", "3"), "classes-from-1"), (NUMBERS, NUMBERS, None), (ANIMALS, ("dog", "owl", "Cat"), None),
], ids=["from 0", "from 1", "places from 0", "places from 1", "right", "wrong"])  # fmt: skip
def test_numbers_of_classes_that_are_off_are_named_and_fixed(classes, predicted, name):
    suite, outputs = classified(classes, predicted)
    findings = lint(suite, outputs)
    assert [finding.fix for finding in findings] == ([name] if name else [])
    if name:
        assert "0 % of 30 cases have their class, and 100 % would" in findings[0].text
        fixed = fix(suite, outputs, findings)
        assert fixed.predictions["label"].to_pylist() == suite.cases["label"].to_pylist()
    assert lint(*classified(classes, predicted, 9)) == ()  # too few to tell


SPELLINGS = {
    "numbers": (("0", "1"), {"1.0": "1", "0.0": "0", " 1 ": "1"}),
    "flags for numbers": (("0", "1"), {"True": "1", "false": "0", "YES": "1", "no": "0"}),
    "numbers for flags": (("False", "True"), {"1": "True", "0.0": "False", "true": "True"}),
    "signs": (("-1", "1"), {"-1.0": "-1", "+1": "1", "true": None}),
    "case, blanks and marks": (
        ("red kite",), {"Red_Kite": "red kite", "red-kite ": "red kite", "red\u00a0kite": "red kite"},
    ),
    "Unicode's forms": (("caf\u00e9",), {"cafe\u0301": "caf\u00e9", "CAF\u00c9": "caf\u00e9", "cafe": None}),
    "two that differ so": (("Cat", "cat"), {"CAT": None}),
    "three classes are no flags": (("0", "1", "2"), {"true": None, "2.0": "2"}),
    "other names": (("cat", "dog"), {"kitty": None}),
}  # fmt: skip


@pytest.mark.parametrize(("labels", "names"), SPELLINGS.values(), ids=SPELLINGS.keys())
@pytest.mark.parametrize("several", [False, True], ids=["one class", "several classes"])
def test_classes_that_are_only_spelled_otherwise(labels, names, several):
    truth = [{"case_id": str(n), **({"labels": [own]} if several else {"label": own})} for n, own in enumerate(labels)]
    suite = Suite.from_rows("s", "classification", truth, labels=labels)
    rows = [{"case_id": "0", "model": "m", "label": name, "score": 0.5} for name in (*names, labels[0])]
    outputs = Outputs.from_rows([{"case_id": "0", "model": "m"}], rows)
    assert {each.name: each.meant for each in unknown_classes(suite, outputs)} == names
    settled = settle(suite, outputs, ClassChoice.parse(["respell", "false"]))
    assert settled.predictions["label"].to_pylist() == [*(own or name for name, own in names.items()), labels[0]]


def test_ignoring_all_that_a_model_predicts_is_refused():
    suite = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "cat"}])
    rows = [{"case_id": "1", "model": name, "label": own} for name, own in (("a", "cat"), ("b", "eel"))]
    outputs = Outputs.from_rows([{"case_id": "1", "model": name} for name in "ab"], rows)
    with pytest.raises(InputError, match="found only unknown classes of the model 'b'; expected classes of the suite"):
        settle(suite, outputs, ClassChoice.parse(["ignore"]))
    settled = settle(suite, outputs, ClassChoice.parse(["ignore", "eel=cat"]))
    assert settled.predictions["label"].to_pylist() == ["cat", "cat"]


def test_classes_of_a_suite_that_only_differ_in_spelling_are_found():
    labels = ("Cat", "cat", "dog")
    suite = Suite.from_rows("s", "classification", [{"case_id": own, "label": own} for own in labels])
    rows = [{"case_id": own, "model": "m", "label": "dog", "score": 2.0} for own in labels]
    findings = lint(suite, Outputs.from_rows([{"case_id": own, "model": "m"} for own in labels], rows))
    assert [(each.kind, each.where, each.count) for each in findings] == [
        ("scores_over_1", "m", 3), ("class_spelling", "ground truth", 2)
    ]  # fmt: skip


def test_a_class_with_blanks_around_it_can_be_mapped():
    suite = Suite.from_rows("s", "classification", [{"case_id": "1", "label": "cat"}, {"case_id": "2", "label": "dog"}])
    outputs = Outputs.from_rows(
        [{"case_id": "1", "model": "m"}], [{"case_id": "1", "model": "m", "label": " eel\u00a0"}]
    )
    assert settle(suite, outputs, ClassChoice.parse([" eel\u00a0=dog"])).predictions["label"].to_pylist() == ["dog"]
