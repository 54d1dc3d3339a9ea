"""Reading what is evaluated: suite and outputs, whatever they are given as."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pyarrow.compute as pc

from metrics import ingest
from metrics.core.errors import InputError, InputProblem
from metrics.core.receipt import Receipt, short_lines
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import Evaluation, option_name
from metrics.engine.evaluation_fields import Door, Tell
from metrics.ingest.file_roles import ROLE, assign_roles, describe, see_file
from metrics.library import file_options
from metrics.library.case_choice import chosen_cases
from metrics.library.file_options import Files, check_common, file_names, files_of, options_of_files, with_answers
from metrics.store.remote.objects import local_file
from metrics.store.run_spec import SubsetFacts

SHOWN_PROBLEMS = 5
Ask = Callable[[Evaluation, Suite], Outputs]


class Data(NamedTuple):
    """Suite and outputs, the problems of rows that were skipped, what was assumed, and how many answers are missing.

    `receipt` says what became of each part of the files; `subset` what of them these are, once it is chosen.
    """

    suite: Suite
    outputs: Outputs
    problems: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()
    missing: int = 0
    subset: SubsetFacts | None = None

    @property
    def receipt(self) -> Receipt:
        """What became of each part of the files."""
        return (*self.suite.receipt, *self.outputs.receipt)


def read_suite(evaluation: Evaluation, door: Door = "command", files: Files | None = None) -> ingest.Loaded[Suite]:
    """Return the suite of an evaluation with the problems of rows that were skipped. InputError as of `load_suite`."""
    given = evaluation.suite
    if evaluation.target and _has_outputs(evaluation):
        found = f"OUTPUTS {evaluation.outputs[0]}" if isinstance(evaluation.outputs, tuple) else "outputs as well"
        expected = "outputs or targets; `complete` writes the answers of targets to a file of outputs"
        raise InputError([InputProblem(option_name("target", door), found, expected)])
    if isinstance(given, Suite):
        return ingest.Loaded(given)
    names = file_names(evaluation)
    mapping, reading = files or options_of_files(evaluation, door)
    images = None if evaluation.images is None else local_file(evaluation.images)
    keep, task = evaluation.keep_good_rows, evaluation.task
    if not isinstance(given, str):
        own, answers = mapping.get(""), reading[""].answers
        suite = ingest.suite_from_frame(
            given, task=task, mapping=own, images=images, keep_good_rows=keep, answers=answers
        )
        return ingest.Loaded(suite)
    return ingest.load_suite(
        local_file(given),
        task=task,
        mapping=mapping[given],
        images=images,
        keep_good_rows=keep,
        reading=reading[given],
        name=_stem(names.get(given)),
        filename=names.get(given),
        images_filename=names.get(str(images)),
        workspace_media=f"{images or given}.media" if names else None,
    )


def read_data(
    evaluation: Evaluation,
    door: Door = "command",
    tell: Tell | None = None,
    ask: Ask | None = None,
    suite: ingest.Loaded[Suite] | None = None,
) -> Data:
    """Return what is evaluated: a suite with outputs, one file with both, or a suite that `ask` lets targets answer.

    `tell` is told what was assumed as soon as it is, and what became of the files; the `suite` may be read already.
    InputError listing every problem, and for answers to questions that nothing asks.
    """
    say = tell or (lambda *_: None)
    try:
        data = _read(evaluation, door, say, ask, suite)
    except InputError as error:
        raise with_answers(error, door) from error
    say("note", *(map(str, data.receipt) if evaluation.explain else short_lines(data.receipt)), *silent_models(data))
    if data.receipt:  # what is in memory or stored has none
        file_options.need_effect(evaluation, data.receipt, door)
    return data


def silent_models(data: Data) -> list[str]:
    """Return which models have no answer to some cases, and which have empty ones, as sentences."""
    suite, table, count = data.suite, data.outputs.outputs, len(data.suite)
    if suite.task not in ("text", "classification", "regression"):
        return []
    said = []
    for model in data.outputs.models if count else ():
        own = table.filter(pc.equal(table["model"], model))
        if missing := count - len(own["case_id"].unique()):
            said.append(f"{model} has no answer to {missing:,} of {count:,} cases: these are unscored")
        bare = own.filter(pc.and_(pc.is_null(own["error"]), pc.is_null(own["retrieved_contexts"])))
        if suite.task == "text" and (empty := bare["answer"].null_count):
            said.append(f"{model} has {empty:,} empty answer{'s' * (empty > 1)}: scored as an answer that says nothing")
    return said


def _read(evaluation: Evaluation, door: Door, say: Tell, ask: Ask | None, suite: ingest.Loaded[Suite] | None) -> Data:
    """Return what is evaluated as `read_data` does, before what became of the files is told and checked."""
    if evaluation.target:
        suite = suite or read_suite(evaluation, door)
        say("note", *suite.notes)
        cases, subset = chosen_cases(evaluation, suite.value, door)
        return Data(cases, (ask or _ask)(evaluation, cases), suite.problems, suite.notes, subset=subset)
    if suite is None and door != "page":  # which knows already
        evaluation = with_roles(evaluation, door, say)
    files = options_of_files(evaluation, door)
    given, file = evaluation.outputs, evaluation.suite  # each of several files may have cases and answers
    if not _has_outputs(evaluation) or (isinstance(file, str) and isinstance(given, tuple) and file in given):
        both = _read_both(evaluation, files, door)
        say("note", *both.notes)
        _say_skipped(say, both.problems)
        return Data(*both.value, both.problems, both.notes, both.missing)
    suite = suite or read_suite(evaluation, door, files)
    say("note", *suite.notes)
    outputs = _read_outputs(evaluation, suite.value, files, door)
    say("note", *outputs.notes)
    check_common(files[0][""], door)
    problems, notes = (*suite.problems, *outputs.problems), (*suite.notes, *outputs.notes)
    _say_skipped(say, problems)
    return Data(suite.value, outputs.value, problems, notes, outputs.missing)


def with_roles(evaluation: Evaluation, door: Door, say: Tell) -> Evaluation:
    """Return an evaluation of several files with each in its place, whatever order they are given in."""
    given = files_of(evaluation)
    if len(given) < 2 or not isinstance(evaluation.suite, str):
        return evaluation
    mapping, reading = options_of_files(evaluation, door)
    seen = {
        file: see_file(local_file(file), task=evaluation.task, mapping=dict(mapping[file]), reading=reading[file])
        for file in given
    }
    roles = assign_roles(seen, {file: reading[file].answers.get(ROLE, "") for file in given})
    if (roles.suite, *roles.outputs) == tuple(given):
        return evaluation
    say("note", *(f"{seen[file].name}: {describe(seen[file], roles.role_of(file))}" for file in given))
    names = evaluation.model_name
    called = dict(zip(given if len(names) == len(given) else given[1:], names, strict=False))
    return evaluation.model_copy(
        update={
            "suite": roles.suite,
            "outputs": roles.outputs,
            "model_name": tuple(called.get(file, "") for file in roles.outputs) if names else (),
            "images": evaluation.images or roles.images or None,
            "artifacts": evaluation.artifacts or roles.files or None,
        }
    )


def _read_both(evaluation: Evaluation, files: Files, door: Door) -> ingest.Loaded[tuple[Suite, Outputs]]:
    """Return the cases and answers of a table, or of files, that have both each, with the images that were given."""
    given, keep, task = evaluation.suite, evaluation.keep_good_rows, evaluation.task
    if isinstance(given, Suite):
        raise InputError([InputProblem("evaluate", "neither outputs nor a target", "outputs, or a target")])
    if evaluation.model_name and not _has_outputs(evaluation):
        expected = "one or more files of outputs beside the suite"
        raise InputError([InputProblem(option_name("model_name", door), "no OUTPUTS", expected)])
    if isinstance(given, str):
        both = _read_joined(evaluation, evaluation.outputs or (given,), files)
    else:
        mapping, answers = files[0][""], files[1][""].answers
        both = ingest.combined_from_frame(given, task=task, mapping=mapping, keep_good_rows=keep, answers=answers)
    if evaluation.images is None:
        return both
    images, names = local_file(evaluation.images), file_names(evaluation)
    media = f"{images}.media" if names else None
    return ingest.with_images(both, images, keep_good_rows=keep, workspace_media=media, filename=names.get(str(images)))


def _read_joined(evaluation: Evaluation, given: Sequence[str], files: Files) -> ingest.Loaded[tuple[Suite, Outputs]]:
    """Return the cases and answers of files that have both each."""
    mapping, reading = files
    if len({*given}) == 1:
        file, path, names = given[0], local_file(given[0]), file_names(evaluation)
        return ingest.load_combined(
            path,
            task=evaluation.task,
            mapping=mapping[file],
            name=_stem(names.get(file)),
            model_name=next(iter(evaluation.model_name), None) or None,
            keep_good_rows=evaluation.keep_good_rows,
            reading=reading[file],
            filename=names.get(file),
            workspace_media=f"{path}.media" if names else None,
        )
    return ingest.load_joined(task=evaluation.task, **_arguments_of(evaluation, given, files))


def _arguments_of(evaluation: Evaluation, given: Sequence[str], files: Files) -> dict[str, Any]:
    """Return what `load_joined` and `load_outputs` take for several files, by their paths."""
    (mapping, reading), names, models = files, file_names(evaluation), evaluation.model_name
    paths = {file: local_file(file) for file in given}
    return {
        "paths": [*paths.values()],
        "mappings": {path: mapping[file] for file, path in paths.items()},
        "model_names": {paths[file]: name for file, name in zip(given, models, strict=False) if name},
        "readings": {path: reading[file] for file, path in paths.items()},
        "keep_good_rows": evaluation.keep_good_rows,
        "filenames": {path: names[file] for file, path in paths.items() if file in names},
    }


def _read_outputs(evaluation: Evaluation, suite: Suite, files: Files, door: Door) -> ingest.Loaded[Outputs]:
    """Return the outputs of an evaluation; unknown classes stay, `checked_outputs` asks about them."""
    given, models = evaluation.outputs, evaluation.model_name
    if isinstance(given, Outputs):
        return ingest.Loaded(given)
    if not isinstance(given, tuple) or not all(isinstance(each, str) for each in given):
        outputs = ingest.outputs_from_frame(
            given,
            suite=suite,
            mapping=files[0].get(""),
            model_name=next(iter(models), None),
            keep_good_rows=evaluation.keep_good_rows,
            keep_unknown_classes=True,
            answers=files[1][""].answers,
        )
        return ingest.Loaded(outputs)
    if len(models) > len(given):
        found, most = f"{len(models)} names", f"at most one a file: {len(given)}"
        raise InputError([InputProblem(option_name("model_name", door), found, most)])
    return ingest.load_outputs(suite=suite, keep_unknown_classes=True, **_arguments_of(evaluation, given, files))


def _say_skipped(say: Tell, problems: Sequence[InputProblem]) -> None:
    if problems:
        lines = str(InputError(problems)).splitlines()
        more = [f"… and {len(lines) - SHOWN_PROBLEMS:,} more"] * (len(lines) > SHOWN_PROBLEMS)
        say("warning", "rows were skipped:", *lines[:SHOWN_PROBLEMS], *more)


def _has_outputs(evaluation: Evaluation) -> bool:
    return not isinstance(evaluation.outputs, tuple) or bool(evaluation.outputs)


def _ask(evaluation: Evaluation, suite: Suite) -> Outputs:
    from metrics.library.target_choice import ask_targets

    return ask_targets(evaluation, suite, evaluation.workspace, "python")


def _stem(name: str | None) -> str | None:
    return None if name is None else name.rpartition(".")[0] or "suite"
