"""`suites`: test suites of a workspace."""

from typing import Any

from metrics.cli import document_questions_command, suite_versions_command


def add_command(commands: Any) -> None:
    command = commands.add_parser("suites", help="test suites: list, merge, compare; questions about documents")
    actions = command.add_subparsers(required=True, metavar="ACTION")
    suite_versions_command.add_actions(actions)
    document_questions_command.add_actions(actions)
