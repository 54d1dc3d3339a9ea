"""evaluate(): a whole evaluation in one call, for notebooks and scripts."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from metrics import engine
from metrics.core.errors import InputError, InputProblem, RunError
from metrics.core.label_order import numeric_labels
from metrics.core.suite import Outputs, Suite
from metrics.engine.schedulers import checked_scheduler, use_scheduler
from metrics.ingest import load_outputs, outputs_from_frame, read_suite, suite_from_frame
from metrics.judge.keys import KEY, let_go
from metrics.judge.prompt_overrides import place_prompts
from metrics.judge.rubrics import with_rubric
from metrics.judge.settings import settings_of
from metrics.library.plugins import ids_of
from metrics.library.presets import default
from metrics.library.run import Run, Workspace
from metrics.store.remote.input_files import local_file
from metrics.targets import complete

if TYPE_CHECKING:
    from metrics.core.evaluator import Evaluator
    from metrics.targets.spec import Spec

Table = Any  # what metrics.ingest.tables.frames takes
CONSISTENCY = "consistency_statistics"  # the evaluator that run_consistency adds
ANSWERS = ("answer", "trace", "predictions", "predicted_value", "choice_logprobs")  # what outputs may hold of a model
SHORT_ANSWER = 40  # characters: a name, a number, a date, a few words
MOST_LABELS = 50  # distinct expected answers, at most, that still look like labels


def evaluate(
    suite: "Suite | str | Path | Table",
    outputs: "Outputs | str | Path | Table | Sequence[str | Path] | None" = None,
    evaluators: "Sequence[str | Evaluator] | None" = None,
    *,
    target: "Spec | Sequence[Spec] | None" = None,
    repeats: int = 1,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    name: str | None = None,
    seed: int = 0,
    workspace: str | Path | None = None,
    resources: Mapping[str, Any] | None = None,
    judge: "str | Mapping[str, Any] | None" = None,
    prompts: Mapping[str, str] | None = None,
    run_consistency: bool = False,
    accept_findings: bool = False,
    unknown_classes: Sequence[str] = (),
    scheduler: str | None = None,
    case_timeout: float | None = None,
) -> Run:
    """Evaluate the outputs of one or more models on a suite and return the finished, sealed Run.

    `suite` and `outputs` are Suite and Outputs, files of any supported format or their URLs, or tables in memory
    (data frames of pandas or polars, Arrow tables, lists of dictionaries, Hugging Face Datasets) with the canonical
    column names; `evaluators` are ids, and functions of your own made by @evaluator (default: all of Assay's that fit
    the suite and need no model); `parameters` maps an id to its values (the `rubric` of evaluator rubric may be a
    file), `resources` a kind of model to the one wanted (`{"embedder": "path or hub name"}`). `judge` is the name of
    a model in litellm, "local", or the fields of metrics.judge.settings.JudgeSettings. `prompts`: texts of your own
    in place of prompts, by prompt id (or the evaluator's, if it has only one). `run_consistency` adds
    consistency_statistics, which compares the metrics over the repeats of each case. In place of outputs, `target`
    names what is to answer the cases, each `repeats` times: a function, a model … see `complete`, which has more
    settings. Boxes are checked first, see `lint`: serious findings are an InputError unless `accept_findings`, the
    others warnings. Predictions of classes that the suite does not have are an InputError without an answer in
    `unknown_classes`, in the words of the command: "ignore", "false", "NAME=CLASS" or the name of a file. `scheduler`
    is the address of a Dask scheduler that the numbers are computed on, or "local:N": N workers on this machine.
    A case whose scoring takes longer than `case_timeout` seconds is an error (default: $ASSAY_CASE_TIMEOUT, else 300;
    0: no limit; ten times as long with a local model, see docs/scale.md).

    The work is done in a process of its own, so it can be called in a notebook, a running event loop or a script
    without a main guard. Raises InputError listing every problem of the input, RunError if the run fails.
    """
    if scheduler is not None:
        checked_scheduler(scheduler)
    if not isinstance(suite, Suite):
        suite = read_suite(local_file(suite)) if isinstance(suite, str | Path) else suite_from_frame(suite)
    if target is not None and outputs is None:
        outputs = complete(suite, target, repeats=repeats, workspace=workspace)
    elif target is not None or outputs is None:
        raise InputError([InputProblem("evaluate", "neither" if target is None else "both", "outputs, or a target")])
    if isinstance(outputs, str | Path):
        outputs = [outputs]
    if isinstance(outputs, Sequence) and all(isinstance(one, str | Path) for one in outputs):
        files = [*map(local_file, outputs)]
        outputs = load_outputs(files, suite=suite, keep_unknown_classes=bool(unknown_classes)).value
    elif not isinstance(outputs, Outputs):
        outputs = outputs_from_frame(outputs, suite=suite, keep_unknown_classes=bool(unknown_classes))
    outputs = checked(suite, outputs, accept_findings, unknown_classes)
    chosen = ids_of(evaluators) if evaluators is not None else runnable(suite, outputs)
    if run_consistency and CONSISTENCY not in chosen:
        chosen.append(CONSISTENCY)
    wanted = dict(resources or {}) | ({} if judge is None else {"judge": judge})
    for each in () if judge is None else settings_of(judge).judges:
        if each.base_url is not None:
            let_go(KEY, each.base_url)
    kept = Workspace(workspace)
    parameters = with_rubric(parameters, kept.path, files=True)
    parameters, wanted = place_prompts(prompts or {}, chosen, parameters, wanted)
    run = engine.create(
        kept, suite, outputs, chosen, parameters, name, seed, resources=wanted, case_timeout=case_timeout
    )
    use_scheduler(run, scheduler)
    process = engine.start(run)
    try:
        process.wait()
    except BaseException:
        engine.cancel(run)
        raise
    if run.state != "finished":
        raise RunError(f"run {run.id} {run.state}: {run.failure or 'see log.txt in ' + str(run.folder)}")
    return Run(run.folder)


def checked(suite: Suite, outputs: Outputs, accept: bool, unknown: Sequence[str]) -> Outputs:
    """Return the outputs with their unknown classes settled as `unknown` says; warn of what looks wrong with boxes.

    InputError for what is serious, unless accepted, and for unknown classes without an answer.
    """
    if suite.task != "detection":
        if unknown:
            raise InputError([InputProblem("unknown_classes", f"a suite of {suite.task}", "a suite of detection")])
        return outputs
    from metrics.ingest.lint import ClassChoice, advice, lint, settle, unanswered, unknown_text

    if unknown:
        outputs = settle(suite, outputs, ClassChoice.parse(unknown))
    findings = lint(suite, outputs)
    texts = [
        advice(one, lambda model, name: f"outputs = fix(suite, outputs, [({model!r}, {name!r})])") for one in findings
    ]
    refused: list[str] = []
    for one, lines in zip(findings, texts, strict=True):
        if one.serious and not accept:
            refused += lines
        else:
            warnings.warn("\n".join(lines), stacklevel=3)
    if refused:
        refused.append("or accept_findings=True to score them as they are")
    # numbers that are off by one are answered by their fix
    numbered = not accept and any(one.kind == "class_numbers" and one.serious for one in findings)
    if (left := unanswered(suite, outputs)) and not numbered:
        alike = [f"{each.name}={each.nearest[0]}" for each in left if each.nearest]
        refused += [unknown_text(left), f"  add unknown_classes=[{(alike or ['ignore'])[0]!r}]"]
    if refused:
        raise InputError(*refused)
    return outputs


def runnable(suite: Suite, outputs: Outputs) -> list[str]:
    """Return the evaluators of the task's default preset that have each input in some case; none needs a model.

    Raises InputError where there are none.
    """
    present = available_inputs(suite, outputs)
    found = default(suite.task).runnable(suite.task, present)
    if not found and present.isdisjoint(ANSWERS):
        expected = "answers of models: a file of outputs beside the suite, or a column answer in one file"
        raise InputError([InputProblem("outputs", "no answers", expected)])
    if not found:
        named = ", ".join(sorted(present))
        raise InputError([InputProblem("evaluators", f"none that can use {named}", "the evaluators by name")])
    return found


def available_inputs(suite: Suite, outputs: Outputs) -> set[str]:
    """Return what the data has: every column with a value, `annotations`, `predictions`, `keypoints` where both have
    some, `segments` where classes are things or stuff, `repeats` where cases have several outputs, `few_answers` where
    the expected answers recur like labels, `short_answers` where most are short enough to be met to the letter,
    `ordered_labels` where the classes are numbers, and `class_parents` where they are in a hierarchy.
    """
    tables = [suite.cases, outputs.outputs]
    present = {name for table in tables for name in table.column_names if table[name].null_count < table.num_rows}
    if len(outputs.outputs["run"].unique()) > 1:
        present.add("repeats")
    if suite.annotations is not None:
        present.add("annotations")
    if outputs.predictions is not None:
        present.add("predictions")
        objects = (suite.annotations, outputs.predictions)
        if all(table is not None and table["keypoints"].null_count < len(table) for table in objects):
            present.add("keypoints")
    if any(facts.is_thing is not None for facts in suite.classes.values()):
        present.add("segments")
    if len(suite.labels) > 2 and numeric_labels(suite.labels):
        present.add("ordered_labels")
    if any(facts.parent is not None for facts in suite.classes.values()):
        present.add("class_parents")
    expected = suite.cases["expected_answers"].combine_chunks().flatten()
    if 1 < len(expected.unique()) <= max(2, min(MOST_LABELS, len(suite) // 5)):
        present.add("few_answers")
    if 2 * (pc.sum(pc.less_equal(pc.utf8_length(expected), SHORT_ANSWER)).as_py() or 0) > len(expected):
        present.add("short_answers")
    return present
