"""The views of the page What went wrong: perturbation flips and insights, each down to its cases."""

from pathlib import Path

import pytest

from metrics.analysis import problems
from metrics.store import Run
from tests.analysis.findings.variants import perturbed_run
from tests.pages.conftest import Look, Open


def flips_run(folder: Path) -> Run:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_WORKSPACE", str(folder))
        return perturbed_run({"steady": (), "shaky": [f"c{index}-typo" for index in range(8)]}, failing=(0, 11))


@pytest.fixture
def perturbed(look_at: Look) -> Run:
    return look_at(flips_run)


def test_flips_are_listed_exactly_beside_the_copies(perturbed: Run, open_page: Open) -> None:
    page = open_page("problems", run=perturbed.id, view="flips")
    assert page.text[0].value == "8 flips; significantly more than copies: typo, in 1 model. Copies flip in 0 of 24."
    rates, cases = page.dataframe[0].value, page.dataframe[1].value
    first = rates.iloc[0]
    assert (first["Model"], first["Flips"], first["Copies"], first["Against copies"]) == (
        "shaky", "8 of 12", "0 of 12", "more than copies",
    )  # fmt: skip
    assert set(rates.loc[rates["Perturbation"].eq("copy"), "Against copies"]) == {"the control"}
    assert cases["Test case"].tolist() == [f"c{index}-typo" for index in (*range(1, 8), 0)]
    assert "exact test" in page.caption[1].value
    assert "after Holm correction" in page.caption[1].value


def test_every_flip_is_listed_by_test_case(perturbed: Run, open_page: Open) -> None:
    page = open_page("problems", run=perturbed.id, view="flips", list="cases")
    (table,) = (one.value for one in page.dataframe)
    wanted = problems(perturbed).query("kind == 'flip'")
    assert table["Test case"].tolist() == [ids[0] for ids in wanted["case_ids"]]
    assert table.loc[0, ["Model", "Original", "Before", "After", "Change", "Text of the variant"]].tolist() == [
        "shaky", "c1", "1.00", "0.00", "now on the wrong side", "1?",
    ]  # fmt: skip
    none = open_page("problems", run=perturbed.id, view="flips", list="cases", model=["steady"])
    assert not none.dataframe


def test_a_rate_is_chosen_by_the_address(perturbed: Run, open_page: Open) -> None:
    of = {"of_model": "steady", "of_evaluator": "text_matching", "of_metric": "passes", "of_perturbation": "copy"}
    page = open_page("problems", run=perturbed.id, view="flips", **of)
    assert page.subheader[0].value == "steady · Text matching: passes · copy: 0 flips"
    assert "No case of this kind is on the other side." in [text.value for text in page.text]


def test_the_views_have_counts(perturbed: Run, open_page: Open) -> None:
    page = open_page("problems", run=perturbed.id)
    labels = [option.content for option in page.get("button_group")[0].proto.options]
    assert labels[1] == "Perturbation flips (8)"


def test_a_suite_without_variants_is_told_how_to_get_them(run: Run, open_page: Open) -> None:
    page = open_page("problems", run=run.id, view="flips")
    assert page.subheader[0].value == "This suite has no perturbed cases"


def test_an_insight_shows_its_evidence_standards_and_cases(run: Run, open_page: Open) -> None:
    page = open_page("problems", run=run.id, view="insights", insight="hardest_case:classification")
    shown = page.dataframe[0].value
    assert set(shown.columns) == {"Severity", "Insight", "Evidence", "Cases", "Standards"}
    texts = [text.value for text in page.text]
    assert texts[1] == "Case c0 is the hardest: 3 of 3 models fail it at Classification: Accuracy"
    assert texts[2].startswith("Evidence: the mean over the models is 0.00, the threshold 0.75; ")
    assert texts[2].endswith("; cases that 3 of 3 models fail: 4.")
    assert texts[3].startswith("Evidence for NIST AI RMF: valid and reliable")
    assert page.dataframe[1].value["case_id"].tolist() == ["c0"]


def test_insights_are_filtered_by_topic(run: Run, open_page: Open) -> None:
    page = open_page("problems", run=run.id, view="insights", about="hard cases")
    assert [text for text in page.dataframe[0].value["Insight"] if "were right: open these" not in text] == [
        "Case c0 is the hardest: 3 of 3 models fail it at Classification: Accuracy",
        "blunt is weakest at Classification: Accuracy on cases tagged ‘day’: 0.500",
    ]
