"""How many cases are needed, before any run."""

from pathlib import Path

from metrics.stats.power import aim
from tests.pages.conftest import Open


def test_the_cases_for_a_wanted_precision(workspace: Path, open_page: Open) -> None:
    page = open_page("sample_size")
    needed = aim("share", 0.8)
    text = page.text[0].value
    assert text.startswith(f"{needed.cases_for_width(0.05)} cases for a 95 % interval of ± 0.050; ")
    assert f"{needed.cases_to_detect(0.05)} cases to detect a difference of 0.050" in text
    table = page.dataframe[0].value
    assert table["cases"].tolist()[:3] == ["10", "20", "50"]
    assert list(table.columns) == ["cases", "width", "difference", "cost"]
    page.number_input[1].set_value(0.02).run()
    assert page.query_params["wanted"] == "0.02"
    assert page.text[0].value.startswith(f"{needed.cases_for_width(0.02):,} cases")


def test_a_budget_ends_where_it_is_spent(workspace: Path, open_page: Open) -> None:
    """Two models answer each case three times for 1 cent: 6 cents a case."""
    page = open_page("sample_size", kind="wins", answer="0.01", repeats="3", budget="30")
    assert page.text[1].value.startswith("A budget of $30.00 pays for 500 cases: ± ")
    assert page.dataframe[0].value.set_index("cases")["cost"]["50"] == "$3.00"


def test_kappa_asks_for_the_share_that_passes(workspace: Path, open_page: Open) -> None:
    page = open_page("sample_size", kind="kappa", size="5")
    labels = [one.label for one in page.number_input]
    assert "Share that passes" in labels
    assert "Likeness in a group" in labels
    assert page.button[0].label == "Make or sample a suite"
