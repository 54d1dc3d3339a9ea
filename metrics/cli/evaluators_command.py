"""`evaluators`: the catalogue of evaluators."""

import argparse
import json
import sys
from typing import Any

from metrics.cli.options import add_flags
from metrics.cli.terminal import say
from metrics.core.presets import OF_SYSTEMS, PRESETS, TOGETHER
from metrics.core.registry import refused
from metrics.engine.evaluation import PluginFields


def add_command(commands: Any) -> None:
    command = commands.add_parser("evaluators", help="list the evaluators")
    command.add_argument("--json", action="store_true", help="everything that they declare, as JSON")
    command.add_argument("--presets", action="store_true", help="the presets of evaluators, with those that each has")
    add_flags(command, PluginFields)
    command.set_defaults(command=_evaluators)


def _evaluators(options: argparse.Namespace) -> None:
    from metrics.reports.catalogue import catalogue

    if options.presets:
        _presets(options.json)
        return
    entries = catalogue()
    for why in refused():
        say(why, file=sys.stderr)
    if options.json:
        print(json.dumps(entries, ensure_ascii=False, indent=1))
        return
    for entry in entries:
        say(f"{entry['id']:<28} {entry['title']} ({', '.join(entry['tasks'])}) {entry['summary']}")


def _presets(as_json: bool) -> None:
    held = {
        preset.id: list(dict.fromkeys(entry.id for task in preset.tasks for entry in preset.evaluators(task)))
        for preset in (*PRESETS.values(), *OF_SYSTEMS.values())
    }
    if as_json:
        records = [
            {"id": each.id, "title": each.title, "summary": each.summary, "tasks": list(each.tasks),
             "requires": list(each.requires), "evaluators": held[each.id]}
            for each in PRESETS.values()
        ]  # fmt: skip
        print(json.dumps(records, ensure_ascii=False, indent=1))
        return
    for preset in (*PRESETS.values(), *OF_SYSTEMS.values()):
        say(f"{preset.id:<16} {preset.title} ({', '.join(preset.tasks)}) {preset.summary}")
        say(f"{'':<16} {', '.join(held[preset.id])}")
    for name, several in TOGETHER.items():
        say(f"{name:<16} {', '.join(several)}")
