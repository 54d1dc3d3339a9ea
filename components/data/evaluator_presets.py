"""The presets of evaluators that suit the inputs of a run."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from metrics.library.presets import Preset


def presets(task: str, present: Collection[str]) -> list[Preset]:
    """Return the presets for a task and what the data has, the default one first."""
    from metrics.library.presets import suitable

    return list(suitable(task, present))
