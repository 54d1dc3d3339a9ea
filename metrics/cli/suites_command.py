"""`suites`: list, merge, compare stored suites and files of cases; questions about documents."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from metrics.cli import document_questions_command
from metrics.cli.options import add_parser
from metrics.cli.terminal import say
from metrics.core.errors import InputError, InputProblem
from metrics.core.suite import Suite
from metrics.ingest import read_suite
from metrics.store import Workspace

SUITE = "file of cases, or fingerprint of a stored suite or its beginning, as `suites list` prints it"
SHOWN = 12  # characters of a fingerprint
CONFLICTS = ("skip", "replace", "rename")


def add_command(commands: Any) -> None:
    command = commands.add_parser("suites", help="test suites: list, merge, compare; questions about documents")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    add_parser(actions, "list", _list, help="list the stored suites, newest first")

    command = add_parser(actions, "merge", _merge, help="write the cases of two suites of one task as one suite")
    command.add_argument("suite", metavar="SUITE", help=SUITE)
    command.add_argument("other", metavar="OTHER", help=SUITE + "; its cases name it in the metadata column origin")
    command.add_argument(
        "--conflicts", choices=CONFLICTS, default="skip",
        help="for ids that both have: skip OTHER's case, replace SUITE's, or rename OTHER's (default skip)",
    )  # fmt: skip
    command.add_argument("--name", help="name of the merged suite (default: SUITE's)")
    command.add_argument(
        "-o", "--output", metavar="FILE", help="file to write: .jsonl, .csv, .parquet (default: store it)"
    )

    command = add_parser(actions, "diff", _diff, help="print what differs between two suites, field by field")
    command.add_argument("before", metavar="BEFORE", help=SUITE)
    command.add_argument("after", metavar="AFTER", help=SUITE)

    words = "print the cases that a suite has twice, or in its contexts, or in common with another suite"
    command = add_parser(actions, "duplicates", _duplicates, help=words)
    command.add_argument("suite", metavar="SUITE", help=SUITE)
    command.add_argument("other", metavar="OTHER", nargs="?", help=SUITE + " (default: look within SUITE)")
    command.add_argument(
        "--least", metavar="SHARE", type=float, default=0.8,
        help="likeness from which texts are nearly the same: shared runs of three words, 0 to 1 (default 0.8)",
    )  # fmt: skip

    command = add_parser(actions, "history", _history, help="list the versions of a stored suite, oldest first")
    command.add_argument("suite", metavar="SUITE", help="fingerprint of a stored suite or its beginning")
    document_questions_command.add_actions(actions)


def _list(options: argparse.Namespace) -> None:
    for facts in Workspace(options.workspace).suites():
        say(f"{facts['fingerprint'][:SHOWN]}  {facts['task']:<14}  {facts['cases']:>7,} cases  {facts['name']}")


def _merge(options: argparse.Namespace) -> None:
    from metrics.store.table_files import check_format, write_suite
    from metrics.suites import media_folder, merge, save_version

    if options.output:
        check_format(options.output)
    workspace = Workspace(options.workspace)
    suite, other = _suite(workspace, options.suite), _suite(workspace, options.other)
    made = merge(suite, other, options.conflicts, media_folder(workspace.path))
    if not options.quiet:
        ids = ", ".join(made.conflicts[:5]) + ", …" * (len(made.conflicts) > 5)
        what = {"skip": "skipped", "replace": "replaced", "rename": "added under new ids"}[options.conflicts]
        lines = [f"{made.added:,} added", f"{made.same:,} in both, alike" if made.same else ""]
        lines += [f"{len(made.conflicts):,} {what}: {ids}" if made.conflicts else ""]
        say(*filter(None, lines), file=sys.stderr)
    merged = replace(made.suite, name=options.name or suite.name)
    if options.output:
        write_suite(merged, options.output)
        say(f"{len(merged):,} cases in {options.output}")
    else:
        say(save_version(workspace, merged, suite, [f"{other.name}: merged"]))


def _diff(options: argparse.Namespace) -> None:
    from metrics.suites import difference

    workspace = Workspace(options.workspace)
    found = difference(_suite(workspace, options.before), _suite(workspace, options.after))
    if not options.quiet:
        counts = f"{len(found.added):,} added, {len(found.removed):,} removed, {len(found.changed):,} changed"
        say(counts, file=sys.stderr)
    for id in found.removed:
        say(f"- {id}")
    for id in found.added:
        say(f"+ {id}")
    for change in found.changes:
        say(f"~ {change.case_id} {change.field}: {change.before!r} → {change.after!r}")


def _duplicates(options: argparse.Namespace) -> None:
    from metrics.suites import duplicates, independent_cases

    if not 0 < options.least <= 1:
        raise InputError([InputProblem("--least", f"{options.least:g}", "a share over 0, up to 1")])
    workspace = Workspace(options.workspace)
    suite = _suite(workspace, options.suite)
    found = duplicates(suite, _suite(workspace, options.other) if options.other else None, options.least)
    for one in found:
        say(f"{one.kind:<10}  {one.likeness:.2f}  {one.case_id}  {one.other}")
    if not options.quiet:
        counts = f"{len(found):,} pairs of {len(suite):,} cases"
        if not options.other:
            counts += f", which are worth {independent_cases(suite, found):,} independent ones"
        say(counts, file=sys.stderr)


def _history(options: argparse.Namespace) -> None:
    from metrics.suites import versions

    workspace = Workspace(options.workspace)
    for version in versions(workspace, _fingerprint(workspace, options.suite)):
        counts = ""
        if version.added is not None:
            counts = f"  +{version.added:,} -{version.removed:,} ~{version.changed:,}"
        edits = f"  {'; '.join(version.edits)}" if version.edits else ""
        say(f"{version.fingerprint[:SHOWN]}  {version.cases:>7,} cases{counts}  {version.name}{edits}")


def _suite(workspace: Workspace, text: str) -> "Suite":
    """Return the suite in a file, or the stored one of that fingerprint."""
    if Path(text).exists():
        return read_suite(text)
    return workspace.suite(_fingerprint(workspace, text))


def _fingerprint(workspace: Workspace, text: str) -> str:
    found = [facts["fingerprint"] for facts in workspace.suites() if facts["fingerprint"].startswith(text.lower())]
    if len(found) != 1 or len(text) < 4:
        what = f"{len(found)} stored suites that begin with it" if len(text) >= 4 else "too few characters"
        expected = "a file, or the first characters of one fingerprint, as `suites list` prints them"
        raise InputError([InputProblem(text, what, expected)])
    return str(found[0])
