"""XML from uploads: parsed without a DTD, entities or anything from outside."""

import io
from collections.abc import Iterator
from typing import Any

from metrics.ingest.decoded_size import AS_ELEMENTS, Decoded, size_as_objects
from metrics.ingest.source import Problems


def parse(file: str, data: bytes, expected: str, problems: Problems) -> Any:
    """Return the root of an XML document; None and a problem where it cannot be read or declares entities."""
    *_, (_, root) = elements(file, data, ("end",), expected, problems)
    return root


def elements(
    file: str, data: bytes, events: tuple[str, ...], expected: str, problems: Problems
) -> Iterator[tuple[str, Any]]:
    """Yield each event ("start", "end") with its element; at last ("broken", None) where the XML is, a problem.

    The last element of a complete document is its root. InputError where there are more than fit its size.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import iterparse  # type: ignore[import-untyped]

    Decoded(file, len(data), "xml").check(size_as_objects(data, AS_ELEMENTS))
    try:
        yield from iterparse(io.BytesIO(data), events=events, forbid_dtd=True)
    except ParseError as error:
        problems.add(file, f"XML that cannot be read: {error}", expected, error.position[0])
        yield "broken", None
    except (ValueError, LookupError, RecursionError) as error:  # defusedxml's refusals are ValueErrors
        what = str(error) or type(error).__name__
        problems.add(file, f"XML that is refused: {what}", expected + ", without a DTD or entities")
        yield "broken", None
