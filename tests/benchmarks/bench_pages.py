"""Server time of a click: a leaderboard of 200 models × 60 metrics, and the cases of a run of 100,000 cases × 5 models.

    python -m tests.benchmarks.bench_pages

Every page is run as the server runs it (streamlit's AppTest, in this process); printed are the median and the 95th
percentile over clicks on changing filters, models and pages.
"""

import os
import tempfile
import time
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from statistics import median, quantiles

import numpy as np
import pyarrow as pa
from streamlit.testing.v1 import AppTest

from components import data
from metrics.core.files import sha256_of, write_json, write_table
from metrics.core.schema import AGGREGATES, SCHEMA_VERSION, SCORES
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace
from tests.benchmarks.table import Row, report

ROOT = Path(__file__).parents[2]
CLICKS = 25
MOST_MS = 300


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ASSAY_WORKSPACE"] = folder
        data.ensure_samples = lambda: False  # nothing else runs meanwhile
        wide, deep = wide_run(Workspace()), deep_run(Workspace())
        model = iter(deep.models * 100)
        pairs = list(permutations(deep.models, 2))
        clicks = {
            "leaderboard, 200 models × 60 metrics: minor metrics on and off": _clicks(
                "leaderboard", wide, lambda click: {"minor": str(click % 2)}
            ),
            "leaderboard: another tag": _clicks("leaderboard", wide, lambda click: {"tag": f"tag{click % 3}"}),
            "cases, 100,000 × 5: another model": _clicks(
                "cases", deep, lambda _: {"evaluator": "rouge", "metric": "rougeL", "model": next(model)}
            ),
            "cases: another page": _clicks(
                "cases", deep, lambda click: {"evaluator": "rouge", "metric": "rougeL", "page": str(click + 1)}
            ),
            "compare, 100,000 × 5: another pair": _clicks(
                "compare", deep, lambda click: dict(zip("ab", pairs[click % len(pairs)], strict=True))
            ),
            "compare: where B loses or wins": _clicks(
                "compare", deep, lambda click: {"key": "rouge/rougeL", "kind": ("losses", "wins", "ties")[click % 3]}
            ),
            "example: another case": _clicks("example", deep, lambda click: {"case": f"c{click * 3989}"}),
            "problems": _clicks("problems", deep, lambda _: {}),
        }
    print(f"{'click':<66}{'median ms':>10}{'p95 ms':>8}")
    p95 = {name: quantiles(times, n=20)[-1] for name, times in clicks.items()}
    for name, times in clicks.items():
        print(f"{name:<66}{median(times):>10.0f}{p95[name]:>8.0f}")
    title = "server time of a click, 200 models × 60 metrics, 100,000 cases × 5 models: p95 of the slowest kind"
    report([Row(title, max(p95.values()), "ms", most=MOST_MS)])


def _clicks(page: str, run: Run, parameters: Callable[[int], dict[str, str]]) -> list[float]:
    """Milliseconds of server time of each click after the first, which fills the caches as any first visit does."""
    app = AppTest.from_file(str(ROOT / "pages" / f"{page}.py"), default_timeout=60)
    times = []
    for click in range(CLICKS + 1):
        for name, value in {"run": run.id, **parameters(click)}.items():
            app.query_params[name] = value
        begun = time.perf_counter()
        app.run()
        times.append((time.perf_counter() - begun) * 1000)
        if app.exception:
            raise RuntimeError(f"{page}: {app.exception[0].message}")
    return times[1:]


def wide_run(workspace: Workspace, models: int = 200, columns: int = 60, tags: int = 3) -> Run:
    """A sealed run with a wide leaderboard, its aggregates drawn at random."""
    names = [f"model-{index:03d}" for index in range(models)]
    suite = Suite.from_rows("wide", "text", [{"case_id": "c0", "tags": [f"tag{tag}" for tag in range(tags)]}])
    run = _create(workspace, suite, Outputs.from_rows([{"case_id": "c0", "model": name} for name in names]))
    random = np.random.default_rng(0)
    rows = []
    for part in (None, *(f"tag=tag{tag}" for tag in range(tags))):
        for column in range(columns):
            for name in names:
                value = random.uniform(0.1, 0.9)
                rows.append(
                    {
                        "model": name, "evaluator": "rouge", "metric": "rougeL", "slice": part, "value": value,
                        "low": value - 0.05, "high": value + 0.05, "interval": "bootstrap", "n": 1000, "unscored": 3,
                        "not_applicable": 3, "parse_failure": 0, "error": 0, "skipped": 0,
                        "columns": f'{{"k": {column + 1}}}',
                    }
                )  # fmt: skip
    return _seal(run, {"aggregates": pa.Table.from_pylist(rows, AGGREGATES), "scores": SCORES.empty_table()})


def deep_run(workspace: Workspace, size: int = 100_000, models: int = 5) -> Run:
    """A sealed run with many cases, its scores drawn at random."""
    names = [f"model-{index}" for index in range(models)]
    case_ids = [f"c{index}" for index in range(size)]
    suite = Suite.from_rows(
        "deep",
        "text",
        ({"case_id": name, "question": f"Question {name}?", "tags": [f"tag{hash(name) % 5}"]} for name in case_ids),
    )
    outputs = Outputs.from_rows(
        {"case_id": name, "model": model, "answer": name} for model in names for name in case_ids
    )
    run = _create(workspace, suite, outputs)
    metrics = ("rouge1", "rouge2", "rougeL", "rougeLsum")
    count = size * models * len(metrics)
    repeated = np.tile(np.repeat(np.arange(size), len(metrics)), models)
    scores = pa.table(
        {
            "case_id": pa.array(case_ids).take(pa.array(repeated)),
            "position": pa.array(repeated.astype(np.int32)),
            "model": pa.array(names).take(pa.array(np.repeat(np.arange(models), size * len(metrics)))),
            "run": pa.array(np.ones(count, np.int32)),
            "evaluator": pa.array(["rouge"]).take(pa.array(np.zeros(count, int))),
            "metric": pa.array(metrics).take(pa.array(np.tile(np.arange(len(metrics)), size * models))),
            "value": pa.array(np.random.default_rng(1).uniform(size=count)),
            "status": pa.array(["ok"]).take(pa.array(np.zeros(count, int))),
            "reason": pa.nulls(count, pa.string()),
            "evidence": pa.nulls(count, pa.string()),
        },
        schema=SCORES,
    )
    rows = [
        {
            "model": model, "evaluator": "rouge", "metric": metric, "value": 0.5, "low": 0.49, "high": 0.51, "n": size,
            "interval": "bootstrap", "unscored": 0, "not_applicable": 0, "parse_failure": 0, "error": 0, "skipped": 0,
            "columns": "{}",
        }
        for metric in metrics
        for model in names
    ]  # fmt: skip
    return _seal(run, {"aggregates": pa.Table.from_pylist(rows, AGGREGATES), "scores": scores})


def _create(workspace: Workspace, suite: Suite, outputs: Outputs) -> Run:
    from metrics import engine

    return engine.create(workspace, suite, outputs, ["rouge"])


def _seal(run: Run, tables: dict[str, pa.Table]) -> Run:
    facts = {}
    for name, table in tables.items():
        path = run.folder / "tables" / f"{name}.parquet"
        write_table(path, table, 65_536)
        facts[name] = {"file": f"tables/{name}.parquet", "rows": table.num_rows, "sha256": sha256_of(path)}
    write_json(
        run.folder / "manifest.json",
        {
            "schema": SCHEMA_VERSION,
            "run": run.id,
            "sealed": run.created,
            "seconds": 0.0,
            "tables": facts,
            "versions": {},
        },
    )
    return run


if __name__ == "__main__":
    main()
