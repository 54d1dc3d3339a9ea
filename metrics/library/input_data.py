"""Reading what is evaluated: suite and outputs, whatever they are given as, and their checks."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from metrics.core.errors import InputError, InputProblem
from metrics.core.file_kinds import upload_of
from metrics.core.receipt import Receipt, short_lines
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import Evaluation, EvaluationInCode, ReadingFields
from metrics.engine.evaluation_fields import Door, option_name, pairs
from metrics.ingest import (
    Loaded,
    Reading,
    combined_from_frame,
    load_combined,
    load_joined,
    load_outputs,
    load_suite,
    outputs_from_frame,
    suite_from_frame,
    with_images,
)
from metrics.ingest.file_roles import ROLE, assign_roles, describe, see_file
from metrics.ingest.source import labels_of
from metrics.ingest.tables.columns import CommonMapping
from metrics.library.case_budget import cases_within_budget
from metrics.presentation.phrases import change_lines
from metrics.store.remote.objects import local_file
from metrics.store.run_spec import BudgetFacts

ALL = "all"  # of `fix`: whatever the checks propose
CHOSEN = (  # how a file is read, which lines of a receipt say that it was, and which files have that
    ("encoding", ("encoding",), "a file that is text: CSV, JSON, JSONL or YAML; of others it has no effect"),
    ("sheet", ("sheet ", "split "), "an Excel file, or a data set of several splits; of others it has no effect"),
)

SHOWN_PROBLEMS = 5
Tell = Callable[..., None]  # is told `note` or `warning`, and lines
Ask = Callable[[Evaluation, Suite], Outputs]


class Data(NamedTuple):
    """Suite and outputs, the problems of rows that were skipped, what was assumed, and how many answers are missing.

    `receipt` says what became of each part of the files; `budget` what larger suite these cases are some of, if any.
    """

    suite: Suite
    outputs: Outputs
    problems: tuple[InputProblem, ...] = ()
    notes: tuple[str, ...] = ()
    missing: int = 0
    budget: BudgetFacts | None = None

    @property
    def receipt(self) -> Receipt:
        """What became of each part of the files."""
        return (*self.suite.receipt, *self.outputs.receipt)


Files = tuple[Mapping[str, Mapping[str, str]], Mapping[str, Reading]]  # mapping and reading of each


def read_suite(evaluation: Evaluation, door: Door = "command", files: Files | None = None) -> Loaded[Suite]:
    """Return the suite of an evaluation with the problems of rows that were skipped. InputError as of `load_suite`."""
    given = evaluation.suite
    if evaluation.target and _has_outputs(evaluation):
        found = f"OUTPUTS {evaluation.outputs[0]}" if isinstance(evaluation.outputs, tuple) else "outputs as well"
        expected = "outputs or targets; `complete` writes the answers of targets to a file of outputs"
        raise InputError([InputProblem(option_name("target", door), found, expected)])
    if isinstance(given, Suite):
        return Loaded(given)
    names = file_names(evaluation)
    mapping, reading = files or _of_files(evaluation, door)
    images = None if evaluation.images is None else local_file(evaluation.images)
    keep, task = evaluation.keep_good_rows, evaluation.task
    if not isinstance(given, str):
        own, answers = mapping.get(""), reading[""].answers
        suite = suite_from_frame(given, task=task, mapping=own, images=images, keep_good_rows=keep, answers=answers)
        return Loaded(suite)
    return load_suite(
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
    suite: Loaded[Suite] | None = None,
) -> Data:
    """Return what is evaluated: a suite with outputs, one file with both, or a suite that `ask` lets targets answer.

    `tell` is told what was assumed as soon as it is, and what became of the files; the `suite` may be read already.
    InputError listing every problem, and for answers to questions that nothing asks.
    """
    say = tell or _ignore
    try:
        data = _read(evaluation, door, say, ask, suite)
    except InputError as error:
        raise with_answers(error, door) from error
    say("note", *(map(str, data.receipt) if evaluation.explain else short_lines(data.receipt)))
    if data.receipt:  # what is in memory or stored has none
        _need_effect(evaluation, data.receipt, door)
    return data


def with_answers(error: InputError, door: Door) -> InputError:
    """Return the error with how its questions are answered at that door; a page shows them as buttons."""
    if door == "page" or not any(problem.question for problem in error.problems):
        return error
    problems = []
    for problem in error.problems:
        if question := problem.question:
            answers = [option_text(question.option, answer, door) for answer in question.answers]
            problem = replace(problem, expected=question.expects(answers))
        problems.append(problem)
    return InputError(problems)


def _read(evaluation: Evaluation, door: Door, say: Tell, ask: Ask | None, suite: Loaded[Suite] | None) -> Data:
    """Return what is evaluated as `read_data` does, before what became of the files is told and checked."""
    if evaluation.target:
        suite = suite or read_suite(evaluation, door)
        say("note", *suite.notes)
        cases, budget = cases_within_budget(evaluation, suite.value, door)
        return Data(cases, (ask or _ask)(evaluation, cases), suite.problems, suite.notes, budget=budget)
    if suite is None and door != "page":  # which knows already
        evaluation = with_roles(evaluation, door, say)
    keep = evaluation.keep_good_rows
    mapping, reading = _of_files(evaluation, door)
    if _are_joined(evaluation):
        both = _with_images(_read_joined(evaluation, mapping, reading), evaluation)
        say("note", *both.notes)
        _say_skipped(say, both.problems)
        return Data(*both.value, both.problems, both.notes, both.missing)
    if not _has_outputs(evaluation):
        file, task = evaluation.suite, evaluation.task
        if isinstance(file, Suite):
            raise InputError([InputProblem("evaluate", "neither outputs nor a target", "outputs, or a target")])
        if evaluation.model_name:
            expected = "one or more files of outputs beside the suite"
            raise InputError([InputProblem(option_name("model_name", door), "no OUTPUTS", expected)])
        if isinstance(file, str):
            both = _read_joined(evaluation.model_copy(update={"outputs": (file,)}), mapping, reading)
        else:
            answers = reading[""].answers
            both = combined_from_frame(file, task=task, mapping=mapping[""], keep_good_rows=keep, answers=answers)
        both = _with_images(both, evaluation)
        say("note", *both.notes)
        _say_skipped(say, both.problems)
        return Data(*both.value, both.problems, both.notes, both.missing)
    suite = suite or read_suite(evaluation, door, (mapping, reading))
    say("note", *suite.notes)
    outputs = _read_outputs(evaluation, suite.value, (mapping, reading), door)
    say("note", *outputs.notes)
    _check_common(mapping[""], door)
    problems, notes = (*suite.problems, *outputs.problems), (*suite.notes, *outputs.notes)
    _say_skipped(say, problems)
    return Data(suite.value, outputs.value, problems, notes, outputs.missing)


def with_roles(evaluation: Evaluation, door: Door, say: Tell) -> Evaluation:
    """Return an evaluation of several files with each in its place, whatever order they are given in."""
    given = _files_of(evaluation)
    if len(given) < 2 or not isinstance(evaluation.suite, str):
        return evaluation
    mapping, reading = _of_files(evaluation, door)
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


def _read_joined(
    evaluation: Evaluation, mapping: Mapping[str, Mapping[str, str]], reading: Mapping[str, Reading]
) -> Loaded[tuple[Suite, Outputs]]:
    """Return the cases and answers of files that have both each."""
    files, names = {each: local_file(each) for each in evaluation.outputs}, file_names(evaluation)
    if len(files) == 1:
        ((file, path),) = files.items()
        return load_combined(
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
    return load_joined(
        list(files.values()),
        task=evaluation.task,
        mappings={path: mapping[each] for each, path in files.items()},
        model_names={path: name for path, name in zip(files.values(), evaluation.model_name, strict=False) if name},
        keep_good_rows=evaluation.keep_good_rows,
        readings={path: reading[each] for each, path in files.items()},
        filenames={path: names[each] for each, path in files.items() if each in names},
    )


def _with_images(both: Loaded[tuple[Suite, Outputs]], evaluation: Evaluation) -> Loaded[tuple[Suite, Outputs]]:
    """Return the cases and answers with the images that were given, if any."""
    if evaluation.images is None:
        return both
    images, names = local_file(evaluation.images), file_names(evaluation)
    return with_images(
        both,
        images,
        keep_good_rows=evaluation.keep_good_rows,
        workspace_media=f"{images}.media" if names else None,
        filename=names.get(str(images)),
    )


def _read_outputs(evaluation: Evaluation, suite: Suite, files_of: Files, door: Door) -> Loaded[Outputs]:
    """Return the outputs of an evaluation; unknown classes stay, `checked_outputs` asks about them."""
    given, models, keep = evaluation.outputs, evaluation.model_name, evaluation.keep_good_rows
    names = file_names(evaluation)
    mapping, reading = files_of
    if isinstance(given, Outputs):
        return Loaded(given)
    if not isinstance(given, tuple) or not all(isinstance(each, str) for each in given):
        model, own = next(iter(models), None), mapping.get("")
        return Loaded(
            outputs_from_frame(
                given,
                suite=suite,
                mapping=own,
                model_name=model,
                keep_good_rows=keep,
                keep_unknown_classes=True,
                answers=reading[""].answers,
            )
        )
    if len(models) > len(given):
        found, most = f"{len(models)} names", f"at most one a file: {len(given)}"
        raise InputError([InputProblem(option_name("model_name", door), found, most)])
    files = {each: local_file(each) for each in given}
    return load_outputs(
        list(files.values()),
        suite=suite,
        mappings={files[each]: mapping[each] for each in given},
        model_names={files[each]: model for each, model in zip(given, models, strict=False) if model},
        readings={files[each]: reading[each] for each in given},
        keep_good_rows=keep,
        keep_unknown_classes=True,
        filenames={files[each]: names[each] for each in given if each in names},
    )


def _say_skipped(say: Tell, problems: Sequence[InputProblem]) -> None:
    """Tell which rows were skipped, and why."""
    if problems:
        lines = str(InputError(problems)).splitlines()
        more = [f"… and {len(lines) - SHOWN_PROBLEMS:,} more"] * (len(lines) > SHOWN_PROBLEMS)
        say("warning", "rows were skipped:", *lines[:SHOWN_PROBLEMS], *more)


def _has_outputs(evaluation: Evaluation) -> bool:
    return not isinstance(evaluation.outputs, tuple) or bool(evaluation.outputs)


def _ask(evaluation: Evaluation, suite: Suite) -> Outputs:
    from metrics.library.target_choice import ask_targets

    return ask_targets(evaluation, suite, evaluation.workspace, "python")


def _ignore(*_: str) -> None:
    """Tell nobody."""


def file_names(evaluation: ReadingFields) -> Mapping[str, str]:
    """Return the names that people know files by; where there are some, what files hold is stored beside them."""
    return evaluation.file_names if isinstance(evaluation, EvaluationInCode) else {}


def _stem(name: str | None) -> str | None:
    return None if name is None else name.rpartition(".")[0] or "suite"


def _are_joined(evaluation: Evaluation) -> bool:
    """Return whether the suite is a file that is one of those of outputs: each has cases and answers."""
    suite, outputs = evaluation.suite, evaluation.outputs
    return isinstance(suite, str) and isinstance(outputs, tuple) and suite in outputs


def _files_of(evaluation: Evaluation) -> list[str]:
    """Return the files that are evaluated, where it is files."""
    outputs = evaluation.outputs if isinstance(evaluation.outputs, tuple) else ()
    return list(dict.fromkeys(each for each in (evaluation.suite, *outputs) if isinstance(each, str)))


def _of_files(evaluation: Evaluation, door: Door) -> Files:
    """Return mapping and reading of each file; those of what is in memory are under "".

    What is mapped in all of several files is about those that have the column.
    """
    outputs = evaluation.outputs if isinstance(evaluation.outputs, tuple) else ()
    files = _files_of(evaluation)
    mappings = mappings_of(evaluation.map, files, option_name("map", door))
    readings = readings_of(evaluation, files, door)
    tables = (0 if isinstance(evaluation.suite, Suite) else 1) + (
        len(outputs) or not isinstance(evaluation.outputs, tuple)
    )
    if tables < 2 or isinstance(evaluation.outputs, Outputs):
        return mappings, readings
    found: tuple[set[str], set[str]] = (set(), set())
    every = mappings[""]
    return {
        file: CommonMapping(own, [name for name in every if own.get(name) == every[name]], tables, *found)
        for file, own in mappings.items()
    }, readings


def _check_common(mapping: Mapping[str, str], door: Door) -> None:
    """Raise InputError for columns that were mapped in all files, if all are tables and none has such a column."""
    if isinstance(mapping, CommonMapping) and len(mapping.read) >= mapping.tables:
        option, expected = option_name("map", door), "the name of a column of one of the files"
        missing = sorted(mapping.common - mapping.found)
        if missing:
            raise InputError(InputProblem(option, f"{name}={mapping[name]}", expected) for name in missing)


def mappings_of(
    texts: Sequence[str], files: Sequence[str], option: str = "--map", form: str = "CANONICAL=COLUMN"
) -> dict[str, dict[str, str]]:
    """Return columns by canonical field of each file, and under "" of all: FILE=CANONICAL=COLUMN is about one.

    A file is named by its path or its name, of several with one name by its label, too.
    """
    names = _names_of(files)
    split = [(_file_named(text, names), text) for text in texts]
    of_all = [text for name, text in split if not name]
    found = {}
    for file in ("", *files):
        own = [text.removeprefix(f"{name}=") for name, text in split if name and name in names.get(file, ())]
        found[file] = dict(pairs([*of_all, *own], option, form))
    return found


def answers_of(given: ReadingFields, files: Sequence[str], door: Door) -> dict[str, dict[str, str]]:
    """Return the answers to the questions about each file, and under "" those about all."""
    return mappings_of(given.read, files, option_name("read", door), "QUESTION=ANSWER")


def readings_of(given: ReadingFields, files: Sequence[str], door: Door = "command") -> dict[str, Reading]:
    """Return how each file is to be read; InputError where an option names a file that is not given."""
    from metrics.ingest.text_encoding import named

    answers, names = answers_of(given, files, door), _names_of(files)
    labels = labels_of(files, file_names(given))
    found: dict[str, dict[str, str]] = {"encoding": {}, "sheet": {}}
    problems = []
    for option, chosen in found.items():
        for text in getattr(given, option):
            known = _file_named(text, names)
            file, equals, name = (known, "=", text.removeprefix(f"{known}=")) if known else text.rpartition("=")
            of = [each for each in files if not equals or file in names[each]]
            if not of:
                option = option_name(option, door)
                problems.append(InputProblem(option, f"the file {file!r}", "one of " + ", ".join(files)))
            chosen.update(dict.fromkeys(of, named(name) if chosen is found["encoding"] else name))
    if problems:
        raise InputError(problems)
    return {
        file: Reading(found["encoding"].get(file), found["sheet"].get(file), answers[file], labels.get(file, ""))
        for file in ("", *files)  # "": what is no file
    }


def _need_effect(evaluation: Evaluation, receipt: Receipt, door: Door) -> None:
    """Raise InputError for an encoding, a sheet or an answer without effect on any file, by their receipts."""
    files, called = _files_of(evaluation), file_names(evaluation)
    names, labels = _names_of(files), labels_of(files, called)
    answered = {name for answers in answers_of(evaluation, files, door).values() for name in answers}
    problems = [
        InputProblem(
            option_name("read", door), f"an answer to {name!r}, which nothing asks", "a question that is asked"
        )
        for name in sorted(answered - {ROLE, *(line.question for line in receipt)})
    ]
    for option, places, expected in CHOSEN:
        had = {upload_of(line.file) for line in receipt if line.place.startswith(places)}
        for text in getattr(evaluation, option):
            named = _file_named(text, names)
            meant = [each for each in files if not named or named in names[each]]
            if files and not had & {labels[each] or called.get(each, Path(each).name) for each in meant}:
                listed = ", ".join(Path(each).name for each in meant)
                problems.append(InputProblem(option_name(option, door), f"{text!r}, for {listed}", expected))
    if problems:
        raise InputError(problems)


def corrected_outputs(suite: Suite, outputs: Outputs, evaluation: Evaluation, door: Door = "command") -> Outputs:
    """Return the outputs with the fixes of boxes and the unknown classes as the evaluation says. InputError."""
    from metrics.ingest.lint import ClassChoice, fix, fix_all, settle

    if evaluation.fix:
        outputs = fix(suite, outputs, [_named_fix(text, door) for text in evaluation.fix if text != ALL])
    if ALL in evaluation.fix:
        outputs = fix_all(suite, outputs)
    return (
        settle(suite, outputs, ClassChoice.parse(evaluation.unknown_classes)) if evaluation.unknown_classes else outputs
    )


def _names_of(files: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what each file may be called in an option: its path, its name, and its label if it shares its name."""
    return {file: (file, Path(file).name, label or file) for file, label in labels_of(files).items()}


def _file_named(text: str, names: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a file that a text FILE=… begins with; empty where it begins with none."""
    return next((name for own in names.values() for name in own if text.startswith(f"{name}=")), "")


def checked_outputs(
    suite: Suite, outputs: Outputs, evaluation: Evaluation, door: Door = "command", tell: Tell | None = None
) -> Outputs:
    """Return the outputs with fixes and unknown classes as the evaluation says, after the checks of boxes and classes.

    `tell` is told what was changed, and what looks doubtful. InputError for serious findings that are neither fixed nor
    accepted, and for unknown classes without an answer, with what would answer them in the words of the door.
    """
    from metrics.ingest.lint import TASKS_ASKED, advice, lint, unanswered, unknown_text

    if suite.task not in TASKS_ASKED:
        given = [option_name(name, door) for name in ("fix", "unknown_classes") if getattr(evaluation, name)]
        if given:
            expected = f"a suite of {' or '.join(TASKS_ASKED)}"
            raise InputError([InputProblem(", ".join(given), f"a suite of {suite.task}", expected)])
        return outputs
    say = tell or _ignore
    outputs = corrected_outputs(suite, outputs, evaluation, door)
    findings = lint(suite, outputs)
    refused = [] if evaluation.accept_findings else [finding for finding in findings if finding.serious]

    def remedy(model: str, name: str) -> str:
        return f"add {option_text('fix', f'{model}={name}', door)}"

    say("note", *(f"changed: {text}" for text in change_lines(outputs.changes)))
    lines: list[str] = []
    for finding in findings:
        if finding in refused:
            lines += advice(finding, remedy)
        else:
            say("warning", *advice(finding, remedy))
    # numbers that are off by one are answered by their fix
    unknown = unanswered(suite, outputs)
    if unknown and not any(finding.kind == "class_numbers" for finding in refused):
        alike = [f"{each.name}={each.nearest[0]}" for each in unknown if each.nearest and each.meant is None]
        proposal = f", such as {option_text('unknown_classes', alike[0], door)}" if alike else ""
        every = option_name("unknown_classes", door)
        lines.append(unknown_text(unknown))
        if meant := [each.respelling for each in unknown if each.meant is not None]:
            some = ", ".join(meant[:5]) + ", …" * (len(meant) > 5)
            lines.append(f"  add {option_text('unknown_classes', 'respell', door)}: only spelled otherwise are {some}")
        if len(meant) < len(unknown):
            lines.append(f"  add {every} ignore|false|NAME=CLASS{proposal}")
        if door == "page":  # which shows what was found beside its questions
            numbered = [str(finding) for finding in findings if finding.kind == "class_numbers"]
            lines = numbered or [f"Choose what to do with {unknown_text(unknown)}."]
    if refused:
        several = sum(bool(one.fix) for one in findings) > 1
        every = f"{option_text('fix', ALL, door)} to apply all of these fixes, or " if several else ""
        lines.append(f"or {every}{option_text('accept_findings', True, door)} to score them as they are")
    if lines:
        raise InputError(*lines)
    return outputs


def option_text(name: str, value: Any, door: Door) -> str:
    """Return how a door is told a value of a field: `--fix 'm=xyxy'`, `fix=['m=xyxy']`."""
    option = option_name(name, door)
    if door == "python":
        return f"{option}={value if value is True else [value]!r}"
    return option if value is True else f"{option} {shlex.quote(value)}"


def _named_fix(text: str, door: Door) -> tuple[str, str]:
    """Return model and fix of MODEL=FIX; a model's name may have an equals sign, a fix has none."""
    model, _, name = text.rpartition("=")
    if not (model and name):
        raise InputError([InputProblem(option_name("fix", door), repr(text), "MODEL=FIX or all")])
    return model, name
