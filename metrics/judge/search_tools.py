"""Search tools for a judge: none come with Assay, any installed package can offer some.

A package offers one by an entry point in the group `assay.search_tools`, whose name is the tool's name and whose object
is a function without arguments that returns a SearchTool. Nothing is loaded and no network is used before a run names
the tool in its parameters.
"""

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import Protocol

from metrics.core.errors import MissingResource

GROUP = "assay.search_tools"


class SearchTool(Protocol):
    """A source that the judge can search."""

    @property
    def description(self) -> str:
        """Return what the tool searches, in a sentence for the judge."""

    def search(self, query: str) -> str:
        """Return the results as text. Called in a thread; an exception is shown to the judge as a failed search."""


def open_tools(names: Sequence[str]) -> dict[str, SearchTool]:
    """Return the named tools, loaded. Raises MissingResource naming those that are missing or do not load."""
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    unknown = [name for name in names if name not in installed]
    if unknown:
        there = ", ".join(installed) or "none"
        raise MissingResource(
            f"no search tool {' and no '.join(map(repr, unknown))} is installed (installed: {there}); a package offers "
            f"one by an entry point in the group {GROUP}"
        )
    tools: dict[str, SearchTool] = {}
    for name in names:
        try:
            tools[name] = installed[name].load()()
        except Exception as failure:
            raise MissingResource(f"search tool {name!r} cannot be loaded: {failure}") from failure
    return tools
