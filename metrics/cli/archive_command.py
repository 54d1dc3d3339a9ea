"""`archive` and `import`: a finished run as one zip, and back."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser, run_of
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.store import Workspace


def add_command(commands: Any) -> None:
    command = add_parser(commands, "archive", _archive, of_run=True, help="write a finished run with its data as a zip")
    command.add_argument("-o", "--output", metavar="FILE", required=True, help="zip to write")
    command.add_argument("--without-media", action="store_true", help="leave out images and the files of agents")
    command.add_argument("--without-replies", action="store_true", help="leave out the judge's replies")
    command = add_parser(commands, "import", _import, help="open the archive of a run in this workspace")
    command.add_argument("file", metavar="FILE", help="a zip that `archive` or the report page wrote")
    command.add_argument(
        "--replies",
        action="store_true",
        help="add its judge's replies to the cache, where later runs trust them: only from people you trust",
    )


def _archive(options: argparse.Namespace) -> None:
    from metrics.reports.archives.write import write_file

    run = run_of(options, finished=True)
    write_file(run, Path(options.output), not options.without_media, not options.without_replies)
    if not options.quiet:
        say(f"{Path(options.output).stat().st_size:,} bytes written to {options.output}")


def _import(options: argparse.Namespace) -> None:
    from metrics.reports.archives.read import read_archive

    file = Path(options.file)
    if not file.is_file():
        raise InputError([InputProblem(options.file, "no such file", "the archive of a run")])
    found = read_archive(file, Workspace(options.workspace), options.file, options.replies)
    if not options.quiet:
        what = "imported" if found.added else "is there already"
        say(f"{found.run.name}: {what}" + (f", {found.replies:,} replies" if options.replies else ""))
    say(found.run.id)
