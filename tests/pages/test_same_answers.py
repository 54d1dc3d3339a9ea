"""The studio says what reports, terminal and Markdown say: see tests/laws/test_one_answer.py."""

from streamlit.testing.v1 import AppTest

from metrics.analysis import headline, leaderboard
from metrics.presentation.question import short_answers
from metrics.presentation.questions import is_it_better
from metrics.store import Run
from tests.pages.conftest import Look, Open, animals_run


def said(page: AppTest) -> list[str]:
    assert not page.exception
    return [element.value for kind in (page.text, page.subheader, page.caption) for element in kind]


def test_the_leaderboard_says_every_short_answer(run: Run, open_page: Open) -> None:
    page = open_page("leaderboard", run=run.id, form="bars")
    page.session_state["short-answers"] = True
    page.run()
    found = [one.text for one in short_answers(run)]
    assert len(found) >= 2
    assert [text for text in (headline(leaderboard(run)).sentence, *found) if text not in said(page)] == []


def test_compare_says_what_the_report_says(look_at: Look, open_page: Open) -> None:
    """The leader and each of the next ones: the sentence, how it was tested, and the numbers of every metric."""
    run = look_at(animals_run)
    found = is_it_better.leader_against_next(run)
    assert len(found) == 2
    for one in found:
        page = open_page("compare", run=run.id, **is_it_better.pair(one))
        assert page.subheader[0].value == is_it_better.answer(one, *is_it_better.names(one))
        assert is_it_better.method(one) in said(page)
        shown = {tuple(row) for frame in page.dataframe for row in frame.value.astype(str).itertuples(index=False)}
        assert {row for table in is_it_better.pair_blocks(one) for row in table.rows} <= shown
