"""What exporters write: the numbers of the leaderboard, each output with its scores, and tables as files."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metrics import analysis
from metrics.analysis.boards.origins import origins
from metrics.core.conventions import ASSAY, CALIBRATION, limit
from metrics.presentation.board_words import evaluators_of
from metrics.presentation.phrases import metric_title
from metrics.presentation.safe_text import shown_tree
from metrics.reports.renderers.export_tables import table
from metrics.store import Run
from metrics.store.table_files import write

NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
COLUMNS = ["case_id", "run", "evaluator", "metric", "value", "status", "reason"]


@dataclass(frozen=True, slots=True)
class Number:
    """One cell of the leaderboard with its column; `name` is evaluator.metric, unique within the model."""

    model: str
    name: str
    column: analysis.Column
    cell: analysis.Cell

    @property
    def title(self) -> str:
        """The metric's name for people: `Looping detection: Longest repeat`."""
        return metric_title(self.column, arrow=False)

    @property
    def has_value(self) -> bool:
        """Whether it is a finite number, which every format takes."""
        return self.cell.value is not None and math.isfinite(self.cell.value)


@dataclass(frozen=True, slots=True)
class Answered:
    """One output of a case, or a case without one (`output` is empty), with its scores as records of COLUMNS."""

    case: dict[str, Any]
    output: dict[str, Any]
    scores: list[dict[str, Any]]
    position: int
    model: str
    repeat: int


def numbers(run: Run) -> list[Number]:
    """Return every number of the leaderboard over all cases, model by model."""
    board = analysis.leaderboard(run)
    return [
        Number(model, file_name(column.key.replace("/", ".")), column, board.cells[model, column.key])
        for model in board.models
        for column in board.columns
        if (model, column.key) in board.cells
    ]


def answers(run: Run, model: str) -> Iterator[Answered]:
    """Yield what one model answered, in the order of the suite, with the scores; texts are safe to write."""
    cases = shown_tree(run.suite.cases.to_pylist())
    outputs = run.outputs.restricted(model).outputs.to_pylist()
    by_output = {(row["case_id"], row["run"]): shown_tree(row) for row in outputs}
    scores: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for row in run.stored_table("scores", COLUMNS, [("model", "=", model)]).to_pylist():
        scores.setdefault((row["case_id"], row["run"]), []).append(shown_tree(row))
    places = {case_id: place for place, case_id in enumerate(run.suite.cases["case_id"].to_pylist())}
    for case_id, repeat in sorted({*by_output, *scores}, key=lambda key: (key[1] or 1, places[key[0]])):
        key = case_id, repeat
        place = places[case_id]
        yield Answered(cases[place], by_output.get(key, {}), scores.get(key, []), place, model, repeat or 1)


def is_primary(run: Run, row: dict[str, Any]) -> bool:
    """Return whether a score is its evaluator's main one."""
    metric = run.metric(row["evaluator"], row["metric"])
    return metric is not None and metric.primary


def verdict_of(run: Run, row: dict[str, Any]) -> tuple[bool | None, str]:
    """Return whether a score passes its threshold, None where nothing says; and the threshold where it is not Assay's
    or calibrated: `≥ 0.75 (H2O Eval Studio's)`.
    """
    metric = run.metric(row["evaluator"], row["metric"])
    passed = None if metric is None else metric.verdict(row["value"])
    if metric is None or passed is None:
        return None, ""
    of = run.threshold_of(row["evaluator"], metric)
    return passed, "" if of in (ASSAY, CALIBRATION) else limit(metric.threshold, metric.direction, of)


def file_name(text: str) -> str:
    """Return a text as a name of letters, digits, _, - and . that is no hidden file."""
    return NOT_IN_NAMES.sub("_", text).lstrip(".") or "_"


def unique_names(texts: tuple[str, ...]) -> dict[str, str]:
    """Return a file name for each text, numbered where two would share one."""
    names: dict[str, str] = {}
    for text in texts:
        base = name = file_name(text)[:100]
        number = 2
        while name.casefold() in {taken.casefold() for taken in names.values()}:
            name, number = f"{base}_{number}", number + 1
        names[text] = name
    return names


def parameters(run: Run, model: str) -> dict[str, str]:
    """Return what a model's numbers rest on: suite, run and its end, judge and parameters of each of its evaluators."""
    suite, behind = run.spec.suite, run.behind(model)
    found = {
        "model": model, "assay_run": run.id, "suite": suite.name, "suite_fingerprint": suite.fingerprint,
        "outputs_fingerprint": behind.spec.outputs.fingerprint, "seed": str(run.spec.seed),
        "finished": behind.sealed,
    }  # fmt: skip
    of_board = [one for one in origins(run) if one.entry == model]
    found |= {f"{id}.run": one.run.id for one in of_board for id in one.evaluators}
    ids = evaluators_of(run, model)
    judges = {f"{id}.judge": judge for id, judge in analysis.judged_by(run).items() if id in ids}
    own = {
        f"{id}.{name}": str(value)
        for id in ids
        for name, value in run.evaluators[id].items()
        if value not in (None, {}, [], "")
    }
    return found | judges | own


def metrics(found: list[Number]) -> Iterator[tuple[str, float]]:
    """Yield each number with a value, and beside it the ends of its interval, n and unscored."""
    for one in found:
        parts = {"": one.cell.value, ".low": one.cell.low, ".high": one.cell.high, ".n": one.cell.n}
        for ending, value in ({**parts, ".unscored": one.cell.unscored}).items():
            if value is not None and (one.cell.value is not None or ending in (".n", ".unscored")):
                yield one.name + ending, float(value)


def write_tables(run: Run, model: str, folder: Path) -> dict[str, Any]:
    """Write aggregates (CSV) and scores (Parquet) of one model to a folder; return them as data frames by name."""
    frames = {name: table(run, name, model) for name in ("aggregates", "scores")}
    (folder / "aggregates.csv").write_bytes(write(frames["aggregates"], "csv"))
    (folder / "scores.parquet").write_bytes(write(frames["scores"], "parquet"))
    return frames
