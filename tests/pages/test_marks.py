"""Tags, notes and saved views: given on the example, in bulk on gallery and cases, and filtered by."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from components.widgets.literal import literal
from metrics.store import Run
from metrics.store.reviews import Mark, Place, Review, SavedView, SavedViews
from tests.pages.conftest import Look, Open
from tests.pages.page_scenes import objects_run, texts_run, told
from tests.pages.reading import labelled, press

GHOST = Place("p0", "keen", 1, "p2")


@pytest.fixture
def pictures(look_at_copy: Look) -> Run:
    return look_at_copy(objects_run)


@pytest.fixture
def texts(look_at_copy: Look) -> Run:
    return look_at_copy(texts_run)


def said(page: AppTest) -> list[str]:
    assert not page.exception
    return [text.value for text in page.text]


def test_an_object_is_tagged_and_noted_on_the_example(pictures: Run, open_page: Open) -> None:
    ghosts = "model=keen&kind=fp&score=0"
    page = open_page("case", run=pictures.id, case="p0", object="p2", compare="keen", gallery=ghosts)
    tags = labelled(page.multiselect, "Tags of this object")
    tags.set_value(["label error"]).run()
    note = labelled(page.text_area, "Note on this object")
    note.set_value("A shadow").run()
    assert not page.exception
    assert Review(pictures).marks() == {GHOST: Mark(("label error",), "A shadow")}
    labelled(page.multiselect, "Tags of this object").set_value([]).run()
    assert Review(pictures).marks() == {GHOST: Mark((), "A shadow")}


@pytest.mark.parametrize(
    ("model", "places", "shown"),
    [
        pytest.param("keen", [GHOST], "1–1 of 1 object", id="an-object"),
        pytest.param("keen", [Place("p3")], "1–1 of 1 object", id="an-image"),
        pytest.param("shy", [GHOST], "0 objects", id="of-another-model"),
    ],
)
def test_the_gallery_filters_by_tag(pictures, open_page, model, places, shown):
    Review(pictures).tag(places, add=["check"])
    page = open_page("gallery", run=pictures.id, model=model, kind="fp", score="0", mark="check")
    assert said(page)[1] == shown


def test_all_that_the_gallery_shows_is_tagged_at_once(pictures: Run, open_page: Open) -> None:
    page = open_page("gallery", run=pictures.id, model="keen", kind="fp", score="0")
    labelled(page.multiselect, "Tags for all 4 objects of the filters").set_value(["odd"]).run()
    page = press(page, "Add")
    assert list(Review(pictures).marks()) == [Place(f"p{image}", "keen", 1, f"p{4 * image + 2}") for image in range(4)]
    assert "odd (4)" in next(box for box in page.sidebar.selectbox if box.label.startswith("Your tag")).options
    press(page, "Remove")
    assert Review(pictures).marks() == {}


def test_cases_of_texts_are_tagged_and_walked_by_tag(texts: Run, open_page: Open) -> None:
    about: dict[str, Any] = {"run": texts.id, "evaluator": "rouge", "metric": "rougeL"}
    page = open_page("case", case="t1", **about)
    labelled(page.multiselect, "Tags of this case").set_value(["odd"]).run()
    assert Review(texts).marks() == {Place("t1"): Mark(("odd",))}
    page = open_page("cases", model="exact", mark="odd", **about)
    assert [case["id"] for case in told(page, "case_list")["cases"]] == ["t1"]
    page = open_page("case", case="t1", model="exact", mark="odd", **about)
    assert said(page)[0].startswith("t1 · 1 of 1")


def test_a_tag_that_cannot_be_is_refused_in_words(pictures: Run, open_page: Open) -> None:
    page = open_page("gallery", run=pictures.id, model="keen", kind="fp", score="0")
    next(box for box in page.multiselect if box.label.startswith("Tags for all")).set_value(["x" * 61]).run()
    page = press(page, "Add")
    assert "found 61 characters; expected 1 to 60 characters" in page.error[0].value
    assert Review(pictures).marks() == {}


def test_filters_are_saved_under_a_name(pictures: Run, open_page: Open) -> None:
    page = open_page("gallery", run=pictures.id, model="keen", kind="fp_hallucination", score="0", label="dog")
    labelled(page.text_input, "Save these filters as").set_value("Ghost dogs").run()
    assert not page.exception
    (view,) = SavedViews(pictures.workspace.path).all()
    assert (view.name, view.page) == ("Ghost dogs", "gallery")
    links = {link.proto.label: link.proto for link in page.get("page_link")}
    assert "label=dog" in links["Ghost dogs"].query_string
    press(page, "Delete")
    assert SavedViews(pictures.workspace.path).all() == []


def test_saved_views_are_of_the_workspace(pictures: Run, open_page: Open) -> None:
    SavedViews(pictures.workspace.path).keep(SavedView("Missed", "gallery", "run=another&kind=fn&page=3"))
    page = open_page("gallery", run=pictures.id, score="0")
    (link,) = [link.proto for link in page.get("page_link") if link.proto.label == "Missed"]
    assert link.query_string == f"run={pictures.id}&kind=fn"


def test_the_name_of_a_view_stays_text(pictures: Run, open_page: Open) -> None:
    image = "![](http://127.0.0.1:9/x.png)"
    SavedViews(pictures.workspace.path).keep(SavedView(image, "gallery", "kind=fn"))
    page = open_page("gallery", run=pictures.id, score="0")
    labels = [link.proto.label for link in page.get("page_link")]
    assert literal(image) in labels
    assert image not in labels
