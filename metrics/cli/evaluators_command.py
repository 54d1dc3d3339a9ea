"""`evaluators`: the catalogue of evaluators."""

import argparse
import json
from typing import Any


def add_command(commands: Any) -> None:
    """Add `evaluators`."""
    command = commands.add_parser("evaluators", help="list the evaluators")
    command.add_argument("--json", action="store_true", help="everything that they declare, as JSON")
    command.set_defaults(command=_evaluators)


def _evaluators(options: argparse.Namespace) -> int:
    from metrics.reports.catalogue import catalogue

    entries = catalogue()
    if options.json:
        print(json.dumps(entries, ensure_ascii=False, indent=1))
        return 0
    for entry in entries:
        print(f"{entry['id']:<28} {entry['title']} ({', '.join(entry['tasks'])}) {entry['summary']}")
    return 0
