"""The table of exports: everything that a finished run is written as, but reports, bundles and archives.

The command's choices and help, Run.export, the downloads of the page Report and docs/exports.md come from it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, cast

from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.fields import ANSWERED, VISION
from metrics.core.files import folder_written_whole, scratch_folder
from metrics.reports.zip_files import pack
from metrics.store import Run
from metrics.store.table_files import EXPORT_FORMATS, Format, write

PACKAGE = "metrics.reports"
Form = Literal["table", "file", "folder", "server"]
Flag = Literal["what", "to"]  # of the command `export`
ASKED = {  # what exports ask for beside the run: the form and the meaning of the option of that name
    "model": ("NAME", "model of open_rag_eval, where the run has several"),
    "benchmark": ("DATASET:TASK", "benchmark of eval_results, by its ids on the Hub; where several metrics are main "
                  "ones DATASET:TASK=EVALUATOR.METRIC, of a revision DATASET@REVISION:TASK"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exporter:
    """One thing that a run is exported as; `place` is the function, `module:name` below metrics.reports.

    table: name(run) returns a data frame, written in any of EXPORT_FORMATS. file: name(run) returns the bytes. folder:
    name(run, folder) writes files into a new folder. server: name(run) logs to the place that the user's environment
    names, with the tool's own library, and returns a line for each thing that it made.

    tool: whose format it is, empty for Assay's own; fits: whether a run has what it is made of, told without making it;
    asks: which of ASKED the function takes last; notes: what a reader of it has to know, lines by run and what is
    given for `asks`.
    """

    id: str
    title: str
    form: Form
    help: str
    ending: str = ""
    package: str = ""  # that has to be installed
    place: str = ""
    tool: str = ""
    flag: Flag = "to"
    fits: Callable[[Run], bool] = lambda _: True
    asks: Literal["", "model", "benchmark"] = ""
    notes: Callable[[Run, str | None], list[str]] = lambda *_: []

    def __call__(self) -> Callable[..., Any]:
        """Return the function."""
        module, _, name = (self.place or f"exchange.{self.id}:export").partition(":")
        function: Callable[..., Any] = getattr(import_module(f"{PACKAGE}.{module}"), name)
        return function if self.tool or self.form != "table" else partial(function, what=self.id)


def _has(kind: str) -> Callable[[Run], bool]:
    """Return a function of a run: whether it has rows in a table whose name begins so."""
    return lambda run: any(
        name.startswith(kind) and facts.get("rows") != 0
        for name, facts in (run.manifest or {"tables": {}})["tables"].items()
    )


def _has_variants(run: Run) -> bool:
    return not run.query("SELECT 1 FROM suite_cases WHERE perturbs IS NOT NULL LIMIT 1").empty


def _is_answered(run: Run) -> bool:
    return run.spec.suite.task in ANSWERED


def _asks(place: str) -> Callable[..., Any]:
    """Return a function of a run that is only imported where it is asked."""
    module, _, name = place.partition(":")
    return lambda *given: getattr(import_module(f"{PACKAGE}.{module}"), name)(*given)


_table = partial(Exporter, form="table", flag="what")
_own = partial(_table, place="renderers.export_tables:table")


def _h2o(
    id: str, help: str, fits: Callable[[Run], bool] = _is_answered, form: Form = "table", ending: str = ""
) -> Exporter:
    place = f"exchange.h2o:{id.removeprefix('llm-').replace('-', '_')}"
    return Exporter(id, id, form, help, ending, place=place, tool="H2O Eval Studio", flag="what", fits=fits)


EXPORTS = {
    one.id: one
    for one in (
        _own("aggregates", "Metrics", help="value, interval and counts of each model and metric"),
        _own("scores", "Scores", help="every case, model and metric", fits=_has("scores")),
        _own("problems", "Problems", help="missed thresholds, flips, defects"),
        _own("insights", "Insights", help="what stands out"),
        _own("curves", "Curves", help="points of curves, counts of confusion", fits=_has("curves/")),
        _own("matches", "Matches", help="predictions matched to ground truth", fits=_has("matches/")),
        _own("judgements", "Judgements", help="every reply of the judge", fits=_has("judgements")),
        _own("flips", "Flips", help="every perturbed case that crossed a threshold", fits=_has_variants),
        _own("flip_rates", "Flip rates", help="how often each perturbation does so", fits=_has_variants),
        _own("compliance", "Compliance", help="what is measured of each standard"),
        _own("slices", "Slices", help="parts that score lower than the rest; of large runs it takes minutes"),
        _table(
            "open_rag_eval", "Result CSV", help="one model as that tool's result CSV", tool="Open RAG Eval",
            place="renderers.rag_results:rag_results", fits=_asks("renderers.rag_results:has_scores"), asks="model",
            notes=_asks("renderers.rag_results:empty_columns"),
        ),
        Exporter(
            "valor", "Valor JSON", "file", "metrics and curves as Valor's nested JSON", "json", tool="Valor",
            flag="what", place="renderers.valor_json:valor_json", fits=_asks("renderers.valor_json:has_metrics"),
        ),
        _h2o("llm-eval-results", "inputs, answers and every metric, a row an answer"),
        _h2o("llm-bool-leaderboard", "models and prompts by failures, of boolean metrics",
             _asks("exchange.h2o:has_boolean")),
        _h2o("llm-heatmap-leaderboard", "models and prompts by the other metrics' values",
             _asks("exchange.h2o:has_graded")),
        _h2o("work-dir-archive", "results, leaderboard and problems, a folder an evaluator", form="file", ending="zip"),
        Exporter(
            "bitmaps", "Bitmaps", "file", "a zip with a PNG and the GeoJSON of every object", "zip", flag="what",
            place="renderers.bitmap_archive:bitmap_archive", fits=lambda run: run.spec.suite.task in VISION,
        ),
        Exporter(
            "model_card", "Hugging Face model card", "file",
            "model-index (YAML) and a table in Markdown, for the model's README.md", "md",
        ),
        Exporter(
            "eval_results", "Hub results", "folder", "one number as .eval_results/*.yaml of each model's repository on "
            "the Hugging Face Hub", asks="benchmark", notes=_asks("exchange.eval_results:notes"),
        ),
        Exporter(
            "every_eval_ever", "Every Eval Ever", "folder", "a JSON for each model, with the scores of its answers as "
            "JSON lines, as the EvalEval Coalition's datastore takes them",
        ),
        Exporter("inspect", "Inspect log", "folder", "a JSON log for each model, as Inspect's viewer opens it"),
        Exporter(
            "promptfoo", "promptfoo results", "file", "results as `promptfoo eval -o` writes them", "json",
            fits=_has("scores"),
        ),
        Exporter(
            "opentelemetry", "OpenTelemetry events", "file",
            "gen_ai.evaluation.result events as OTLP JSON lines; nothing is sent", "jsonl", fits=_has("scores"),
        ),
        Exporter(
            "fiftyone", "FiftyOne data set", "folder", "a FiftyOneDataset: images, ground truth and predictions",
            fits=_asks("exchange.fiftyone:has_images"),
        ),
        Exporter(
            "mlflow", "MLflow", "server", "a run for each model where MLFLOW_TRACKING_URI says: parameters, metrics, "
            "tables", package="mlflow",
        ),
        Exporter(
            "wandb", "Weights & Biases", "server", "a run for each model as WANDB_MODE, WANDB_PROJECT … say: "
            "configuration, metrics, tables", package="wandb",
        ),
    )
}  # fmt: skip
WHATS = tuple(one.id for one in EXPORTS.values() if one.form == "table" and not one.tool)  # Assay's own tables
EXPORTERS = {id: one for id, one in EXPORTS.items() if one.flag == "to"}  # the whole run for another tool


def written(run: Run, exporter: Exporter, folder: Path, given: str | None = None) -> list[str]:
    """Fill a new folder by an exporter of folders, with what is given for its `asks`; return its paths, sorted."""
    with folder_written_whole(folder) as beside:
        exporter()(run, beside, *([given] if exporter.asks else []))
        return sorted(str(path.relative_to(beside)) for path in beside.rglob("*") if path.is_file())


def option_problems(one: Exporter, format: str | None, given: Mapping[str, str | None]) -> list[InputProblem]:
    """Return what is wrong with a format, and with what is given of ASKED, for an export."""
    problems = []
    if format is not None and one.form != "table":
        problems.append(InputProblem(f"format of {one.id}", format, f"none: it is always {one.ending or 'its own'}"))
    elif format not in (None, *EXPORT_FORMATS):
        problems.append(InputProblem("format", repr(format), f"one of {', '.join(EXPORT_FORMATS)}"))
    for name, value in given.items():
        if value is not None and one.asks != name:
            takers = ", ".join(id for id, each in EXPORTS.items() if each.asks == name)
            problems.append(InputProblem(f"{name} of {one.id}", repr(value), f"none: only {takers} takes one"))
    return problems


def export(
    run: Run, what: str, format: Format | None = None, model: str | None = None, benchmark: str | None = None
) -> bytes:
    """Return a finished run as one of EXPORTS: a table in a format (default json), a file, a folder as a zip.

    model, benchmark: see ASKED. InputError on a name, a format or one of these that there is not, or where the run has
    nothing of it; RunError where it is not finished.
    """
    one = EXPORTS.get(what)
    if one is None or one.form == "server":
        known = ", ".join(id for id, each in EXPORTS.items() if each.form != "server")
        raise InputError([InputProblem("export", repr(what), f"one of {known}")])
    asked = {"model": model, "benchmark": benchmark}
    refuse(option_problems(one, format, asked))
    given = asked.get(one.asks)
    if one.form == "folder":
        with scratch_folder("export") as folder:
            return pack([(path, (folder / path).read_bytes()) for path in written(run, one, folder, given)])
    made = one()(run, *([given] if one.asks else []))
    return write(made, format or "json") if one.form == "table" else cast("bytes", made)
