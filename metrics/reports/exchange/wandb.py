"""A run in Weights & Biases: a run for each model, where and how the environment says (WANDB_MODE, WANDB_PROJECT …)."""

import os

from metrics.core.files import scratch_folder
from metrics.presentation.safe_text import shown
from metrics.reports.exchange.contents import file_name, metrics, numbers, parameters, write_tables
from metrics.store import Run

MOST_ROWS = 10_000  # of a table that W&B shows; the artifact has all


def export(run: Run) -> list[str]:
    """Log each model as a run of the project $WANDB_PROJECT, or one called like the suite.

    The summary has evaluator.metric, with .low, .high, .n and .unscored beside; aggregates and scores are tables, and
    files of an artifact. Returns a line for each run.
    """
    import wandb

    project = os.environ.get("WANDB_PROJECT") or file_name(run.spec.suite.name)
    found = numbers(run)
    lines = []
    for model in run.models:
        name = shown(f"{model} · {run.name}")
        with (
            scratch_folder("wandb") as folder,
            wandb.init(project=project, name=name, config=parameters(run, model), job_type="evaluation") as made,
        ):
            made.summary.update(dict(metrics([one for one in found if one.model == model])))
            for title, frame in write_tables(run, model, folder).items():
                head = frame.head(MOST_ROWS).astype(object)
                made.log({title: wandb.Table(dataframe=head.where(head.notna(), None))})
            artifact = wandb.Artifact(f"assay-{run.id}-{file_name(model)}"[:128], "evaluation")
            artifact.add_dir(str(folder))
            made.log_artifact(artifact)
            lines.append(f"{model}: W&B run {made.id} in the project {project}" + (f", {made.url}" if made.url else ""))
    return lines
