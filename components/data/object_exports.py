"""A selection of objects taken along: as a file, or as a new suite."""

from dataclasses import replace
from typing import Any, Literal

from components.data.run_reads import of_run
from components.data.suite_drafts import store_suite
from components.data.visitors import action
from components.data.workspace_runs import workspace
from metrics import analysis
from metrics.store import Run

ExportFormat = Literal["coco", "yolo", "csv"]
WRITERS = {"coco": analysis.as_coco, "yolo": analysis.as_yolo, "csv": analysis.as_csv}


@of_run
def object_keys(run: Run, /, evaluator: str, sort: str, by_image: bool, **choice: Any) -> tuple[tuple[str, str], ...]:
    """Return case_id and key of everything that a gallery shows; see metrics.analysis.object_keys."""
    return tuple(analysis.object_keys(run, evaluator, analysis.ObjectFilter(**choice), sort, by_image))


@action("viewer", "download objects", "run_id", "form")
def export_objects(run_id: str, form: ExportFormat, evaluator: str, choice: dict[str, Any]) -> bytes:
    """Return a selection as a file: COCO JSON, a YOLO zip, or CSV."""
    return WRITERS[form](workspace().run(run_id), evaluator, analysis.ObjectFilter(**choice))


@action("editor", "store selected images as a suite", "run_id", "name")
def save_selection(run_id: str, name: str, evaluator: str, choice: dict[str, Any]) -> tuple[str, str]:
    """Store the images of a selection as a suite of that name; return its fingerprint and a message."""
    run = workspace().run(run_id)
    suite = analysis.selected_suite(run, evaluator, analysis.ObjectFilter(**choice))
    words = f"{len(suite):,} images selected in the gallery of {run.name or run_id}"
    return store_suite(replace(suite, name=name), run.spec.suite.fingerprint, [words])
