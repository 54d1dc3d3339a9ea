"""The table of benchmarks: its rows, the runner, and what a partial run leaves as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.__main__ import BENCHMARKS, command, run
from tests.benchmarks.table import HANDED_OVER, Row, merge, peers, read, row_of
from tests.conftest import PROJECT

MEASURED = {"assay": "1.0", "machine": "2 cores", "date": "2026-01-01"}
REPORTING = """
from tests.benchmarks.table import Row, Table, report
report([Row("reading", {seconds}, "s", most=5)], [Table("costs", [("what", "cost"), ("reading", "2 s")])])
"""


def record(*rows: Row) -> dict[str, Any]:
    return {"rows": [vars(row) for row in rows], "tables": {}}


@pytest.mark.parametrize(
    ("row", "cells", "sentence", "met"),
    [
        pytest.param(
            Row("reading", 2.5, "s", most=5, readme="a file read"), ("reading", "2.5 s", "", "", "≤ 5 s"),
            "a file read in 2.5 s", True, id="alone",
        ),
        pytest.param(
            Row("reading", 2, "s", 1, "peer 1.0", most=1.5, readme="a file read"),
            ("reading", "2 s", "1 s (peer 1.0)", "2 ×", "≤ 1.5 ×, missed"),
            "a file read in 2 × the time of peer 1.0", False, id="slower than a peer",
        ),
        pytest.param(
            Row("ROUGE", 20, "ms", 250, "peer 1.0", least=5, readme="ROUGE"),
            ("ROUGE", "20 ms", "250 ms (peer 1.0)", "12.5 × as fast", "≥ 5 ×"),
            "ROUGE 12.5 × as fast as peer 1.0", True, id="faster than a peer",
        ),
        pytest.param(
            Row("recall", 0.97, "", least=0.98, readme="recall"), ("recall", "0.97", "", "", "≥ 0.98, missed"),
            "recall in 0.97", False, id="too little",
        ),
        pytest.param(
            Row("errors", 1, "", most=0, readme="errors"), ("errors", "1", "", "", "≤ 0, missed"),
            "errors in 1", False, id="none allowed",
        ),
        pytest.param(
            Row("characters", 12345.6, "", readme="text"), ("characters", "12,346", "", "", ""),
            "text in 12,346", True, id="no target",
        ),
    ],
)  # fmt: skip
def test_a_row_in_words(row: Row, cells: tuple[str, ...], sentence: str, met: bool) -> None:
    assert row.cells() == cells
    assert row.sentence().rstrip() == sentence
    assert row.met is met
    assert row_of(vars(row) | MEASURED) == row


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


def test_a_benchmark_that_fails_is_named_and_the_others_run(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    programs = {
        "broken": "raise SystemExit(3)", "slow": REPORTING.format(seconds=7), "good": REPORTING.format(seconds=2),
    }  # fmt: skip
    wrong = run(list(programs), lambda name: [sys.executable, "-c", programs[name]], file)
    assert wrong == ["broken: failed with exit status 3", "slow: missed a target"]
    found = read(file)
    assert {name: found[name]["rows"][0]["ours"] for name in found} == {"slow": 7, "good": 2}
    assert found["good"]["rows"][0] | {"machine": "", "date": "", "assay": ""} == {
        "what": "reading", "ours": 2, "unit": "s", "peer": None, "of": "", "most": 5, "least": None, "readme": "",
        "ratio": None, "met": True, "machine": "", "date": "", "assay": "",
    }  # fmt: skip
    assert found["good"]["tables"] == {"costs": [["what", "cost"], ["reading", "2 s"]]}


def test_a_benchmark_run_alone_prints_and_leaves_no_file(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != HANDED_OVER}
    done = subprocess.run(
        [sys.executable, "-c", REPORTING.format(seconds=7)],
        cwd=PROJECT, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:3] == [
        "what     Assay  beside  ratio  target", "reading  7 s                   ≤ 5 s, missed",
    ]  # fmt: skip


def test_the_peers_of_an_interpreter(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(peers(sys.executable, "numpy", "no-such-peer")) == ["numpy"]
    assert "not compared: no-such-peer" in capsys.readouterr().out


def test_each_benchmark_of_the_table_exists_and_stored_ones_are_listed() -> None:
    assert [name for name in BENCHMARKS if not (PROJECT / f"tests/benchmarks/bench_{name}.py").exists()] == []
    assert set(read()) <= set(BENCHMARKS)
    assert command("coco", "python-of-peers")[-2:] == ["--peers", "python-of-peers"]
    assert command("ingest", "python-of-peers")[-1] == "tests.benchmarks.bench_ingest"


def test_the_command_refuses_unknown_names() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "cocoa"], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "no benchmark cocoa; there are coco, overlap" in done.stderr


def test_figures_are_json_as_it_is_written() -> None:
    text = (PROJECT / "docs" / "benchmarks.json").read_text(encoding="utf-8")
    assert json.dumps(read(), indent=1, ensure_ascii=False) + "\n" == text
