"""YAML as data: scalars stay the text that was written, nothing is constructed, and aliases are bounded."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import yaml

from metrics.core.plain_yaml import DEEPEST, with_depths

MAX_BYTES = 32 << 20
MOST_VALUES = 2_000_000  # with every alias written out
MARKS = (b"[", b"{", b",", b"- ", b"-\n", b": ", b":\n", b"? ")  # of values; an empty list has two, and prose few
NULL, MERGE = "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"
KEPT = ("tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:str", NULL, MERGE)
STANDARD = "tag:yaml.org,2002:"  # of scalars such as !!int: the text is kept
TYPED = tuple(STANDARD + name for name in ("bool", "int", "float"))


class YamlError(ValueError):
    """A file that is no YAML, or more than the limits: what was found, what was expected, and the line."""

    def __init__(self, found: str, expected: str, row: int | None = None):
        super().__init__(found)
        self.found, self.expected, self.row = found, expected, row


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # either is a class
    """A loader for which a scalar is text unless it is null: 007, yes and 2024-05-01 stay as they are written."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - the library's own name and form
        first: [(tag, pattern) for tag, pattern in rules if tag in (NULL, MERGE)]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


class _TypedLoader(_Loader):
    """A loader for which true, false and plain decimal numbers are what they are in JSON."""


_TypedLoader.add_implicit_resolver(STANDARD + "bool", re.compile(r"(?:true|false)\Z"), ["t", "f"])
_TypedLoader.add_implicit_resolver(STANDARD + "int", re.compile(r"-?(?:0|[1-9]\d{0,17})\Z"), list("-0123456789"))
_TypedLoader.add_implicit_resolver(STANDARD + "float", re.compile(r"-?\d{1,17}\.\d{1,17}\Z"), list("-0123456789"))


def load_yaml(data: bytes, typed: bool = False) -> Any:
    """Return the only document of a YAML file, its scalars as text; YamlError where that cannot be read.

    With `typed` true, false and plain numbers are no text: where a file holds what is JSON elsewhere, as a schema.

    Values with a tag of their own are refused, and so is a file whose aliases, written out, have more than
    MOST_VALUES values.
    """
    if len(data) > MAX_BYTES:
        raise YamlError(f"{len(data):,} bytes of YAML", f"at most {MAX_BYTES:,} bytes; JSONL may be larger")
    loader = (_TypedLoader if typed else _Loader)(data)
    try:
        _check_depth(data)
        root = loader.get_single_node()
        if root is None:
            raise YamlError("no YAML value", "a list of cases")
        _check(root, typed)
        return loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = " ".join(str(error.problem or error.context).split())[:200]
        raise YamlError(f"YAML that cannot be read: {why}", "one valid YAML document", mark and mark.line + 1) from None
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, YamlError):
            raise
        what = " ".join(str(error).split())[:200]
        raise YamlError(f"YAML that cannot be read: {what}", "one valid YAML document") from None
    finally:
        loader.dispose()


def _check_depth(data: bytes) -> None:
    """Raise YamlError where lists and mappings are nested too deeply, as the library composes them by recursion, or
    are too many: it takes half a kilobyte for each.
    """
    too_many = YamlError(f"more than {MOST_VALUES:,} values", "a smaller file; JSONL may be larger")
    if sum(map(data.count, MARKS)) > 2 * MOST_VALUES:  # the parser takes half a minute for as many
        raise too_many
    for count, (event, depth) in enumerate(with_depths(yaml.parse(data, _Loader))):
        if count > 2 * MOST_VALUES:  # a list has two events
            raise too_many
        if depth > DEEPEST:
            raise _too_deep(event.start_mark.line + 1)


def _check(root: yaml.Node, typed: bool) -> None:
    """Raise YamlError where there are too many values, with aliases written out, or where a tag is unknown."""
    sizes: dict[int, int] = {}
    depths: dict[int, int] = {}
    under_way: set[int] = set()
    stack: list[tuple[yaml.Node, Iterator[yaml.Node]]] = []

    def enter(node: yaml.Node) -> None:
        row = node.start_mark.line + 1
        known = node.tag in KEPT or (isinstance(node, yaml.ScalarNode) and node.tag.startswith(STANDARD))
        if not known:
            raise YamlError(f"a value with the tag {node.tag}"[:120], "plain values, lists and mappings", row)
        plain = typed and node.tag in TYPED and not node.style
        if isinstance(node, yaml.ScalarNode) and node.tag not in (NULL, MERGE) and not plain:
            node.tag = "tag:yaml.org,2002:str"
        if isinstance(node, yaml.MappingNode):
            names = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode) and key.tag != MERGE]
            if len(set(names)) < len(names):
                twice = Counter(names).most_common(1)[0][0]
                raise YamlError(f"the name {twice!r} twice in one mapping"[:120], "every name once", row)
        under_way.add(id(node))
        stack.append((node, _children(node)))

    enter(root)
    while stack:
        node, children = stack[-1]
        child = next(children, None)
        if child is None:
            stack.pop()
            under_way.discard(id(node))
            sizes[id(node)] = 1 + sum(sizes[id(inner)] for inner in _children(node))
            depths[id(node)] = 1 + max((depths[id(inner)] for inner in _children(node)), default=0)
            if depths[id(node)] > DEEPEST + 1:
                raise _too_deep(node.start_mark.line + 1)
            if sizes[id(node)] > MOST_VALUES:
                found = f"more than {MOST_VALUES:,} values, with aliases (*name) written out"
                raise YamlError(found, "a smaller file, or one without aliases", node.start_mark.line + 1)
        elif id(child) in under_way:
            raise YamlError("an alias of what it is part of", "a value with an end", child.start_mark.line + 1)
        elif id(child) not in sizes:
            enter(child)


def _too_deep(row: int) -> YamlError:
    return YamlError("YAML that is nested too deeply", f"at most {DEEPEST} levels", row)


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value
