"""Sealed runs whose scores are given: for what evaluators need a judge or weights to make."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from metrics.core.evaluator import LOCAL_MODELS
from metrics.core.files import sha256_of, write_json, write_table
from metrics.core.registry import evaluators
from metrics.core.sampling_design import SamplingDesign
from metrics.core.schema import AGGREGATES, SCHEMA_VERSION, SCORES
from metrics.core.suite import Outputs, Suite
from metrics.engine.aggregate import aggregate_cases
from metrics.store import Run, Workspace

Values = Sequence[float | None]


def scored_run(
    given: Mapping[str, Mapping[str, Values]],
    evidence: Mapping[tuple[str, str, int], Any] | None = None,
    resources: Mapping[str, Mapping[str, Values]] | None = None,
    design: Mapping[str, Sequence[Any]] | None = None,
    workspace: Workspace | None = None,
) -> Run:
    """A run over cases c0 …: `given` has the values of each case by "evaluator.metric" or one name of both, and model.

    `evidence` is by evaluator, model and place of the case; `resources` has columns of the outputs by model, `design`
    columns of the cases (weight, group). It lies in `workspace` (default: that of the test).
    """
    models = list(next(iter(given.values())))
    size = len(next(iter(next(iter(given.values())).values())))
    ids = [f"c{place}" for place in range(size)]
    suite = Suite.from_rows(
        "scored",
        "text",
        [
            {"case_id": name, "question": f"What of {name}?"}
            | {column: values[place] for column, values in (design or {}).items()}
            for place, name in enumerate(ids)
        ],
    )
    own = resources or {}
    outputs = Outputs.from_rows(
        {"case_id": name, "model": model, "answer": "x"}
        | {column: values[place] for column, values in own.get(model, {}).items()}
        for model in models
        for place, name in enumerate(ids)
    )
    rows, aggregates = [], []
    for key, by_model in given.items():
        evaluator, metric = key.split(".")[0], key.split(".")[-1]
        for model, values in by_model.items():
            for place, value in enumerate(values):
                told = (evidence or {}).get((evaluator, model, place))
                rows.append(
                    dict.fromkeys(SCORES.names)
                    | {
                        "case_id": ids[place], "position": place, "model": model, "run": 1, "evaluator": evaluator,
                        "metric": metric, "value": value, "status": "not_applicable" if value is None else "ok",
                        "evidence": None if told is None else json.dumps(told),
                    }
                )  # fmt: skip
    scores, chosen = pa.Table.from_pylist(rows, SCORES), list(dict.fromkeys(key.split(".")[0] for key in given))
    for evaluator in chosen:
        entry, mine = evaluators()[evaluator], scores.filter(pa.compute.equal(scores["evaluator"], evaluator))
        made = aggregate_cases(entry, [mine], tuple(models), {None: SamplingDesign.of(suite.cases)}, 0)
        held = mine["metric"].unique()
        aggregates.append(made.filter(pa.compute.is_in(made["metric"], held)))
    workspace = workspace or Workspace()
    stored = {
        "suite": {
            "fingerprint": workspace.save_suite(suite), "name": "scored", "task": "text", "cases": size, "left_out": 0,
        },
        "outputs": {
            "fingerprint": workspace.save_outputs(outputs, suite), "models": models, "rows": size, "left_out": 0,
        },
    }  # fmt: skip
    listed = [
        {"id": name, "version": 1, "parameters": entry.parameters().model_dump(mode="json")}
        | ({} if set(LOCAL_MODELS).isdisjoint(entry.resources) else {"calibrated": {entry.primary.name: 0.75}})
        for name, entry in ((name, evaluators()[name]) for name in chosen)
    ]
    run = workspace.create_run({"name": "Scored", **stored, "evaluators": listed, "seed": 0})
    tables = {"scores": scores, "aggregates": pa.concat_tables(aggregates).cast(AGGREGATES)}
    facts = {}
    for name, table in tables.items():
        path = run.folder / "tables" / f"{name}.parquet"
        write_table(path, table)
        facts[name] = {"file": str(path.relative_to(run.folder)), "rows": table.num_rows, "sha256": sha256_of(path)}
    write_json(run.folder / "manifest.json", {"schema": SCHEMA_VERSION, "tables": facts, "seconds": 1.5})
    return run


def with_resources(run: Run, **resources: Any) -> Run:
    """The run with these models and judge in its specification."""
    write_json(run.folder / "spec.json", run.spec.stored | {"resources": resources})
    return Run(run.folder)


def told(frame: pd.DataFrame, kind: str, **of: str) -> dict:
    """The one row of that kind, and of those values."""
    rows = frame[frame["kind"] == kind]
    for name, value in of.items():
        rows = rows[rows[name] == value]
    (row,) = rows.to_dict("records")
    return row
