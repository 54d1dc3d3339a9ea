"""The common form of what benchmarks measure, and the file of figures from which `make docs` writes its tables."""

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

FIGURES = Path(__file__).parents[2] / "docs" / "maintainers" / "benchmarks.json"
HEAD = ("what", "Assay", "beside", "ratio", "target")
HANDED_OVER = "ASSAY_BENCHMARK"  # names the file in which a benchmark leaves what it measured


@dataclass(frozen=True)
class Row:
    """A figure in its unit, alone or beside a peer's, with its target.

    The target bounds the ratio where there is a peer, else the figure: `most` for how many times the peer's ours is,
    `least` for how many times as fast we are. A row with words for the `readme` is named there by them.
    """

    what: str
    ours: float
    unit: str
    peer: float | None = None
    of: str = ""
    most: float | None = None
    least: float | None = None
    readme: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours to the peer's; with `least`, the peer's to ours."""
        if self.peer is None:
            return None
        return self.ours / self.peer if self.least is None else self.peer / self.ours

    @property
    def met(self) -> bool:
        value = self.ours if self.ratio is None else self.ratio
        return (self.most is None or value <= self.most) and (self.least is None or value >= self.least)

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return the row as text: what, ours, the peer's, the ratio, the target."""
        unit = f" {self.unit}".rstrip()
        bound = f"≤ {shown(self.most)}" if self.most is not None else f"≥ {shown(self.least)}" if self.least else ""
        missed = "" if self.met else ", missed"
        if self.ratio is None:
            return self.what, shown(self.ours) + unit, "", "", bound and bound + unit + missed
        faster = "" if self.least is None else " as fast"
        peer = f"{shown(self.peer)}{unit} ({self.of})"
        target = bound and f"{bound} ×{missed}"
        return self.what, shown(self.ours) + unit, peer, f"{shown(self.ratio)} ×{faster}", target

    def sentence(self) -> str:
        if self.ratio is None:
            return f"{self.readme} in {shown(self.ours)} {self.unit}"
        if self.least is None:
            return f"{self.readme} in {shown(self.ratio)} × the time of {self.of}"
        return f"{self.readme} {shown(self.ratio)} × as fast as {self.of}"


@dataclass(frozen=True)
class Table:
    """A table that a page of docs/ shows as it is; the first line is its head."""

    name: str
    lines: Sequence[Sequence[str]]


def row_of(record: dict[str, Any]) -> Row:
    return Row(**{field.name: record[field.name] for field in fields(Row)})


def shown(value: float | None) -> str:
    """Return a number with three digits, or with those before the point where there are more."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def options(doc: str | None, peers: str | None = "", /, **numbers: int) -> argparse.Namespace:
    """Return what the command line gives for --name N of each number, and for --peers PYTHON unless `peers` is ""."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, usual in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=usual, metavar="N")
    if peers != "":
        parser.add_argument("--peers", default=peers, metavar="PYTHON")
    return parser.parse_args()


def versions(*names: str) -> str:
    """Return installed distributions with their versions, in words."""
    return ", ".join(f"{name} {version(name)}" for name in names)


def peers(python: str, *names: str) -> dict[str, str]:
    """Return the distributions that another interpreter has, each with its version; name the others in a line."""
    program = (
        "import importlib.metadata as m, json\nfound = {}\n"
        f"for name in {names!r}:\n"
        "    try: found[name] = f'{name} {m.version(name)}'\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(found))"
    )
    found: dict[str, str] = json.loads(subprocess.run([python, "-c", program], capture_output=True, check=True).stdout)
    if missing := [name for name in names if name not in found]:
        print(f"not installed, so not compared: {', '.join(missing)} (--peers PYTHON: an interpreter that has them)")
    return found


def add_packages(python: str) -> None:
    """Make what another interpreter of the same version has, and this one lacks, importable here."""
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    sys.path.append(subprocess.run([python, "-c", program], capture_output=True, check=True, text=True).stdout.strip())


def report(rows: Sequence[Row], tables: Sequence[Table] = ()) -> NoReturn:
    """Print rows and tables, leave them for `python -m tests.benchmarks`; exit with 1 where a target is missed."""
    figures = Table("figures", [HEAD, *(row.cells() for row in rows)])
    for lines in [table.lines for table in (figures, *tables)]:
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        print()
        for line in lines:
            print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    if HANDED_OVER in os.environ:
        record: dict[str, Any] = {
            "rows": [asdict(row) | {"ratio": row.ratio, "met": row.met} for row in rows],
            "tables": {table.name: table.lines for table in tables},
        }
        Path(os.environ[HANDED_OVER]).write_text(json.dumps(record), encoding="utf-8")
    sys.exit(0 if all(row.met for row in rows) else 1)


def machine() -> str:
    """Return what of this machine bears on figures: cores, memory, system, Python."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {python}"


def read(file: Path = FIGURES) -> dict[str, Any]:
    """Return the stored figures, by benchmark: `rows` and `tables`."""
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def merge(file: Path, order: Sequence[str], name: str, record: dict[str, Any], measured: dict[str, str]) -> None:
    """Put what a benchmark has measured into the file.

    A row that it did not measure this time stays where it has a peer, which may not be installed, else it goes.

    Args:
        file: The figures.
        order: The benchmarks in the order of the file.
        name: The benchmark.
        record: Its `rows` and `tables`, as `report` leaves them.
        measured: Where, when and with which version of Assay: stands in each new row.
    """
    stored = read(file)
    old = stored.get(name, {"rows": [], "tables": {}})
    rows = [row | measured for row in record["rows"]]
    names = {row["what"] for row in rows}
    rows += [row for row in old["rows"] if row["what"] not in names and row["peer"] is not None]
    stored[name] = {"rows": rows, "tables": old["tables"] | record["tables"]}
    ordered = {name: stored[name] for name in sorted(stored, key=lambda one: order.index(one) if one in order else -1)}
    beside = file.with_suffix(".new")
    beside.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(file)
