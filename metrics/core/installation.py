"""Where Assay's own files are (in a clone beside `metrics`, in an installed package inside it), and the optional parts,
the extras of pyproject.toml: what a missing one is called and how to install it.
"""

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

PACKAGE = Path(__file__).resolve().parents[1]
INSTALLED = PACKAGE / "studio"  # the wheel puts there what stands beside the package in a clone
STUDIO = INSTALLED if INSTALLED.is_dir() else PACKAGE.parent
APP = STUDIO / "app.py"
STARTED_IN = "ASSAY_STARTED_IN"  # the variable with the folder that `studio` was started in
SAMPLES = STUDIO / "data" / "samples"


def cache_folder() -> Path:
    """Return Assay's folder in the user's cache, which may be deleted; $XDG_CACHE_HOME moves it."""
    usual = Path("Library", "Caches") if sys.platform == "darwin" else Path(".cache")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / usual) / "assay"


def state_folder() -> Path:
    """Return the folder of what Assay remembers about this account; $XDG_STATE_HOME moves it."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "assay"


def other_metrics() -> Path | None:
    """Return a module or package of a project that has this package's name, and that one of the two hides."""
    for folder in dict.fromkeys((os.getcwd(), *sys.path)):
        for file in (Path(folder, "metrics.py"), Path(folder, "metrics", "__init__.py")):
            if file.is_file() and file.parent.resolve() != PACKAGE:
                return file
    return None


def python_module(*command: str) -> list[str]:
    """Return the command that runs a module with our own interpreter.

    The current folder is not searched for modules: it may hold another package called `metrics`.
    """
    return [sys.executable, "-P", "-m", *command]


def own_environment() -> dict[str, str]:
    """Return this process's environment for `python_module`; in a clone, the path of modules begins with it."""
    environment = dict(os.environ)
    if STUDIO != INSTALLED:
        paths: Sequence[str] = (str(STUDIO), *filter(None, [environment.get("PYTHONPATH")]))
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment


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
