"""The order of classes that are levels, such as grades and severities, as far as their names show it."""

import math
from collections.abc import Sequence


def numeric_labels(labels: Sequence[str]) -> bool:
    """Return whether all labels are finite numbers; False of none."""
    return bool(labels) and all(_number(label) is not None for label in labels)


def level_order(labels: Sequence[str], named: Sequence[str]) -> tuple[str, ...]:
    """Return the labels of a suite and those that are `named` beside them from the lowest level to the highest.

    By number where all are numbers. Else the suite's own order, unless that is alphabetical, as where none was given:
    then nothing, but for labels of one character. Names that are none of the suite's are no levels then.

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
