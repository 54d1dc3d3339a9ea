"""The start of a new run: its further settings, where it may be computed, and who may have code run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from components.data.evaluation_inputs import evaluation_of, uploaded_data
from components.data.visitors import action
from components.data.workspace_runs import workspace
from metrics.core.errors import AssayError

if TYPE_CHECKING:
    from components.data.evaluation_inputs import Inputs
    from components.data.run_estimates import Parameters


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema of the further settings of a run that the page asks for."""
    from metrics.engine.evaluation import page_schema

    return page_schema()


def settings_of(inputs: Inputs) -> dict[str, Any]:
    """Return the further settings that the run had whose suite and outputs are evaluated again."""
    return {"as_in": workspace().run(inputs.suite).spec.as_in} if inputs.source == "run" else {}


@action("editor", "start a run", "name")
def start(
    inputs: Inputs,
    evaluators: tuple[str, ...],
    parameters: Parameters,
    name: str | None,
    resources: dict[str, Any] | None = None,
    scheduler: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[str, str]:
    """Store suite and outputs, create the run and start it; return its id, or "" and why it was not started.

    `resources` chooses the models behind the evaluators, by kind; `scheduler` is one of `schedulers()`, if any;
    `settings` are those of `settings_schema`.
    """
    from metrics import engine
    from metrics.core.presets import RUN_CODE
    from metrics.library.prepare import prepare

    try:
        if any(values.get("allow") and id in RUN_CODE for id, values in parameters.items()):
            allow_code(name or "")
        data = uploaded_data(inputs)
        given = {"evaluators": evaluators, "param": parameters, "name": name, "scheduler": scheduler}
        evaluation = evaluation_of(inputs, data, resources=resources or {}, **given, **(settings or {}))
        prepared = prepare(evaluation, "page", data=data)
        if prepared.data.problems and not inputs.keep:
            return "", "The files have problems that they did not have before; check them again."
        run = prepared.create()
        engine.start(run)
    except AssayError as failure:
        return "", str(failure)
    return run.id, ""


@action("admin", "run code that models wrote", "name")
def allow_code(name: str) -> None:
    """Raise NotAllowed where the visitor may not have code that models wrote run on the studio's machine."""
    del name  # it is in the audit log


def schedulers() -> list[str]:
    """Return the Dask schedulers that whoever started the studio allows, from $ASSAY_SCHEDULERS."""
    return os.environ.get("ASSAY_SCHEDULERS", "").split()
