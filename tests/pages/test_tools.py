"""What stands on every page: the entries of the command palette, and the tabs."""

import re
from urllib.parse import parse_qs, urlparse

import pytest
from streamlit.testing.v1 import AppTest

from components.data.workspace_runs import runs
from components.widgets.palette import entries
from components.widgets.url import FORMER, PAGES, PLACES, home_of, place_of
from metrics.store import Run
from tests.pages.conftest import HOSTILE, PROJECT, Look, Open, Went, animals_run
from tests.pages.page_scenes import objects_run, texts_run


def test_the_palette_offers_pages_models_metrics_runs_and_evaluators(run: Run) -> None:
    offered = list(entries(runs(), run.id, run.id))
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
    assert by_name["Evaluator", "ROUGE"][1].startswith("rouge, ")
    assert "FaithfulnessMetric" in by_name["Evaluator", "Faithfulness"][1]  # as DeepEval calls it


@pytest.mark.parametrize("run_id", ["", "20200101-000000-abcdef"], ids=["none", "unknown"])
def test_without_a_run_there_are_no_models(run: Run, run_id: str) -> None:
    assert {kind for kind, *_ in entries(runs(), run_id, run_id)} == {"Page", "Run", "Evaluator"}


def test_each_page_is_in_one_place_has_a_name_of_its_own_and_is_offered_by_the_palette(run: Run) -> None:
    listed = [name for tabs in PLACES.values() for pages in tabs.values() for name in pages]
    assert len(listed) == len(set(listed)) == len({title for title, _ in PAGES.values()})
    assert [home_of(place) for place in PLACES] == [
        "evaluate", "runs", "suites", "label", "monitor", "evaluators", "judge"
    ]  # fmt: skip
    addresses = [address.partition("?")[0] for kind, _, address, _ in entries(runs(), run.id, run.id) if kind == "Page"]
    assert sorted(addresses) == sorted(PAGES)
    assert not set(FORMER) & set(PAGES)
    assert set(FORMER.values()) <= set(PAGES)


def tabs_of(page: AppTest) -> list[tuple[str, str, str]]:
    """The tabs of a page: title, page, query."""
    places = {title for tabs in PLACES.values() for title in tabs} | {title for title, _ in PAGES.values()}
    links = [link.proto for link in page.get("page_link")]
    return [(link.label, link.page, link.query_string) for link in links if link.label in places]


LAST = ["Compare", "Slices", "Report"]


@pytest.mark.parametrize(
    ("scene", "name", "rows"),
    [
        pytest.param(texts_run, "problems", ["Overview", "What went wrong", "Cases", *LAST], id="second-of-its-tab"),
        pytest.param(texts_run, "cases", ["Overview", "Cases", *LAST], id="texts-have-no-objects"),
        pytest.param(objects_run, "cases", ["Overview", "Cases", "Gallery", "Curves", *LAST], id="objects-have-both"),
        pytest.param(
            objects_run, "case", ["Overview", "Cases", "Case", "Gallery", "Curves", *LAST], id="an-opened-case"
        ),
        pytest.param(animals_run, "judge", ["Judge", "Thresholds", "Local models", "Cache"], id="without-a-run"),
        pytest.param(animals_run, "runs", [], id="the-list-of-runs"),
    ],
)
def test_the_tabs_are_what_the_run_has_something_for_and_keep_it(look_at, open_page, scene, name, rows) -> None:
    run = look_at(scene)
    tabs = tabs_of(open_page(name, run=run.id))
    assert [title for title, *_ in tabs] == rows
    assert {query for *_, query in tabs} <= {f"run={run.id}"}


@pytest.mark.parametrize(
    ("former", "asked", "leads_to"),
    [
        pytest.param("judge", {"view": "cache"}, {"page": "cache"}, id="cache"),
        pytest.param("judge", {"view": "rubrics"}, {"page": "criteria", "view": "rubrics"}, id="rubrics"),
        pytest.param("judge", {"view": "prompts"}, {"page": "criteria"}, id="prompts"),
        pytest.param("problems", {"view": "set", "run": "r"}, {"page": "thresholds", "run": "r"}, id="thresholds"),
    ],
)
def test_former_views_lead_to_their_pages(look_at: Look, open_page: Open, went: Went, former, asked, leads_to) -> None:
    look_at(animals_run)
    open_page(former, **asked)
    assert went[0] == leads_to


def test_the_place_of_a_page_is_where_people_look_for_it() -> None:
    assert {name: place_of(name)[0] for name in ("curves", "arena", "sample_size", "thresholds", "compliance")} == {
        "curves": "Runs", "arena": "Human review", "sample_size": "Library", "thresholds": "Settings",
        "compliance": "Runs",
    }  # fmt: skip


def test_every_link_in_the_code_leads_to_a_page() -> None:
    files = [
        path for folder in ("pages", "components", "metrics/presentation") for path in (PROJECT / folder).rglob("*.py")
    ]
    named = re.compile(r'\b(?:url\.(?:go|href|page)|Link|address)\(\s*"(\w*)"|\burl\.link\([^,()]+, "(\w+)"')
    found = {name or other for path in files for name, other in named.findall(path.read_text(encoding="utf-8"))}
    assert {"case", "problems", "thresholds"} <= found <= set(PAGES)
