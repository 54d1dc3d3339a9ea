"""The checks of detection uploads before `evaluate` scores them, and the options that answer what they find."""

import argparse
import shlex
from typing import TYPE_CHECKING

from metrics.cli import log_lines
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Outputs, Suite
from metrics.presentation.phrases import change_lines

if TYPE_CHECKING:
    from metrics.ingest.lint import Finding

ALL = "all"
UNKNOWN = "--unknown-classes ignore|false|NAME=CLASS"


def add_options(command: argparse.ArgumentParser) -> None:
    """Add --fix, --unknown-classes and --accept-findings."""
    command.add_argument(
        "--fix", metavar="MODEL=FIX|all", action="append", default=[],
        help="detection: correct the predictions of a model before they are scored, repeatable; all: whatever the "
        "checks propose",
    )  # fmt: skip
    command.add_argument(
        "--unknown-classes", metavar="ignore|false|NAME=CLASS|FILE", action="append", default=[],
        help="detection: what becomes of predictions of classes that the suite does not have: left out as pycocotools "
        "does, counted as false positives, or taken for a class of the suite (FILE: a .json or .csv of names and "
        "classes), repeatable; without it they are an error",
    )  # fmt: skip
    command.add_argument(
        "--accept-findings", action="store_true",
        help="detection: score also what the checks find to be meaningless",
    )  # fmt: skip


def checked(suite: Suite, outputs: Outputs, options: argparse.Namespace) -> Outputs:
    """Return the outputs corrected as the options say; print what is found, and what was changed, to standard error.

    InputError for serious findings that are neither fixed nor accepted, and unknown classes without an answer.
    """
    from metrics.ingest.lint import ClassChoice, fix, fix_all, lint, settle, unknown_classes, unknown_text

    if suite.task != "detection":
        given = [name for name in ("fix", "unknown_classes") if getattr(options, name)]
        if given:
            names = ", ".join("--" + name.replace("_", "-") for name in given)
            raise InputError([InputProblem(names, f"a suite of {suite.task}", "a suite of detection")])
        return outputs
    outputs = fix(suite, outputs, [_named(text) for text in options.fix if text != ALL])
    if ALL in options.fix:
        outputs = fix_all(suite, outputs)
    choice = ClassChoice.parse(options.unknown_classes)
    unknown, answered = unknown_classes(suite, outputs), bool(options.unknown_classes)
    if answered:
        outputs = settle(suite, outputs, choice)
    findings = lint(suite, outputs)
    refused = [] if options.accept_findings else [finding for finding in findings if finding.serious]
    log_lines.note(options, *(f"changed: {text}" for text in change_lines(outputs.changes)))
    for finding in findings:
        if finding not in refused:
            first, *more = _advice(finding)
            log_lines.note(options, f"warning: {first}", *more)
    texts = [line for finding in refused for line in _advice(finding)]
    # numbers that are off by one are answered by their fix
    if unknown and not answered and not any(finding.kind == "class_numbers" for finding in refused):
        alike = [f"{each.name}={each.nearest[0]}" for each in unknown if each.nearest]
        proposal = f", such as {shlex.quote(alike[0])}" if alike else ""
        texts += [unknown_text(unknown), f"  add {UNKNOWN}{proposal}"]
    if refused:
        every = "--fix all to apply all of these fixes, or " if sum(bool(one.fix) for one in findings) > 1 else ""
        texts.append(f"or {every}--accept-findings to score them as they are")
    if texts:
        raise InputError(*texts)
    return outputs


def _named(text: str) -> tuple[str, str]:
    """Return model and fix of MODEL=FIX; a model's name may have an equals sign, a fix has none."""
    model, _, name = text.rpartition("=")
    if not (model and name):
        raise InputError([InputProblem("--fix", repr(text), "MODEL=FIX or all")])
    return model, name


def _advice(finding: "Finding") -> list[str]:
    """Return lines: a finding with some images that show it, and the option that fixes it."""
    from metrics.ingest.lint import advice

    return advice(finding, lambda model, name: f"add --fix {shlex.quote(f'{model}={name}')}")
