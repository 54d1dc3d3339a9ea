"""Thresholds that belong to models: a monitor judges by those of its creation, and says where they come from."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrics.calibrations import calibrated_thresholds
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.files import sha256_of
from metrics.monitoring import (
    Monitor,
    Watch,
    check,
    columns,
    drifts,
    feed,
    get_metrics,
    monitor,
    recalibrated,
    reference_of,
)
from metrics.store import Workspace
from metrics.store.threshold_profiles import Calibrations
from tests.calibrations.test_calibrated_thresholds import calibration
from tests.engine.engine_scenes import finished
from tests.monitoring.monitor_scenes import begun, line, write

pytestmark = pytest.mark.usefixtures("nothing_shipped")
CONTEXT = "The river runs past an old mill, which has been red since it was built."


def lines(count: int = 6) -> list[dict[str, Any]]:
    contexts = (CONTEXT, "Tax law of 1902.")
    return [line(index, answer=CONTEXT, contexts=[contexts[index % 2]]) for index in range(count)]


def fed(workspace: Path, folder: Path, name: str = "chat", **spec: Any) -> Monitor:
    found = begun(workspace, name, **{"evaluators": {"groundedness": {}}, "minimum": 1} | spec)
    feed(found, write(folder / f"{name}.jsonl", lines()))
    return found


def rate(found: Monitor) -> Any:
    return get_metrics(found)["pass_rate"]


def test_it_judges_by_the_calibration_of_its_weights(workspace, tmp_path, kept_calibrations) -> None:
    kept_calibrations.keep(calibration(threshold=0.4))
    found = fed(workspace, tmp_path)
    assert rate(found) == 0.5
    (column,) = columns(found.spec)
    assert (column.by_model, column.threshold, column.calibration) == (True, 0.4, calibration(threshold=0.4))
    kept_calibrations.keep(calibration(threshold=-1.0))
    assert [tuple(one) for one in recalibrated(found)] == [("groundedness", "groundedness", 0.4, -1.0)]
    feed(found, write(tmp_path / "more.jsonl", [record | {"id": f"n{record['id']}"} for record in lines()]))
    assert rate(found) == 0.5, "as it was created"
    assert rate(fed(workspace, tmp_path, "new")) == 1.0


def test_a_cutoff_is_filled_in(workspace: Path, kept_calibrations: Calibrations) -> None:
    kept_calibrations.keep(calibration("mrr_relevant_chunk_threshold", "context_mrr", threshold=0.35))
    found = begun(workspace, evaluators={"context_mrr": {}})
    assert found.spec.parameters["context_mrr"]["mrr_relevant_chunk_threshold"] == 0.35
    assert found.spec.evaluators["context_mrr"]["mrr_relevant_chunk_threshold"] is None


@pytest.mark.parametrize(
    "other",
    [{"models": {"embedder": "b" * 64}}, {"version": 1}, {"threshold": None, "auc": 0.5}],
    ids=["other weights", "another version", "does not separate"],
)
def test_without_one_that_fits_it_says_so(workspace, tmp_path, kept_calibrations, other, capsys) -> None:
    kept_calibrations.keep(calibration(**other))
    path = write(tmp_path / "a.jsonl", lines())
    command = ["monitor", str(path), "--name", "chat", "--rate", "1", "--quiet", "--evaluators"]
    assert main([*command, "groundedness"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "--evaluators: found groundedness; expected one whose primary metric has a threshold, calibrated for its "
        "models (python -m metrics calibrate) or given: --threshold groundedness.groundedness=NUMBER"
    ]
    assert main([*command, "groundedness,pii_leakage"]) == 0
    said = capsys.readouterr().out
    assert "  groundedness.groundedness: " in said
    assert ("No threshold for this model" in said) or ("Hardly tells good from bad with this model" in said)
    kept_calibrations.keep(calibration(threshold=0.4))
    assert main(["monitor", str(path), "--name", "chat", "--quiet"]) == 0
    expected = (
        "groundedness.groundedness: calibrated at 0.4 since: this monitor has no threshold, a new one judges by it"
    )
    assert expected in capsys.readouterr().out
    assert main([*command, "groundedness", "--name", "own", "--threshold", "groundedness.groundedness=0.3"]) == 0
    assert "Threshold ≥ 0.3" in capsys.readouterr().out


def test_other_weights_are_refused_until_they_are_back(workspace, tmp_path, kept_calibrations, monkeypatch) -> None:
    weights = {"embedder": "a" * 64}
    monkeypatch.setattr(calibrated_thresholds.models, "weights_of", lambda name, settings: weights[name])
    kept_calibrations.keep(calibration(models=dict(weights)))
    found = fed(workspace, tmp_path)
    weights["embedder"] = "b" * 64
    path = write(tmp_path / "more.jsonl", lines(8))
    refused = (
        r"groundedness with embedder bbbbbbbbbbbb; expected embedder aaaaaaaaaaaa, for which its threshold 0\.4 was"
    )
    for _ in range(2):  # the first one lets go of the monitor
        with pytest.raises(InputError, match=refused), Watch(found):
            pass
    with pytest.raises(InputError, match=refused):
        feed(found, path)
    assert found.state.sampled == 6
    weights["embedder"] = "a" * 64
    assert feed(found, path).sampled == 8


def test_drift_is_measured_against_a_run_with_the_same_calibration(workspace, tmp_path, kept_calibrations) -> None:
    kept_calibrations.keep(calibration("mrr_relevant_chunk_threshold", "context_mrr", threshold=0.35))
    kept_calibrations.keep(calibration("context_mrr", "context_mrr", threshold=0.5))
    rows = lines()
    path = write(tmp_path / "a.jsonl", rows)
    found = begun(workspace, evaluators={"context_mrr": {}})
    from metrics.core.suite import Outputs, Suite

    suite = Suite.from_rows("s", "text", [{"case_id": row["id"], "question": row["question"]} for row in rows])
    outputs = Outputs.from_rows(
        [{"case_id": row["id"], "model": "m", "answer": row["answer"], "retrieved_contexts": row["contexts"]}
         for row in rows]
    )  # fmt: skip
    run = finished(Workspace(), suite, outputs, "context_mrr")
    feed(found, path, reference=reference_of(Workspace(), run.id))
    assert {row.reason for row in drifts(found)} == {"the reference run has scores of fewer than 20 cases"}


def test_a_monitor_of_an_earlier_version_has_no_calibrations(workspace: Path, kept_calibrations: Calibrations) -> None:
    found = begun(workspace, evaluators={"groundedness": {}})
    file = found.folder / "spec.json"
    facts = json.loads(file.read_text())
    del facts["spec"]["calibrated"], facts["sha256"]
    file.write_text(json.dumps(facts))
    assert monitor(Workspace(), "chat").spec.calibrations("groundedness") == {}
    with pytest.raises(InputError, match="calibrated for its models"):
        check(found.spec)


def test_a_local_judge_keeps_its_weights(workspace: Path, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_text("one")
    given = {"judge": {"model": f"local:{file}"}}
    found = begun(workspace, evaluators={"rubric": {}}, resources=given)
    assert found.spec.resources["judge"]["weights"] == sha256_of(file)
    assert found.spec.differs({"resources": given}) == []
    check(found.spec)
    file.write_text("two")
    with pytest.raises(InputError, match="has other weights now"):
        check(found.spec)
