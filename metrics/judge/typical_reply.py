"""A plain reply that fits a JSON schema, made without a model: for estimates and scripted judges."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

from metrics.core.prompt import NONCE

BLOCK = re.compile(rf"<([^<>\n]+) ([0-9a-f]{{{NONCE}}})>\n(.*?)\n</\1 \2>", re.DOTALL)
NUMBERED = re.compile(r"^\[\d+\] ", re.MULTILINE)
SENTENCE = "a sentence of the length that a reason usually has"
CHARACTERS_PER_SENTENCE = 90  # a claim's worth of text


def blocks(messages: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the data blocks of a request, by name, in their order: those with the nonce of the last one.

    Worked pairs, which stand before them, have another.
    """
    shown = next((message["content"] for message in messages if message["role"] == "user"), "")
    found = BLOCK.findall(shown)
    return {name: text for name, nonce, text in found if nonce == found[-1][1]}


def count_numbered(block: str) -> int:
    """Return how many numbered items a data block shows."""
    return len(NUMBERED.findall(block))


def typical_reply(schema: Mapping[str, Any], messages: Sequence[Mapping[str, str]]) -> Any:
    """Return a valid value: the first label of each choice, an entry per numbered item, a string per sentence."""
    shown = list(blocks(messages).values())
    return _value(schema, schema.get("$defs", {}), shown)


def _value(schema: Mapping[str, Any], definitions: Mapping[str, Any], shown: Sequence[str]) -> Any:
    if "$ref" in schema:
        return _value(definitions[schema["$ref"].rpartition("/")[2]], definitions, shown)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _value(schema[key][0], definitions, shown)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: _value(field, definitions, shown) for name, field in schema.get("properties", {}).items()}
    if kind == "array":
        return _list(schema, definitions, shown)
    if kind in ("integer", "number"):
        least = schema.get("minimum", schema.get("exclusiveMinimum", 0))
        return least + 1 if "exclusiveMinimum" in schema else least
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    return SENTENCE[: schema.get("maxLength")].ljust(schema.get("minLength", 0), ".")


def _list(schema: Mapping[str, Any], definitions: Mapping[str, Any], shown: Sequence[str]) -> list[Any]:
    entry = schema.get("items", {"type": "string"})
    name = entry.get("$ref", "").rpartition("/")[2]
    least = schema.get("minItems", 0)
    if "id" in definitions.get(name, entry).get("properties", {}):
        count = count_numbered(shown[-1]) if shown else 1
        return [_value(entry, definitions, shown) | {"id": number} for number in range(1, count + 1)]
    if entry.get("type") == "string" and "enum" not in entry:
        longest = max((len(text) for text in shown), default=0)
        count = max(1, least, round(longest / CHARACTERS_PER_SENTENCE))
        count = min(count, schema.get("maxItems", count))
        name = f"{crc32(''.join(shown).encode('utf-8', 'replace')):08x}"  # other texts have other sentences
        return [f"sentence {number} of {name}" for number in range(1, count + 1)]
    return [_value(entry, definitions, shown) for _ in range(max(1, least))]
