"""log(): a run made case by case, from inside a program that already has outputs and scores."""

import hashlib
import math
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import orjson
import pyarrow as pa

from metrics.core.errors import InputError, InputProblem, RunError, refuse
from metrics.core.evaluator import Metric, unreadable_value
from metrics.core.fields import REASON, SCORE
from metrics.core.suite import CASES, METADATA, OUTPUTS, Case, Outputs, Suite, Task, rows_table
from metrics.evaluators.text.own_scores import NAME, OwnScore
from metrics.library.evaluate import evaluate
from metrics.library.own_score_columns import OWN, declaration_of, score_columns
from metrics.library.run import Run, Workspace
from metrics.presentation.format import plural
from metrics.store.logged_rows import LoggedRows
from metrics.store.origin import effects_of, from_elsewhere

PIECE = 20_000  # rows turned into a table at a time
SHORT = 12  # hex digits of a case's id that is made of its content


def log(
    name: str,
    *,
    metrics: Sequence[Metric] | None = None,
    model: str | None = None,
    evaluators: Sequence[str] | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    task: Task | None = None,
    resume: bool = False,
    workspace: str | Path | None = None,
    **more: Any,
) -> "Log":
    """Return a log to which cases, outputs and scores are added; at the end of the with block it is a sealed run.

        with metrics.log("nightly", model="bot-2") as run:
            for question in questions:
                answer = bot(question)
                run.add({"question": question}, answer, {"length": len(answer), "polite": is_polite(answer)})
        run.result.aggregates

    `metrics` say what scores mean: range, better end, threshold; of those not named the range is inferred at the end (0
    to 1 where all values are in it, else open) and more is better. `model` is the name of the outputs' model (default:
    model). `evaluators` score, with their `parameters`, what was logged, at the end; `more` is passed on to `evaluate`,
    such as a judge. What is added is on disk at once: after a crash, an exception or a kill, `resume=True` continues
    with what was added, and with what the log was opened with unless it is given again. Raises InputError where there
    is an unfinished log of that name, or with `resume` none, RunBusy where another process writes to it.
    """
    given = {
        "metrics": None if metrics is None else {metric.name: declaration_of(metric) for metric in metrics},
        "model": model,
        "evaluators": None if evaluators is None else list(evaluators),
        "parameters": None if parameters is None else {id: dict(own) for id, own in parameters.items()},
        "task": task,
    }
    return Log(name, {key: value for key, value in given.items() if value is not None}, resume, workspace, more)


class Log:
    """An open log; a context manager. `result` is the sealed run, after the with block."""

    def __init__(
        self, name: str, given: Mapping[str, Any], resume: bool, workspace: str | Path | None, more: Mapping[str, Any]
    ):
        self.name = name
        self._workspace = Workspace(workspace)
        self._stored = LoggedRows(self._workspace.path, name)
        again = f"metrics.log({name!r}, resume=True) continues it"
        if self._stored.exists and not resume:
            raise InputError([InputProblem("log", f"an unfinished log called {name!r}", f"another name; {again}")])
        if resume and not self._stored.exists:
            raise InputError([InputProblem("log", f"no unfinished log called {name!r}", "one, to resume it")])
        defaults: dict[str, Any] = {"metrics": {}, "model": "model", "evaluators": [], "parameters": {}, "task": "text"}
        self._settings = defaults | (self._stored.settings if resume else {}) | dict(given)
        kept = {key: value for key, value in self._settings.items() if key not in given}
        if resume and (effects := effects_of(kept.get("parameters", {}), {})) and not self._stored.is_own:
            raise from_elsewhere(f"log {name!r}", effects, "its evaluators and parameters given again")
        self._more = dict(more)
        self._declared = {key: OwnScore(**one).metric(key, False) for key, one in self._settings["metrics"].items()}
        expected = "a name of letters, digits, _, - and . that begins with a letter"
        wrong = [name for name in self._declared if not NAME.fullmatch(name)]
        refuse(InputProblem("log", f"the metric {one!r}", expected) for one in wrong)
        self._contents: dict[bytes, bytes] = {}  # hashes: of a case's id → of its content
        self._lock = threading.Lock()
        self._run: Run | None = None
        self.count = 0

    def __enter__(self) -> Self:
        """Open the log for adding."""
        self._stored.open(self._settings)
        for row in self._stored.rows():
            self._note(row)
        return self

    def __exit__(self, _kind: object, failure: BaseException | None, _trace: object) -> None:
        """Seal the run; after an exception keep what was added, to be resumed."""
        self._stored.close()
        if failure is not None:
            failure.add_note(
                f"What was added to the log {self.name!r} is kept ({plural(self.count, 'output')}); "
                f"metrics.log({self.name!r}, resume=True) continues it."
            )
            return
        if self.count == 0:
            self._stored.remove()
            raise InputError([InputProblem("log", f"nothing added to {self.name!r}", "at least one output")])
        self._run = self._sealed()
        self._stored.remove()

    @property
    def result(self) -> Run:
        """The sealed run. Raises RunError before the end of the with block."""
        if self._run is None:
            raise RunError(f"the log {self.name!r} is not a run before the end of its with block")
        return self._run

    def _repr_html_(self) -> str:
        return self.result._repr_html_()

    def __repr__(self) -> str:
        state = "open" if self._run is None else f"sealed as run {self._run.id}"
        return f"Log({self.name!r}, {self.count:,} outputs, {state})"

    def add(
        self,
        case: "Case | Mapping[str, Any] | str",
        output: "Mapping[str, Any] | str | None" = None,
        scores: Mapping[str, float | bool | None] | None = None,
        *,
        model: str | None = None,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        """Add one output of a case with its scores; from any thread. It is on disk when this returns.

        `case` has the columns of a suite (others are metadata), or is the question alone; without a case_id its id is
        made of its content, and a case_id alone stands for the case of that id, whenever the rest of it is added.
        `output` is the answer, or has the columns of outputs. `scores` by name: numbers, True and False, None for no
        value; `reasons` say why. The same case and model again is another repeat. Raises InputError listing everything
        that is wrong, and adds nothing then.
        """
        row: dict[str, dict[str, Any]] = {
            "case": _case_row(case),
            "output": {"answer": output} if output is None or isinstance(output, str) else _plain_lists(output),
            "scores": dict(scores or {}),
            "reasons": dict(reasons or {}),
        }
        row["output"].setdefault("model", model or self._settings["model"])
        refuse([*self._score_problems(row), *_column_problems(row)])
        row["scores"] = {name: None if value is None else float(value) for name, value in row["scores"].items()}
        with self._lock:
            known = self._contents.get(_digest(row["case"]["case_id"]))
            if known is not None and len(row["case"]) > 1 and known != _content(row["case"]):
                found = f"case {row['case']['case_id']!r} with other values than before"
                raise InputError([InputProblem("log", found, "the same values, or its case_id alone")])
            self._stored.append(row)
            self._note(row)

    def _note(self, row: Mapping[str, Any]) -> None:
        """Take up a row that is in the file."""
        self.count += 1
        if len(row["case"]) > 1:
            self._contents.setdefault(_digest(row["case"]["case_id"]), _content(row["case"]))

    def _score_problems(self, row: Mapping[str, Any]) -> list[InputProblem]:
        problems = []
        for name, value in row["scores"].items():
            if not isinstance(name, str) or not NAME.fullmatch(name):
                expected = "a name of letters, digits, _, - and . that begins with a letter"
                problems.append(InputProblem("log", f"the score {name!r}", expected))
            elif value is None:
                continue
            elif not isinstance(value, int | float) and not hasattr(value, "__float__"):
                problems.append(InputProblem("log", repr(value), "a number, True, False or None", column=name))
            elif not math.isfinite(float(value)):
                problems.append(InputProblem("log", str(value), "a finite number; None is no value", column=name))
            elif name in self._declared and (wrong := unreadable_value(self._declared[name], float(value))):
                problems.append(InputProblem("log", wrong, "a value inside the range that was declared", column=name))
        without = [name for name in row["reasons"] if name not in row["scores"]]
        problems += [InputProblem("log", f"a reason for {name!r}", "a score of that name") for name in without]
        return problems

    def _sealed(self) -> Run:
        suite, outputs, ranges = self._tables()
        chosen, own = [*self._settings["evaluators"]], {**self._settings["parameters"]}
        if ranges:
            chosen = [OWN, *chosen]
            own[OWN] = own.get(OWN, {}) | {"scores": ranges}
        workspace = self._workspace.path
        return evaluate(
            suite, outputs, chosen or None, parameters=own, name=self.name, workspace=workspace, **self._more
        )

    def _tables(self) -> tuple[Suite, Outputs, dict[str, dict[str, Any]]]:
        """Return suite, outputs, and the scores as the parameters of own_scores."""
        cases, outputs = _Pieces(CASES), _Pieces(OUTPUTS)
        seen: set[bytes] = set()
        repeats: dict[bytes, int] = {}
        for row in self._stored.rows():
            id, model = row["case"]["case_id"], row["output"]["model"]
            complete = len(row["case"]) > 1 or _digest(id) not in self._contents
            if complete and (digest := _digest(id)) not in seen:
                seen.add(digest)
                cases.add(row["case"])
            key = _digest([id, model])
            repeats[key] = repeats.get(key, 0) + 1
            scored = {
                METADATA + SCORE + name: None if value is None else repr(value) for name, value in row["scores"].items()
            }
            said = {METADATA + SCORE + name + REASON: text for name, text in row["reasons"].items()}
            outputs.add({"run": repeats[key], **row["output"], "case_id": id, **scored, **said})
        suite, found = Suite(self.name, self._settings["task"], cases.table()), Outputs(outputs.table())
        declared = self._settings["metrics"]
        absent = {name: {**one, "column": SCORE + name} for name, one in declared.items()}
        return suite, found, absent | score_columns(found, declared)


class _Pieces:
    """Rows that become a table in pieces, so that no more than PIECE of them are Python objects at once."""

    def __init__(self, schema: pa.Schema):
        self.schema, self.rows, self.tables = schema, list[dict[str, Any]](), list[pa.Table]()

    def add(self, row: dict[str, Any]) -> None:
        self.rows.append(row)
        if len(self.rows) == PIECE:
            self._turn()

    def table(self) -> pa.Table:
        self._turn()
        return pa.concat_tables(self.tables, promote_options="default").combine_chunks()

    def _turn(self) -> None:
        if self.rows or not self.tables:
            self.tables.append(rows_table(self.rows, self.schema))
            self.rows = []


def _case_row(case: "Case | Mapping[str, Any] | str") -> dict[str, Any]:
    """Return a case as a row with its id first, and without empty values."""
    if isinstance(case, Case):
        given = {name: value for name, value in case._asdict().items() if name in CASES.names}
        given |= dict(case.metadata)
    else:
        given = {"question": case} if isinstance(case, str) else dict(case)
    present = {key: value for key, value in _plain_lists(given).items() if value not in (None, "", [])}
    id = present.pop("case_id", None)
    return {"case_id": hashlib.sha256(_plain(present)).hexdigest()[:SHORT] if id is None else str(id), **present}


def _plain_lists(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in row.items()}


def _column_problems(row: Mapping[str, Any]) -> list[InputProblem]:
    """Return a problem for each value that its column cannot hold."""
    problems = []
    if len(row["case"]) == 1 and not row["case"]["case_id"]:
        problems.append(InputProblem("log", "an empty case", "a case_id, a question or other columns of a suite"))
    for part, schema in (("case", CASES), ("output", OUTPUTS)):
        for name, value in row[part].items():
            if name not in schema.names:
                continue
            try:
                fits = pa.array([value], schema.field(name).type).to_pylist() == [value]
            except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, ValueError):
                fits = False
            if not fits:
                kinds = {"string": "text", "double": "a number", "int64": "a whole number"}
                expected = kinds.get(str(schema.field(name).type), "a list of texts")
                problems.append(InputProblem("log", repr(value), expected, column=f"{part}.{name}"))
    return problems


def _content(case: Mapping[str, Any]) -> bytes:
    return hashlib.blake2b(_plain(case), digest_size=8).digest()


def _digest(key: Any) -> bytes:
    return hashlib.blake2b(orjson.dumps(key), digest_size=8).digest()


def _plain(value: Any) -> bytes:
    return orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS)
