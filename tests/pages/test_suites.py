"""Suites: what is in my test suite, and which suite do I need?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

from components.data import judge_settings, suite_drafts
from metrics.core.suite import Suite
from metrics.ingest import read_suite
from metrics.perturbations import KINDS
from metrics.store import Workspace
from tests.judge.server import JudgeServer
from tests.pages.conftest import Look, Open
from tests.pages.page_scenes import objects_run, told
from tests.pages.reading import labelled, press, words

HOSTILE = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/x.png)"
ROWS: list[dict[str, Any]] = [
    {
        "case_id": f"c{n}", "question": f"How large is the fine of lazy reader number {n}?" + " Why?" * (n % 3 == 0),
        "tags": ["fees"] if n % 2 else ["loans", HOSTILE], "complexity": ["simple", "complex"][n % 2],
        "area": ["desk", "hall", "yard"][n % 3], "expected_answers": [f"{n} euros"],
    }
    for n in range(12)
]  # fmt: skip


@pytest.fixture
def stored(workspace: Path) -> str:
    """The fingerprint of a stored suite of twelve cases."""
    return Workspace().save_suite(Suite.from_rows("desk", "text", ROWS))


@pytest.fixture
def page(stored: str, open_page: Open) -> Open:
    """The page on that suite."""
    return lambda **params: open_page("suites", suite=stored, **params)


def ids(page: AppTest) -> list[str]:
    return list(page.dataframe[0].value["case_id"])


def newest() -> Suite:
    return Workspace().suite(Workspace().suites()[0]["fingerprint"])


def test_an_empty_workspace_teaches_and_takes_an_upload(workspace: Path, open_page: Open) -> None:
    page = open_page("suites")
    assert [heading.value for heading in page.subheader] == ["No suite is stored yet"]
    page.file_uploader[0].set_value(("sums.csv", b"id,prompt,reference\n1,1 + 1?,2\n2,2 + 2?,4\n", "text/csv")).run()
    assert "sums.csv: 2 rows · case id ← id · question ← prompt · expected answers ← reference" in words(page)
    press(page, "Store the suite")
    assert "✓ stored as 'sums': 2 cases" in words(page)
    assert "sums: 2 cases, text" in words(page)
    assert ids(page) == ["1", "2"]
    assert (newest().name, len(newest())) == ("sums", 2)


@pytest.mark.parametrize(("content", "told"), [
    (b"case_id,question\na,one\na,two\n", "✗ Not stored: 1 problem in the file"),
    (b"\xff\xfe\x00\x01\x02", "bad.csv cannot be read"),
], ids=["a case twice", "bytes"])  # fmt: skip
def test_a_bad_upload_lists_its_problems(workspace: Path, open_page: Open, content: bytes, told: str) -> None:
    page = open_page("suites")
    page.file_uploader[0].set_value(("bad.csv", content, "text/csv")).run()
    if "Not stored" in told:
        press(page, "Store the suite")
    assert told in words(page)
    assert "✗ bad.csv" in words(page)
    assert not Workspace().suites()


def test_a_suite_that_is_not_there_is_told(stored: str, open_page: Open) -> None:
    page = open_page("suites", suite="0" * 64)
    for drawn_again in (page, page.run()):
        assert "This workspace has no suite" in drawn_again.error[0].value
        assert drawn_again.sidebar.selectbox(key="suite-picker").value == stored


@pytest.mark.parametrize(("params", "found"), [
    ({"tag": "fees"}, [1, 3, 5, 7, 9, 11]), ({"complexity": "simple", "search": "NUMBER 1"}, [10]),
    ({"length_min": "49"}, [0, 3, 6, 9]),
    ({"field": "area", "value": "yard", "tag": [HOSTILE, "fees"]}, [2, 5, 8, 11]),
    ({"search": "nobody"}, []),
], ids=["tag", "complexity and text", "length", "column", "none"])  # fmt: skip
def test_the_address_filters(page: Open, params: dict[str, Any], found: list[int]) -> None:
    shown = page(**params)
    if not found:
        assert "No case fits the filters" in shown.info[0].value
        return
    assert ids(shown) == [f"c{n}" for n in found]
    assert f"1–{len(found)} of {len(found)} case{'s' * (len(found) > 1)} that match" in words(shown)


def test_edits_make_a_draft_that_is_undone_saved_and_evaluated(page: Open, stored: str, open_page: Open) -> None:
    shown = page(tag="fees", complexity="complex")
    button = labelled(shown.button, "Apply to all 6 cases shown")
    assert button.disabled, "a tag has no name yet"
    labelled(shown.text_input, "Tag").set_value("audit").run()
    press(shown, "Apply to all 6 cases shown")
    assert "desk: 12 cases, text · 1 edit, not saved" in words(shown)
    labelled(shown.selectbox, "Edit").select("leave_out").run()
    press(shown, "Apply to all 6 cases shown")
    assert "6 cases: tagged audit\n6 cases: removed" in words(shown)
    assert ids(shown) == [f"c{n}" for n in range(0, 12, 2)], "a filter by what is no longer there is none"
    press(shown, "Undo")
    assert ids(shown) == [f"c{n}" for n in range(1, 12, 2)]
    again = open_page("suites", **dict(shown.query_params.items()))
    assert "1 edit, not saved" in words(again)
    assert len(Workspace().suites()) == 1
    labelled(again.text_input, "Name of the new suite").set_value("desk, audited").run()
    press(again, "Save as a new suite")
    assert "✓ stored as 'desk, audited': 12 cases" in words(again)
    assert newest().filter(tag="audit").cases["case_id"].to_pylist() == [f"c{n}" for n in range(1, 12, 2)]
    assert "audit" not in Workspace().suite(stored).tags, "the stored suite is as it was"
    press(again, "Evaluate this suite")
    evaluate = open_page("evaluate", **{"from": "stored", "suite": newest().fingerprint})
    assert labelled(evaluate.selectbox, "Test cases").value == newest().fingerprint


def test_the_same_suite_is_not_stored_twice(page: Open, stored: str) -> None:
    shown = page(search="c1")
    labelled(shown.selectbox, "Edit").select("weigh").run()
    labelled(shown.number_input, "Weight").set_value(3.0).run()
    press(shown, "Apply to all 3 cases shown")
    press(shown, "Save as a new suite")
    weighted = newest()
    assert weighted.filter(weight=3.0).cases["case_id"].to_pylist() == ["c1", "c10", "c11"]
    assert suite_drafts.save_draft(weighted.fingerprint, "", "other") == (
        weighted.fingerprint, "The workspace already has this suite, as 'desk, edited': nothing was stored.",
    )  # fmt: skip


def test_keeping_all_of_them_is_no_edit(page: Open) -> None:
    shown = page()
    labelled(shown.selectbox, "Edit").select("keep").run()
    assert labelled(shown.button, "Apply to all 12 cases shown").disabled


def test_chosen_rows_alone_are_edited(stored: str) -> None:
    token, refused = suite_drafts.edit_draft(stored, "", {"do": "keep"}, {"tag": "fees"}, ["c2", "c4"])
    assert (refused, suite_drafts.suite_facts(stored, token).cases) == ((), 2)
    empty, problems = suite_drafts.edit_draft(stored, token, {"do": "leave_out"}, {})
    assert (empty, [str(each) for each in problems]) == ("", ["desk: found no case left; expected at least one"])
    assert suite_drafts.edit_draft(stored, token, {"do": "tag", "tag": ""}, {}) == ("", ("a tag is missing",))


def test_what_is_in_it(page: Open) -> None:
    tags, complexity, area = (frame.value for frame in page(view="contents").dataframe)
    assert dict(zip(tags["value"], tags["cases"], strict=True)) == {"fees": 6, "loans": 6, HOSTILE: 6}
    assert dict(zip(complexity["value"], complexity["cases"], strict=True)) == {"simple": 6, "complex": 6}
    assert list(area["share"]) == pytest.approx([100 / 3] * 3)


def test_a_complexity_that_is_not_given_is_said(workspace: Path, open_page: Open) -> None:
    Workspace().save_suite(Suite.from_rows("plain", "text", [{"case_id": "a", "question": "q"}]))
    shown = open_page("suites", view="contents")
    assert "1 case without a complexity count as medium" in shown.caption[-1].value
    assert "No case has a tag." in words(shown)


def test_a_sample_is_stored(page: Open) -> None:
    shown = page(view="divide", size="4", seed="3")
    table = shown.dataframe[0].value
    assert list(table.columns) == ["What", "The suite", "The sample"]
    assert list(table.iloc[0]) == ["cases", 12, 4]
    assert list(table["The sample"])[1:3] == [2, 2]
    press(shown, "Store the sample")
    assert "✓ stored as 'desk, sample': 4 cases" in words(shown)
    assert len(newest()) == 4


def test_a_split_is_stored_as_two_suites(page: Open) -> None:
    shown = page(view="divide", do="split", share="75")
    assert list(shown.dataframe[0].value.iloc[0]) == ["cases", 12, 9, 3]
    press(shown, "Store both parts")
    assert "✓ stored as 'desk, development': 9 cases\n✓ stored as 'desk, held out': 3 cases" in words(shown)
    assert {each["name"] for each in Workspace().suites()} == {"desk", "desk, development", "desk, held out"}


def test_a_split_that_leaves_nothing_says_why(page: Open) -> None:
    shown = page(view="divide", do="split", share="1")
    assert "✗ split: found the share 0.01 of 12 families of cases" in words(shown)


def previewed(shown: AppTest) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Return what the preview of variants draws: a case with its kind, and the text in parts, marked where changed."""
    drawn = told(shown, "prose")["blocks"]
    return [(each["title"], [(text, bool(mark)) for text, mark, _ in each["parts"]]) for each in drawn]


def test_perturbing_shows_before_and_after_and_keeps_its_word(page: Open) -> None:
    shown = page(view="perturb", kind=["copy", "yz", "antonym"], intensity="high", seed="5")
    drawn = previewed(shown)
    kinds = ["Original", "Copy", "y and z exchanged", "Antonyms"]
    assert [place for place, _ in drawn[:4]] == [f"c0 · {kind}" for kind in kinds]
    texts = [("How large is the fine of ", False), ("layz", True), (" reader number 0? ", False), ("Whz", True)]
    texts.append(("?", False))
    assert drawn[2][1] == texts
    assert [marked for _, marked in drawn[1][1]] == [False], "a copy has nothing to mark"
    assert "the correct answer changes too" in shown.caption[-1].value
    press(shown, "Store the suite with its variants")
    assert "✓ stored as 'desk, perturbed': 48 cases\n36 variants made" in words(shown)
    made = newest().cases
    stored = dict(zip(made["case_id"].to_pylist(), made["question"].to_pylist(), strict=True))
    assert [stored[f"c{n}~yz"] for n in range(3)] == [
        "".join(text for text, _ in parts) for place, parts in drawn if place.endswith("y and z exchanged")
    ]
    assert "desk, perturbed: 48 cases, text, 36 of them variants" in words(shown)


def test_without_the_control_it_warns_and_without_kinds_it_teaches(page: Open) -> None:
    shown = page(view="perturb", kind="comma")
    assert shown.caption[-1].value.startswith("Without Copy, the control")
    labelled(shown.multiselect, f"Kinds ({len(KINDS)})").set_value([]).run()
    assert "Choose a kind and what to change." in words(shown)
    assert len(shown.dataframe[0].value) == len(KINDS)


def test_a_judged_kind_needs_a_judge_and_asks_it_once(page: Open, judge_server: JudgeServer) -> None:
    shown = page(view="perturb", kind=["copy", "paraphrase"])
    assert "A judge writes these variants, and none is set up." in words(shown)
    assert next(button for button in shown.button if button.label.startswith("Store")).disabled
    judge_server.say("perturbation.paraphrase.medium", lambda request: {"text": f"{HOSTILE} {request.data['TEXT']}"})
    assert judge_settings.choose_judge({"model": "scripted", "base_url": judge_server.url}) == ""
    shown = page(view="perturb", kind=["copy", "paraphrase"])
    assert "is asked up to 12 questions, once" in words(shown)
    assert not judge_server.calls, "nobody is asked unasked"
    press(shown, "Preview the judge's variants")
    assert "".join(text for text, _ in previewed(shown)[2][1]).startswith(HOSTILE)
    assert len(judge_server.calls) == 3
    press(shown, "Store the suite with its variants")
    assert len(judge_server.calls) == 12, "the previewed ones are in the cache"
    assert newest().filter(perturbation="paraphrase").cases["question"].to_pylist()[0].startswith(HOSTILE)


def test_downloads_are_the_draft(stored: str, tmp_path: Path) -> None:
    token, _ = suite_drafts.edit_draft(stored, "", {"do": "keep"}, {"tag": "fees"})
    (tmp_path / "desk.jsonl").write_bytes(suite_drafts.draft_bytes(stored, token, "jsonl"))
    assert len(read_suite(tmp_path / "desk.jsonl")) == 6
    first = json.loads(suite_drafts.draft_bytes(stored, token, "jsonl").splitlines()[0])
    assert first["case_id"] == "c1"
    assert suite_drafts.draft_bytes(stored, token, "csv").startswith(b"case_id,question,")


def test_a_suite_of_images_is_viewed_and_divided_not_perturbed(workspace: Path, open_page: Open) -> None:
    (workspace / "pictures").mkdir()
    Image.new("RGB", (8, 8)).save(workspace / "pictures" / "p0.png")
    cases = [{"case_id": f"p{n}", "image": "p0.png", "image_width": 8, "image_height": 8} for n in range(4)]
    boxes = [{"case_id": f"p{n}", "annotation_id": n, "label": "cat"} for n in range(4)]
    suite = Suite.from_rows("pictures", "detection", cases, boxes)
    Workspace().save_suite(replace(suite, media=workspace / "pictures"))
    shown = open_page("suites")
    assert "pictures: 4 cases, detection" in words(shown)
    assert not shown.get("download_button")
    assert "the cases of this suite are images" in words(open_page("suites", view="perturb"))
    press(open_page("suites", view="divide", size="2"), "Store the sample")
    assert (len(newest()), newest().media is not None) == (2, True)


def test_pages_of_a_hundred(workspace: Path, open_page: Open) -> None:
    rows = [{"case_id": str(n), "question": "q"} for n in range(250)]
    Workspace().save_suite(Suite.from_rows("many", "text", rows))
    shown = open_page("suites", page="3")
    assert "201–250 of 250 cases" in words(shown)
    press(shown, "Previous")
    assert ids(shown)[0] == "100"


def test_cases_that_are_alike_are_listed_with_their_texts(workspace: Path, open_page: Open) -> None:
    asked = ["Who built the gate?", "Who built the gate", "Where is the mill?"]
    rows = [{"case_id": f"c{place}", "question": text} for place, text in enumerate(asked)]
    kept = Workspace().save_suite(Suite.from_rows("gates", "text", rows))
    page = open_page("suites", suite=kept, view="duplicates")
    assert "1 pair of cases is alike. Of 3 cases 2 are independent" in words(page)
    links = {link.proto.label: link.proto.query_string for link in page.get("page_link")}
    assert links["Open c0"] == f"suite={kept}&case=c0"
    assert page.dataframe[0].value["kind"].tolist() == ["same words"]
    assert "Who built the gate?" in words(page)
    other = Workspace().save_suite(Suite.from_rows("mills", "text", [rows[2]]))
    page = open_page("suites", suite=other, view="duplicates")
    assert "✓ No two cases ask the same" in words(page)
    page.selectbox(key="against").select(kept).run()
    assert "1 pair of cases is alike." in words(page)
    links = {link.proto.label: link.proto.query_string for link in page.get("page_link")}
    assert links["Open c2"] in (f"suite={kept}&case=c2", f"suite={other}&case=c2")


def test_a_suite_of_images_says_what_it_holds(look_at: Look, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = look_at(objects_run).spec.suite.fingerprint
    walls: list[list[list[str]]] = []
    monkeypatch.setattr(
        "components.viewers.tile_gallery.gallery",
        lambda data, key: walls.append([tile["lines"] for tile in data["tiles"]]),
    )
    page = open_page("suites", suite=suite, view="contents")
    classes, sizes, sides = (frame.value for frame in page.dataframe)
    assert "4 images · 8 objects of 2 classes · 2.0 an image" in words(page)
    assert classes[["label", "objects", "images"]].to_numpy().tolist() == [["cat", 4, 4], ["dog", 4, 4]]
    assert sizes["n"].sum() == 8
    assert sides[["value", "n"]].to_numpy().tolist() == [["120 × 90", 4]]
    assert [lines[3] for lines in walls[-1]] == ["1 cat, 1 dog"] * 4
    open_page("suites", suite=suite, view="contents", label="dog")
    assert [lines[3] for lines in walls[-1]] == ["1 dog"] * 4
    page = open_page("suites", suite=suite, view="duplicates")
    assert "look alike" in words(page)


@pytest.mark.parametrize("question", [None, "What is it?"])
def test_pictures_of_classes_that_look_alike_are_found(workspace: Path, open_page: Open, question: str | None) -> None:
    """Images look alike whatever is asked about them; what is asked is compared too, where something is."""
    media = workspace / "pictures"
    media.mkdir()
    ramp = np.add.outer(np.arange(64) * 2, np.arange(64)).astype(np.uint8)
    for name, pixels in {"a": ramp, "b": ramp, "c": ramp[::-1]}.items():
        Image.fromarray(pixels).save(media / f"{name}.png")
    rows = [{"case_id": name, "image": f"{name}.png", "label": "ramp", "question": question} for name in "abc"]
    kept = Workspace().save_suite(replace(Suite.from_rows("ramps", "classification", rows), media=media))
    said = words(open_page("suites", suite=kept, view="duplicates"))
    assert "1 pair of images looks alike" in said
    assert "a and b: 0 of 128 bits differ" in said
    assert ("pairs of cases are alike" in said) == (question is not None)
