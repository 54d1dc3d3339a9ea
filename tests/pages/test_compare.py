"""Compare: is B really better than A?"""

import json
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from streamlit.testing.v1 import AppTest

from components.views.results import model_comparison
from metrics.analysis import Comparison, Difference, Unpaired, compare as paired
from metrics.analysis.leaderboard.cells import NOT_EVALUATED
from metrics.core.suite import Outputs
from metrics.presentation.format import interval
from metrics.presentation.questions.is_it_better import answer, unpaired_table
from metrics.store import Run, Workspace
from tests.analysis.comparison import test_paired_bootstrap as pets
from tests.components.board_scenes import column
from tests.engine.engine_scenes import finished, text_outputs, text_suite
from tests.labels import label, labelled_run
from tests.pages.conftest import HOSTILE, Look, Open, Went
from tests.pages.page_scenes import marked
from tests.pages.reading import labelled, press


def texts(page: AppTest) -> str:
    assert not page.exception
    return "\n".join(element.value for kind in (page.subheader, page.text, page.caption) for element in kind)


def words_run(folder: Path) -> Run:
    """A run of texts: `good` and `poor` of the engine's scenes."""
    return finished(Workspace(folder), text_suite(12), text_outputs(12), "rouge", "looping_detection", name="First")


@pytest.fixture
def words(look_at: Look) -> Run:
    return look_at(words_run)


def test_the_leader_is_compared_with_the_next(run: Run, open_page: Open) -> None:
    page = open_page("compare")
    said = texts(page)
    assert page.title[0].value == "Compare"
    assert page.caption[0].value == "Is B really better than A?"
    assert said.startswith("Yes: sharp is better in 4 of 4 metrics shown, and blunt in none\nA  blunt    B  sharp")
    assert (page.query_params["a"], page.query_params["b"]) == ("blunt", "sharp")
    table = page.dataframe[0].value
    assert table["Metric"].tolist() == ["Classification · Accuracy ↑"]
    assert table["Wins / losses / ties"].tolist() == ["36 / 8 / 76"]
    assert "neither a value per case nor resamples" not in said


def test_metrics_of_the_data_set_are_paired_and_lead_to_their_labels(workspace: Path, open_page: Open) -> None:
    run = pets.evaluated(pets.outputs())
    key = pets.metric(paired(run, "A", "B").resampled, "AP").column.key
    page = open_page("compare", a="A", b="B")
    assert texts(page).startswith("Yes: B is better in ")
    table = page.dataframe[0].value
    row = table[table["Metric of the whole data set"] == "COCO summary · AP ↑"].iloc[0]
    assert (row["Verdict"], row["B − A"][0], row["p"]) == ("B is better", "+", "<0.001")
    assert row["95 % interval"]
    focused = open_page("compare", a="A", b="B", key=key)
    assert focused.subheader[0].value == "COCO summary · AP ↑"
    assert focused.text[1].value.startswith("B is better: A 0.")
    labels = focused.dataframe[0].value
    assert labels["Label"].tolist() == ["cat", "dog"]
    assert labels["Verdict"].tolist() == ["B is better", "equal in every resample"]
    assert labels["B − A"].tolist()[1] == "0.00"


def test_swapping_turns_the_answer(run: Run, open_page: Open) -> None:
    page = open_page("compare", a="blunt", b="sharp")
    press(page, "Swap")
    assert texts(page).startswith(
        "No: sharp is better in 4 of 4 metrics shown, and blunt in none\nA  sharp    B  blunt"
    )
    assert (page.query_params["a"], page.query_params["b"]) == ("sharp", "blunt")


def test_a_filter_chooses_the_models(run: Run, open_page: Open) -> None:
    page = open_page("compare")
    next(box for box in page.sidebar.selectbox if box.label.startswith("A, the baseline")).set_value(HOSTILE).run()
    assert page.query_params["a"] == HOSTILE
    assert f"A  {HOSTILE[:40]}" in texts(page)
    next(box for box in page.sidebar.selectbox if box.label.startswith("B, the")).set_value(HOSTILE).run()
    assert page.info[0].value.startswith("A and B are the same model")


def test_the_button_leads_to_the_regressions_and_on_to_the_case(run: Run, open_page: Open) -> None:
    page = open_page("compare", a="blunt", b="sharp")
    next(button for button in page.button if button.label.startswith("See where B does worse (")).click().run()
    assert page.query_params["key"] == "classification/accuracy"
    rows = page.dataframe[0].value
    assert len(rows) == int(page.segmented_control[0].options[0].partition("(")[2].rstrip(")"))
    assert (rows["difference"] == "−1.00").all()
    page.segmented_control[0].set_value("wins").run()
    assert (page.dataframe[0].value["difference"] == "+1.00").all()
    assert "dog  0.900" in texts(page)
    press(page, "All metrics")
    assert texts(page).startswith("Yes")


def test_answers_word_by_word(words: Run, open_page: Open) -> None:
    page = open_page("compare", a="good", b="poor", key="rouge/rougeL", case="c3")
    assert "A  good    B  poor" in texts(page)
    assert ("for the evening train to leave the river runs", "removed") in marked(page)
    written = open_page("compare", a="good", b="poor", key="rouge/rougeL", view="written")
    assert not marked(written)
    assert "A · good · 1.00" in texts(written)


def test_the_other_correction(words: Run, open_page: Open) -> None:
    assert "after Holm correction" in texts(open_page("compare"))
    assert "without correction" in texts(open_page("compare", correction="none"))
    assert "after Holm correction" in texts(open_page("compare", correction="'; DROP"))


def test_allowed_losses_say_whether_b_may_replace_a(words: Run, open_page: Open) -> None:
    """Given in the page, kept in the address; the answer of a metric stands above its cases."""
    page = open_page("compare", a="good", b="poor")
    fields = [field.label.replace("\\", "") for field in page.number_input]
    assert fields == ["ROUGE-L ↑", "Looping detection · Looping ↓"]
    page.number_input[0].set_value(0.05).run()
    assert page.query_params["margin"] == "rouge/rougeL:0.05"
    assert texts(page).startswith("B may not replace A: worse in 1 of 1 metric\nA  good    B  poor")
    [told] = page.dataframe[0].value["sentence"]
    assert told.startswith("B may not replace A: ROUGE-L is worse, ")
    assert told.endswith(", perhaps more than the 5 points that you allow.")
    swapped = open_page("compare", a="poor", b="good", margin=["rouge/rougeL:0.05", "looping_detection/looping:0.3"])
    assert texts(swapped).startswith("B may replace A: not worse than you allow in all 2 metrics")
    assert [" is better, " in told for told in swapped.dataframe[0].value["sentence"]] == [True, False]
    assert "Put the answer into a report" in [button.label for button in swapped.button]
    focused = open_page("compare", a="poor", b="good", key="rouge/rougeL", margin="rouge/rougeL:0.05")
    assert "B may replace A: ROUGE-L is better, " in texts(focused)
    assert len(focused.number_input) == 1
    focused.number_input[0].set_value(0).run()
    assert "margin" not in focused.query_params
    assert "may replace" not in texts(focused)


@pytest.mark.parametrize("margin", ["rouge/rougeL:-1", "rouge/rougeL:nan", "rouge/rougeL", "gone/gone:1", "':'"])
def test_what_is_no_allowed_loss_is_left_out(margin: str, words: Run, open_page: Open) -> None:
    assert "replace A" not in texts(open_page("compare", a="good", b="poor", margin=margin))


def test_at_every_look_too_few_cases_say_nothing(words: Run, open_page: Open) -> None:
    page = open_page("compare", a="good", b="poor", margin="rouge/rougeL:0.05")
    labelled(page.sidebar.toggle, "Cases still arrive").set_value(True).run()
    assert page.query_params["anytime"] == "1"
    assert texts(page).startswith("Not enough cases to let B replace A in 1 of 1 metric: about ")
    assert page.dataframe[1].value["Verdict"].unique().tolist() == ["no significant difference", "equal on every case"]


def test_one_model_in_two_runs(look_at_copy: Look, open_page: Open, went: Went) -> None:
    words = look_at_copy(words_run)
    again = finished(Workspace(), text_suite(12), text_outputs(12, models=("poor",)), "rouge", name="Second")
    page = open_page("compare", run=again.id, other=words.id)
    said = texts(page)
    assert (page.query_params["a"], page.query_params["b"]) == ("poor", "poor")
    assert "A  poor (Second, " in said
    assert "B  poor (First, " in said
    assert "In one of the two runs only, so not compared: Looping detection." in said
    focused = open_page("compare", run=again.id, other=words.id, b="good", key="rouge/rougeL", kind="wins")
    press(focused, "Open this case")
    assert went[-1].items() >= {"page": "case", "run": words.id, "model": "good", "baseline": f"run:{again.id}"}.items()
    other = open_page("compare", run=words.id, other=again.id, a="good", key="rouge/rougeL")
    assert {"Open in the run of A", "Open in the run of B"} <= {button.label for button in other.button}


def test_a_single_model_teaches(workspace: Path, open_page: Open) -> None:
    finished(Workspace(), text_suite(3), text_outputs(3, models=("good",)), "rouge")
    page = open_page("compare")
    assert page.subheader[0].value == "There is only one model"


def test_models_that_are_alike_are_compared(workspace: Path, open_page: Open) -> None:
    poor = text_outputs(12, models=("poor",)).outputs.to_pylist()
    rows = [row | {"model": model} for model in ("m", "n") for row in poor]
    finished(Workspace(), text_suite(12), Outputs.from_rows(rows), "rouge")
    page = open_page("compare")
    assert page.query_params["a"] != page.query_params["b"]
    assert texts(page).startswith("No significant difference")


@pytest.mark.parametrize(("found", "said"), [
    (["better", "open"], "Yes: B is better in 1 of 2 metrics shown, and A in none"),
    (["worse"], "No: A is better in 1 of 1 metric shown, and B in none"),
    (["better", "worse", "leaning"], "It depends: B is better in 1 of 3 metrics shown, A in 1 (M)"),
    (["open", "equal"], "No significant difference between A and B in any of 2 metrics shown"),
    (["leaning"], "No significant difference between A and B in any of 1 metric shown"),
    (["none"], "Not tested: M"),
    (
        ["worse", "leaning"],
        "It depends: A is better in 1 of 2 metrics shown; B may be better in M (by 0.200), uncorrected",
    ),
])  # fmt: skip
def test_the_answer(found: list[str], said: str) -> None:
    rows = tuple(replace(row("higher", -0.1, 0.2, 0.5), significance=one) for one in found)
    compared = Comparison("a", "b", "1", "1", 9, rows, (), (), "holm", len(rows), clustered=False, notes=())
    assert answer(compared) == said


@given(st.lists(st.tuples(st.sampled_from(["better", "worse", "leaning", "open"]), st.booleans()), min_size=1))
def test_no_answer_is_silent_on_what_may_be_worse(given: list[tuple[str, bool]]) -> None:
    """Law: where the better model may be worse in a metric, no answer says "in none", and none is a plain Yes or No."""
    rows = tuple(
        replace(row("higher", -0.1, 0.2, 0.5) if up else row("higher", -0.5, -0.2, 0.1), significance=one)
        for one, up in given
    )
    said = answer(Comparison("a", "b", "1", "1", 9, rows, (), (), "holm", len(rows), clustered=False, notes=()))
    praised = re.search(r": ([AB]) is better in ", said)
    if praised and ("leaning", praised[1] == "A") in given:
        other = {"A": "B", "B": "A"}[praised[1]]
        assert said.startswith("It depends")
        assert f"; {other} may be better in M (by 0.200)" in said
        assert "in none" not in said


FEW = "fewer than 5 predictions are wrong."


@pytest.mark.parametrize(("direction", "a", "b", "said"), [
    ("lower", 0.09, 0.19, "not tested: M (lower for A)"),
    ("higher", 0.09, 0.19, "not tested: M (higher for B)"),
    ("lower", 0.09, 0.09, "not tested: M"),
    ("higher", None, 0.19, "not tested: M"),
    ("none", 0.09, 0.19, "not tested: M"),
])  # fmt: skip
def test_the_answer_counts_what_is_shown_and_names_what_is_not_tested(
    direction: str, a: float | None, b: float | None, said: str
) -> None:
    """Law: the sentence's whole is every column shown; what decides nothing is named, with the better number."""
    tested = [replace(row("higher", -0.1, 0.2, 0.5), significance="better"), row("none", -0.1, 0.2, 0.5)]
    cells = [replace(NOT_EVALUATED, value=value, reason=FEW if value else None) for value in (a, b)]
    unpaired = Unpaired(column("e/m", direction), *cells)
    compared = Comparison("a", "b", "1", "1", 9, tuple(tested), (), (unpaired,), "holm", 2, clustered=False, notes=())
    assert (
        answer(compared) == f"Yes: B is better in 1 of 3 metrics shown, and A in none; {said}; neither end is better: M"
    )
    why = unpaired_table([unpaired]).rows[0][-1]
    assert why == (f"B: {FEW[:-1]}" if a is None else f"A: {FEW[:-1]}; B: {FEW[:-1]}")


@pytest.mark.parametrize(("found", "said"), [
    (["better", "worse", "worse"], "Yes: B is better in M and 1 of 3 metrics shown, A in 2 (M and M)"),
    (["worse", "better", "worse"], "No: A is better in M and 2 of 3 metrics shown, B in 1 (M)"),
    (["open", "better", "worse"], "It depends: B is better in 1 of 3 metrics shown, A in 1 (M)"),
])  # fmt: skip
def test_what_people_choose_by_decides(found: list[str], said: str) -> None:
    rows = [replace(row("higher", -0.1, 0.2, 0.5), significance=one) for one in found]
    rows[0] = replace(rows[0], column=replace(rows[0].column, first=True))
    compared = Comparison("a", "b", "1", "1", 9, tuple(rows), (), (), "holm", len(rows), clustered=False, notes=())
    assert answer(compared) == said


def row(direction: str, low: float, middle: float, high: float, end: float = 1.0, a: float = 0.5) -> Difference:
    return Difference(
        column=column("e/m", direction, high=end), n=9, only_a=0, only_b=0, neither=0, clusters=9, a=a, b=a + middle,
        difference=middle, test="t", wins=0, losses=0, ties=9, low=low, high=high, p=0.2, adjusted=0.4,
        significance="open",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(row("higher", -0.1, 0.2, 0.5), (-0.1, 0.2, 0.5), id="higher"),
        pytest.param(row("lower", -0.1, 0.2, 0.5), (-0.5, -0.2, 0.1), id="lower-turned"),
        pytest.param(row("higher", -1, 2, 5, end=10), (-1, 2, 5), id="of-any-range"),
        pytest.param(row("lower", -1, 2, 5, end=float("inf"), a=2.0), (-5, -2, 1), id="of-an-open-range"),
        pytest.param(row("none", -0.1, 0.2, 0.5), None, id="undirected"),
        pytest.param(row("lower", 0, 0, 0, end=float("inf"), a=0.0), None, id="no-scale"),
    ],
)
def test_right_of_zero_is_b_better(given: Difference, expected: tuple[float, ...] | None) -> None:
    assert model_comparison.toward_b(given) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize(("span", "percent", "expected"), [
    (1.2, False, "+.2~f"), (0.1, False, "+.2~f"), (0.012, False, "+.3~f"), (0.0, False, "+.2~f"), (1.2, True, "+.0~%"),
    (0.02, True, "+.1~%"),
])  # fmt: skip
def test_ticks_have_the_decimals_that_set_them_apart(span: float, percent: bool, expected: str) -> None:
    assert model_comparison.tick_format(span, percent) == expected


def test_the_forest_has_a_panel_for_open_ranges_and_draws_names_literally() -> None:
    fine = row("higher", -0.1, 0.2, 0.5)
    hostile = replace(fine, column=replace(fine.column, evaluator_title="<b>%{x}"))
    figure = model_comparison.forest([hostile, row("lower", -1, 2, 5, end=float("inf"))])
    drawn = json.loads(figure.to_json())
    assert [trace["customdata"] for trace in drawn["data"] if trace["mode"] == "markers"] == [[["e/m"]]] * 2
    assert drawn["layout"]["yaxis"]["ticktext"] == ["&lt;b&gt;&#37;{x}<br>M ↑"]
    assert "yaxis2" in drawn["layout"]
    assert drawn["layout"]["xaxis"]["range"][0] < -0.1 < 0 < 0.5 < drawn["layout"]["xaxis"]["range"][1]


def test_what_the_forest_draws_is_what_it_writes() -> None:
    """Law: a point lies at the number beside it, of an open range at the per cent beside it; so do its ends."""
    ranges = ((0.0, 1.0), (-1.0, 1.0), (0.0, 2.0), (1.0, 5.0), (0.0, 100.0), (0.0, math.inf))
    rows = [
        replace(made, column=replace(made.column, low=low, high=high))
        for low, high in ranges
        for made in (row("higher", 0.1, 0.346, 0.6), row("lower", -0.6, -0.262, 0.1))
    ]
    drawn = json.loads(model_comparison.forest(rows).to_json())
    labels = [one["text"] for one in drawn["layout"]["annotations"] if one["text"].startswith("<b>")]
    points = [trace["x"][0] for trace in drawn["data"] if trace["mode"] == "markers"]
    ends = [trace["x"] for trace in drawn["data"] if trace["mode"] == "lines"]
    assert len(labels) == len(points) == len(rows)
    for beside, point, (low, high) in zip(labels, points, ends, strict=True):
        written, share, between = re.fullmatch(r"<b>\+([\d.]+)(?: \(\+(\d+) %\))?</b><br>(.*)", beside).groups()
        assert point == pytest.approx(int(share) / 100 if share else float(written), abs=0.005)
        if not share:
            assert between == interval(low, high)
    titles = {one["title"]["text"] for name, one in drawn["layout"].items() if name.startswith("xaxis")}
    assert titles == {
        "by how much B is better (↓: A − B)", "by how much B is better, in per cent of the mean of A (↓: A − B)"
    }  # fmt: skip
    assert sum(name.startswith("xaxis") for name in drawn["layout"]) == 4, "ranges up to 2 share an axis"


@pytest.mark.parametrize(("title", "metric", "lines"), [
    ("Classification", "accuracy", "Classification<br>Accuracy ↑"),
    ("ROUGE", "rougeL", "ROUGE-L ↑"),
    ("Answer relevancy", "answer_relevancy_by_sentences", "Answer relevancy by<br>sentences ↑"),
    ("E" * 90, "m" * 90, "E" * 23 + "…<br>M" + "m" * 20 + "… ↑"),
], ids=["two", "one", "wrapped", "cut"])  # fmt: skip
def test_names_beside_the_forest_take_two_short_lines(title: str, metric: str, lines: str) -> None:
    column = replace(row("higher", -0.1, 0.2, 0.5).column, evaluator_title=title, metric=metric, title=metric)
    assert model_comparison.two_lines(column) == lines
    assert sum(model_comparison.SIDES) <= 820 / 3  # of a tablet's width


def test_what_was_tested_is_listed_over_the_pages(run: Run, open_page: Open) -> None:
    """Three models have three pairs in each of eighteen metrics, one family; uncorrected each test stands alone."""
    page = open_page("compare", run=run.id, a="blunt", b="sharp")
    assert listed_tests(page) == {"Which models are better in a metric?": "54"}
    plain = open_page("compare", run=run.id, a="blunt", b="sharp", correction="none")
    assert listed_tests(plain) == {"Which models are better in a metric?": "54", "Is sharp better than blunt?": "4"}
    assert list(plain.session_state["tested"][run.id]) == ["Is sharp better than blunt?"]


def listed_tests(page: AppTest) -> dict[str, str]:
    """The questions in the list of what was tested and their numbers of tests."""
    texts(page)
    page.session_state["what-was-tested"] = True
    page.run()
    (found,) = [each for each in page.expander if each.label.startswith("What was tested")]
    rows = found.dataframe[0].value
    return dict(zip(rows["Question"], rows["Tests"], strict=True))


def test_a_pair_with_labels_shows_its_corrected_difference(workspace: Path, open_page: Open) -> None:
    run = labelled_run(Workspace(workspace))
    label(run, "ann", range(30))
    page = open_page("compare", run=run.id, a="short", b="long")
    (table,) = [one.value for one in page.dataframe if "Labels of A / B" in one.value]
    assert table["Labels of A / B"].unique().tolist() == ["30 / 30"]
    assert set(table["Result"]) == {"long is better"}
