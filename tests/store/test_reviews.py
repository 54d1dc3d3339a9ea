"""Tags, notes, the operating point and saved views: what people note while they look through a run."""

import pytest

from metrics.core.errors import InputError
from metrics.store import Workspace
from metrics.store.reviews import LONGEST_NOTE, LONGEST_TAG, Mark, Place, Review, SavedView, SavedViews
from metrics.store.run_check import verify

CASE, OBJECT = Place("c0"), Place("c0", "good", 1, "p3")


@pytest.fixture
def review(run):
    return Review(run)


def reread(review: Review) -> Review:
    """The same review, read by another process."""
    run_id = review.path.stem
    return Review(Workspace(review.path.parents[1]).run(run_id))


def test_tags_are_added_and_removed_in_bulk(review):
    review.tag([CASE, OBJECT], add=["label error", "  night  scene "])
    review.tag([OBJECT], add=["check"], remove=["label error"])
    marks = reread(review).marks()
    assert marks == {CASE: Mark(("label error", "night scene")), OBJECT: Mark(("night scene", "check"))}
    assert review.tags() == ["check", "label error", "night scene"]
    review.tag([CASE, OBJECT], remove=["label error", "night scene", "check"])
    assert (reread(review).marks(), review.version) == ({}, "")


def test_a_tag_may_be_as_long_as_the_limit(review):
    longest = "x" * LONGEST_TAG
    review.tag([CASE], add=[longest])
    assert review.tags() == [longest]


def test_the_sealed_run_stays_as_it_was(review):
    run = Workspace(review.path.parents[1]).run(review.path.stem)
    files = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    review.tag([CASE], add=["odd"])
    review.choose_point(0.4, 0.6)
    assert {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()} == files
    verify(run)
    assert review.point() == (0.4, 0.6)


@pytest.mark.parametrize(("tag", "text"), [
    pytest.param("  ", "found 0 characters; expected 1 to 60 characters", id="empty"),
    pytest.param("x" * (LONGEST_TAG + 1), "found 61 characters; expected 1 to 60 characters", id="too-long"),
])  # fmt: skip
def test_a_tag_that_cannot_be(review, tag, text):
    with pytest.raises(InputError, match=text):
        review.tag([CASE], add=[tag])
    assert review.marks() == {}


def test_a_note_that_is_too_long(review):
    with pytest.raises(InputError, match="found 4,001 characters; expected at most 4,000"):
        review.note(CASE, "x" * (LONGEST_NOTE + 1))


def test_views_are_saved_under_a_name_a_page(tmp_path):
    views = SavedViews(tmp_path)
    views.keep(SavedView("Ghosts", "gallery", "kind=fp"))
    views.keep(SavedView("Ghosts", "cases", "model=a"))
    views.keep(SavedView(" Ghosts ", "gallery", "kind=fn"))
    assert SavedViews(tmp_path).all() == [
        SavedView("Ghosts", "cases", "model=a"), SavedView("Ghosts", "gallery", "kind=fn"),
    ]  # fmt: skip
    views.remove("gallery", "Ghosts")
    views.remove("gallery", "no such")
    assert [view.page for view in views.all()] == ["cases"]


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "views.json").write_text('{"no": "list"}')
    with pytest.raises(InputError, match=r"views\.json: found dict; expected a list; remove the file"):
        SavedViews(tmp_path).all()
