"""What an evaluator's scores rest on beside case and output, as a sha256, and the runs that share it with a new one."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from metrics import models
from metrics.calibrations.calibrated_thresholds import calibrated_by
from metrics.core.calibration import with_thresholds
from metrics.core.errors import AssayError
from metrics.core.evaluator import JUDGE, Evaluator, Parameters
from metrics.core.registry import choose, plugin
from metrics.core.source_version import source_version
from metrics.core.suite import Outputs, Suite
from metrics.judge.settings import JudgeSettings, settings_of
from metrics.store import Run, Workspace
from metrics.store.manifest import FILE as MANIFEST, content_digest
from metrics.store.origin import is_signed

MAX_SOURCES = 10  # runs, the newest first
UNREADABLE = (AssayError, OSError, ValueError, KeyError, pa.ArrowException)


def identities(
    evaluators: Mapping[str, Mapping[str, Any]], resources: Mapping[str, Any], inputs: tuple[str, str]
) -> dict[str, str]:
    """Return the identity of each of these evaluators with its parameters, by id.

    It is made of version, parameters, thresholds in force, models, judge with the evaluator's prompts, a plugin's
    source, the source of Assay and its libraries. `inputs`: fingerprints of suite and outputs, which count where what
    the models wrote is run as code. Nothing is said of what follows other scores, where models are not on this machine,
    and where a judge is missing or replays a recording.
    """
    known = {}
    for id, (entry, parameters) in choose(list(evaluators), evaluators).items():
        models_and_judge = None if entry.follows else _rests_on(entry, parameters, resources)
        if models_and_judge is not None:
            own = parameters.model_dump(mode="json")
            found = plugin(id)
            source = "" if found is None else found.source
            code = inputs if own.get("allow") else ()
            known[id] = content_digest([id, entry.version, own, models_and_judge, source, code, source_version()])
    return known


def _rests_on(entry: Evaluator, parameters: Parameters, resources: Mapping[str, Any]) -> list[Any] | None:
    """Return the weights of the evaluator's models and the numbers of its judges; None where they are not known."""
    own = entry.settings(parameters, resources)
    weights = {name: models.weights_of(name, own) for name in entry.local_models(parameters)}
    judges: tuple[JudgeSettings, ...] = ()
    if JUDGE in parameters.used(entry.resources):
        judges = settings_of(own[JUDGE]).judges if own.get(JUDGE) else ()
        if not judges or any(one.replay for one in judges):
            return None
    prompts = [prompt.id for prompt in entry.prompts]
    told = [[one.of_prompts(prompts).numbers(), one.identity()] for one in judges]
    return None if None in weights.values() else [weights, told]


def sealed_identities(run: Run) -> dict[str, str]:
    """Return the identities of a sealed run's evaluators, by id; none of runs of earlier versions."""
    return dict((run.manifest or {}).get("identities", {}))


def find_sources(
    workspace: Workspace,
    suite: Suite,
    outputs: Outputs,
    evaluators: Mapping[str, Mapping[str, Any]],
    resources: Mapping[str, Any],
) -> list[Run]:
    """Return the sealed runs of which a run of these evaluators may take scores, the newest first.

    They were sealed here, have an evaluator with the same identity and a case of the same id.
    """
    own: dict[str, str] | None = None
    ids = suite.cases["case_id"].combine_chunks()
    found: list[Run] = []
    for run in workspace.runs():
        with suppress(*UNREADABLE):  # a damaged run does not hide the others
            theirs = sealed_identities(run)
            if not theirs.keys() & evaluators or run.spec.suite.task != suite.task:
                continue
            if own is None:  # on use: it reads all of Assay's source
                own = identities(evaluators, resources, (suite.fingerprint, outputs.fingerprint))
            cases = run.case_columns(["case_id"])["case_id"] if own.items() & theirs.items() else ids[:0]
            if pc.any(pc.is_in(cases, ids)).as_py() and is_signed(run.folder / MANIFEST):
                found.append(run)
        if len(found) == MAX_SOURCES:
            break
    return found


def in_force(
    evaluators: Iterable[tuple[Evaluator, Parameters]], resources: Mapping[str, Any], workspace: Path
) -> dict[str, dict[str, Any]]:
    """Return the parameters of evaluators as a run has them that is created now, with its calibrated thresholds."""
    return {
        entry.id: with_thresholds(
            own.model_dump(mode="json"), calibrated_by(entry, own, resources, workspace).get("calibrated", {})
        )
        for entry, own in evaluators
    }
