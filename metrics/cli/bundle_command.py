"""`bundle`: a finished run as a folder of static pages."""

import argparse
from pathlib import Path
from typing import Any

from metrics.cli.options import add_parser, run_of
from metrics.cli.terminal import say
from metrics.reports.bundles import MOST_CASES, MOST_OF_NUMBER


def add_command(commands: Any) -> None:
    command = add_parser(
        commands, "bundle", _bundle, of_board=True,
        help="write a finished run as a folder of pages that open from a disk or any web host",
    )  # fmt: skip
    command.add_argument(
        "-o", "--output", metavar="FOLDER", required=True, help="folder to write, new or empty; open its index.html"
    )
    command.add_argument(
        "--cases", metavar="N", type=int, default=MOST_OF_NUMBER,
        help=f"cases of each number, the worst first (default {MOST_OF_NUMBER}; at most {MOST_CASES:,} in all)",
    )  # fmt: skip
    command.add_argument("--without-media", action="store_true", help="leave out images")


def _bundle(options: argparse.Namespace) -> None:
    from metrics.reports.bundles.bundle_files import write_bundle

    folder = Path(options.output)
    written = write_bundle(run_of(options, finished=True), folder, options.cases, not options.without_media)
    if not options.quiet:
        say(f"{written.files:,} files, {written.size:,} bytes written to {folder}; open {folder / 'index.html'}")
        if written.left_out:
            say(written.left_out)
