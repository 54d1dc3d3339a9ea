"""Answers that a workspace already has for the cases of a suite, and the cases as a table to be answered."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import RunError, RunNotFound
from metrics.core.fields import CASE_FIELDS
from metrics.core.suite import Outputs, Suite
from metrics.store import Run, Workspace

# what a model may have to see
ASKED = [each.name for each in CASE_FIELDS if each.given == "always" and each.role not in ("key", "sort")]
TASKS = {  # task → the column to be filled
    "text": "answer", "agent": "answer", "classification": "label", "regression": "predicted_value",
}  # fmt: skip


@dataclass(frozen=True)
class OutputsOnFile:
    """Outputs of an earlier run for `cases` cases of the suite; `run` is the newest run that evaluated them."""

    fingerprint: str
    models: tuple[str, ...]
    cases: int
    run: str
    created: str


def outputs_on_file(runs: Iterable[Run], suite: Suite) -> list[OutputsOnFile]:
    """Return the outputs of these runs that answer cases of the suite, in the order of the runs, each once.

    The runs may be of other suites of the same task: an edited suite finds the answers to the cases it kept.
    """
    found: dict[str, OutputsOnFile] = {}
    ids = suite.cases["case_id"].combine_chunks()
    for run in runs:
        fingerprint = str(run.spec.outputs.fingerprint)
        if fingerprint in found or run.spec.suite.task != suite.task:
            continue
        try:
            answered = pc.unique(run.needed("outputs/outputs.parquet").rows(["case_id"])["case_id"])
        except RunError:  # lost or damaged: they are no longer there to choose
            continue
        cases = int(pc.sum(pc.is_in(answered, ids)).as_py() or 0)
        if cases:
            found[fingerprint] = OutputsOnFile(fingerprint, run.models, cases, run.name, run.created)
    return list(found.values())


def read_on_file(workspace: Workspace, fingerprint: str, suite: Suite) -> tuple[Outputs, int]:
    """Return stored outputs for the cases of the suite, and how many answers of a model to a case are missing.

    RunNotFound where they are no longer there, or answer none of the cases.
    """
    outputs = workspace.outputs(fingerprint).restricted(case_ids=suite.cases["case_id"].combine_chunks())
    if not outputs.outputs.num_rows:
        raise RunNotFound(f"the outputs {fingerprint[:12]}… answer no case of {suite.name!r}; choose others")
    return outputs, count_missing(suite, outputs)


def count_missing(suite: Suite, outputs: Outputs) -> int:
    """Return how many answers of a model to a case there are not."""
    answered = outputs.outputs.select(["case_id", "model"]).group_by(["case_id", "model"]).aggregate([]).num_rows
    return len(suite) * len(outputs.models) - int(answered)


def suites_around(workspace: Workspace, suite: Suite) -> Iterator[Suite]:
    """Yield the stored suites that a suite may be a selection of: with all its cases and more, the smallest first."""
    ids = set(suite.cases["case_id"].to_pylist())
    larger = [each for each in workspace.suites() if each["task"] == suite.task and each["cases"] > len(suite)]
    for facts in sorted(larger, key=lambda each: int(each["cases"])):
        whole = workspace.suite(facts["fingerprint"])
        if ids <= set(whole.cases["case_id"].to_pylist()):
            yield whole


def to_answer(suite: Suite) -> pd.DataFrame | None:
    """Return the cases with an empty column to be filled with a model's answers; None for cases that are images."""
    column = TASKS.get(suite.task)
    if column is None:
        return None
    shown = [name for name in ASKED if name in suite.cases.column_names and suite.cases[name].null_count < len(suite)]
    table: pa.Table = suite.cases.select(["case_id", *shown])
    frame: pd.DataFrame = table.to_pandas()
    return frame.assign(**{column: ""})
