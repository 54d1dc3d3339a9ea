"""evaluate(): a whole evaluation in one call, for notebooks and scripts."""

import inspect
import logging
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from metrics import engine
from metrics.core.errors import InputError, InputProblem, RunError, did_you_mean, refuse
from metrics.core.evaluator import Evaluator
from metrics.core.plugins import plugin_of
from metrics.core.registry import add_plugin, evaluators as all_evaluators
from metrics.core.suite import Outputs, Suite, Task
from metrics.engine.evaluation import COMMAND_ONLY, EvaluationInCode
from metrics.engine.evaluation_fields import Tell, expected_value, option_of
from metrics.ingest.vectors import PREDICTION, TRUTH, ClassNames
from metrics.library.given_values import MODEL, recognize_values
from metrics.library.prepare import prepare
from metrics.library.run import Run

Table = Any  # what metrics.ingest.tables.native_types takes
PLACED = ("suite", "outputs", "evaluators", "classes")  # the arguments that are no settings
CALLED = {"param": "parameters"}  # fields that Python calls otherwise
FIELDS = {
    CALLED.get(name, name): (name, field)
    for name, field in EvaluationInCode.model_fields.items()
    if option_of(field).python and not any(name in group.model_fields for group in COMMAND_ONLY)
}
logger = logging.getLogger("metrics")


def evaluate(
    suite: "Suite | str | Path | Table" = None,
    outputs: "Outputs | str | Path | Table | Sequence[str | Path] | Mapping[str, Table] | None" = None,
    evaluators: "Sequence[str | Evaluator] | str | None" = None,
    *,
    classes: "ClassNames | None" = None,
    **settings: Any,
) -> Run:
    """Evaluate the outputs of one or more models on a suite and return the finished, sealed Run.

        evaluate(y_true, y_pred)                     # lists, arrays, tensors or series of classes, or of numbers
        evaluate(y_true, {"a": y_pred, "b": y_prob}) # scores [n, classes], or of the second of two classes
        evaluate(frame)                              # y_true, y_pred (y_pred_a, y_pred_b); question, answer, expected
        evaluate(suite, {"a": frame, "b": answers})  # by id (a column or the index), by question, or in order
        evaluate([{"input": …, "output": …, "expected": …}])       # or question, contexts, answer, ground_truth
        evaluate([{"boxes": …, "labels": …}], [{"boxes": …, "labels": …, "scores": …}])  # torchvision, x1 y1 x2 y2
        evaluate(coco_dictionary, {"a": results, "b": results})    # or objects of pycocotools
        evaluate("suite.csv", ["a.csv", "b.csv"])    # files, zips, URLs; {"name": "a.csv"} names the model
        evaluate(["a.csv", "suite.csv", "b.csv"])    # in any order: which is which is told from their content

    Tables are data frames of pandas or polars, Arrow tables, lists of dictionaries or Hugging Face Datasets; Suite and
    Outputs are taken as they are. Whole numbers of y_true are classes if few; `task="regression"` or
    `"classification"` says so. `classes` names them, in the order of the columns of scores, or by number.
    `evaluators` are ids, and functions of your own made by @evaluator (default: all of Assay's that fit the suite and
    need no model).

    `settings` are the flags of the command `evaluate` by their names (docs/command.md), with the same defaults, hints
    and refusals; a flag NAME=VALUE is a mapping, one that is repeated a list. Python has some more: `parameters` maps
    an evaluator's id to its values (the `rubric` of evaluator rubric may be a file), `resources` a kind of model to the
    one wanted (`{"embedder": "path or hub name"}`), `judge` may be the fields of metrics.judge.settings.JudgeSettings,
    `target` a function, `prompts` maps a prompt's id (or the evaluator's, if it has only one) to a text in its place.

    Boxes are checked first, see `lint`: serious findings are an InputError unless `accept_findings`, the others
    warnings; so are predictions of classes that the suite does not have, without an answer in `unknown_classes`.

    The work is done in a process of its own, so it can be called in a notebook, a running event loop or a script
    without a main guard. Raises InputError listing every problem of the input, RunError if the run fails.
    """
    doubts: list[str] = []

    def tell(kind: str, *lines: str) -> None:
        if kind == "warning":
            doubts.append("\n".join(lines))
        else:
            for line in lines:
                logger.info(line)

    try:
        prepared = prepare(as_evaluation(suite, outputs, evaluators, settings, classes, tell), "python", tell)
    finally:
        for text in doubts:
            warnings.warn(text, stacklevel=2)
    for hint in prepared.hints():
        logger.info(hint)
    run = prepared.create()
    process = engine.start(run)
    try:
        process.wait()
    except BaseException:
        engine.cancel(run)
        raise
    if run.state != "finished":
        raise RunError(f"run {run.id} {run.state}: {run.failure or 'see log.txt in ' + str(run.folder)}")
    return Run(run.folder)


def as_evaluation(
    suite: Any,
    outputs: Any,
    evaluators: Any,
    settings: Mapping[str, Any],
    classes: "ClassNames | None" = None,
    tell: Tell | None = None,
) -> EvaluationInCode:
    """Return the evaluation that arguments ask for; `tell` is told what was assumed.

    TypeError for unknown ones, InputError for wrong values.
    """
    if suite is None and TRUTH in settings:  # as scikit-learn names them
        suite, outputs = settings[TRUTH], settings.get(PREDICTION)
        settings = {name: value for name, value in settings.items() if name not in (TRUTH, PREDICTION)}
    for name in settings:
        if name not in FIELDS:
            hint = did_you_mean(name, FIELDS)
            raise TypeError(f"evaluate() got an unexpected keyword argument {name!r}{f'; {hint}' if hint else ''}")
    if evaluators is not None and not isinstance(evaluators, str):
        evaluators = ids_of(evaluators)
    values = {FIELDS[name][0]: value for name, value in settings.items() if value is not None}
    named = settings.get("model_name") or MODEL
    model = named if isinstance(named, str) else next(iter(named))
    task = settings.get("task") or task_of(evaluators)
    given = recognize_values(suite, outputs, task, classes, model, bool(settings.get("keep_good_rows")))
    suite, outputs = given.suite, given.outputs
    if given.models:
        values["model_name"] = given.models
    if given.unknown_classes:
        values.setdefault("unknown_classes", given.unknown_classes)
    if tell and given.notes:
        tell("warning", *given.notes)
    target = values.get("target")
    if isinstance(target, Mapping) or callable(target):  # a description, or a function
        values["target"] = [target]
    if "target" not in values and outputs is None and isinstance(suite, Suite):
        raise InputError([InputProblem("evaluate", "neither", "outputs, or a target")])
    try:
        return EvaluationInCode.model_validate({"suite": suite, "outputs": outputs, "evaluators": evaluators} | values)
    except ValidationError as failure:
        wrong = {str(error["loc"][0]): error for error in failure.errors()}
        fields = EvaluationInCode.model_fields
        raise InputError(
            InputProblem("evaluate", repr(error["input"])[:80], expected_value(fields[name]), column=name)
            for name, error in wrong.items()
        ) from None


def task_of(evaluators: Sequence[str] | str | None) -> Task | None:
    """Return the one task that all of some evaluators are for; None where there is none, or several are possible."""
    named = evaluators.split(",") if isinstance(evaluators, str) else evaluators or ()
    known = all_evaluators()
    tasks = [set(known[id].tasks) for id in map(str.strip, named) if id in known]
    common = set.intersection(*tasks) if tasks else set()
    return common.pop() if len(common) == 1 else None


def _signature() -> inspect.Signature:
    """Return the arguments of `evaluate` one by one, for help() and notebooks."""
    own = inspect.signature(evaluate)
    placed = [own.parameters[name] for name in PLACED]
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=field.annotation)
        for name, (_, field) in FIELDS.items()
        if name not in PLACED
    ]
    return own.replace(parameters=[*placed, *named])


evaluate.__signature__ = _signature()  # type: ignore[attr-defined]


def ids_of(evaluators: Sequence[str | Evaluator]) -> list[str]:
    """Return the id of each, after registering those that are no ids.

    Raises InputError for anything else, and for an id that one of Assay's own evaluators has.
    """
    refuse(
        InputProblem("evaluators", repr(one), "an id, or a function made by @evaluator (metrics.evaluator)")
        for one in evaluators
        if not isinstance(one, str | Evaluator)
    )
    return [one if isinstance(one, str) else add_plugin(plugin_of(one)) for one in evaluators]
