"""Loading evaluators from outside, for the commands that resolve evaluators."""

from collections.abc import Sequence
from pathlib import Path

from metrics.core.errors import for_each


def load_plugins(references: Sequence[str]) -> list[str]:
    """Load and register the evaluators of --plugin and return their ids. InputError with each that cannot be."""
    from metrics.core.plugins import load_reference
    from metrics.core.registry import add_plugin

    return for_each(references, lambda reference: add_plugin(load_reference(reference, Path())))
