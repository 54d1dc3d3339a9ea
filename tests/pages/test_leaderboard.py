"""The start page: which model should I pick?"""

from pathlib import Path
from urllib.parse import parse_qs, urlparse

import pytest
from streamlit.testing.v1 import AppTest

from components.data.workspace_runs import waits_for_sample
from metrics.analysis import headline, leaderboard
from metrics.presentation.viewers.board_drawing import PROBLEM
from metrics.store import Run, Workspace
from metrics.store.threshold_profiles import ThresholdProfiles
from metrics.suites.samples import samples
from tests.engine.engine_scenes import finished
from tests.pages.conftest import HOSTILE, PROJECT, Look, Open, animals_run, labels_outputs, labels_suite
from tests.pages.page_scenes import objects_run, told
from tests.pages.reading import labelled, press


def drawn(page: AppTest) -> dict:
    """What the heatmap was told to draw."""
    return told(page, "heatmap")


def test_the_heatmap_has_every_model_best_first(run: Run, open_page: Open) -> None:
    page = open_page("leaderboard")
    heatmap = drawn(page)
    assert page.title[0].value == "Overview"
    assert page.caption[0].value == "Which model should I pick?"
    assert heatmap["models"] == ["sharp", "blunt", HOSTILE]
    assert heatmap["headline"].startswith("sharp leads")
    assert page.query_params["run"] == run.id


def test_marks_follow_thresholds_that_are_set_after_the_first_visit(look_at_copy: Look, open_page: Open) -> None:
    run = look_at_copy(animals_run)

    def marked() -> list[str]:
        board = drawn(open_page("leaderboard", run=run.id))
        column = [column["key"] for column in board["columns"]].index("classification/accuracy")
        return [model for model, row in zip(board["models"], board["cells"], strict=True) if row[column][4] & PROBLEM]

    assert marked() == ["blunt", HOSTILE]
    profiles = ThresholdProfiles(run.workspace.path)
    profiles.use("Lenient")
    profiles.put({("classification", "accuracy"): 0.6})
    assert marked() == [HOSTILE]


def test_filters_come_from_the_address(run: Run, open_page: Open) -> None:
    few = drawn(open_page("leaderboard", run=run.id))
    page = open_page("leaderboard", run=run.id, search="SHARP", minor="1", tag="night")
    many = drawn(page)
    assert many["models"] == ["sharp"]
    assert len(many["columns"]) >= len(few["columns"])
    assert page.sidebar.text_input[0].value == "SHARP"
    assert all("tag=night" in column["behind"] for column in many["columns"])
    assert many["cells"][0][0][3].startswith("n 40")


def test_a_filter_writes_the_address(run: Run, open_page: Open) -> None:
    page = open_page("leaderboard", run=run.id)
    page.sidebar.text_input[0].set_value("blunt").run()
    assert drawn(page)["models"] == ["blunt"]
    assert page.query_params["search"] == "blunt"
    page.sidebar.multiselect[0].set_value(["classification"]).run()
    assert page.query_params["evaluator"] == "classification"
    labelled(page.sidebar.button, "Clear filters").click().run()
    assert "search" not in page.query_params
    assert len(drawn(page)["models"]) == 3


@pytest.mark.parametrize(("order", "first"), [("up", HOSTILE), ("down", "sharp")])
def test_sorting_comes_from_the_address(run: Run, open_page: Open, order: str, first: str) -> None:
    column = drawn(open_page("leaderboard"))["columns"][0]["key"]
    assert drawn(open_page("leaderboard", sort=column, order=order))["models"][0] == first


def test_what_the_suite_could_reveal(run: Run, open_page: Open) -> None:
    page = open_page("leaderboard", wish="0.05")
    said = next(text.value for text in page.text if text.value.startswith("With 120 cases, a difference of 0."))
    assert "between two models in Classification: Accuracy would be detected 80 % of the time." in said
    assert "To detect 0.050 you need" in said
    page.number_input[0].set_value(0.1).run()
    assert page.query_params["wish"] == "0.1"
    cases = [text.value.rpartition("you need ")[2].split()[0] for text in page.text if "you need" in text.value]
    assert 100 < int(cases[0].replace(",", "")) < int(said.rpartition("you need ")[2].split()[0].replace(",", ""))


def sample_run(folder: Path) -> Run:
    """A small run in the place of a sample."""
    sample = samples()[0].id
    return finished(Workspace(folder), labels_suite(), labels_outputs(), "classification", sample=sample)


def test_a_tour_of_four_steps_leads_to_a_cell_a_case_and_the_report(look_at: Look) -> None:
    look_at(sample_run)
    page = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=300).run()
    run = Workspace().run(page.query_params["run"])
    description = next(sample.description for sample in samples() if sample.id == run.spec.sample)
    assert f"This is a bundled sample. {description}" in [text.value for text in page.text]
    steps = [page.markdown[0].value]
    for _ in range(3):
        press(page, "Next")
        steps += [mark.value for mark in page.markdown if " of 4" in mark.value]
        if steps[-1] == "**2 of 4 · A cell**":
            press(page, "Open the worst cell")
            assert drawn(page)["open"]["model"] == page.query_params["of"]
    assert [step[2] for step in steps] == ["1", "2", "3", "4"]
    assert {"See the report", "Evaluate your own files", "More samples"} <= {button.label for button in page.button}
    press(page, "Back")
    press(page, "Open a case")
    assert page.title[0].value == "Case"
    assert page.query_params["model"]


def test_the_tour_can_be_skipped_and_is_not_for_runs_of_ones_own(look_at: Look, open_page: Open) -> None:
    look_at(sample_run)
    page = open_page("leaderboard")
    press(page, "Skip the tour")
    assert not [mark for mark in page.markdown if " of 4" in mark.value]


def test_a_run_of_the_users_own_needs_no_tour(run: Run, open_page: Open) -> None:
    assert not [mark for mark in open_page("leaderboard").markdown if " of 4" in mark.value]


CELL = {"cell": "classification/accuracy", "of": "blunt"}


def test_a_cell_of_the_address_opens_its_worst_cases(run: Run, open_page: Open) -> None:
    drawer = drawn(open_page("leaderboard", run=run.id, tag="day", **CELL))["open"]
    assert (drawer["key"], drawer["model"]) == ("classification/accuracy", "blunt")
    assert drawer["title"] == "blunt · Classification: Accuracy\u00a0↑"
    assert "n 80" in drawer["facts"]
    assert "Worst 20 cases of 80" in drawer["facts"]
    assert drawer["links"] == [
        ["All 80 cases", f"cases?run={run.id}&tag=day&evaluator=classification&metric=accuracy&model=blunt"]
    ]
    first = drawer["cases"][0]
    assert (first["id"], first["answer"], first["share"], first["failing"]) == ("c0", "dog", 0.0, True)
    assert first["question"].startswith("What animal is number")
    assert f"case?run={run.id}" in first["href"]
    assert all(case["failing"] for case in drawer["cases"])


def test_the_drawer_of_a_detector_leads_to_the_failing_objects_of_a_class(look_at: Look, open_page: Open) -> None:
    run = look_at(objects_run)
    column = drawn(open_page("leaderboard", run=run.id))["columns"][0]["key"]
    page = open_page("leaderboard", run=run.id, cell=column, of="shy")
    links = drawn(page)["open"]["links"]
    assert [text for text, _ in links] == ["Failing objects", "dog (4)", "All 4 images"]
    address = parse_qs(urlparse(links[1][1]).query)
    assert (address["model"], address["label"]) == (["shy"], ["dog"])
    gallery = open_page("gallery", **address)
    assert "shy: 4 mistakes – 4 missed." in [text.value for text in gallery.text]


@pytest.mark.parametrize("params", [{"cell": "no/such", "of": "blunt"}, {**CELL, "of": "gone"}, {"of": "blunt"}])
def test_a_cell_that_is_not_there_opens_nothing(run: Run, open_page: Open, params: dict[str, str]) -> None:
    assert drawn(open_page("leaderboard", **params))["open"] is None


def test_columns_and_cells_come_from_the_address(run: Run, open_page: Open) -> None:
    usual = drawn(open_page("leaderboard"))
    assert usual["cells_as"] == "full"
    assert {column["key"] for column in usual["columns"]} < {key for key, *_ in usual["every"]}
    page = open_page("leaderboard", cells="fit", column=["classification/f1?average=macro", "classification/accuracy"])
    few = drawn(page)
    assert [column["title"] for column in few["columns"]] == ["Accuracy", "F1 macro"]
    assert (few["cells_as"], len(few["every"])) == ("fit", len(usual["every"]))
    press(page, "Clear filters")
    assert len(drawn(page)["columns"]) == len(usual["columns"])


def test_every_cell_has_its_rank(run: Run, open_page: Open) -> None:
    heatmap = drawn(open_page("leaderboard"))
    place = next(place for place, column in enumerate(heatmap["columns"]) if column["title"] == "Accuracy")
    assert [row[place][-1] for row in heatmap["cells"]] == ["1 of 3", "2 of 3", "3 of 3"]


def test_filters_that_leave_nothing_say_so(run: Run, open_page: Open) -> None:
    page = open_page("leaderboard", search="no such model")
    assert page.info[0].value.startswith("The filters in the sidebar leave no model")


def test_an_unknown_run_is_named_and_another_one_shown(run: Run, open_page: Open) -> None:
    page = open_page("leaderboard", run="20200101-000000-abcdef")
    for drawn_again in (page, page.run()):
        assert drawn_again.error[0].value.startswith(r"This workspace has no run '20200101\-000000\-abcdef'")
        assert drawn(drawn_again)["models"]


def test_a_link_to_a_deleted_run_says_that_it_is_in_the_bin(workspace: Path, open_page: Open) -> None:
    deleted, _ = (finished(Workspace(), labels_suite(), labels_outputs(), "classification") for _ in range(2))
    Workspace().delete_run(deleted.id)
    page = open_page("leaderboard", run=deleted.id)
    assert "is in the bin. Restore it" in page.error[0].value


def test_the_next_question_is_the_problems(run: Run, open_page: Open) -> None:
    page = AppTest.from_file(str(PROJECT / "app.py"), default_timeout=300).run()
    button = next(button for button in page.button if button.label.startswith("See the problems ("))
    button.click().run()
    assert not page.exception
    assert page.title[0].value == "What went wrong"
    assert page.query_params["run"] == run.id


def test_an_empty_workspace_computes_one_sample_and_opens_it(workspace, monkeypatch, open_page):
    started = []
    monkeypatch.setattr("components.data.workspace_runs.waits_for_sample", waits_for_sample)
    monkeypatch.setattr("metrics.suites.samples.start_first", lambda given: started.append(given.path) or True)
    page = open_page("leaderboard")
    assert started == [workspace]
    assert page.subheader[0].value == "A sample evaluation is being computed"
    sample_run(workspace)
    page.run()
    assert len(started) == 1
    assert "1 of 4" in page.markdown[0].value


def test_a_workspace_without_runs_and_samples_teaches(workspace, monkeypatch, open_page):
    monkeypatch.setattr("components.data.workspace_runs.waits_for_sample", waits_for_sample)
    monkeypatch.setattr("metrics.suites.samples.start_first", lambda given: False)
    page = open_page("leaderboard")
    assert page.subheader[0].value == "No run yet"
    assert page.button[0].label == "Evaluate a suite"
    assert not Workspace().runs()


def test_decisive_metrics_are_kept_with_the_suite(look_at_copy: Look, open_page: Open) -> None:
    """The sentence is about the metrics that the user marked, on this page and in every other summary of the suite."""
    run = look_at_copy(animals_run)
    page = open_page("leaderboard", run=run.id)
    page.multiselect(key="decisive-metrics").select("classification/accuracy").run()
    assert ThresholdProfiles(run.workspace.path).decisive(run.spec.suite.fingerprint) == ("classification/accuracy",)
    sentence = "sharp leads: best in Accuracy."
    assert headline(leaderboard(run)).sentence == sentence
    page = open_page("leaderboard", run=run.id)
    assert drawn(page)["headline"] == sentence
    page.multiselect(key="decisive-metrics").unselect("classification/accuracy").run()
    assert leaderboard(run).decisive == ()
