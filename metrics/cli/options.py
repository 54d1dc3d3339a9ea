"""Options and arguments that several subcommands share, and how their values are read."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from metrics.cli.plugin_options import add_plugin_option
from metrics.core.did_you_mean import one_of
from metrics.core.errors import InputError, InputProblem
from metrics.core.files import write_export
from metrics.core.registry import choose
from metrics.judge.prompt_overrides import place_prompts, prompts_of_files
from metrics.judge.rubrics import with_rubric
from metrics.store import Run, Workspace
from metrics.store.export_formats import FORMATS

MODELS = {
    "embedder": "embedding model: a folder, or a hub name to download (default: the bundled all-MiniLM-L6-v2)",
    "classifier": "cross-encoder or classifier: a folder or a hub name; for one evaluator: --param ID.classifier=…",
    "language_model": "causal language model: a folder, a GGUF file or a hub name",
    "token_encoder": "encoder for BERTScore: a folder or a hub name (default: the bundled all-MiniLM-L6-v2)",
}


def add_parser(
    commands: Any, name: str, execute: Callable[[argparse.Namespace], int], *, of_run: bool = False, **words: str
) -> argparse.ArgumentParser:
    """Add a command that uses a workspace, and so has --workspace and --quiet; `of_run`: with the argument RUN."""
    command: argparse.ArgumentParser = commands.add_parser(name, **words)
    if of_run:
        command.add_argument("run", metavar="RUN", help="id of a run, or latest")
    add_workspace(command)
    command.add_argument("--quiet", action="store_true", help="print only the result")
    command.set_defaults(command=execute)
    return command


def add_workspace(command: argparse.ArgumentParser) -> None:
    """Add --workspace."""
    command.add_argument(
        "--workspace", metavar="DIR|URL",
        help="folder of runs and inputs, or the URL of one (default: $ASSAY_WORKSPACE or ./workspace)",
    )  # fmt: skip


def add_evaluators(command: argparse.ArgumentParser) -> None:
    """Add --evaluators, --plugin, --param and the options that choose local models."""
    command.add_argument(
        "--evaluators", metavar="ID,…", help="evaluators to run (default: all that fit the data and need no model)"
    )
    add_plugin_option(command)
    command.add_argument(
        "--param", metavar="EVALUATOR.NAME=VALUE", action="append", default=[], help="evaluator parameter, repeatable"
    )
    command.add_argument(
        "--threshold", metavar="METRIC=VALUE", action="append", default=[],
        help="threshold of a metric (METRIC or EVALUATOR.METRIC) in place of its default, repeatable",
    )  # fmt: skip
    command.add_argument(
        "--prompt", metavar="PROMPT=FILE", action="append", default=[],
        help="text of your own in place of a prompt, by its id or its evaluator's, repeatable; byop=NAME|FILE",
    )  # fmt: skip
    command.add_argument(
        "--rubric", metavar="NAME|FILE",
        help="rubric of evaluator rubric: one saved in the workspace, or a .json or .yaml file",
    )  # fmt: skip
    for name, text in MODELS.items():
        command.add_argument("--" + name.replace("_", "-"), metavar="PATH|NAME", help=text)


def add_mapping(command: argparse.ArgumentParser, source: str = "COLUMN", of_files: bool = False) -> None:
    """Add --map; `of_files`: it may be about one of several files, see `mappings_of`."""
    command.add_argument(
        "--map", metavar=f"{'[FILE=]' if of_files else ''}CANONICAL={source}", action="append", default=[],
        help=f"{source.lower()} that holds a canonical field{', of all files or of one' if of_files else ''}, "
        "repeatable",
    )  # fmt: skip


def mappings_of(options: argparse.Namespace, files: Sequence[str]) -> dict[str | Path, dict[str, str]]:
    """Return --map by file, CANONICAL to COLUMN: FILE=CANONICAL=COLUMN is about one, named by its path or its name."""
    found: dict[str | Path, dict[str, str]] = {}
    names = {name for file in files for name in (file, Path(file).name)}
    split = [(next((name for name in names if text.startswith(f"{name}=")), ""), text) for text in options.map]
    for file in files:
        of_all = [text for name, text in split if not name]
        own = [text.removeprefix(f"{name}=") for name, text in split if name in (file, Path(file).name)]
        found[file] = dict(pairs([*of_all, *own], "--map", "CANONICAL=COLUMN"))
    return found


def add_table_output(command: argparse.ArgumentParser, default: str | None) -> None:
    """Add --format and --output of a command that writes a table; `default` None: json, left open."""
    command.add_argument(
        "--format", choices=FORMATS, default=default, help=f"file format (default {default or 'json'})"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="file to write (default: standard output)")


def write_output(content: bytes, file: str | None) -> None:
    """Write bytes to a file, or to standard output where none is given; a terminal shows their control characters."""
    if file:
        write_export(Path(file), content)
    elif sys.stdout.isatty():
        sys.stdout.write(content.decode(errors="replace"))
    else:
        sys.stdout.buffer.write(content)


def run_of(options: argparse.Namespace, finished: bool = False) -> Run:
    """Return the run that RUN names; RunError where it is absent or, if asked for, not finished."""
    return Workspace(options.workspace).run(options.run, finished=finished)


def names_of(text: str) -> list[str]:
    """Return the names in a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def pairs(texts: Sequence[str], option: str, expected: str = "NAME=VALUE") -> list[tuple[str, str]]:
    """Return each NAME=VALUE as name and value; InputError listing every text that is not of this form."""
    wrong = [InputProblem(option, repr(text), expected) for text in texts if not all(text.partition("="))]
    if wrong:
        raise InputError(wrong)
    return [(name.strip(), value) for name, _, value in (text.partition("=") for text in texts)]


def parameters_of(texts: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the values of --param by evaluator and name; a value is JSON, else text. InputError on any other form."""
    found: dict[str, dict[str, Any]] = {}
    for name, text in pairs(texts, "--param"):
        evaluator, dot, parameter = name.partition(".")
        if not dot:
            raise InputError([InputProblem("--param", repr(name), "EVALUATOR.NAME=VALUE")])
        try:
            value = json.loads(text)
        except json.JSONDecodeError:
            value = text
        found.setdefault(evaluator, {})[parameter] = value
    return found


def with_chosen_rubric(
    parameters: Mapping[str, Mapping[str, Any]], options: argparse.Namespace
) -> dict[str, dict[str, Any]]:
    """Return the parameters with the rubric that --rubric, or the parameter of that name, chooses."""
    found = dict(parameters)
    if options.rubric:
        found["rubric"] = {**found.get("rubric", {}), "rubric": options.rubric}
    return with_rubric(found, Workspace(options.workspace).path, files=True)


def with_prompts(
    parameters: Mapping[str, Mapping[str, Any]],
    resources: Mapping[str, Any],
    chosen: Sequence[str],
    options: argparse.Namespace,
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Return the parameters and resources with the texts of --prompt; InputError as of place_prompts."""
    given = dict(pairs(options.prompt, "--prompt", "PROMPT=FILE"))
    return place_prompts(prompts_of_files(given, Workspace(options.workspace).path), chosen, parameters, resources)


def with_thresholds(
    parameters: Mapping[str, Mapping[str, Any]], chosen: Sequence[str], texts: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the parameters with the values of --threshold for the `chosen` evaluators that have such a metric.

    InputError listing every text of another form, and every metric that none of them has.
    """
    found = {id: dict(values) for id, values in parameters.items()}
    entries = [entry for entry, _ in choose(chosen, parameters).values()] if texts else []
    problems = []
    for name, text in pairs(texts, "--threshold", "METRIC=NUMBER or EVALUATOR.METRIC=NUMBER"):
        of, _, metric = name.rpartition(".")
        having = [one.id for one in entries if of in ("", one.id) and metric in [known.name for known in one.metrics]]
        if not having:
            known = [f"{one.id}.{known.name}" for one in entries for known in one.metrics]
            problems.append(InputProblem("--threshold", repr(name), one_of(name, known)))
        try:
            value = float(text)
        except ValueError:
            problems.append(InputProblem("--threshold", repr(text), "a number", column=name))
            continue
        for id in having:
            own = found.setdefault(id, {})
            own["thresholds"] = {**own.get("thresholds", {}), metric: value}
    if problems:
        raise InputError(problems)
    return found
