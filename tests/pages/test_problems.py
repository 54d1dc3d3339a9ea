"""Problems: which models are on the wrong side of a threshold?"""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from metrics.store import Run
from tests.pages.conftest import HOSTILE


def test_the_gravest_come_first_with_value_interval_and_n(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("problems", run=run.id)
    assert not page.exception
    table = page.dataframe[0].value
    assert set(table["model"]) == {"blunt", HOSTILE}
    assert table["severity"].iloc[0] == "Significant"
    assert table["threshold"].str.startswith("≥ ").all()
    assert page.text[0].value.startswith(f"{len(table)} problems in 2 of 3 models")


def test_filters_have_counts_and_come_from_the_address(run: Run, open_page: Callable[..., AppTest]) -> None:
    page = open_page("problems", run=run.id, model="blunt")
    assert set(page.dataframe[0].value["model"]) == {"blunt"}
    assert any(option.startswith("blunt (") for option in page.sidebar.multiselect[1].options)


def test_no_problem_is_good_news(run: Run, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    from components import data

    none = data.problems(run.id).iloc[:0]
    monkeypatch.setattr("components.data.problems", lambda run_id: none)
    page = open_page("problems", run=run.id)
    assert not page.exception
    assert page.subheader[0].value == "No model is on the wrong side of a threshold"
