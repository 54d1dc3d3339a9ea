"""Which cases tell models apart: as it is shown, as files, and the short suite as a suite of its own."""

from dataclasses import asdict, replace

import pyarrow as pa

from components.data.run_reads import of_run
from components.data.suite_drafts import store_suite
from components.data.visitors import action
from components.data.workspace_runs import open_run
from metrics import analysis
from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.store import Run
from metrics.store.table_files import suite_bytes, write

case_items = of_run(analysis.case_items, spinner="Fitting the cases' difficulty")
short_suites = of_run(analysis.short_suites, spinner="Looking for the fewest cases that keep the ranking")
has_items = analysis.has_items


@action("viewer", "download the cases' difficulty", "run_id", "metric")
def items_csv(run_id: str, evaluator: str, metric: str, tag: str | None) -> bytes:
    """Return every case with its difficulty, discrimination, intervals and verdict as CSV."""
    import pandas as pd

    found = analysis.case_items(open_run(run_id), evaluator, metric, tag)
    return write(pd.DataFrame([asdict(row) for row in found.rows] if found else []), "csv")


@action("viewer", "download a short suite", "run_id", "metric")
def short_suite_csv(run_id: str, evaluator: str, metric: str, tag: str | None, cases: int) -> bytes:
    """Return the first `cases` cases of the short suite as CSV; of images their ids."""
    import pandas as pd

    run = open_run(run_id)
    try:
        return suite_bytes(_short_suite(run, evaluator, metric, tag, cases), "csv")
    except InputError:
        return write(pd.DataFrame({"case_id": _chosen(run, evaluator, metric, tag, cases)}), "csv")


@action("editor", "store a short suite", "run_id", "name")
def save_short_suite(
    run_id: str, name: str, evaluator: str, metric: str, tag: str | None, cases: int
) -> tuple[str, str]:
    """Store the first `cases` cases of the short suite as a suite of that name; its fingerprint and a message."""
    run = open_run(run_id)
    words = f"the {cases:,} cases of {run.name or run_id} that tell its models apart best"
    suite = replace(_short_suite(run, evaluator, metric, tag, cases), name=name)
    return store_suite(suite, run.spec.suite.fingerprint, [words])


def _chosen(run: Run, evaluator: str, metric: str, tag: str | None, cases: int) -> list[str]:
    found = analysis.short_suites(run, evaluator, metric, tag)
    return list(found.case_ids[:cases]) if found else []


def _short_suite(run: Run, evaluator: str, metric: str, tag: str | None, cases: int) -> Suite:
    return run.suite.restricted(pa.array(_chosen(run, evaluator, metric, tag, cases), pa.string()))
