"""What the categories of a COCO document say of classes: thing or stuff, key points and skeleton, frequency."""

from collections.abc import Iterable
from typing import Any

from metrics.core.classes import ClassFacts


def class_facts(records: Iterable[Any]) -> dict[str, ClassFacts]:
    """Return the facts about the categories that have some, by name.

    `keypoints` are names, `skeleton` pairs of their places from 1. They are only shown: what is no name or no such pair
    is left out.
    """
    found = {}
    for record in records:
        if not isinstance(record, dict):
            continue
        names, thing, images = _names(record.get("keypoints")), record.get("isthing"), record.get("image_count")
        facts = ClassFacts(
            is_thing=bool(thing) if thing in (0, 1) else None,
            images=images if type(images) is int and images >= 0 else None,
            keypoints=names,
            skeleton=_pairs(record.get("skeleton"), len(names)),
        )
        if facts != ClassFacts():
            found[str(record.get("name"))] = facts
    return found


def _names(value: Any) -> tuple[str, ...]:
    named = isinstance(value, list) and all(isinstance(name, str) and name for name in value)
    return tuple(value) if named else ()


def _pairs(value: Any, count: int) -> tuple[tuple[int, int], ...]:
    pairs = value if isinstance(value, list) else ()
    return tuple(
        (pair[0] - 1, pair[1] - 1)
        for pair in pairs
        if isinstance(pair, list) and len(pair) == 2 and all(type(end) is int and 0 < end <= count for end in pair)
    )
