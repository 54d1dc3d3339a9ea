"""Classes: their order where they are levels, their place in a hierarchy, thing or stuff, key points, frequency."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from metrics.core.unicode_forms import normalized

TRUE, FALSE = ("1", "true", "yes", "t", "y"), ("0", "false", "no", "f", "n")
WHOLE_NUMBER = re.compile(r"\+?(-?\d+)(?:\.0*)?")
SEPARATORS = re.compile(r"[\s_\-\u200b\ufeff]+")


class ClassFacts(NamedTuple):
    """The facts about one class; each is None or empty where it is unknown.

    `parent`: the class above it in a hierarchy; `is_thing`: countable objects, where False is stuff such as sky;
    `images`: how many training images have the class (LVIS goes by it); `keypoints`: their names, in order; `skeleton`:
    pairs of places among them, from 0, that a line connects; `sigmas`: the OKS constant of each key point; `id`: what
    the upload's records call the class, where that is neither its name nor a number.
    """

    parent: str | None = None
    is_thing: bool | None = None
    images: int | None = None
    keypoints: tuple[str, ...] = ()
    skeleton: tuple[tuple[int, int], ...] = ()
    sigmas: tuple[float, ...] = ()
    id: str | None = None


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
    parent: Any = None,
    is_thing: Any = None,
    images: Any = None,
    keypoints: Any = (),
    skeleton: Any = (),
    sigmas: Any = (),
    id: Any = None,
) -> ClassFacts:
    return ClassFacts(
        None if parent is None else str(parent),
        None if is_thing is None else bool(is_thing),
        None if images is None else int(images),
        tuple(map(str, keypoints)),
        tuple((int(start), int(end)) for start, end in skeleton),
        tuple(map(float, sigmas)),
        None if id is None else str(id),
    )


@lru_cache(4_096)  # a column of classes has few
def class_key(name: str) -> str:
    """Return what is the same of a class however it is spelled: case, blanks, `_` and `-`, Unicode's form, `1.0` for 1.

    >>> class_key("Traffic_Light"), class_key(" traffic\\u00a0light"), class_key("1.0"), class_key("-1")
    ('traffic light', 'traffic light', '1', '-1')
    """
    text = normalized("NFC", name).strip()
    number = WHOLE_NUMBER.fullmatch(text)
    return number[1] if number else normalized("NFC", SEPARATORS.sub(" ", text).strip().casefold())


def classes_by_key(labels: Iterable[str]) -> dict[str, list[str]]:
    """Return the classes that are the same but for their spelling, by what is the same of them."""
    found: dict[str, list[str]] = {}
    for label in labels:
        found.setdefault(class_key(label), []).append(label)
    return found


def as_flag(name: str) -> bool | None:
    """Return what a class says that is spelled true or false, yes or no, 1 or 0; None for another."""
    key = class_key(name)
    return True if key in TRUE else False if key in FALSE else None


def positive_class(labels: Sequence[str]) -> str | None:
    """Return which of two classes scores are of by custom: the true, the positive one, the larger number; else None."""
    flags = [as_flag(label) for label in labels]
    if set(flags) == {True, False}:
        return labels[flags.index(True)]
    if len(labels) == 2 and numeric_labels(labels):
        return max(labels, key=float)
    named = {class_key(label)[:3]: label for label in labels}
    return named["pos"] if named.keys() == {"pos", "neg"} else None


def numeric_labels(labels: Sequence[str]) -> bool:
    """Return whether all labels are finite numbers; False of none."""
    return bool(labels) and all(_number(label) is not None for label in labels)


def level_order(labels: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a suite and those that are `named` beside them from the lowest level to the highest.

    Numbers are ordered by value. Other labels keep the suite's order, and the named ones beside them are left out; an
    alphabetical order of labels longer than one character tells nothing, so that there are no levels.

    >>> level_order(("10", "9"), ("8.5",)), level_order(("high", "low"), ()), level_order(("low", "high"), ())
    (('8.5', '9', '10'), (), ('low', 'high'))
    """
    every = list(dict.fromkeys([*labels, *named]))
    if numeric_labels(every):
        return tuple(sorted(every, key=lambda label: (_number(label), label)))
    known = list(labels) != sorted(labels) or all(len(label) == 1 for label in labels)
    return tuple(labels) if known else ()


def _number(label: str) -> float | None:
    try:
        value = float(label)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
