import streamlit as st

from components.data import (
    boards,
    document_questions,
    evaluation_inputs,
    suite_drafts,
    suite_images as suite_images_data,
    visitors,
)
from components.views.setup import (
    question_maker,
    question_review,
    suite_editor,
    suite_history,
    suite_images,
    suite_makers,
    suite_merging,
)
from components.widgets import controls, url
from components.widgets.frame import editors_only, frame
from metrics.presentation import format

VIEWS = {"cases": "Cases", "contents": "Contents", "history": "History", "make": "Make"}
MAKERS = {  # ways to more cases or another suite; each was a view of its own, whose addresses lead here
    "merge": "Import or merge", "upload": "New from a file", "questions": "From documents",
    "divide": "Sample or split", "perturb": "Perturb", "duplicates": "Duplicates",
}  # fmt: skip
NEW = ("upload", "questions")  # without a suite to begin with
READING = ("duplicates",)  # makers that change nothing


def choose_view() -> str:
    """Return the view that the buttons choose, or the maker."""
    return controls.nested_choice(VIEWS, MAKERS, "view", "make", clears=("page", "case", "new"))


def draw_questions() -> None:
    """Draw the draft of questions that the address names, else the form for new ones."""
    asked = url.param("questions")
    draft = document_questions.question_draft(asked) if asked else None
    if isinstance(draft, str):
        st.error(draft)
    elif draft is not None:
        question_review.draw(draft)
        return
    question_maker.draw()


frame("suites", "What is in my test suite, and which suite do I need?", needs_run=False)
stored = evaluation_inputs.stored_suites()
if not visitors.may("editor"):
    if not stored:
        editors_only("store a suite")
    MAKERS = {name: MAKERS[name] for name in READING}
if not stored:
    if (former := url.param("view", "")) in NEW:
        url.put(view=None, make=former)
    if controls.choice("Make", {name: MAKERS[name] for name in NEW}, "make") == "questions":
        draw_questions()
        st.stop()
    st.subheader("No suite is stored yet", anchor=False)
    st.text("A suite holds the cases that models are tested on. Every evaluated suite is stored; or store one here.")
    suite_makers.draw_upload()
    st.stop()
if "questions" in MAKERS and "questions" in (url.param("view"), url.param("make")):
    choose_view()
    draw_questions()
    st.stop()
suite = suite_editor.choose_suite(stored)
draft = url.param("draft", "") or ""
facts = suite_drafts.suite_facts(suite, draft)
if facts.problem:
    st.text(f"✗ The draft cannot be shown: {facts.problem}")
    draft = ""
view = choose_view()
criteria = suite_editor.draw_filters(facts) if view == "cases" else {}
variants = facts.cases - facts.originals
more = f", {format.plural(variants, 'of them a variant', 'of them variants')}" if variants else ""
edits = f" · {format.plural(len(facts.edits), 'edit')}, not saved" if facts.edits else ""
st.text(f"{facts.name}: {format.plural(facts.cases, 'case')}, {facts.task}{more}{edits}")
if board := boards.board_of_suite(suite):
    url.link("All models evaluated on it, side by side", "leaderboard", icon=":material/view_list:", run=board)
if message := st.session_state.pop("suites-message", ""):
    st.text(message)
if view == "cases":
    suite_editor.draw_cases(suite, draft, facts, criteria)
elif view == "contents" and not facts.textual:
    suite_images.draw_contents(suite, draft, facts)
elif view == "contents":
    suite_editor.draw_contents(facts)
    if suite_images_data.has_images(suite):
        suite_images.draw_wall(suite, draft, facts)
elif view == "merge":
    suite_merging.draw(suite, draft, facts)
elif view == "history":
    suite_history.draw(suite, draft, facts)
elif view == "duplicates":
    images = not facts.textual or suite_images_data.has_images(suite)
    if not images or "question" in facts.columns:
        suite_merging.draw_duplicates(suite, facts)
    if images:
        suite_images.draw_look_alikes(suite, draft)
elif view == "divide":
    suite_makers.draw_divide(suite, draft, facts)
elif view == "perturb":
    suite_makers.draw_perturb(suite, draft, facts)
else:
    suite_makers.draw_upload()
