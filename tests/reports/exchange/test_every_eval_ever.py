"""Records of Every Eval Ever: what schema 0.3.0 asks for, restated, and every number as the leaderboard has it."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from metrics import analysis
from metrics.core.rounding import round_tree
from metrics.core.suite import Outputs, Suite
from metrics.reports.exchange.every_eval_ever import OWNED
from metrics.reports.exchange.exporters import EXPORTERS, export, written
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import finished

HOSTILE = ("../../../up", "/etc/x", "..", "a/../../b", "CON/\x00x\ny")
NAMES = ("org/n-1", "plain", *HOSTILE)
SCORES = {"scores": {"tone": {"low": 1, "high": 5, "threshold": 3}, "safe": {"binary": True}, "time": {"high": None}}}
PATH = re.compile(
    r"data/capitals/([\w.-]+)/([\w.-]+)/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)
NEEDED = {
    "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library",
    "evaluation_results",
}  # fmt: skip
OF_SAMPLE = {
    "schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id", "interaction_type", "input",
    "answer_attribution", "evaluation", "output",
}  # fmt: skip
MORE = {"evaluation_result_id", "sample_hash", "performance", "error", "metadata"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    suite = Suite.from_rows("capitals", "text", [
        {"case_id": "1", "question": "Of France?", "expected_answers": ["Paris"]},
        {"case_id": "2", "question": "Of Norway?", "expected_answers": ["Oslo", "Kristiania"]},
    ])  # fmt: skip
    rows = [
        {"case_id": case, "model": name, "answer": answer, "tone": tone, "safe": safe, "duration_s": 0.25}
        for name in NAMES
        for case, answer, tone, safe in (("1", "Paris", "4", "true"), ("2", "Bergen", "nice", "false"))
    ]
    parameters = {"own_scores": SCORES}
    workspace = Workspace(tmp_path_factory.mktemp("w"))
    return finished(workspace, suite, Outputs.from_rows(rows), "own_scores", "rouge", parameters=parameters)


def records(run: Run, folder: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """The record of each model, with its path."""
    paths = [folder / name for name in written(run, EXPORTERS["every_eval_ever"], folder) if name.endswith(".json")]
    found = {(record := json.loads(path.read_text()))["model_info"]["name"]: (path, record) for path in paths}
    assert len(found) == len(paths) == len(run.models)
    return found


def check_strings(details: dict[str, Any]) -> None:
    assert all(isinstance(value, str) for value in details.values())


def check_record(record: dict[str, Any]) -> None:
    """What the schema and the datastore's own checks ask of a record."""
    assert NEEDED <= set(record) <= NEEDED | {"evaluation_timestamp", "detailed_evaluation_results"}
    source = record["source_metadata"]
    assert source["source_type"] in ("documentation", "evaluation_run")
    assert source["evaluator_relationship"] in ("first_party", "third_party", "collaborative", "other")
    deployment = record["model_info"]["additional_details"]
    assert (deployment["deployment_type"], deployment["model_availability"]) == ("unknown", "unknown")
    float(record["retrieved_timestamp"])
    for details in (source, record["eval_library"], record["model_info"]):
        check_strings(details["additional_details"])
    for one in record["evaluation_results"]:
        metric, score = one["metric_config"], one["score_details"]
        assert isinstance(metric["lower_is_better"], bool)
        low, high = (float(metric[name]) for name in ("min_score", "max_score"))
        assert low <= score["score"] <= high
        check_strings(score["details"])
        check_strings(metric["additional_details"])
        assert (one["source_data"]["source_type"], one["source_data"]["dataset_name"]) == (
            "other",
            one["evaluation_name"],
        )
        if scoring := metric.get("llm_scoring"):
            assert scoring["input_prompt"]
            assert all({"name", "id", "additional_details"} <= set(judge["model_info"]) for judge in scoring["judges"])


def test_records_have_every_number_of_the_leaderboard(run: Run, tmp_path: Path) -> None:
    board = analysis.leaderboard(run)
    for model, (_, record) in records(run, tmp_path / "out").items():
        check_record(record)
        name = next(one for one in run.models if one == model or "\x00" in one)
        cells = {key.replace("/", "."): board.cells[name, key] for each, key in board.cells if each == name}
        silent = json.loads(record["source_metadata"]["additional_details"]["metrics_without_value"])
        found = {one["metric_config"]["metric_id"].removeprefix("assay."): one for one in record["evaluation_results"]}
        assert found.keys() | silent.keys() == cells.keys()
        assert silent == {key: cell.reason for key, cell in cells.items() if cell.value is None}
        for key, one in found.items():
            score, cell = one["score_details"], cells[key]
            assert score["score"] == round_tree(cell.value)
            assert (score["uncertainty"]["num_samples"], score["details"]["unscored"]) == (cell.n, str(cell.unscored))
            interval = score["uncertainty"].get("confidence_interval", {})
            assert (interval.get("lower"), interval.get("upper")) == round_tree((cell.low, cell.high))
        assert found["own_scores.tone"]["score_details"]["details"]["parse_failure"] == "1"
        assert "own_scores.time" in silent


def test_samples_are_the_scores_that_pass_or_fail_and_the_others_are_counted(run: Run, tmp_path: Path) -> None:
    path, record = records(run, tmp_path / "out")["org/n-1"]
    facts = record["detailed_evaluation_results"]
    content = (tmp_path / "out" / facts["file_path"]).read_bytes()
    assert (tmp_path / "out" / facts["file_path"]).parent == path.parent
    assert facts["checksum"] == hashlib.sha256(content).hexdigest()
    samples = [json.loads(line) for line in content.splitlines()]
    assert facts["total_rows"] == len(samples)
    ids = {one["evaluation_result_id"] for one in record["evaluation_results"]}
    for one in samples:
        assert OF_SAMPLE <= set(one) <= OF_SAMPLE | MORE
        assert (one["evaluation_id"], one["model_id"]) == (record["evaluation_id"], "org/n-1")
        assert one["evaluation_result_id"] in ids
        text = json.dumps(one["input"], sort_keys=True, separators=(",", ":"))
        assert one["sample_hash"] == hashlib.sha256(text.encode()).hexdigest()
    found = {(one["sample_id"], one["metadata"]["metric"]): one["evaluation"] for one in samples}
    assert found == {
        ("1", "own_scores.tone"): {"score": 4.0, "is_correct": True},
        ("1", "own_scores.safe"): {"score": 1.0, "is_correct": True},
        ("2", "own_scores.safe"): {"score": 0.0, "is_correct": False},
    }
    scores = run.scores[run.scores["model"] == "org/n-1"]
    left = {name.removeprefix("scores_left_out_"): int(n) for name, n in facts["additional_details"].items()}
    assert {**left, "without_threshold": 0} == {
        **scores[scores["value"].isna()]["status"].value_counts(), "without_threshold": 0
    }  # fmt: skip
    assert len(samples) + sum(left.values()) == len(scores)


def test_how_models_and_judges_were_asked_is_told(judged: Run, tmp_path: Path) -> None:
    found = records(judged, tmp_path / "out")
    for model, (_, record) in found.items():
        check_record(record)
        for one in record["evaluation_results"]:
            scoring = one["metric_config"]["llm_scoring"]
            assert [judge["model_info"]["id"] for judge in scoring["judges"]] == ["scripted"]
            assert analysis.prompts_asked(judged)["no_answer"].text in scoring["input_prompt"]
            assert one.get("generation_config") == (None if model == "plain" else {
                "generation_args": {"temperature": 0.0, "max_tokens": 64, "prompt_template": "Say: {question}"},
                "additional_details": {"kind": "model", "model": "org/n-1", "seed": "7"},
            })  # fmt: skip


def test_names_stay_in_the_folder_and_records_are_the_same_again(run: Run, tmp_path: Path) -> None:
    files = written(run, EXPORTERS["every_eval_ever"], tmp_path / "out")
    assert all(PATH.fullmatch(re.sub(r"(_samples)?\.jsonl?$", "", name)) for name in files)
    assert len({name.rpartition("/")[2] for name in files}) == 2 * len(NAMES)
    assert not any({".", ".."} & set(name.split("/")) for name in files)
    assert any(name.startswith("data/capitals/org/n-1/") for name in files)
    assert any(name.startswith("data/capitals/unknown/plain/") for name in files)
    assert export(run, "every_eval_ever") == export(run, "every_eval_ever")


@pytest.mark.parametrize(("name", "developer"), [
    pytest.param("org/n-1", "org", id="a hub"), pytest.param("org/a/b", "org", id="deeper"),
    pytest.param("plain", None, id="no developer"), pytest.param("../x", None, id="a path"),
    pytest.param("m at http://host/v1", None, id="an address"),
])  # fmt: skip
def test_developers_are_taken_from_names_on_hubs_alone(name: str, developer: str | None) -> None:
    found = OWNED.fullmatch(name)
    assert (found and found[1]) == developer
