"""Gallery: which objects go wrong?"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import Look, Open
from tests.pages.page_scenes import objects_run, texts_run
from tests.pages.reading import labelled

Gallery = Callable[..., tuple[AppTest, dict[str, Any]]]


@pytest.fixture
def gallery(look_at: Look, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> Gallery:
    """Opens the gallery; the page and what its component was given to draw."""
    run = look_at(objects_run)
    given: dict[str, Any] = {}
    monkeypatch.setattr(
        "components.viewers.tile_gallery.gallery", lambda data: given.update(json.loads(json.dumps(data)))
    )

    def opened(**params: Any) -> tuple[AppTest, dict[str, Any]]:
        given.clear()
        page = open_page("gallery", run=run.id, **{"score": "0", **params})
        return page, given

    return opened


def texts(page: AppTest) -> list[str]:
    return [text.value for text in page.text]


def test_it_opens_with_every_mistake_of_the_first_model(gallery: Gallery) -> None:
    page, drawn = gallery()
    assert texts(page) == ["keen: 4 mistakes – 4 background.", "1–4 of 4 objects"]
    assert [tile["lines"] for tile in drawn["tiles"]] == [["fp_hallucination", "dog", "0.30", "background", ""]] * 4
    assert drawn["tiles"][0]["image"]  # as many as there is time for; the others are asked for by the browser
    assert all(tile["image"] or tile["waits"] for tile in drawn["tiles"])
    assert "case=p0" in drawn["tiles"][0]["href"]
    assert page.sidebar.multiselect[0].options == ["Background <0.1 (4)", "Found (8)"]


def test_the_headline_counts_the_chosen_classes_only(gallery: Gallery) -> None:
    page, _ = gallery(kind="tp")
    assert texts(page)[0] == "keen: 8 objects – 8 found; most of cat (4)."
    page, _ = gallery(kind="tp", label="dog")
    assert texts(page)[0] == "keen: 4 objects – 4 found."


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param({"model": "shy"}, "1–4 of 4 objects", id="model"),
        pytest.param({"kind": "tp"}, "1–8 of 8 objects", id="kind"),
        pytest.param({"kind": "tp", "label": "dog"}, "1–4 of 4 objects", id="class"),
        pytest.param({"score_min": "0.7"}, "1–4 of 4 objects", id="score-makes-found-ones-missed"),
        pytest.param({"kind": "tp", "size": "small"}, "1–4 of 4 objects", id="size"),
        pytest.param({"kind": "tp", "view": "images"}, "1–4 of 4 images", id="images"),
        pytest.param({"search": "p2"}, "1–1 of 1 object", id="search"),
        pytest.param({"sort": "nonsense", "page": "-4", "model": "nobody"}, "1–4 of 4 objects", id="mistyped"),
    ],
)
def test_the_address_filters(gallery: Gallery, params: dict[str, str], expected: str) -> None:
    page, _ = gallery(**params)
    assert texts(page)[1] == expected


def test_a_family_of_kinds_is_spelled_out(gallery: Gallery) -> None:
    page, _ = gallery(kind="fn", model="shy")
    assert page.query_params["kind"] == ["fn_no_prediction", "fn_low_score"]


def test_no_object_left_says_so(gallery: Gallery) -> None:
    page, drawn = gallery(search="'; DROP TABLE")
    assert page.info[0].value.startswith("No object fits")
    assert not drawn
    assert labelled(page.button, "Open the first").disabled


def test_a_model_without_mistakes_is_no_matter_of_filters(gallery: Gallery) -> None:
    assert gallery(model="keen", score="0.35")[0].info[0].value == "No mistakes at these thresholds."
    filtered, _ = gallery(model="keen", score="0.35", label="dog")
    assert filtered.info[0].value.startswith("No object fits")


def test_a_page_past_the_end_says_so_and_leads_back(gallery: Gallery) -> None:
    page, drawn = gallery(page="99")
    assert texts(page)[1] == "1–4 of 4 objects"
    assert drawn["tiles"]


def test_a_run_of_texts_teaches(look_at: Look, open_page: Open) -> None:
    page = open_page("gallery", run=look_at(texts_run).id)
    assert page.subheader[0].value == "This run has no objects"
    assert page.button[0].label == "Evaluate a detection suite"
