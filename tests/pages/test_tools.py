"""What stands on every page: the entries of the command palette, and the toolbar."""

from urllib.parse import parse_qs, urlparse

import pytest
from streamlit.testing.v1 import AppTest

from components.widgets.palette import entries
from metrics.store import Run
from tests.pages.conftest import HOSTILE
from tests.pages.page_scenes import told


def test_the_palette_offers_pages_models_metrics_runs_and_evaluators(run: Run) -> None:
    offered = list(entries(run.id))
    kinds = [kind for kind, *_ in offered]
    assert sorted(set(kinds), key=kinds.index) == ["Page", "Model", "Metric", "Run", "Evaluator"]
    by_name = {(kind, name): (address, detail) for kind, name, address, detail in offered}
    assert by_name["Page", "Cases"][0] == f"cases?run={run.id}"
    assert by_name["Model", HOSTILE][0].startswith(f"cases?run={run.id}&model=%3Cimg")
    address, code = by_name["Metric", "Classification: Accuracy"]
    assert parse_qs(urlparse(address).query)["sort"] == ["classification/accuracy"]
    assert code == "classification.accuracy"
    assert by_name["Run", "Animals"][0].endswith(f"?run={run.id}")
    assert not by_name["Run", "Animals"][0].startswith("?")  # it would stay on the page
    assert by_name["Evaluator", "ROUGE"][1] == "rouge"


@pytest.mark.parametrize("run_id", ["", "20200101-000000-abcdef"], ids=["none", "unknown"])
def test_without_a_run_there_are_no_models(run: Run, run_id: str) -> None:
    assert {kind for kind, *_ in entries(run_id)} == {"Page", "Run", "Evaluator"}


@pytest.mark.parametrize(("run_id", "report"), [("r-1", "report?run=r-1"), ("", None)], ids=["a run", "none"])
def test_the_toolbar_offers_the_report_of_the_run(run_id: str, report: str | None) -> None:
    def page(run_id: str) -> None:
        from components.widgets.frame import toolbar

        toolbar(run_id)

    assert told(AppTest.from_function(page, args=(run_id,)).run(), "toolbar") == {"report": report}
