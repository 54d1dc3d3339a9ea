"""What is stored comes back the same; what does not exist is said in words."""

import pytest

from metrics.core.errors import RunCorrupt, RunNotFound
from metrics.core.files import written_whole
from metrics.core.suite import Outputs
from metrics.store import Workspace
from metrics.store.run_check import verify
from tests.engine.engine_scenes import text_outputs, text_suite

SPECIFIED = {
    "name": "",
    "suite": {"fingerprint": "0" * 64, "name": "", "task": "text", "cases": 0},
    "outputs": {"fingerprint": "0" * 64, "models": []}, "evaluators": [], "seed": 0,
}  # fmt: skip


def test_suite_and_outputs_come_back_with_the_same_fingerprint(workspace):
    store, suite, outputs = Workspace(), text_suite(), text_outputs()
    found = store.suite(store.save_suite(suite))
    assert found.fingerprint == suite.fingerprint
    assert found.cases.equals(suite.cases), "with the columns that have no value"
    stored = store.outputs(store.save_outputs(outputs, suite))
    assert stored.outputs.equals(outputs.outputs)


def test_outputs_are_stored_by_model_and_in_the_order_of_the_suite(workspace):
    store, suite = Workspace(), text_suite(3)
    shuffled = Outputs.from_rows(
        [{"case_id": c, "model": m, "answer": c} for c, m in (("c2", "b"), ("c0", "a"), ("c0", "b"), ("c1", "a"))]
    )
    table = store.outputs(store.save_outputs(shuffled, suite)).outputs
    assert list(zip(table["model"].to_pylist(), table["case_id"].to_pylist(), strict=True)) == [
        ("b", "c0"), ("b", "c2"), ("a", "c0"), ("a", "c1"),
    ]  # fmt: skip
    assert store.outputs_rows(shuffled.fingerprint, 1, 3)["case_id"].to_pylist() == ["c2", "c0"]
    known = store.outputs_rows(shuffled.fingerprint, 1, 3, known=("case_id", "model"))
    assert known.to_pylist() == [{"run": 1, "answer": "c2"}, {"run": 1, "answer": "c0"}]


@pytest.mark.parametrize(("kept", "expected"), [
    pytest.param(lambda *_: True, [*range(4)] * 2, id="a case each"),
    pytest.param(lambda model, case: (model, case) != ("poor", "c1"), [0, 1, 2, 3, 0, 2, 3], id="one less"),
    pytest.param(lambda model, case: model == "poor" and case in ("c0", "c3"), [0, 3], id="two of a model"),
])  # fmt: skip
@pytest.mark.parametrize("repeats", [1, 2])
def test_the_place_of_each_output_in_the_suite(workspace, kept, expected, repeats):
    store, suite = Workspace(), text_suite(4)
    rows = [row for row in text_outputs(4, repeats=repeats).outputs.to_pylist() if kept(row["model"], row["case_id"])]
    fingerprint, size = store.save_outputs(Outputs.from_rows(rows), suite), len(rows)
    places = store.positions(fingerprint, store.save_suite(suite), 0, size).to_pylist()
    assert places == [place for place in expected for _ in range(repeats)]
    assert store.positions(fingerprint, suite.fingerprint, 1, size).to_pylist() == places[1:]


def test_one_model_of_outputs_is_what_restricting_them_gives(workspace):
    store, suite, outputs = Workspace(), text_suite(5), text_outputs(5)
    store.save_outputs(outputs, suite)
    whole = store.outputs(outputs.fingerprint)
    for model in whole.models:
        assert store.outputs(outputs.fingerprint, model).fingerprint == whole.restricted(model).fingerprint
    assert len(store.outputs(outputs.fingerprint, "unknown").outputs) == 0


@pytest.mark.parametrize("name", ["latest", "nothing", "../../etc", "20260101-000000-abcdef", ""])
def test_a_run_that_is_not_there(workspace, name):
    with pytest.raises(RunNotFound, match="there is no run"):
        Workspace().run(name)


def test_of_runs_of_one_second_the_later_is_the_newer(workspace):
    made = [Workspace().create_run(SPECIFIED).id for _ in range(20)]
    assert [run.id for run in Workspace().runs()] == made[::-1]


def test_a_clock_that_goes_back_changes_no_order(workspace, monkeypatch):
    made = [Workspace().create_run(SPECIFIED).id]
    monkeypatch.setattr("time.time_ns", lambda: 1_000_000_000)
    made += [Workspace().create_run(SPECIFIED).id for _ in range(3)]
    assert [run.id for run in Workspace().runs()] == made[::-1]


def test_a_changed_table_is_found_out(run):
    path = run.table_path("scores")
    assert path is not None
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    with pytest.raises(RunCorrupt, match="table scores differs from its seal"):
        verify(run)
    path.unlink()
    with pytest.raises(RunCorrupt, match=r"table scores is lost: there is no scores\.parquet"):
        _ = run.scores


def test_what_is_written_is_whole_or_absent(tmp_path):
    target = tmp_path / "folder" / "file"
    with pytest.raises(ZeroDivisionError), written_whole(target) as beside:
        beside.write_text("half")
        raise ZeroDivisionError
    assert list(target.parent.iterdir()) == []
