"""The parser of a command: a mistake in the arguments is told in two lines, with what may be meant."""

import argparse
from functools import partial
from typing import Any, NoReturn

from metrics.core.errors import did_you_mean, one_of
from metrics.core.terminal_escapes import one_line


def _number(kind: type[int | float], expected: str, text: str) -> int | float:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text!r}; expected {expected}") from None


class CommandParser(argparse.ArgumentParser):
    """argparse's parser; its subcommands' parsers are of this class, too."""

    def __init__(self, *args: Any, **words: Any):
        super().__init__(*args, **words)
        for kind, expected in {int: "a whole number", float: "a number"}.items():
            self.register("type", kind, partial(_number, kind, expected))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; exit with 2 where some are unknown, naming the option that may be meant."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error("; ".join(map(self._unknown, rest)))
        return found, rest

    def error(self, message: str) -> NoReturn:
        """Print the mistake and where help is, and exit with 2."""
        self.exit(2, f"{self.prog}: {one_line(message)}\n`{self.prog} --help` explains its arguments\n")

    def _unknown(self, text: str) -> str:
        if not text.startswith("-"):
            return f"unexpected argument {text!r}"
        name = text.partition("=")[0]
        hint = did_you_mean(name, [option for option in self._option_string_actions if option.startswith("--")])
        return f"unknown option {name}" + (f": {hint}" if hint else "")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            expected = one_of(str(value), map(str, action.choices))
            raise argparse.ArgumentError(action, f"found {value!r}; expected {expected}")
