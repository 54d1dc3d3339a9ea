"""Runs in other tools' formats: read back by the tool's own library where it is installed, else by its schema."""

import base64
import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import yaml

from metrics import analysis
from metrics.cli.main import main
from metrics.core.errors import InputError
from metrics.core.rounding import round_tree
from metrics.core.suite import Outputs, Suite
from metrics.ingest import read_combined
from metrics.reports import render
from metrics.reports.exchange.contents import file_name, numbers, unique_names, write_tables
from metrics.reports.exchange.exporters import EXPORTERS, EXPORTS, export, written
from metrics.store import Run, Workspace
from metrics.store.reviews import Place, Review
from tests.engine.engine_scenes import finished
from tests.ingest.files import picture

EVIL = 'a|b <img src=x> [l](http://x.y) `c` "q"\n# head'
SCORES = {"scores": {"tone": {"low": 1, "high": 5, "threshold": 3}, "safe": {"binary": True}}}
ANSWERS = [
    {"case_id": "007", "model": EVIL, "answer": "Paris", "tone": "4", "safe": "true", "duration_s": 0.25, "tokens": 12,
     "cost_usd": 0.001, "retrieved_contexts": ["file://etc/passwd", "two"]},
    {"case_id": "NA", "model": EVIL, "answer": "Bergen", "tone": "nice"},
    {"case_id": "007", "model": "n", "answer": "Paris", "tone": "2", "safe": "false"},
    {"case_id": "NA", "model": "n", "answer": "Oslo", "safe": "true"},
    {"case_id": "007", "model": "n", "run": 2, "answer": "Rome", "tone": "5", "safe": "true"},
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = Suite.from_rows("capitals", "text", [
        {"case_id": "007", "question": "Capital of France?", "expected_answers": ["Paris"], "tags": ["eu"]},
        {"case_id": "NA", "question": "javascript: of Norway?", "expected_answers": ["Oslo", "Kristiania"]},
    ])  # fmt: skip
    workspace = Workspace(tmp_path_factory.mktemp("w"))
    return finished(
        workspace, suite, Outputs.from_rows(ANSWERS), "own_scores", "rouge", parameters={"own_scores": SCORES}
    )


@pytest.fixture(scope="module")
def board(run: Run) -> analysis.Leaderboard:
    return analysis.leaderboard(run)


def exported(run: Run, name: str) -> bytes:
    content = EXPORTERS[name]()(run)
    assert isinstance(content, bytes)
    return content


def test_the_table_of_exports_and_the_modules_agree() -> None:
    helpers = {"__init__", "exporters", "contents", "run_tables", "h2o"}
    folder = Path(__import__("metrics.reports.exchange", fromlist=["x"]).__file__ or "").parent
    assert {path.stem for path in folder.glob("*.py")} - helpers == set(EXPORTERS)
    assert all(one.ending for one in EXPORTS.values() if one.form == "file")
    assert all(callable(one()) for one in EXPORTS.values())


def test_every_export_that_fits_a_run_is_made_and_no_other(run: Run, objects: Run) -> None:
    """Where a run has nothing of an export, there is an error or a table without rows."""
    for each in (run, objects):
        for one in EXPORTS.values():
            if one.form == "server":
                continue
            named = {"model": each.models[0], "benchmark": f"own/set:all={numbers(each)[0].name}"}
            asked = {one.asks: named[one.asks]} if one.asks else {}
            if one.fits(each):
                assert len(export(each, one.id, **asked)) > 10 or one.id in ("problems", "insights", "slices")
            elif one.form == "table" and (not one.tool or one.id == "llm-bool-leaderboard"):
                assert export(each, one.id) == b"[]\n"
            elif one.id in ("open_rag_eval", "bitmaps", "fiftyone"):
                with pytest.raises(InputError):
                    export(each, one.id, **asked)


def test_a_folder_is_a_zip_with_its_files(run: Run, tmp_path: Path) -> None:
    files = written(run, EXPORTERS["inspect"], tmp_path / "logs")
    content = export(run, "inspect")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert {name: archive.read(name) for name in files} == {
            name: (tmp_path / "logs" / name).read_bytes() for name in archive.namelist()
        }
    assert export(run, "inspect") == content


def test_exports_from_python(run: Run) -> None:
    from metrics.library.run import Run as Library

    own = Library(run.folder)
    assert own.export("scores", "csv") == export(run, "scores", "csv")
    for arguments, said in {
        ("mlflow",): "export: found 'mlflow'; expected one of aggregates, scores,",
        ("scores", "xlsx"): "format: found 'xlsx'; expected one of json, csv, parquet",
        ("inspect", "csv"): "format of inspect: found csv; expected none: it is always its own",
        ("scores", None, "n"): "model of scores: found 'n'; expected none: only open_rag_eval takes one",
    }.items():
        with pytest.raises(InputError, match=said):
            own.export(*arguments)


def floats(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from floats(one)
    elif isinstance(value, float) and math.isfinite(value):
        yield value


JSON = [id for id, one in EXPORTS.items() if one.form == "table" or "json" in one.ending]


@pytest.mark.parametrize("name", [*JSON, "report"])
def test_json_has_at_most_15_significant_digits(run: Run, name: str) -> None:
    """Whatever is exported as JSON: 1/3 has 16 in Python, 0.1 + 0.2 has 17."""
    if name != "report" and not EXPORTS[name].fits(run):
        pytest.skip("the run has nothing of it")
    text = (render(run, "json") if name == "report" else export(run, name)).decode()
    lines = text.splitlines() if name == "opentelemetry" else [text]
    found = [one for line in lines for one in floats(json.loads(line))]
    assert all(one == float(f"{one:.15g}") for one in found)
    assert name not in ("scores", "aggregates", "valor", "promptfoo", "opentelemetry") or found


def test_a_model_card_has_every_number_and_stays_text(run: Run, board: analysis.Leaderboard) -> None:
    from huggingface_hub import ModelCard

    text = exported(run, "model_card").decode()
    front = yaml.safe_load(text.split("---\n")[1])
    assert [entry["name"] for entry in front["model-index"]] == [EVIL, "n"]
    card = ModelCard(f"---\n{yaml.safe_dump({'model-index': front['model-index'][:1]})}---\n")
    results = {one.metric_type: one for one in card.data.eval_results}
    cells = {one.name: one.cell for one in numbers(run) if one.model == EVIL and one.cell.value is not None}
    assert {name: one.metric_value for name, one in results.items()} == {name: one.value for name, one in cells.items()}
    assert results["own_scores.tone"].metric_args["n"] == board.cells[EVIL, "own_scores/tone"].n == 1
    assert results["own_scores.tone"].metric_args["unscored"] == 1
    assert results["rouge.rougeL"].metric_args["low"] == board.cells[EVIL, "rouge/rougeL"].low
    table = text.split("## Evaluation results")[1]
    assert not re.search(r"(?<!\\)[<`\[]|://", table)
    shown = [one for one in numbers(run) if one.model == EVIL and (one.column.primary or not one.column.minor)]
    assert table.count("\n| a\\|b \\<img src=x\\>") == len(shown)


def test_inspect_logs_have_the_documented_layout(run: Run, board: analysis.Leaderboard, tmp_path: Path) -> None:
    files = written(run, EXPORTERS["inspect"], tmp_path / "logs")
    assert files == ["a_b_img_src_x_l_http_x.y_c_q_head.json", "n.json"]
    log = json.loads((tmp_path / "logs" / "n.json").read_text())
    assert (log["version"], log["status"], log["eval"]["model"], log["eval"]["dataset"]["samples"]) == (
        2, "success", "n", 2,
    )  # fmt: skip
    assert log["stats"]["completed_at"] == (run.manifest or {})["sealed"]
    metrics = {scorer["name"]: scorer["metrics"] for scorer in log["results"]["scores"]}
    for (model, key), cell in board.cells.items():
        evaluator, _, metric = key.partition("/")
        if model == "n":
            assert metrics[evaluator][metric]["value"] == round_tree(cell.value)
            assert metrics[evaluator][metric]["metadata"]["high"] == round_tree(cell.high)
            assert metrics[evaluator][metric]["metadata"]["unscored"] == cell.unscored
    keys = [(sample["id"], sample["epoch"]) for sample in log["samples"]]
    assert keys == [("007", 1), ("NA", 1), ("007", 2)]
    silent = log["samples"][1]["scores"]["own_scores"]
    assert math.isnan(silent["value"]["tone"])
    assert (silent["value"]["safe"], silent["metadata"]) == (1.0, {"unscored": {"tone": "not_applicable"}})
    assert silent["explanation"] == "no tone came with the output"


@pytest.mark.filterwarnings("ignore")  # of the tool itself
def test_inspect_reads_the_logs(run: Run, tmp_path: Path) -> None:
    log_module = pytest.importorskip("inspect_ai.log", reason="inspect_ai is not installed")
    for file in written(run, EXPORTERS["inspect"], tmp_path / "logs"):
        log = log_module.read_eval_log(str(tmp_path / "logs" / file))
        assert log.status == "success"
        found = {one.name: one for one in numbers(run) if one.model == log.eval.model}
        for scorer in log.results.scores:
            for name, metric in scorer.metrics.items():
                assert metric.value == round_tree(found[f"{scorer.name}.{name}"].cell.value)
        assert log.samples[0].target == ["Paris"]
        unread = log.samples[1].scores["own_scores"]
        assert unread.explanation in ("tone is 'nice', no number", "no tone came with the output")


def test_promptfoo_results_are_read_back_by_our_reader(run: Run, tmp_path: Path) -> None:
    document = json.loads(exported(run, "promptfoo"))
    results = document["results"]["results"]
    assert document["results"]["version"] == 3
    assert [(one["testIdx"], one["provider"]["id"], one["success"], one["failureReason"]) for one in results] == [
        (0, EVIL, True, 0), (1, EVIL, False, 1), (0, "n", False, 1), (1, "n", True, 0), (2, "n", True, 0),
    ]  # fmt: skip
    assert (results[0]["namedScores"]["own_scores.tone"], results[0]["score"]) == (4.0, 4.0)
    assert results[1]["gradingResult"]["reason"] == "tone is 'nice', no number"
    assert results[1]["vars"]["question"] == "'javascript: of Norway?"
    assert "latencyMs" not in results[1]
    assert document["results"]["stats"] == {"successes": 3, "failures": 2, "errors": 0, "tokenUsage": {"total": 12}}
    assert [prompt["metrics"]["testPassCount"] for prompt in document["results"]["prompts"]] == [1, 2]
    (tmp_path / "results.json").write_bytes(exported(run, "promptfoo"))
    suite, outputs = read_combined(tmp_path / "results.json")
    assert suite.cases["metadata.description"].to_pylist() == ["007", "NA", "007"]
    assert suite.cases["expected_answers"].to_pylist()[:2] == [["Paris"], ["Oslo", "Kristiania"]]
    first = outputs.outputs.to_pylist()[0]
    assert (first["answer"], first["duration_s"], first["cost_usd"], first["tokens"]) == ("Paris", 0.25, 0.001, 12)
    assert first["retrieved_contexts"] == ["'file://etc/passwd", "two"]
    assert outputs.outputs["duration_s"].to_pylist()[1] is None


def flat(attributes: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = {"stringValue": str, "doubleValue": float, "intValue": int}
    return {one["key"]: kinds[kind](value) for one in attributes for kind, value in one["value"].items()}


def test_opentelemetry_events_have_a_record_for_each_score(run: Run) -> None:
    lines = [json.loads(line) for line in exported(run, "opentelemetry").splitlines()]
    records = [record for line in lines for record in line["resourceLogs"][0]["scopeLogs"][0]["logRecords"]]
    assert {record["eventName"] for record in records} == {"gen_ai.evaluation.result"}
    found = [flat(record["attributes"]) for record in records]
    stored = {
        (row.model, row.case_id, row.run, f"{row.evaluator}.{row.metric}"): row for row in run.scores.itertuples()
    }
    assert len(found) == len(stored)
    for one in found:
        key = one["gen_ai.response.model"], one["assay.case_id"], one["assay.repeat"], one["gen_ai.evaluation.name"]
        row = stored[key]
        assert one.get("gen_ai.evaluation.score.value", row.value) == row.value or math.isnan(row.value)
        assert ("gen_ai.evaluation.score.value" in one, one["assay.status"]) == (row.status == "ok", row.status)
    by_status = {one["assay.status"]: one for one in found}
    assert by_status["parse_failure"]["error.type"] == "parse_failure"
    assert by_status["parse_failure"]["gen_ai.evaluation.explanation"] == "tone is 'nice', no number"
    labels = [
        one.get("gen_ai.evaluation.score.label") for one in found if one["gen_ai.evaluation.name"].endswith("tone")
    ]
    assert labels == ["pass", None, "fail", None, "pass"]


def test_the_events_are_requests_of_the_protocol(run: Run) -> None:
    service = pytest.importorskip(
        "opentelemetry.proto.collector.logs.v1.logs_service_pb2", reason="opentelemetry-proto is not installed"
    )
    from google.protobuf import json_format

    count = 0
    for line in exported(run, "opentelemetry").splitlines():
        request = json_format.Parse(line, service.ExportLogsServiceRequest())
        count += len(request.resource_logs[0].scope_logs[0].log_records)
    assert count == len(run.scores)


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two images: a box that is found, and an outline that is found with a score."""
    folder = tmp_path_factory.mktemp("media")
    (folder / "1.png").write_bytes(picture(80, 60))
    (folder / "2.png").write_bytes(picture(40, 30))
    cat = {"case_id": "1", "label": "cat", "x": 10.0, "y": 15.0, "width": 40.0, "height": 30.0}
    dog = {"case_id": "2", "label": "dog", "polygons": [[5.0, 5.0, 25.0, 5.0, 25.0, 20.0, 5.0, 20.0]]}
    cases = [
        {
            "case_id": name,
            "image": f"{name}.png",
            "image_width": width,
            "image_height": height,
            "tags": ["t"],
            "metadata.image_name": {"1": "pets/cat one.png", "2": "2.png"}[name],
        }
        for name, width, height in (("1", 80, 60), ("2", 40, 30))
    ]
    truths = [one | {"annotation_id": place, "is_crowd": False} for place, one in enumerate((cat, dog))]
    plain = Suite.from_rows("pets", "detection", cases, truths)
    suite = Suite("pets", "detection", plain.cases, plain.annotations, plain.labels, folder)
    found = [cat | {"model": "m-1.5", "score": 0.9}, dog | {"model": "m-1.5", "score": 0.5}]
    found.append(cat | {"case_id": "2", "model": "m-1.5", "score": 0.4})
    outputs = Outputs.from_rows([{"case_id": name, "model": "m-1.5"} for name in "12"], found)
    run = finished(Workspace(tmp_path_factory.mktemp("w")), suite, outputs, "average_precision")
    first = run.outputs.predictions["prediction_id"].to_pylist()[0]
    Review(run).tag([Place("1", "m-1.5", 1, f"p{first}")], ["check"])
    return run


def test_a_fiftyone_data_set_has_images_ground_truth_and_predictions(objects: Run, tmp_path: Path) -> None:
    files = written(objects, EXPORTERS["fiftyone"], tmp_path / "pets")
    assert files == ["data/2.png", "data/cat one.png", "metadata.json", "samples.json"]
    metadata = json.loads((tmp_path / "pets" / "metadata.json").read_text())
    fields = {field["name"]: field for field in metadata["sample_fields"]}
    assert {"ground_truth", "predictions_m_1_5", "filepath", "tags", "metadata", "id"} <= set(fields)
    assert fields["predictions_m_1_5"]["embedded_doc_type"] == "fiftyone.core.labels.Detections"
    first, second = json.loads((tmp_path / "pets" / "samples.json").read_text())["samples"]
    assert (first["filepath"], first["case_id"], first["metadata"]["width"]) == ("data/cat one.png", "1", 80)
    box = first["predictions_m_1_5"]["detections"][0]
    assert (box["label"], box["confidence"], box["mask"]) == ("cat", 0.9, None)
    assert box["bounding_box"] == [0.125, 0.25, 0.5, 0.5]
    outlined = second["ground_truth"]["detections"][0]
    assert (outlined["label"], outlined["confidence"], outlined["iscrowd"]) == ("dog", None, False)
    assert outlined["bounding_box"] == pytest.approx([5 / 40, 5 / 30, 20 / 40, 15 / 30])
    mask = np.load(io.BytesIO(zlib.decompress(base64.b64decode(outlined["mask"]["$binary"]["base64"]))))
    assert mask.shape == (15, 20)
    assert mask.all()
    found, truth = box, first["ground_truth"]["detections"][0]
    assert (found["eval_m_1_5"], found["eval_m_1_5_iou"], found["tags"]) == ("tp", 1.0, ["check"])
    assert (found["eval_m_1_5_id"], truth["eval_m_1_5_id"]) == (truth["_id"]["$oid"], found["_id"]["$oid"])
    assert [second[f"eval_m_1_5_{what}"] for what in ("tp", "fp", "fn")] == [1, 1, 0]
    assert [one.get("eval_m_1_5") for one in second["predictions_m_1_5"]["detections"]] == ["fp", "tp"]
    assert {"eval_m_1_5_fn"} <= set(fields)
    ids = [sample["_id"]["$oid"] for sample in (first, second)]
    assert len({*ids, box["_id"]["$oid"], outlined["_id"]["$oid"]}) == 4


def test_a_text_run_is_no_fiftyone_data_set(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a suite of text without images"):
        written(run, EXPORTERS["fiftyone"], tmp_path / "out")


@pytest.mark.filterwarnings("ignore")  # of the tool itself
def test_the_tables_of_a_tracker_are_those_of_one_model(run: Run, tmp_path: Path) -> None:
    for model in run.models:
        frames = write_tables(run, model, tmp_path)
        scores = run.scores[run.scores["model"] == model]
        assert frames["scores"]["value"].tolist() == pytest.approx(scores["value"].tolist(), nan_ok=True)
        assert frames["scores"]["case_id"].tolist() == scores["case_id"].tolist()
        assert len(frames["aggregates"]) == (run.aggregates["model"] == model).sum() > 0
        assert pq.read_table(tmp_path / "scores.parquet").num_rows == len(scores)
        assert len(pd.read_csv(tmp_path / "aggregates.csv")) == len(frames["aggregates"])


def test_mlflow_has_parameters_metrics_and_tables(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)
    assert isinstance(EXPORTERS["mlflow"]()(run), list)
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    experiment = client.get_experiment_by_name("capitals")
    made = {one.data.params["model"]: one for one in client.search_runs([experiment.experiment_id])}
    assert set(made) == {"n", EVIL}
    logged = made["n"].data
    for one in numbers(run):
        if one.model == "n" and one.cell.value is not None:
            assert logged.metrics[one.name] == one.cell.value
            assert logged.metrics[f"{one.name}.unscored"] == one.cell.unscored
            assert logged.metrics.get(f"{one.name}.low") == one.cell.low
    assert logged.params["suite_fingerprint"] == run.spec.suite.fingerprint
    names = {file.path for file in client.list_artifacts(made["n"].info.run_id)}
    assert names == {"aggregates.csv", "scores.parquet"}


@pytest.mark.filterwarnings("ignore")  # of the tool itself
def test_wandb_has_configuration_summary_and_tables(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="wandb is not installed")
    for name, value in {"MODE": "offline", "DIR": str(tmp_path), "SILENT": "true", "PROJECT": "p"}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    lines = EXPORTERS["wandb"]()(run)
    assert isinstance(lines, list)
    assert len(lines) == 2
    logs = list(tmp_path.glob("wandb/offline-run-*/run-*.wandb"))
    assert len(logs) == 2
    value = next(one.cell.value for one in numbers(run) if one.model == "n" and one.name == "own_scores.tone")
    content = b"".join(path.read_bytes() for path in logs)
    assert b"own_scores.tone" in content
    assert repr(value).encode() in content


@pytest.mark.parametrize(("options", "found"), [
    pytest.param(["--to", "inspect"], "-o FOLDER: --to inspect writes several files", id="no folder"),
    pytest.param(["--to", "inspect", "-o", "."], "which is not empty", id="full folder"),
    pytest.param(["--to", "promptfoo", "--model", "n", "--format", "csv"], "format of promptfoo: found csv", id="two"),
    pytest.param(["--to", "mlflow", "-o", "x"], "logs to the tool itself", id="a file of a server"),
])  # fmt: skip
def test_options_that_do_not_go_together_say_so(run, options, found, capsys) -> None:
    assert main(["export", run.id, "--workspace", str(run.workspace.path), *options]) == 2
    assert found in capsys.readouterr().err


def test_the_command_writes_files_and_folders(run, tmp_path, capsysbinary) -> None:
    command = ["export", run.id, "--workspace", str(run.workspace.path), "--to"]
    assert main([*command, "opentelemetry"]) == 0
    assert capsysbinary.readouterr().out == exported(run, "opentelemetry")
    assert main([*command, "inspect", "-o", str(tmp_path / "new" / "logs")]) == 0
    assert capsysbinary.readouterr().out == f"{tmp_path}/new/logs: 2 files\n".encode()


def test_a_tool_that_is_not_installed_is_named(run, capsys, monkeypatch) -> None:
    monkeypatch.setattr("metrics.cli.export_command.find_spec", lambda _: None)
    assert main(["export", run.id, "--workspace", str(run.workspace.path), "--to", "wandb"]) != 0
    assert "Weights & Biases is not installed: pip install wandb" in capsys.readouterr().err


def test_names_of_files_are_plain_and_unique() -> None:
    assert (file_name("../../etc/passwd"), file_name("..")) == ("_.._etc_passwd", "_")
    assert unique_names(("a/b", "a:b", "A b")) == {"a/b": "a_b", "a:b": "a_b_2", "A b": "A_b_3"}
