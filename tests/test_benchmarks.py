"""The figures of benchmarks: what a partial run leaves as it was."""

import json
from pathlib import Path
from typing import Any

from tests.benchmarks.__main__ import BENCHMARKS, command
from tests.benchmarks.table import Row, merge, read
from tests.conftest import PROJECT

MEASURED = {"assay": "1.0", "machine": "2 cores", "date": "2026-01-01"}


def record(*rows: Row) -> dict[str, Any]:
    return {"rows": [vars(row) for row in rows], "tables": {}}


def test_rows_beside_an_absent_peer_stay_and_others_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    beside, alone, renamed = (Row(name, 1, "s", *peer) for name, peer in (("a", (2, "p")), ("b", ()), ("c", ())))
    merge(file, ("one", "two"), "two", record(alone), MEASURED)
    merge(file, ("one", "two"), "one", record(beside, alone, renamed), MEASURED)
    merge(file, ("one", "two"), "one", record(Row("b", 3, "s")), MEASURED | {"date": "2026-02-02"})
    found = read(file)
    assert list(found) == ["one", "two"]
    assert [(row["what"], row["ours"], row["date"]) for row in found["one"]["rows"]] == [
        ("b", 3, "2026-02-02"), ("a", 1, "2026-01-01"),
    ]  # fmt: skip
    assert [row["what"] for row in found["two"]["rows"]] == ["b"]


def test_each_benchmark_of_the_table_exists_and_stored_ones_are_listed() -> None:
    assert [name for name in BENCHMARKS if not (PROJECT / f"tests/benchmarks/bench_{name}.py").exists()] == []
    assert set(read()) <= set(BENCHMARKS)
    assert command("coco", "python-of-peers")[-2:] == ["--peers", "python-of-peers"]
    assert command("ingest", "python-of-peers")[-1] == "tests.benchmarks.bench_ingest"


def test_figures_are_json_as_it_is_written() -> None:
    text = (PROJECT / "docs" / "maintainers" / "benchmarks.json").read_text(encoding="utf-8")
    assert json.dumps(read(), indent=1, ensure_ascii=False) + "\n" == text
