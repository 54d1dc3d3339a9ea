"""Archives of runs, written and opened, bundles and exports; a selection of objects as a file, or as a new suite."""

from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from components.data.file_reading import read_upload
from components.data.run_reads import of_run
from components.data.suite_drafts import store_suite
from components.data.uploaded_files import name_of, path_of, upload_folder
from components.data.visitors import action, kept_here
from components.data.workspace_runs import open_run, workspace_path
from metrics import analysis
from metrics.core.errors import AssayError
from metrics.reports.exchange.exporters import ASKED as ASKED, EXPORTS, Exporter as Exporter, export
from metrics.store import Run
from metrics.store.table_files import Format as Format

ExportFormat = Literal["coco", "yolo", "csv"]
WRITERS = {"coco": analysis.as_coco, "yolo": analysis.as_yolo, "csv": analysis.as_csv}


class ImportedRun(NamedTuple):
    """The run of an archive, None with the `problems` of one that cannot be opened; `added`: it was not there."""

    id: str | None
    name: str = ""
    added: bool = False
    problems: str | None = None


@action("viewer", "download an archive", "run_id")
def archive_run(run_id: str) -> bytes:
    """Return a finished run with all that it rests on as a zip, which `import_run` opens elsewhere."""
    from metrics.reports.archives.write import archive

    return archive(open_run(run_id))


@action("viewer", "download the pages of a run", "run_id")
def bundle_run(run_id: str) -> bytes:
    """Return a finished run as pages that open without a server, in a zip."""
    from metrics.reports.bundles.bundle_files import bundle_zip

    return bundle_zip(open_run(run_id))


@kept_here
def fitting_exports(run_id: str) -> tuple[Exporter, ...]:
    """Return what a finished run can be downloaded as."""
    run = open_run(run_id)
    return tuple(one for one in EXPORTS.values() if one.form != "server" and one.fits(run))


@action("viewer", "export a run", "run_id", "what")
def export_run(run_id: str, what: str, format: Format | None = None, given: str | None = None) -> bytes:
    """Return a finished run as one of metrics.reports.exchange.exporters, with what is given for its `asks`."""
    asked = {EXPORTS[what].asks: given} if given else {}
    return export(open_run(run_id), what, format, **asked)


@kept_here
def words_of_export(run_id: str, what: str, given: str | None) -> list[str]:
    """Return what there is to say about an export, such as which of its columns are empty, and why."""
    return EXPORTS[what].notes(open_run(run_id), given)


@action("editor", "import a run", "token")
def import_run(token: str, replies: bool) -> ImportedRun:
    """Open the uploaded archive of a run; with `replies` its judge's replies are added to the cache, by an admin."""
    from metrics.reports.archives.read import import_archive

    path, name = path_of(token, upload_folder()), name_of(token, upload_folder())
    if replies:
        trust_replies(name)
    if path is None:
        return ImportedRun(None, problems="the file is gone; upload it again")
    try:
        return ImportedRun(*read_upload([name], [path], partial(import_archive, path, workspace_path(), name, replies)))
    except AssayError as failure:
        return ImportedRun(None, problems=str(failure))


@action("admin", "add an archive's replies of judges", "name")
def trust_replies(name: str) -> None:
    """Raise NotAllowed where the visitor may not have later runs answered by what others say that a judge replied."""
    del name  # it is in the audit log


@of_run
def object_keys(run: Run, /, evaluator: str, sort: str, by_image: bool, **choice: Any) -> tuple[tuple[str, str], ...]:
    """Return case_id and key of everything that a gallery shows; see metrics.analysis.object_keys."""
    return tuple(analysis.object_keys(run, evaluator, analysis.ObjectFilter(**choice), sort, by_image))


@action("viewer", "download objects", "run_id", "form")
def export_objects(run_id: str, form: ExportFormat, evaluator: str, choice: dict[str, Any]) -> bytes:
    """Return a selection as a file: COCO JSON, a YOLO zip, or CSV."""
    return WRITERS[form](open_run(run_id), evaluator, analysis.ObjectFilter(**choice))


@action("editor", "store selected images as a suite", "run_id", "name")
def save_selection(run_id: str, name: str, evaluator: str, choice: dict[str, Any]) -> tuple[str, str]:
    """Store the images of a selection as a suite of that name; return its fingerprint and a message."""
    run = open_run(run_id)
    suite = analysis.selected_suite(run, evaluator, analysis.ObjectFilter(**choice))
    words = f"{len(suite):,} images selected in the gallery of {run.name or run_id}"
    return store_suite(replace(suite, name=name), run.spec.suite.fingerprint, [words])
