"""How a command fails: what it prints, and its exit code."""

import argparse
from contextlib import suppress

from metrics.cli.reading_options import print_failure
from metrics.core.errors import AssayError, StorageError
from metrics.core.storage import storage_error

BAD_INPUT, STORAGE = 2, 4


def told(failure: Exception, options: argparse.Namespace | None) -> int:
    """Print a failure that has words for the user and return its exit code; any other is raised again."""
    words = failure if isinstance(failure, AssayError) else storage_error(failure)
    if words is None:
        raise failure
    with suppress(OSError):  # standard error may be on the disk that is full; the exit code still tells
        print_failure(words, options)
    return STORAGE if isinstance(words, StorageError) else BAD_INPUT
