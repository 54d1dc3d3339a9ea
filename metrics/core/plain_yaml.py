"""Small YAML files, such as a rubric or a configuration, read as text, lists and mappings."""

from collections.abc import Iterable, Iterator
from typing import Any

DEEPEST = 100  # levels of lists and mappings: the library composes them by recursion


def plain_yaml(text: str | bytes) -> Any:
    """Return the document in YAML text, of which every scalar stays text and nothing is constructed.

    Raises ValueError, in one line, for what is no YAML, for aliases, of which a few nested ones can fill the memory,
    and for more than DEEPEST levels, which take the library's own reader minutes.
    """
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        for event, depth in with_depths(yaml.parse(text, loader)):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("an alias (*)")
            if depth > DEEPEST:
                raise ValueError(f"more than {DEEPEST} levels of lists and mappings")
        return yaml.load(text, loader)  # noqa: S506 - a BaseLoader, which knows nothing but text, lists and mappings
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def with_depths(events: Iterable[Any]) -> Iterator[tuple[Any, int]]:
    """Yield each event of a YAML document with the number of lists and mappings that it is in, its own included."""
    import yaml

    depth = 0
    for event in events:
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        yield event, depth
