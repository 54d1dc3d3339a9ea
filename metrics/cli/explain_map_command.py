"""`explain-map`: COCO's mAP of detectors, and what each choice of their trainers changes in it."""

import argparse
from typing import Any

from metrics.cli.options import add_flags, add_parser, write_output
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.engine.evaluation import ReadingFields
from metrics.ingest import read_outputs, read_suite
from metrics.library.file_options import readings_of
from metrics.store.table_files import write


def add_command(commands: Any) -> None:
    words = "say why a trainer's mAP differs from COCO's: each of its choices, recomputed"
    command = add_parser(commands, "explain-map", _explain_map, help=words)
    command.add_argument("suite", metavar="SUITE", help="the ground truth: COCO, YOLO, VOC … (docs/formats.md)")
    command.add_argument("outputs", metavar="OUTPUTS", nargs="+", help="predictions of models")
    command.add_argument(
        "--confidence", type=float, default=0.25, metavar="X", help="score from which on predict() writes (default .25)"
    )
    command.add_argument("-o", "--output", metavar="FILE.csv", help="write the table to FILE.csv")
    add_flags(command, ReadingFields, without=("explain", "all_problems"))


def _explain_map(options: argparse.Namespace) -> None:
    from metrics.library.trainer_map import explain_map

    if not 0 <= options.confidence <= 1:
        raise InputError([InputProblem("--confidence", f"{options.confidence:g}", "a score from 0 to 1")])
    readings = readings_of(ReadingFields.of(options), [options.suite, *options.outputs])
    suite = read_suite(options.suite, reading=readings[options.suite])
    outputs = read_outputs(options.outputs, suite=suite, readings={file: readings[file] for file in options.outputs})
    table = explain_map(suite, outputs, confidence=options.confidence)
    if options.output:
        write_output(write(table, "csv"), options.output)
    for model, rows in table.groupby("model", sort=False):
        say(model, f"  {'':<32} {'AP50':>6} {'AP':>6} {'change':>7}")
        for row in rows.to_dict("records"):
            numbers = f"{_text(row['AP50']):>6} {_text(row['AP']):>6} {_text(row['change'], '+.3f'):>7}"
            say(f"  {row['step']:<32} {numbers}  {row['why']}")


def _text(value: float | None, form: str = ".3f") -> str:
    return "–" if value is None or value != value else format(value, form)  # NaN is not itself
