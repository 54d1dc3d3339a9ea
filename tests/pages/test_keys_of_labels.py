"""A run whose labels have keys: on the leaderboard, in comparisons, curves and reports each key has its own numbers."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from metrics import analysis
from metrics.core.suite import Outputs
from metrics.reports.build import build
from metrics.store import Run, Workspace
from tests.core.test_label_keys import KEYS, dogs
from tests.engine.engine_scenes import finished
from tests.pages.conftest import Open

EVALUATORS = ("classification", "roc_auc", "classification_pr_curve", "calibration")
PARAMETERS = {name: {"resamples": 40} for name in EVALUATORS}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a run of two models: `n` has the colours right and `m`'s breeds."""
    folder = tmp_path_factory.mktemp("keyed")
    suite, made, _ = dogs()
    assert made.predictions is not None
    truths = dict(zip(suite.cases["case_id"].to_pylist(), suite.cases["label"].to_pylist(), strict=True))
    rows = made.predictions.to_pylist()
    scores = [
        float(row["label"] in truths[row["case_id"]]) if row["label"].startswith("colour") else row["score"]
        for row in rows
    ]
    better = made.predictions.set_column(made.predictions.column_names.index("score"), "score", pa.array(scores))
    outputs = Outputs(
        pa.concat_tables([made.outputs, called(made.outputs, "n")]),
        pa.concat_tables([made.predictions, called(better, "n")]),
    )
    finished(Workspace(folder), replace(suite, name="dogs"), outputs, *EVALUATORS, parameters=PARAMETERS)
    return folder


def called(table: pa.Table, model: str) -> pa.Table:
    """The table of one model under another name."""
    return table.set_column(table.column_names.index("model"), "model", pa.array([model] * len(table)))


@pytest.fixture
def run(place: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("ASSAY_WORKSPACE", str(place))
    return Workspace().run("latest")


def test_the_leaderboard_has_a_column_for_each_key(run: Run) -> None:
    board = analysis.leaderboard(run)
    assert board.label_keys == tuple(KEYS)
    shown = {column.key: column for column in board.columns if not column.minor}
    accuracy = {column.label_key: column for column in shown.values() if column.metric == "accuracy"}
    assert {key: column.title for key, column in accuracy.items()} == {key: f"accuracy {key}" for key in KEYS}
    values = {(model, key): board.cells[model, column.key].value for key, column in accuracy.items() for model in "mn"}
    assert values["n", "colour"] == 1.0
    assert values["m", "colour"] < 0.8
    assert values["m", "breed"] == values["n", "breed"]
    auc = {column.label_key: column.key for column in shown.values() if column.metric == "roc_auc"}
    assert board.cells["n", auc["colour"]].best
    assert board.cells["m", auc["colour"]].rank == 2
    assert board.cells["m", auc["breed"]].rank == board.cells["n", auc["breed"]].rank == 1


def test_a_comparison_pairs_each_key_on_its_resamples(run: Run) -> None:
    found = analysis.compare(run, "m", "n")
    assert found.rows == (), "values per case are means over keys: they are of no one column"
    rows = {(row.column.metric, row.column.label_key): row for row in found.resampled if row.label is None}
    assert rows["roc_auc", "colour"].difference > 0.2
    assert rows["roc_auc", "breed"].difference == 0.0
    key = rows["roc_auc", "colour"].column.key
    labels = {row.label for row in analysis.compare_labels(run, "m", "n", key)}
    assert labels == {"colour=black", "colour=red"}


def test_charts_of_a_report_are_apart_by_key(run: Run) -> None:
    titles = [chart.title for group in build(run).charts for chart in group.charts]
    for key in KEYS:
        assert f"Classification, {key}: m" in titles
        assert f"Calibration, {key}: n" in titles
        assert any(title.startswith(f"Classification precision–recall curve, {key}") for title in titles)


def test_the_pages_show_one_key_on_demand(run: Run, open_page: Open) -> None:
    page = open_page("curves", run=run.id, view="classes", label_key="colour")
    (choice,) = [box for box in page.selectbox if box.label.startswith("Label key")]
    assert choice.options == list(KEYS)
    tables = [table.value for table in page.dataframe]
    assert all("breed=" not in table.to_csv() for table in tables)
    assert any("colour=red" in table.to_csv() for table in tables)
    page = open_page("leaderboard", run=run.id, label_key="breed")
    assert any("Accuracy breed" in text.value for text in page.text)
    page = open_page("cases", run=run.id, evaluator="classification", metric="accuracy")
    assert any("mean over the keys of its labels: breed, colour" in caption.value for caption in page.caption)


def test_a_run_without_keys_has_no_choice(tmp_path: Path) -> None:
    suite, outputs, _ = dogs()
    suite = replace(suite, label_keys=())
    plain = finished(Workspace(tmp_path), suite, outputs, "roc_auc", parameters={"roc_auc": {"resamples": 0}})
    board = analysis.leaderboard(plain)
    assert board.label_keys == ()
    assert [column.title for column in board.columns] == ["roc_auc", "roc_auc_ovo"]
    assert "key" not in plain.curves("roc_auc")
