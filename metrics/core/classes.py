"""What is known of a class beside its name: its place in a hierarchy, thing or stuff, its key points, its frequency."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class ClassFacts(NamedTuple):
    """The facts about one class; each is None or empty where it is unknown.

    `parent`: the class above it in a hierarchy; `is_thing`: countable objects, where False is stuff such as sky;
    `images`: how many training images have the class (LVIS goes by it); `keypoints`: their names, in order; `skeleton`:
    pairs of places among them, from 0, that a line connects; `sigmas`: the OKS constant of each key point.
    """

    parent: str | None = None
    is_thing: bool | None = None
    images: int | None = None
    keypoints: tuple[str, ...] = ()
    skeleton: tuple[tuple[int, int], ...] = ()
    sigmas: tuple[float, ...] = ()


def class_records(classes: Mapping[str, ClassFacts]) -> dict[str, dict[str, Any]]:
    """Return the facts as plain records for JSON, without those that are unknown."""
    return {
        label: {name: value for name, value in facts._asdict().items() if value not in (None, ())}
        for label, facts in classes.items()
    }


def classes_of(records: Mapping[str, Mapping[str, Any]]) -> dict[str, ClassFacts]:
    """Return the facts of plain records, see `class_records`. Raises TypeError or ValueError for other records."""
    return {label: _facts(**record) for label, record in records.items()}


def _facts(
    parent: Any = None, is_thing: Any = None, images: Any = None, keypoints: Any = (), skeleton: Any = (),
    sigmas: Any = (),
) -> ClassFacts:  # fmt: skip
    return ClassFacts(
        None if parent is None else str(parent), None if is_thing is None else bool(is_thing),
        None if images is None else int(images), tuple(map(str, keypoints)),
        tuple((int(start), int(end)) for start, end in skeleton), tuple(map(float, sigmas)),
    )  # fmt: skip
