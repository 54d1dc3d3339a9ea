"""What a unit costs driver, scheduler, workers, store and readers, and a simulation of what that means at scale.

    python -m tests.benchmarks.bench_scale

These are the tables of docs/scale.md. Everything in the first is measured on this machine; the others follow from it.
"""

import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from metrics import engine
from metrics.core.schema import SLICE
from metrics.engine.parts import Parts
from metrics.engine.plan import plan
from metrics.engine.seal import write_tables
from metrics.engine.unit_work import Job, perform
from metrics.store import Workspace
from tests.benchmarks.scale_simulation import Costs, simulate
from tests.benchmarks.table import Table, report
from tests.engine.engine_scenes import one_thread, text_outputs, text_suite

CASES = 20_000
CHOSEN = ("rouge", "bleu", "text_matching")
PASSED = 2_000  # units without work that the scheduler passes on
LISTED = 300  # runs
QUOTA = 10_000 / 60  # requests of a judge in a second
WORKERS = (1, 16, 256, 4_000, 16_000)
LONGER = 400  # times as long: a unit of a local model
SHARD = 16  # workers of each driver, where a run is done in shards
ROWS = (10**6, 10**7, 10**9)


def timed(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def dispatching() -> float:
    """Return the seconds in which a scheduler passes on a unit that does nothing."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        pool = client.get_executor(pure=False)
        pool.submit(abs, -1).result()
        return timed(lambda: [one.result() for one in [pool.submit(abs, -1) for _ in range(PASSED)]]) / PASSED


def measured(folder: Path) -> tuple[Costs, dict[str, float]]:
    """Return what a unit costs, and what the rest costs by name: seconds, or bytes."""
    workspace = Workspace(folder)
    run = engine.create(workspace, text_suite(CASES), text_outputs(CASES), CHOSEN)
    units, parts = plan(run), Parts(run.folder)
    perform(Job.of(run, units[0]))
    jobs: list[Job] = []
    preparing = timed(lambda: jobs.extend(Job.of(run, unit).carry() for unit in units))
    packed: list[bytes] = []
    preparing += timed(lambda: packed.extend(pickle.dumps(job, 5) for job in jobs))
    results = [perform(job) for job in jobs]
    rows = sum(one.tables["scores"].num_rows for one in results)
    results = [pickle.loads(pickle.dumps(one, 5)) for one in results]  # as they come from workers
    storing = timed(lambda: [parts.write(unit.name, one) for unit, one in zip(units, results, strict=True)])
    other = {
        "bytes of a unit's rows": sum(map(len, packed)) / len(packed),
        "bytes of a unit's result": sum(len(pickle.dumps(one, 5)) for one in results) / len(results),
        "seconds of sealing a row": timed(lambda: write_tables(run, units, parts, run.folder)) / rows,
        "seconds of finding a stored unit": timed(lambda: parts.stored(units)) / len(units),
    }
    engine.execute(run, one_thread)
    for _ in range(LISTED):
        workspace.create_run(run.spec.request)
    other["seconds of listing a run"] = timed(workspace.runs) / (LISTED + 1)
    other["seconds of a query, a row"] = query(folder)
    computing = [one.seconds for one in results]
    return Costs(preparing / len(units), dispatching(), storing / len(units), computing), other


def query(folder: Path, rows: int = 4_000_000) -> float:
    """Return the seconds a row of a leaderboard's query on a table of scores."""
    rng = np.random.default_rng(0)
    models, values = pa.array(rng.integers(0, 3, rows)), pa.array(rng.random(rows))
    file = folder / "many.parquet"
    pq.write_table(pa.table({"model": models, "value": values}), file, compression="zstd", row_group_size=65_536)
    sql = f"SELECT model, avg(value), count(*) FROM '{file}' GROUP BY model"
    return timed(lambda: duckdb.sql(sql).fetchall()) / rows


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        costs, other = measured(Path(folder))
    longer = replace(costs, computing=[one * LONGER for one in costs.computing])
    tables = [
        Table("unit costs", costs_of_a_unit(costs, other)), Table("formulas at scale", simulated(costs)),
        Table("local models at scale", simulated(longer)), Table("the rest at scale", carried(other)),
    ]  # fmt: skip
    report([], tables)


def costs_of_a_unit(costs: Costs, other: dict[str, float]) -> list[tuple[str, ...]]:
    low, middle, high = np.quantile(costs.computing, (0.05, 0.5, 0.95))
    return [
        (f"a unit ({SLICE:,} rows of one evaluator)", "cost"),
        ("driver: rows read and packed", f"{costs.preparing * 1e3:.1f} ms"),
        ("scheduler: passed on and back", f"{costs.dispatching * 1e3:.1f} ms"),
        ("worker: computed (5, 50, 95 % of units)", f"{low:.2f}, {middle:.2f}, {high:.2f} s"),
        ("driver: result stored and synced", f"{costs.storing * 1e3:.1f} ms"),
        *((name.removeprefix("bytes of ").removeprefix("seconds of "),
            f"{value / 1e6:.2f} MB" if name.startswith("bytes") else f"{value * 1e6:.3g} µs") for name,
            value in other.items()),
    ]  # fmt: skip


def simulated(costs: Costs) -> list[tuple[str, ...]]:
    """Return how long runs take with so many workers, and which part is busy."""
    lines = [("rows × 3", "workers", "time", "workers busy", "driver busy", "scheduler busy", "in shards")]
    for rows in ROWS:
        for workers in WORKERS:
            units = -(-rows // SLICE) * len(CHOSEN)
            one = simulate(units, workers, costs)
            shards = max(1, workers // SHARD)
            sharded = simulate(-(-units // shards), min(workers, SHARD), costs).seconds
            shares = (f"{share:.0%}" for share in (one.workers, one.driver, one.scheduler))
            lines.append((f"{rows:.0e}", f"{workers:,}", _minutes(one.seconds), *shares, _minutes(sharded)))
    return lines


def carried(other: dict[str, float]) -> list[tuple[str, ...]]:
    lines = [("rows × 3", "sealing", "rows on their way to 16,000 workers", "query", "judge, a request a row")]
    for rows in ROWS:
        sealing = rows * 3 * other["seconds of sealing a row"]
        flying = min(2 * max(WORKERS), -(-rows // SLICE) * 3) * other["bytes of a unit's rows"] / 1e9
        asked = rows * 3 * other["seconds of a query, a row"]
        days = rows / QUOTA / 86_400
        lines.append((f"{rows:.0e}", _minutes(sealing), f"{flying:.1f} GB", f"{asked:,.1f} s", f"{days:,.1f} days"))
    return lines


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:,.1f} min"


if __name__ == "__main__":
    main()
