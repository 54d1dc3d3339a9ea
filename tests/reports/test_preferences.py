"""The report's section on preferences."""

from itertools import combinations

import pytest

from metrics.reports.build import build
from metrics.store import Run, Workspace
from tests.preferences import MODELS, compared_run, judgement, vote
from tests.presentation.asked import ask


@pytest.fixture
def run(workspace: object) -> Run:
    return compared_run(Workspace(), 12)


def test_standings_and_wins_by_people_and_the_judge(run: Run) -> None:
    assert ask("whose_answers_are_preferred", run) is None
    for index in range(12):
        for one, other in combinations(MODELS, 2):
            vote(run, index, one, other, float(index % 4 == 0), shown_first=one)
            judgement(run, index, one, other, 1.0, 0.0)
    section = ask("whose_answers_are_preferred", run)
    assert [table.title for table in section.tables] == [
        "By people's preferences (quality)", "Wins by people's preferences (quality)",
        "By the judge's preferences (quality)", "Wins by the judge's preferences (quality)",
    ]  # fmt: skip
    people, wins, judge, _ = section.tables
    assert ([row[1] for row in people.rows], people.rows[0][4:]) == (["cedar", "birch", "amber"], ("18", "6", "0"))
    assert (wins.rows[0], {row[6] for row in judge.rows}) == (("cedar", "", "0.750 · 12", "0.750 · 12"), {"24"})
    said = section.notes[0]
    assert "36 preferences by people (quality)." in said
    assert "Position bias of j: the answer shown first is preferred in 1.00" in said
    assert "Judge and people prefer the same in 0" in said
    assert section in build(run, ["preferences"]).sections
    (tests,) = build(run, ["preferences", "tests"]).appendices
    assert not build(run, ["tests"]).appendices, "no metric differs"
    assert [row[:2] for row in tests.tables[0].rows] == [
        ("Which models win head to head in people's preferences (quality)?", "3"),
        ("Which models win head to head in the judge's preferences (quality)?", "3"),
        ("Does position sway preferences?", "2"),
    ]
