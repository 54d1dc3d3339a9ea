"""What options say of each file: how its columns map, how it is read, and what answers the questions about it."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.file_kinds import upload_of
from metrics.core.receipt import Receipt
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import Evaluation, EvaluationInCode, ReadingFields, option_name
from metrics.engine.evaluation_fields import Door, pairs
from metrics.ingest import Reading
from metrics.ingest.file_roles import ROLE
from metrics.ingest.source import labels_of
from metrics.ingest.tables.columns import CommonMapping

CHOSEN = (  # how a file is read, which lines of a receipt say that it was, and which files have that
    ("encoding", ("encoding",), "a file that is text: CSV, JSON, JSONL or YAML; of others it has no effect"),
    ("sheet", ("sheet ", "split "), "an Excel file, or a data set of several splits; of others it has no effect"),
)

Files = tuple[Mapping[str, Mapping[str, str]], Mapping[str, Reading]]  # mapping and reading of each


def option_text(name: str, value: Any, door: Door) -> str:
    """Return how a door is told a value of a field: `--fix 'm=xyxy'`, `fix=['m=xyxy']`."""
    option = option_name(name, door)
    if door == "python":
        return f"{option}={value if value is True else [value]!r}"
    return option if value is True else f"{option} {shlex.quote(value)}"


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


def file_names(evaluation: ReadingFields) -> Mapping[str, str]:
    """Return the names that people know files by; where there are some, what files hold is stored beside them."""
    return evaluation.file_names if isinstance(evaluation, EvaluationInCode) else {}


def files_of(evaluation: Evaluation) -> list[str]:
    """Return the files that are evaluated, where it is files."""
    outputs = evaluation.outputs if isinstance(evaluation.outputs, tuple) else ()
    return list(dict.fromkeys(each for each in (evaluation.suite, *outputs) if isinstance(each, str)))


def options_of_files(evaluation: Evaluation, door: Door) -> Files:
    """Return mapping and reading of each file; those of what is in memory are under "".

    What is mapped in all of several files is about those that have the column.
    """
    outputs = evaluation.outputs if isinstance(evaluation.outputs, tuple) else ()
    files = files_of(evaluation)
    mappings = _mappings_of(evaluation.map, files, option_name("map", door))
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


def check_common(mapping: Mapping[str, str], door: Door) -> None:
    """Raise InputError for columns that were mapped in all files, if all are tables and none has such a column."""
    if isinstance(mapping, CommonMapping) and len(mapping.read) >= mapping.tables:
        option, expected = option_name("map", door), "the name of a column of one of the files"
        missing = sorted(mapping.common - mapping.found)
        refuse(InputProblem(option, f"{name}={mapping[name]}", expected) for name in missing)


def _mappings_of(
    texts: Sequence[str], files: Sequence[str], option: str, form: str = "CANONICAL=COLUMN"
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


def _answers_of(given: ReadingFields, files: Sequence[str], door: Door) -> dict[str, dict[str, str]]:
    """Return the answers to the questions about each file, and under "" those about all."""
    return _mappings_of(given.read, files, option_name("read", door), "QUESTION=ANSWER")


def readings_of(given: ReadingFields, files: Sequence[str], door: Door = "command") -> dict[str, Reading]:
    """Return how each file is to be read; InputError where an option names a file that is not given."""
    from metrics.ingest.text_encoding import named

    answers, names = _answers_of(given, files, door), _names_of(files)
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
    refuse(problems)
    return {
        file: Reading(found["encoding"].get(file), found["sheet"].get(file), answers[file], labels.get(file, ""))
        for file in ("", *files)  # "": what is no file
    }


def need_effect(evaluation: Evaluation, receipt: Receipt, door: Door) -> None:
    """Raise InputError for an encoding, a sheet or an answer without effect on any file, by their receipts."""
    files, called = files_of(evaluation), file_names(evaluation)
    names, labels = _names_of(files), labels_of(files, called)
    answered = {name for answers in _answers_of(evaluation, files, door).values() for name in answers}
    option, asked = option_name("read", door), "a question that is asked"
    problems = [
        InputProblem(option, f"an answer to {name!r}, which nothing asks", asked)
        for name in sorted(answered - {ROLE, *(line.question for line in receipt)})
    ]
    for field, places, expected in CHOSEN:
        had = {upload_of(line.file) for line in receipt if line.place.startswith(places)}
        for text in getattr(evaluation, field):
            named = _file_named(text, names)
            meant = [each for each in files if not named or named in names[each]]
            if files and not had & {labels[each] or called.get(each, Path(each).name) for each in meant}:
                listed = ", ".join(Path(each).name for each in meant)
                problems.append(InputProblem(option_name(field, door), f"{text!r}, for {listed}", expected))
    refuse(problems)


def _names_of(files: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what each file may be called in an option: its path, its name, and its label if it shares its name."""
    return {file: (file, Path(file).name, label or file) for file, label in labels_of(files).items()}


def _file_named(text: str, names: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a file that a text FILE=… begins with; empty where it begins with none."""
    return next((name for own in names.values() for name in own if text.startswith(f"{name}=")), "")
