"""`export --to`: a finished run in the format of another tool."""

import argparse
from importlib.util import find_spec
from pathlib import Path

from metrics.cli.options import run_of, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem, MissingResource
from metrics.reports.exchange.exporters import EXPORTERS, written


def add_options(command: argparse.ArgumentParser) -> None:
    """Add --to."""
    texts = "; ".join(f"{one.id}: {one.help}" for one in EXPORTERS.values())
    command.add_argument("--to", choices=EXPORTERS, help=f"the whole run for another tool ({texts})")


def export(options: argparse.Namespace) -> None:
    """Write the run as --to says. InputError on options that do not go with it."""
    exporter = EXPORTERS[options.to]
    unfit = {"--what": options.what != "aggregates", "--format": options.format is not None, "--model": options.model}
    problems = [InputProblem(name, f"--to {exporter.id}", "--to alone") for name, given in unfit.items() if given]
    if exporter.form == "folder" and not options.output:
        problems.append(InputProblem("--output", "none", f"-o FOLDER: --to {exporter.id} writes several files"))
    elif exporter.form == "folder" and any(Path(options.output).glob("*")):
        problems.append(InputProblem("--output", f"{options.output}, which is not empty", "a new or an empty folder"))
    elif exporter.form == "server" and options.output:
        problems.append(InputProblem("--output", options.output, f"none: --to {exporter.id} logs to the tool itself"))
    if problems:
        raise InputError(problems)
    if exporter.package and find_spec(exporter.package) is None:
        raise MissingResource(f"{exporter.title} is not installed: pip install {exporter.package}, then try again")
    run = run_of(options, finished=True)
    if exporter.form == "file":
        content = exporter()(run)
        assert isinstance(content, bytes)
        write_output(content, options.output)
    elif exporter.form == "folder":
        files = written(run, exporter, Path(options.output))
        say(f"{options.output}: {len(files):,} files")
    else:
        say(*exporter()(run))
