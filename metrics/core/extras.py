"""The optional parts of Assay, the extras of pyproject.toml: what a missing one is called and how to install it."""

import importlib.util
from typing import Literal

Extra = Literal["studio", "pdf", "judge", "models", "local-judge", "cluster", "remote", "auth", "math"]


def missing_extra(what: str, extra: Extra, *modules: str) -> str | None:
    """Return that `what` needs an extra, and how to install it, where one of its modules is missing; else None.

    Nothing is imported.
    """
    if all(importlib.util.find_spec(name) is not None for name in modules):
        return None
    return f"{what} needs assay[{extra}]: {how_to_install(extra)}"


def how_to_install(extra: Extra) -> str:
    """Return the command that installs an extra, from an index or in a clone."""
    return f"pip install 'assay[{extra}]', in a clone '.[{extra}]'"
