"""`evaluators`: the catalogue of evaluators."""

import argparse
import json
import math
import sys
from typing import Any

from metrics.cli.options import add_flags
from metrics.cli.terminal import say
from metrics.core.evaluator import Evaluator
from metrics.core.presets import OF_SYSTEMS, PRESETS, TOGETHER
from metrics.core.registry import evaluators, refused
from metrics.engine.evaluation import PluginFields


def add_command(commands: Any) -> None:
    command = commands.add_parser("evaluators", help="list the evaluators")
    command.add_argument("--json", action="store_true", help="everything that they declare, as JSON")
    command.add_argument("--presets", action="store_true", help="the presets of evaluators, with those that each has")
    add_flags(command, PluginFields)
    command.set_defaults(command=_evaluators)


def _evaluators(options: argparse.Namespace) -> None:
    if options.presets:
        _presets(options.json)
        return
    entries = [_record(entry) for entry in evaluators().values()]
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


def _record(entry: Evaluator) -> dict[str, Any]:
    """Return all that an evaluator declares; infinite bounds and thresholds are null, so that it is strict JSON."""
    from metrics.presentation.sources import source_text

    return {
        **{name: getattr(entry, name) for name in ("id", "title", "family", "summary", "doc")},
        "tasks": list(entry.tasks),
        "inputs": list(entry.inputs),
        "instead": dict(entry.instead),
        "resources": list(entry.needs),
        "metrics": [
            {
                "name": metric.name,
                "description": metric.description,
                "range": [_finite(metric.low), _finite(metric.high)],
                "direction": metric.direction.value,
                "threshold": _finite(metric.threshold),
                "unit": metric.unit,
                "primary": metric.primary,
            }
            for metric in entry.metrics
        ],
        "parameters": entry.parameters.model_json_schema(),
        "prompts": [{"id": prompt.id, "text": prompt.text} for prompt in entry.prompts],
        "sources": [source_text(source) for source in entry.sources],
        "standards": list(entry.standards),
        **{name: getattr(entry, name) for name in ("differs_from", "differs_from_source")},
        "default_needs": list(entry.default_needs),
        "version": entry.version,
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
