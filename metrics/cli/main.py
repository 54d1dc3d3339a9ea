"""The parser of all subcommands, and the exit code of each."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from metrics import __version__
from metrics.cli import terminal
from metrics.cli.command_parser import CommandParser
from metrics.cli.failures import exit_code, stopping, told
from metrics.cli.options import load_plugins
from metrics.cli.rag_config import with_config

COMMANDS = """
    evaluate run complete export report bundle gate board over_suites plot monitor perturb suites cache judge labels
    preferences calibrate rubric evaluators plugins check_evaluator explain_map runs verify merge archive remote
    sample_size samples studio models warm_up completion
""".split()  # in the order of --help; each is a module, NAME_command
FIRST = "evaluate run studio report gate export runs evaluators judge complete".split()  # what people use first


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 success, 1 a gate failed, 2 invalid input, 3 no case of the run has a value, 4 the machine refused to store or to
    read (a full disk, no permission), 5 a fault of Assay itself; 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    options = None
    try:
        with stopping():
            given = sys.argv[1:] if arguments is None else arguments
            options = parser(every="--all" in given[:2]).parse_args(with_config(given))
            load_plugins(getattr(options, "plugin", ()))
            code = int(options.command(options) or 0)  # a command that returns nothing has succeeded
            sys.stdout.flush()  # here, where a full disk can still be told
            return code
    except BrokenPipeError:  # `… | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt as stop:
        terminal.warn(options, "stopped; the same command again continues with what is done")
        return exit_code(stop)
    except Exception as failure:
        return told(failure, options)


def parser(every: bool = True) -> argparse.ArgumentParser:
    """Return the parser of the whole command line; its help explains `every` command, or FIRST and names the rest."""
    prog = "assay" if Path(sys.argv[0]).stem == "assay" else "python -m metrics"
    found: argparse.ArgumentParser = CommandParser(prog=prog, description="Evaluate models; see docs/command.md.")
    found.add_argument("--version", action="version", version=f"assay {__version__}")
    found.add_argument("--all", action="help", help="explain every command")
    commands = found.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(f"metrics.cli.{name}_command").add_command(commands)
    if not every:
        listed = commands._choices_actions
        first = {action.dest: action for action in listed if action.dest in FIRST}
        more = ", ".join(action.dest for action in listed if action.dest not in FIRST)
        listed[:] = [first[name] for name in FIRST]
        found.epilog = f"more: {more} (--all explains them)"
    return found
