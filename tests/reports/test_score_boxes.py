"""Box plots of runs and result CSVs side by side: the numbers, the picture, the command."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from metrics.analysis import leaderboard
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.suite import Outputs
from metrics.presentation.format import number
from metrics.reports.renderers.box_plots import box_plots
from metrics.reports.renderers.typesetting import picture_of
from metrics.reports.score_boxes import score_panels
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished, text_outputs, text_suite

VITAL, ANSWERED = "generation_score_vital_nuggetizer_score", "generation_score_no_answer_score"


def results(folder: Path, name: str, vital: list[float], answered: str, prefix: str = "") -> Path:
    """A result CSV with a question for each value; `answered` has a letter y or n for each."""
    said = [json.dumps({"query_answered": "yes" if letter == "y" else "no"}) for letter in answered]
    frame = pd.DataFrame({"query_id": range(len(vital)), prefix + VITAL: vital, prefix + ANSWERED: said})
    frame["consistency_bert_score"] = json.dumps({"values": [1, 1, 1], "stats": {"consistency_adjusted_index": 0.5}})
    frame.to_csv(folder / name, index=False)
    return folder / name


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [
        results(tmp_path, "one.csv", [0.0, 0.4, 0.5, 0.5, 0.6, 1.0], "yyyyny"),
        results(tmp_path, "two.csv", [0.25, 0.75], "nn", "run_1_"),
    ]


@pytest.fixture(scope="module")
def run(module_workspace: Path) -> Run:
    return finished(Workspace(), text_suite(), text_outputs(repeats=2), "rouge", "text_matching")


BOXES = (  # quartiles, whiskers and mean as matplotlib's boxplot_stats gives them
    ((0.425, 0.5, 0.575), (0.4, 0.6), 0.5),
    ((0.375, 0.5, 0.625), (0.25, 0.75), 0.5),
)


def test_boxes_are_those_of_matplotlib(files: list[Path]) -> None:
    panels = score_panels(files)
    assert [panel.title for panel in panels] == ["AutoNuggetizer · Vital\u00a0↑", "Questions answered"]
    for box, (quartiles, whiskers, mean) in zip(panels[0].boxes, BOXES, strict=True):
        spread = box.spread
        assert spread.box == pytest.approx(quartiles)
        assert (spread.whisker_low, spread.whisker_high) == whiskers
        assert box.mean == pytest.approx(mean)
        assert 0 <= box.low <= mean <= box.high <= 1


def test_the_share_answered_is_a_bar_with_wilson_s_interval(files: list[Path]) -> None:
    (panel,) = score_panels(files, ["questions_answered"])
    assert panel.share
    one, two = panel.boxes
    assert one.mean == pytest.approx(5 / 6)
    assert (one.low, one.high) == pytest.approx((0.4365, 0.9699), abs=1e-4)
    assert (two.low, two.high) == pytest.approx((0.0, 0.6576), abs=1e-4)


GRADES = {
    "no passage relevant": [0, 0, 0, 0],
    "grades 0 and 1": [0, 1, 1, 1],
    "grades 0 to 3": [0, 3, 3, 2],
    "all the best": [3, 3, 3],
}


@pytest.mark.parametrize("column", ["retrieval_score_mean_umbrela_score", VITAL, "generation_score_of_another_tool"])
@pytest.mark.parametrize("grades", GRADES.values(), ids=GRADES.keys())
def test_a_grade_is_a_box_with_mean_and_median_whatever_its_values(
    tmp_path: Path, column: str, grades: list[int]
) -> None:
    values = grades if "umbrela" in column else [min(grade, 1) for grade in grades]
    pd.DataFrame({"query_id": range(len(values)), column: values}).to_csv(tmp_path / "grades.csv", index=False)
    (panel,) = score_panels([tmp_path / "grades.csv"])
    (box,) = panel.boxes
    assert not panel.share
    assert (box.mean, box.spread.box[1]) == (np.mean(values), np.median(values))
    figure = box_plots([panel])
    texts = {label.text for label in figure.labels}
    assert {"mean", "median", number(box.mean), number(box.spread.box[1])} <= texts
    assert not any("yes or no" in text for text in texts)
    assert figure.shapes.count("<circle") == len(values)


def test_a_run_has_a_box_for_each_model_and_a_value_for_each_question(run: Run, files: list[Path]) -> None:
    panels = score_panels([run, files[0]], ["rouge", "rouge.rouge1", VITAL])
    assert [panel.title for panel in panels] == ["ROUGE-L\u00a0↑", "ROUGE-1\u00a0↑", "AutoNuggetizer · Vital\u00a0↑"]
    assert [box.series for box in panels[0].boxes] == ["good", "poor", "one"]
    own = run.scores.query("metric == 'rouge1' and model == 'poor'").groupby("case_id")["value"].mean()
    assert np.sort(panels[1].boxes[1].values) == pytest.approx(np.sort(own.to_numpy()))
    assert [box.spread is None for box in panels[1].boxes] == [False, False, True]
    assert [box.spread is None for box in panels[2].boxes] == [True, True, False]
    assert next(panel.title for panel in score_panels([run])) == "ROUGE-L\u00a0↑"  # the primary metrics


def test_mean_and_interval_of_a_run_are_those_of_its_leaderboard(workspace: Path) -> None:
    suite = text_suite()
    weights = pa.array([float(place % 3 + 1) for place in range(len(suite))])
    place = suite.cases.schema.get_field_index("weight")
    weighted = replace(suite, cases=suite.cases.set_column(place, "weight", weights))
    expected = zip(suite.cases["case_id"].to_pylist(), suite.cases["expected_answers"].to_pylist(), strict=True)
    answers = [
        {"case_id": case_id, "model": "m", "answer": texts[0] if number < 2 else "no"}
        for number, (case_id, texts) in enumerate(expected)
    ]
    run = finished(Workspace(workspace), weighted, Outputs.from_rows(answers), "rouge")
    (panel,) = score_panels([run], ["rouge"])
    board = leaderboard(run)
    (column,) = (column for column in board.columns if column.title == "rougeL")
    for box in panel.boxes:
        cell = board.cells[box.series, column.key]
        assert (box.mean, box.low, box.high) == (cell.value, cell.low, cell.high)
    assert panel.boxes[0].mean == pytest.approx(3 / 12)  # weights 1, 2, 3, 1, 2, 3; the first two are right
    assert np.mean(panel.boxes[0].values) == pytest.approx(2 / 6)


def test_the_same_name_twice_is_told_apart(run: Run, files: list[Path]) -> None:
    (panel, *_) = score_panels([run, run, files[0], files[0]], ["rouge"])
    assert [box.series for box in panel.boxes] == [
        f"good · {run.name} (1)", f"poor · {run.name} (2)", f"good · {run.name} (3)", f"poor · {run.name} (4)",
        f"one · {files[0].parent} (5)", f"one · {files[0].parent} (6)",
    ]  # fmt: skip


def test_consistency(files: list[Path]) -> None:
    (panel,) = score_panels(files, evaluator="consistency")
    assert (panel.title, panel.boxes[0].values) == ("Consistency · Bert score\u00a0↑", (0.5,) * 6)


def test_what_cannot_be_drawn(files: list[Path], run: Run) -> None:
    with pytest.raises(InputError, match=r"--metrics: found 'rouge'; expected one of autonuggetizer.vital, no_answer"):
        score_panels(files, ["rouge", "questions_answered"])
    with pytest.raises(InputError, match="found none; expected scores that the trec evaluator plots"):
        score_panels([run], evaluator="trec")
    bad = files[0].with_name("bad.csv")
    bad.write_text("query_id,query\n1,x\n")
    with pytest.raises(InputError) as caught:
        score_panels([bad, *files, bad.with_name("bad.csv")])
    assert len(caught.value.problems) == 2


KINDS = {"png": b"\x89PNG\r\n", "svg": b"<svg", "pdf": b"%PDF"}


@pytest.mark.parametrize(("ending", "start"), KINDS.items(), ids=KINDS.keys())
def test_plot_writes_a_picture(files: list[Path], run: Run, tmp_path: Path, ending: str, start: bytes) -> None:
    file = tmp_path / f"chart.{ending}"
    options = ["--metrics-to-plot", VITAL, "rouge,questions_answered", "--output-file", str(file)]
    assert main(["plot", *map(str, files), run.id, *options]) == 0
    assert file.read_bytes().startswith(start)


def test_the_picture_shows_names_and_numbers_as_text(files: list[Path]) -> None:
    hostile = files[0].rename(files[0].with_name("#read(x)<b>$y$.csv"))
    figure = box_plots(score_panels([hostile, files[1]]))
    texts = {label.text for label in figure.labels}
    assert {"#read(x)<b>$y$", "two", "0.500", "83 %", "44–97 %", "6"} <= texts
    assert picture_of(figure, "png") == picture_of(figure, "png")


def test_plot_refuses_other_endings(files: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plot", str(files[0]), "-o", "chart.gif"]) == 2
    assert "found the ending 'gif'; expected .png, .svg or .pdf" in capsys.readouterr().err
