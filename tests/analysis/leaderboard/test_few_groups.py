"""The warning of too few or unequal groups: when there is one, and where a reader sees it."""

import numpy as np
import pytest

from metrics.analysis import compare, leaderboard
from metrics.analysis.leaderboard.leaderboard import design_warning
from metrics.cli.gate_command import print_leaderboard
from metrics.core.sampling_design import SamplingDesign
from metrics.presentation.viewers import board_drawing
from metrics.reports.build import build
from metrics.stats.power import POWER
from metrics.stats.student_t import student
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run

SIZES = (80, 10, 5, 5)
WARNING = (
    "Too few or too unequal groups: 4 groups, the largest with 80 % of the cases, worth 2.3 equal ones. Intervals and"
    " tests may be too narrow or too wide: use 5 equal groups or more."
)


@pytest.mark.parametrize(("sizes", "weights", "beginning"), [
    pytest.param(None, None, None, id="plain-cases"),
    pytest.param([], None, None, id="no-cases"),
    pytest.param([3] * 5, None, None, id="five-equal-groups"),
    pytest.param([3] * 4, None, "4 groups, the largest with 25 % of the cases, worth 4.0", id="four-groups"),
    pytest.param([30, *[1] * 30], None, "31 groups, the largest with 50 % of the cases, worth 4.7", id="a-large-one"),
    pytest.param([3] * 12, None, None, id="many"),
    pytest.param([7], None, "1 group, worth 1.0 equal ones", id="one"),
    pytest.param(None, [9.0, *[1.0] * 8], "9 weighted cases, the largest with 53 % of the weight", id="weights"),
])  # fmt: skip
def test_there_is_one_below_five_equal_groups(sizes, weights, beginning) -> None:
    clusters = None if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    n = 9 if clusters is None else len(clusters)
    found = design_warning(SamplingDesign(n, np.arange(n), None if weights is None else np.array(weights), clusters))
    if beginning is None:
        assert found is None
    else:
        assert found.startswith(f"Too few or too unequal groups: {beginning}")


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    rng = np.random.default_rng(1)
    values = {model: rng.beta(4, 2, sum(SIZES)).tolist() for model in "AB"}
    groups = np.repeat([f"g{place}" for place in range(len(SIZES))], SIZES).tolist()
    return scored_run({"rouge.rougeL": values}, design={"group": groups}, workspace=shelf)


def test_a_large_group_hides_differences(run: Run) -> None:
    """4 groups worth 2.3 equal ones: t of 1.3 degrees of freedom is 7.6, of 3 it is 3.2."""
    found = leaderboard(run).ranks["rouge/rougeL"]
    assert (found.units, found.worth) == (4, pytest.approx(2.316, abs=1e-3))
    assert found.detectable == pytest.approx((student(1.316) + POWER) * found.error, rel=1e-3)
    assert compare(run, "A", "B").rows[0].detectable == pytest.approx(found.detectable)


def test_a_reader_sees_it_beside_every_number(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    board = leaderboard(run)
    assert board.cautions == (WARNING,)
    assert WARNING in board_drawing.cells(board, board.columns)["A"][0][5]
    assert WARNING in compare(run, "A", "B").notes
    report = build(run)
    assert WARNING in report.section("leaderboard").notes
    assert WARNING in report.summary.sure
    assert WARNING in next(section for section in report.sections if section.title == "Is it really better?").notes
    print_leaderboard(run)
    assert WARNING in capsys.readouterr().out
