"""Drafts in a workspace: stored once, reviewed, and read by later versions."""

import json

import pytest

from metrics.questions import Draft, DraftNotFound, Review, drafts, question_settings, read_draft, review, save_draft
from metrics.questions.draft import Passage, Proposed


def draft(name: str = "rules", questions: int = 3, created: str = "2026-01-01T00:00:00+00:00") -> Draft:
    """A draft of so many questions on one passage."""
    return Draft(
        name=name, created=created, judge="j", settings=question_settings({}), documents={"a.md": 1},
        passages=(Passage(id="a.md#1", document="a.md", place="Rules", text="It opens at nine."),),
        questions=tuple(
            Proposed(id=f"a-{n}", kind="factoid", question=f"When {n}?", answer="At nine.", passages=("a.md#1",))
            for n in range(questions)
        ),
    )  # fmt: skip


def test_the_same_questions_are_stored_once_and_keep_their_reviews(tmp_path):
    first = save_draft(tmp_path, draft())
    review(tmp_path, first, {"a-1": Review(status="approved", question="When does it open?")})
    assert save_draft(tmp_path, draft(created="2027-01-01T00:00:00+00:00")) == first
    found, reviews = read_draft(tmp_path, first)
    assert found == draft()
    assert reviews == {"a-1": Review(status="approved", question="When does it open?")}
    assert {first, save_draft(tmp_path, draft("others"))} == set(drafts(tmp_path))


def test_reviews_add_up_and_unknown_questions_are_passed_over(tmp_path):
    name = save_draft(tmp_path, draft())
    review(tmp_path, name, {"a-0": Review(status="dropped"), "b-9": Review(status="approved")})
    review(tmp_path, name, {"a-2": Review(status="approved")})
    review(tmp_path, name, {"a-0": Review()})
    assert {key: each.status for key, each in read_draft(tmp_path, name)[1].items()} == {
        "a-0": "proposed", "a-2": "approved",
    }  # fmt: skip


def test_what_a_later_version_adds_is_passed_over(tmp_path):
    name = save_draft(tmp_path, draft())
    file = tmp_path / "questions" / name / "draft.json"
    content = json.loads(file.read_text())
    content["questions"][0]["difficulty"] = 3
    file.write_text(json.dumps(content | {"version": 2, "more": []}))
    assert read_draft(tmp_path, name)[0].questions == draft().questions


@pytest.mark.parametrize("name", ["", "0" * 16, "../" * 5 + "etc", "G" * 16], ids=["none", "absent", "path", "letters"])
def test_a_draft_that_is_not_there(tmp_path, name):
    with pytest.raises(DraftNotFound, match="there is no draft"):
        read_draft(tmp_path, name)


def test_a_damaged_draft_is_told(tmp_path):
    name = save_draft(tmp_path, draft())
    (tmp_path / "questions" / name / "draft.json").write_text("{")
    with pytest.raises(DraftNotFound, match=f"the draft {name} cannot be read"):
        read_draft(tmp_path, name)
