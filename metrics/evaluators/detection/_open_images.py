"""Open Images: objects count for the classes above theirs, boxes of groups are found by one box inside them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from metrics.core.array_types import Floats, Int32s, Ints
from metrics.core.classes import ClassFacts
from metrics.core.suite import Outputs, Suite
from metrics.evaluators.detection._federated import listed, pair_codes
from metrics.evaluators.detection._matched import Scene
from metrics.vision.objects import Overlap, prepare

Parents = tuple[tuple[str, str], ...]


class OpenImages(NamedTuple):
    """The Open Images challenge. `parents`: pairs of a class and the class above it, () for no hierarchy."""

    parents: Parents = ()

    def applied(self, scene: Scene, suite: Suite, outputs: Outputs) -> Scene:  # noqa: ARG002 - Benchmark's signature
        """Return the scene with its truths repeated for every class above theirs, groups counted as truths."""
        above = dict(self.parents)
        labels = (*scene.labels, *sorted({label for pair in self.parents for label in pair} - set(scene.labels)))
        code = {label: place for place, label in enumerate(labels)}
        ancestors = [[code[label] for label in chain(label, above)] for label in labels]
        old = scene.objects
        row, kind = _repeated(old.truth_class, ancestors)
        objects = prepare(
            images=old.images, classes=len(labels), truth_image=old.truth_image[row], truth_class=kind,
            truth_box=old.truth_box[row], truth_area=old.truth_area[row], crowd=old.crowd[row],
            prediction_image=old.prediction_image, prediction_class=old.prediction_class,
            prediction_box=old.prediction_box, prediction_area=old.prediction_area, score=old.score,
            overlap=None if old.overlap is None else _OfRows(old.overlap, row),
        )  # fmt: skip
        expanded = replace(
            scene, objects=objects, labels=labels, annotation_ids=scene.annotation_ids.take(pa.array(row)),
            ignored=np.zeros(len(row), np.bool_), nearest=True, _overlaps={},
        )  # fmt: skip
        if not is_verified(suite):
            return expanded
        image, absent = np.divmod(listed(expanded, suite.cases["negative_labels"]), len(labels))
        below = [[place for place, up in enumerate(ancestors) if kind in up] for kind in range(len(labels))]
        which, lacking = _repeated(absent, below)
        known = np.concatenate(
            [
                pair_codes(objects, image[which], lacking),
                pair_codes(objects, objects.truth_image, objects.truth_class),
            ]
        )
        own = pair_codes(objects, objects.prediction_image, objects.prediction_class)
        return replace(expanded, spared=~np.isin(own, known))


@dataclass(frozen=True, eq=False, slots=True)
class _OfRows:
    """The overlap with truths that stand for others: `row` [G]."""

    overlap: Overlap
    row: Ints

    def __call__(self, prediction: Int32s, truth: Int32s, floor: float) -> Floats:
        return self.overlap(prediction, self.row[truth].astype(np.int32), floor)


def is_verified(suite: Suite) -> bool:
    """Return whether the suite says of an image which classes it lacks."""
    return bool(suite.cases["negative_labels"].null_count < len(suite))


def parents_of(classes: Mapping[str, ClassFacts]) -> Parents:
    """Return each class that has one above it, and that."""
    return tuple((label, facts.parent) for label, facts in classes.items() if facts.parent is not None)


def chain(label: str, above: Mapping[str, str]) -> Iterator[str]:
    """Yield a class and those above it, upwards; a circle ends where it would begin again."""
    seen = set[str]()
    current: str | None = label
    while current is not None and current not in seen:
        yield current
        seen.add(current)
        current = above.get(current)


def _repeated(kinds: Int32s | Ints, others: list[list[int]]) -> tuple[Ints, Int32s]:
    """Return rows and classes: each row of `kinds` for every class that `others` has for its own.

    The rows come in their order first, with the first class of each; then the rest.
    """
    deep = max(map(len, others), default=0)
    rows, found = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for place in range(deep):
        table = np.array([each[place] if place < len(each) else -1 for each in others])
        kind = table[kinds]
        rows.append(np.flatnonzero(kind >= 0))
        found.append(kind[kind >= 0])
    return np.concatenate(rows), np.concatenate(found).astype(np.int32)
