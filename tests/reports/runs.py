"""Sealed runs for the tests of exports: written by hand, so that every column and every odd value is there."""

import json
from typing import Any

import pyarrow as pa

from metrics.core.files import sha256_of, write_json, write_table
from metrics.core.schema import AGGREGATES, SCHEMA_VERSION, SCORES
from metrics.store import Run, Workspace
from tests.engine.engine_scenes import text_outputs, text_suite

COUNTS = {"n": 4, "unscored": 1, "not_applicable": 1, "parse_failure": 0, "error": 0, "skipped": 0}
EVIL = '=HYPERLINK("http://evil","x")'


Row = dict[str, Any]


def aggregate(model: str, metric: str, value: float | None, own: Row | None = None, **more: Any) -> Row:
    """A row of aggregates of an evaluator that this version does not know."""
    row = {"model": model, "evaluator": "gone", "metric": metric, "value": value, "columns": json.dumps(own or {})}
    return dict.fromkeys(AGGREGATES.names) | row | COUNTS | more


def score(case_id: str, model: str, value: float | None, **more: Any) -> Row:
    row = {"case_id": case_id, "model": model, "value": value, "status": "ok"}
    return dict.fromkeys(SCORES.names) | {"position": 0, "run": 1, "evaluator": "gone", "metric": "m"} | row | more


def sealed(tables: dict[str, pa.Table]) -> Run:
    """A finished run in the test's workspace with these tables."""
    workspace, suite, outputs = Workspace(), text_suite(), text_outputs()
    suite_facts = {"fingerprint": workspace.save_suite(suite), "name": "s", "task": "text", "cases": 1, "left_out": 0}
    fingerprint = workspace.save_outputs(outputs, suite)
    run = workspace.create_run({
        "name": "by hand", "suite": suite_facts,
        "outputs": {"fingerprint": fingerprint, "models": ["a", "b"], "rows": 1, "left_out": 0},
        "evaluators": [{"id": "gone", "version": 3, "parameters": {"k": 5}}], "seed": 0,
    })  # fmt: skip
    listed = {}
    for name, table in tables.items():
        path = run.folder / "tables" / f"{name.replace('/', '.')}.parquet"
        write_table(path, table)
        listed[name] = {"file": str(path.relative_to(run.folder)), "rows": table.num_rows, "sha256": sha256_of(path)}
    write_json(run.folder / "manifest.json", {"schema": SCHEMA_VERSION, "tables": listed, "seconds": 1.5})
    return run


def by_hand() -> Run:
    """Aggregates with own columns of two evaluators, hostile texts, curves and matches of different shapes."""
    aggregates = [
        aggregate("a", "ap", 0.5, {"iou": 0.5}, label=EVIL, low=0.25, high=0.75),
        aggregate("a", "mar", None, {"max_dets": 100, "area": "all"}, reason="no objects", run=2, slice="tag=@x"),
        aggregate("-b\x00", "m", -1.25),
    ]
    scores = [
        score("007", "a", 0.5, evidence='{"big": 1}'),
        score("NA", "a", None, status="not_applicable", reason="+cmd|' /C calc'!A0"),
        score('comma, "quote"\nnew line', "-b\x00", 1.0),
    ]
    series = {"model": ["a", "a"], "run": [1, 1], "label": ["x", None]}
    threshold = series | {"threshold": [0.5, float("nan")], "tp": [3, None]}
    confusion = series | {"predicted": ["y", "z"], "count": [7, 8], "examples": [["c1", "=c2"], None]}
    return sealed({
        "aggregates": pa.Table.from_pylist(aggregates, AGGREGATES), "scores": pa.Table.from_pylist(scores, SCORES),
        "curves/pr": pa.table(threshold), "curves/confusion": pa.table(confusion),
    })  # fmt: skip
