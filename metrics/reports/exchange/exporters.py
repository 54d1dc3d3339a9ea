"""The table of exporters: where a finished run can go. The command's help and docs/exports.md come from it."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from metrics.store import Run

PACKAGE = __name__.rpartition(".")[0]
Form = Literal["file", "folder", "server"]


@dataclass(frozen=True, slots=True)
class Exporter:
    """One destination; its module has the function `export`.

    file: export(run) returns the bytes. folder: export(run, folder) writes files into a new folder. server: export(run)
    logs to the place that the user's environment names, with the tool's own library, and returns a line for each
    thing that it made.
    """

    id: str
    title: str
    form: Form
    help: str
    ending: str = ""
    package: str = ""  # that has to be installed

    def __call__(self) -> Callable[..., Any]:
        """Return the module's function."""
        function: Callable[..., Any] = import_module(f"{PACKAGE}.{self.id}").export
        return function


EXPORTERS = {
    one.id: one
    for one in (
        Exporter(
            "model_card", "Hugging Face model card", "file",
            "model-index (YAML) and a table in Markdown, for the model's README.md", "md",
        ),
        Exporter("inspect", "Inspect log", "folder", "a JSON log for each model, as Inspect's viewer opens it"),
        Exporter("promptfoo", "promptfoo results", "file", "results as `promptfoo eval -o` writes them", "json"),
        Exporter(
            "opentelemetry", "OpenTelemetry events", "file",
            "gen_ai.evaluation.result events as OTLP JSON lines; nothing is sent", "jsonl",
        ),
        Exporter(
            "fiftyone", "FiftyOne data set", "folder", "a FiftyOneDataset: images, ground truth and predictions"
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


def written(run: Run, exporter: Exporter, folder: Path) -> list[str]:
    """Fill a new folder by an exporter of folders; return the paths of its files, sorted."""
    folder.mkdir(parents=True, exist_ok=True)
    exporter()(run, folder)
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
