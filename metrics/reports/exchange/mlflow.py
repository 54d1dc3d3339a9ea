"""A run in MLflow: an MLflow run for each model, at the tracking URI that the environment names."""

import os

from metrics.core.files import scratch_folder
from metrics.presentation.safe_text import shown
from metrics.reports.exchange.contents import metrics, numbers, parameters, write_tables
from metrics.store import Run

MOST_METRICS = 1000  # that MLflow takes in one call
MOST_PARAMETERS = 100
MOST_VALUE = 6000  # characters of a parameter's value
LONGEST = 250  # characters of a name


def export(run: Run) -> list[str]:
    """Log each model as a run of the experiment $MLFLOW_EXPERIMENT_NAME, or one called like the suite.

    Metrics are evaluator.metric, with .low, .high, .n and .unscored beside; aggregates (CSV) and scores (Parquet) are
    artifacts. Returns a line for each run.
    """
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    client = MlflowClient()
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or shown(run.spec.suite.name)
    known = client.get_experiment_by_name(name)
    experiment = known.experiment_id if known else client.create_experiment(name)
    found = numbers(run)
    lines = []
    for model in run.models:
        made = client.create_run(
            experiment, run_name=shown(f"{model} · {run.name}"), tags={"assay.run": run.behind(model).id}
        )
        id = made.info.run_id
        at = made.info.start_time
        values = list(metrics([one for one in found if one.model == model]))
        logged = [Metric(key[:LONGEST], value, at, 0) for key, value in values]
        given = [Param(key[:LONGEST], shown(value)[:MOST_VALUE]) for key, value in parameters(run, model).items()]
        for start in range(0, max(len(logged), 1), MOST_METRICS):
            client.log_batch(id, metrics=logged[start : start + MOST_METRICS])
        for start in range(0, len(given), MOST_PARAMETERS):
            client.log_batch(id, params=given[start : start + MOST_PARAMETERS])
        with scratch_folder("mlflow") as folder:
            write_tables(run, model, folder)
            client.log_artifacts(id, str(folder))
        client.set_terminated(id)
        lines.append(f"{model}: MLflow run {id} in the experiment {name}")
    return lines
