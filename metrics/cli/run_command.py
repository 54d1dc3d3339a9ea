"""`run`: the evaluations of a project file, assay.toml, in which every argument of `evaluate` is a key.

A table stands for a flag that is given several times: `fail_under = {"rouge.rougeL" = 0.4}` is
`--fail-under rouge.rougeL=0.4`.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from metrics.cli.command_parser import CommandParser
from metrics.cli.failures import told
from metrics.cli.options import add_flags, add_parser, arguments_of, load_plugins
from metrics.cli.rag_config import with_config
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem, refuse
from metrics.core.plugin_consent import refuse_unasked_acts
from metrics.core.project_file import project_file, read_project
from metrics.engine.evaluation import GROUPS, Evaluation
from metrics.engine.evaluation_fields import expected_value

SECTIONS = {"evaluate": 3, "defaults": 2}  # how deep the keys of an evaluation are in it
NOT_ASKED = "a table with the arguments of evaluate"


def add_command(commands: Any) -> None:
    command = add_parser(commands, "run", _run, help="run the evaluations of assay.toml, with their gates and reports")
    command.add_argument(
        "names", metavar="[FILE] NAME", nargs="*",
        help="a project file (default: assay.toml, else pyproject.toml), and the evaluations to run (default: all)",
    )  # fmt: skip
    command.add_argument("--dry-run", action="store_true", help="only estimate what the judges would cost")
    command.add_argument("--check", action="store_true", help="only read the file and print its commands")
    command.add_argument("--schema", action="store_true", help="only print the JSON schema of such a file")


def _run(options: argparse.Namespace) -> int:
    from metrics.cli.evaluate_command import evaluate
    from metrics.cli.project_acts import acts_of

    if options.schema:
        print(json.dumps(schema(), indent=1, ensure_ascii=False))
        return 0
    file, names = _file(options.names)
    evaluations = read_evaluations(file)
    known = f"one of {', '.join(evaluations)}"
    refuse(InputProblem(str(file), repr(name), known) for name in names if name not in evaluations)
    more: dict[str, Any] = {name: True for name in ("quiet", "dry_run") if getattr(options, name)}
    more |= {"workspace": str(Path(options.workspace).absolute())} if options.workspace else {}
    codes = [0]
    own = {"workspace": ""} if options.workspace else {}  # whoever types one has allowed it
    with chdir(file.parent):  # what it names is beside it
        # all are read before the first begins; flags win over the file
        chosen = {name: {**given, **more} for name, given in evaluations.items() if name in (names or evaluations)}
        if not options.check:
            acts = chain.from_iterable(acts_of({**evaluations[name], **own}, file.parent) for name in chosen)
            refuse_unasked_acts(file, [act.text for act in acts if act.needs_leave()])
        asked = {name: evaluation_in(values) for name, values in chosen.items()}
        for name, evaluation in asked.items():
            if options.check:
                say(shlex.join(arguments_of(chosen[name])))
                continue
            if not options.quiet:
                say(f"evaluation {name}", file=sys.stderr)
            try:
                load_plugins(evaluation.plugin)
                codes.append(evaluate(evaluation))
            except Exception as failure:  # the others run all the same
                codes.append(told(failure, argparse.Namespace(**dict(evaluation))))
    return max(codes)


def _file(given: list[str]) -> tuple[Path, list[str]]:
    """Return the project file and the names of evaluations; InputError without a file."""
    if given and given[0].endswith(".toml"):
        return Path(given[0]).resolve(), given[1:]
    found = project_file(Path.cwd())
    if found is None:
        expected = "assay.toml here, or the name of a .toml file"
        raise InputError([InputProblem("run", f"no assay.toml in {Path.cwd()}", expected)])
    return found, given


class Project(BaseModel):
    """A whole project file; `evaluate` holds the arguments of each evaluation by its name."""

    model_config = ConfigDict(extra="forbid")

    plugins: list[str] = Field([], description="Evaluators from outside: MODULE:OBJECT or FILE.py:OBJECT.")
    defaults: Evaluation = Field(
        Evaluation(), description="Arguments of every evaluation that does not set them itself."
    )
    evaluate: dict[str, Evaluation] = Field(
        min_length=1, description="The evaluations by name, each with the arguments of `evaluate`."
    )


def schema() -> dict[str, Any]:
    """Return the JSON schema of a project file, for editors."""
    found = Project.model_json_schema()
    found["description"] = "assay.toml: evaluations of Assay; see docs/assay-toml.md."
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **found}


def read_evaluations(file: Path) -> dict[str, dict[str, Any]]:
    """Return the arguments of each evaluation in a project file, as it has them, by its name.

    Raises InputError listing every problem with its key: unknown keys with the one that may be meant, values of
    another kind, an evaluation without a suite, or a file that is no TOML.
    """
    document = read_project(file)
    try:
        Project.model_validate(document)
        problems = []
    except ValidationError as failure:
        problems = list(_problems(file, failure))
    defaults, sections = document.get("defaults", {}), document.get("evaluate", {})
    merged = {name: _merged(defaults, own) for name, own in sections.items()} if not problems else {}
    problems += [
        InputProblem(str(file), "no suite", "suite = FILE, the test cases", column=f"evaluate.{name}.suite")
        for name, values in merged.items()
        if not values.get("suite") and not values.get("config")
    ]
    refuse(problems)
    plugins = {"plugin": document.get("plugins", [])}
    return {name: {"name": name, **plugins, **values} for name, values in merged.items()}


def evaluation_in(values: Mapping[str, Any]) -> Evaluation:
    """Return the evaluation that these arguments, and a configuration of Open RAG Eval among them, ask for."""
    if not values.get("config"):
        return Evaluation.model_validate(values)
    parser = CommandParser()
    add_flags(parser, *GROUPS)
    return Evaluation.of(parser.parse_args(with_config(arguments_of(values))[1:]))


def _merged(defaults: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an evaluation over the defaults; tables are merged by key."""
    both = {
        key: {**defaults[key], **own[key]}
        for key in own
        if isinstance(own[key], dict) and isinstance(defaults.get(key), dict)
    }
    return {**defaults, **own, **both}


def _problems(file: Path, failure: ValidationError) -> Iterator[InputProblem]:
    """Yield one problem a key, whatever the number of kinds that its value could have been."""
    listed = set()
    for error in failure.errors():
        place = error["loc"][: SECTIONS.get(str(error["loc"][0]), 1)]
        if place in listed:
            continue
        listed.add(place)
        key, column = str(place[-1]), ".".join(map(str, place))
        known = sorted(Project.model_fields) if len(place) == 1 else list(Evaluation.model_fields)
        if error["type"] == "extra_forbidden":
            near = get_close_matches(key, known, 1)
            expected = f"{near[0]!r}; did you mean that?" if near else f"one of {', '.join(known)}"
            yield InputProblem(str(file), f"the unknown key {key!r}", expected, column=column)
        elif error["type"] == "missing":
            yield InputProblem(str(file), f"no {key}", "[evaluate.NAME] with suite, outputs …", column=column)
        else:
            yield InputProblem(str(file), repr(error["input"]), _expected(key, len(place)), column=column)


def _expected(key: str, depth: int) -> str:
    if depth > 1 and key in Evaluation.model_fields:
        return expected_value(Evaluation.model_fields[key])
    return "a list of MODULE:OBJECT or FILE.py:OBJECT" if key == "plugins" else NOT_ASKED
