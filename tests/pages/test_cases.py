"""Cases: which are behind this number?"""

import pytest
from streamlit.testing.v1 import AppTest

from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished
from tests.pages.conftest import CASES, HOSTILE, Open, Went
from tests.pages.page_scenes import told
from tests.pages.reading import labelled, press

NUMBER = {"evaluator": "classification", "metric": "accuracy"}


def shown(page: AppTest) -> list[str]:
    """The case ids in the list."""
    return [case["id"] for case in listed(page)]


def listed(page: AppTest) -> list[dict]:
    """The cases in the list."""
    return told(page, "case_list")["cases"]


def test_the_cases_of_a_cell_worst_first(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, model="sharp", **NUMBER)
    texts = [text.value for text in page.text]
    assert texts[0].startswith("sharp · Classification: Accuracy")
    assert "n 120" in texts[0]
    assert f"1–100 of {CASES} cases, worst first by Accuracy of sharp" in texts
    wrong, right = listed(page)[0], listed(page)[-1]
    assert (wrong["id"], wrong["answer"], wrong["value"], wrong["share"], wrong["failing"]) == (
        "c0", "dog", "0.00", 0.0, True,
    )  # fmt: skip
    assert (right["share"], right["failing"]) == (1.0, False)
    assert [case["failing"] for case in listed(page)] == [True] * 12 + [False] * 88
    assert shown(page)[:2] == ["c0", "c10"]


def test_pages_of_a_hundred(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, model="sharp", **NUMBER)
    assert len(shown(page)) == 100
    press(page, "Next")
    assert page.query_params["page"] == "2"
    assert len(shown(page)) == CASES - 100
    assert labelled(page.button, "Next").disabled


def test_best_first_tag_and_search_come_from_the_address(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, model="sharp", order="best", tag="night", search="number 1", **NUMBER)
    assert all("number 1" in case["question"] for case in listed(page))
    assert page.sidebar.text_input[0].value == "number 1"
    assert page.button[0].label == "Open the best case"


def test_a_filter_takes_the_list_back_to_its_first_page(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, page=2, model="sharp", **NUMBER)
    page.sidebar.text_input[0].set_value("number 11").run()
    assert "page" not in page.query_params
    assert "c11" in shown(page)


def test_without_a_choice_it_speaks_of_the_first_metric_and_all_models(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, form="list")
    assert {case["model"] for case in listed(page)} <= {"sharp", "blunt", HOSTILE}
    assert not page.markdown or all(HOSTILE not in text.value for text in page.markdown)


@pytest.mark.parametrize(
    "params",
    [
        {"page": "x"},
        {"metric": "no such"},
        {"model": "no such"},
        {"page": "-3"},
        {"sort": "no such", "baseline": "run:none", "narrow": "none", "tag": "none", "compare": "no such"},
    ],
    ids=str,
)
def test_a_mistyped_address_still_shows_cases(run: Run, open_page: Open, params: dict[str, str]) -> None:
    assert shown(open_page("cases", form="list", **params))
    assert told(open_page("cases", form="table", **params), "case_table")["rows"]


def test_pages_open_on_the_model_that_leads(run: Run, open_page: Open) -> None:
    heads = told(open_page("cases", run=run.id, form="table", **NUMBER), "case_table")["models"]
    assert [head["name"] for head in heads][:2] == ["sharp", "blunt"]
    assert open_page("slices", run=run.id).sidebar.selectbox(key="filter-model").value == "sharp"
    assert open_page("curves", run=run.id, view="confusion").sidebar.selectbox(key="filter-model").value == "sharp"


def test_no_case_left_says_so(run: Run, open_page: Open) -> None:
    page = open_page("cases", search="'; DROP TABLE", **NUMBER)
    assert page.info[0].value.startswith("No case fits")


def test_an_unfinished_run_says_where_its_progress_is(run, open_page, monkeypatch):
    monkeypatch.setattr("metrics.store.Run.state", "running")
    page = open_page("cases", run=run.id)
    assert [text.value for text in page.text] == [
        "… running · unfinished: 1 of 1 evaluator done", "No case is scored yet.",
    ]  # fmt: skip
    assert page.button[0].label == "Cancel"
    assert {"Overview", "Cases", "Slices", "Report"} <= {link.proto.label for link in page.get("page_link")}


def test_the_cases_that_another_model_does_better(run: Run, open_page: Open, went: Went) -> None:
    page = open_page("cases", run=run.id, model="blunt", better="sharp", **NUMBER)
    wrong_here = {f"c{n}" for n in range(0, CASES, 3)}
    wrong_there = {f"c{n}" for n in range(0, CASES, 10)}
    assert set(shown(page)) == wrong_here - wrong_there
    assert "Only cases in which sharp does better than blunt." in [text.value for text in page.text]
    press(page, "Open the worst case")
    assert (went[-1]["model"], went[-1]["baseline"]) == ("blunt", "model:sharp"), "both side by side"
    example = open_page("case", run=run.id, model="blunt", better="sharp", **NUMBER)
    assert f"1 of {len(wrong_here - wrong_there)}, " in next(text.value for text in example.text)
    assert "filter-better" not in {box.key for box in open_page("cases", run=run.id, **NUMBER).sidebar.selectbox}


def table(page: AppTest) -> dict:
    """The table cases × models."""
    assert not page.exception
    return told(page, "case_table")


def test_without_a_model_all_models_stand_beside_each_other(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, **NUMBER)
    drawn = table(page)
    assert [model["name"] for model in drawn["models"]] == list(run.models)
    assert len(drawn["rows"]) == 100
    cells = dict(zip(run.models, next(row for row in drawn["rows"] if row["id"] == "c0")["cells"], strict=True))
    assert (cells["sharp"]["value"], cells["sharp"]["mark"], cells["sharp"]["answer"]) == ("0.00", "fails", "dog")
    assert "model=sharp" in cells["sharp"]["href"]
    press(page, "Next")
    assert len(table(page)["rows"]) == CASES - 100


@pytest.mark.parametrize(("narrow", "wanted"), [
    ("all", {f"c{n}" for n in range(0, CASES, 30)}),
    ("apart", {f"c{n}" for n in range(CASES) if (n % 10 == 0) != (n % 3 == 0)}),
    ("alone:sharp", {f"c{n}" for n in range(0, CASES, 10) if n % 3}),
])  # fmt: skip
def test_the_table_shows_where_models_fail_alone_or_together(run: Run, open_page: Open, narrow, wanted) -> None:  # type: ignore[no-untyped-def]
    page = open_page("cases", run=run.id, compare=["sharp", "blunt"], narrow=narrow, **NUMBER)
    assert {row["id"] for row in table(page)["rows"]} == wanted
    case = open_page("case", run=run.id, form="table", compare=["sharp", "blunt"], narrow=narrow, **NUMBER)
    assert f"1 of {len(wanted)}, " in next(text.value for text in case.text)


def test_the_table_compares_with_a_model(run: Run, open_page: Open) -> None:
    page = open_page("cases", run=run.id, compare="blunt", baseline="model:sharp", sort="change", **NUMBER)
    first = table(page)["rows"][0]["cells"][0]["change"]
    assert first == {"kind": "worse", "amount": "1.00", "was": "1.00"}
    assert any("▲ better, ▼ worse than sharp" in text.value for text in page.text)


def test_the_columns_of_a_suite_filter_its_cases(workspace, open_page: Open) -> None:
    cases = [
        {"case_id": f"c{place}", "question": "Why?", "expected_answers": ["so"], "metadata.kind": "ab"[place % 2],
         "tags": ["odd"] * (place == 1)}
        for place in range(10)
    ]  # fmt: skip
    answers = [
        {"case_id": case["case_id"], "model": "m", "answer": "so" if place == 0 else "no"}
        for place, case in enumerate(cases)
    ]
    run = finished(
        Workspace(workspace), Suite.from_rows("Kinds", "text", cases), Outputs.from_rows(answers), "exact_match"
    )
    page = open_page("cases", run=run.id)
    assert told(page, "case_table")["models"] == [{"name": "m", "value": "0.100"}]
    box = page.sidebar.selectbox(key="filter-slice")
    assert box.options == ["All", "kind: a", "kind: b"]
    box.select_index(2).run()
    assert not page.exception
    table = told(page, "case_table")
    assert [row["id"] for row in table["rows"]] == ["c1", "c3", "c5", "c7", "c9"]
    assert table["models"] == [{"name": "m", "value": "0.100 of all cases"}]
    tagged = open_page("cases", run=run.id, tag="odd")
    assert told(tagged, "case_table")["models"] == [{"name": "m", "value": "0.00"}], "of the cases that are shown"
