"""`sample-size`: the numbers of the page, in the terminal."""

import pytest

from metrics.cli.main import main
from metrics.stats.power import aim


def test_the_cases_a_budget_groups_and_repeats(capsys):
    assert main(["sample-size", "share", "0.8", "--cost", "0.02", "--budget", "50"]) == 0
    said, budget, head, *rows = capsys.readouterr().out.splitlines()
    assert said.startswith("245 cases ($4.90) for a 95 % interval of ± 0.050; ")
    assert budget.startswith("A budget of $50.00 pays for 2,500 cases: ± 0.016")
    assert head.split() == ["cases", "95", "%", "±", "detected", "dollars"]
    own = aim("share", 0.8)
    assert rows[3].split() == ["100", f"{own.half_width(100):.3f}", f"{own.detectable(100):.3f}", "2.00"]
    assert (
        main(["sample-size", "difference", "--group-size", "4", "--icc", "0.5", "--repeats", "2", "--noise", "1"]) == 0
    )
    needed = aim("difference", 0.3, effect=2.5 / 2)
    assert capsys.readouterr().out.startswith(f"{needed.cases_for_width(0.05)} cases for")


@pytest.mark.parametrize(("arguments", "told"), [
    (["share", "1.2"], "found share 1.2, 0.7; expected shares and κ between 0 and 1"),
    (["mean", "--precision", "0"], "expected a precision above 0, and 1 or more of the others"),
])  # fmt: skip
def test_impossible_values_are_told(arguments, told, capsys):
    assert main(["sample-size", *arguments]) == 2
    assert told in capsys.readouterr().err
