"""Which labels count as passing."""

import pytest

from metrics.analysis.labels.labelled_scores import labelled_scores
from metrics.store import Workspace
from tests.labels import add_labels, labelled_run

GRADES = [0.0, 1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize(
    ("passing", "passed"),
    [(None, [False, False, False, True, True]), (2.0, [False, False, True, True, True])],
    ids=["above the middle", "from a grade on"],
)
def test_grades_pass_from_the_middle_or_from_the_grade_asked_for(workspace, passing, passed) -> None:
    run = labelled_run(Workspace(), 5)
    add_labels(run, [(f"c{place}", "long", "ann", grade) for place, grade in enumerate(GRADES)], "depth")
    found = labelled_scores(run, "rouge", "rouge1", "depth", passing=passing)
    assert (found.label.tolist(), found.passed.tolist()) == (GRADES, passed)
