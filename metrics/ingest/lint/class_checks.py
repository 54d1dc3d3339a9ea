"""Do the classes mean what they were read as? Judged by the classes of boxes that lie on the same object."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Ints
from metrics.core.suite import Suite
from metrics.ingest.lint.findings import Finding, example_cases, per_cent
from metrics.ingest.lint.scene import Boxes, compared, overlaps
from metrics.vision.geometry import whole

NUMBERED = re.compile(r"(?:category_id|class) (\d{1,9})")  # how readers name a class that the suite lacks
FEWEST = 10  # pairs of boxes on the same object
ERRORS, GAIN = 3.0, 0.3  # by how much another numbering has to agree better: standard errors, and share of the pairs
KNOWN = 0.99  # share of the predictions that must have a class of the suite in another numbering
STRANGE = 0.2  # share of agreeing classes below which the names are doubtful
ENOUGH = 30  # pairs for that

Renumber = Callable[[Ints, Ints], Ints]  # numbers of classes, the suite's numbers → the suite's numbers


def _places(first: int) -> Renumber:
    def renumbered(numbers: Ints, known: Ints) -> Ints:
        inside = (numbers >= first) & (numbers < first + len(known))
        return np.where(inside, known[(numbers - first).clip(0, len(known) - 1)], -1)

    return renumbered


NUMBERINGS: Mapping[str, tuple[str, Renumber]] = MappingProxyType(
    {
        "classes+1": ("1 lower than the suite's", lambda numbers, _: numbers + 1),
        "classes-1": ("1 higher than the suite's", lambda numbers, _: numbers - 1),
        "classes-from-0": ("the places 0, 1, 2 … in the suite's list of classes", _places(0)),
        "classes-from-1": ("the places 1, 2, 3 … in the suite's list of classes", _places(1)),
    }
)


def numbers_of(labels: pa.ChunkedArray, suite: Suite) -> Ints:
    """Return the number of each label [N]: that of the suite's class, or the one in its name; −1 for neither."""
    names = pc.dictionary_encode(whole(labels))
    by_name = dict(zip(suite.labels, suite.category_ids, strict=True))
    known = [by_name.get(name, _number(name)) for name in names.dictionary.to_pylist()]
    codes = names.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    numbers: Ints = np.array([*known, -1], np.int64)[codes]
    return numbers


def renumbered(name: str, labels: pa.ChunkedArray, suite: Suite) -> pa.Array:
    """Return the labels in another numbering; those that would be no class of the suite stay as they are."""
    numbers = NUMBERINGS[name][1](numbers_of(labels, suite), np.array(suite.category_ids, np.int64))
    places = pc.index_in(pa.array(numbers), value_set=pa.array(suite.category_ids, pa.int64()))
    return pc.coalesce(pa.array(suite.labels, pa.string()).take(places), whole(labels))


def class_findings(
    model: str, boxes: Boxes, labels: pa.ChunkedArray, truth: Boxes, truth_labels: pa.ChunkedArray, suite: Suite
) -> Iterator[Finding]:
    """Yield that the classes agree with those of the objects in another numbering, or in none.

    `boxes` and `truth` are aligned with the labels.
    """
    objects, usable = compared(truth, boxes)
    on, met = overlaps(boxes.image[usable], boxes.box[usable], truth.take(objects))
    if len(on) < FEWEST:
        return
    pairs = usable[on]
    true = whole(truth_labels).take(pa.array(objects[met]))

    def agreeing(names: pa.Array) -> Bools:
        same: Bools = np.asarray(pc.fill_null(pc.equal(names.take(pa.array(pairs)), true), False))
        return same

    now = agreeing(whole(labels))
    cases = whole(suite.cases["case_id"])
    best: tuple[int, str, Bools] | None = None
    for name in NUMBERINGS if suite.category_ids else ():
        others = renumbered(name, labels, suite)
        known = np.asarray(pc.is_in(others, value_set=pa.array(suite.labels, pa.string())))
        then = agreeing(others)
        gain, loss = int((then & ~now).sum()), int((now & ~then).sum())
        certain = gain - loss >= max(ERRORS * np.sqrt(gain + loss), GAIN * len(pairs))
        if known.mean() >= KNOWN and certain and (best is None or then.sum() > best[0]):
            best = int(then.sum()), name, then
    if best is not None:
        _, name, then = best
        text = (
            f"Class numbers seem to be {NUMBERINGS[name][0]}: of {len(pairs):,} boxes that lie on an object "
            f"{per_cent(now.sum(), len(pairs))} have its class, and {per_cent(then.sum(), len(pairs))} would."
        )
        shown = example_cases(cases, boxes.image[pairs], ~now)
        yield Finding("class_numbers", model, text, True, int((~now).sum()), len(pairs), shown, name)
    elif len(pairs) >= ENOUGH and now.mean() < STRANGE:
        text = (
            f"Only {per_cent(now.sum(), len(pairs))} of {len(pairs):,} boxes that lie on an object have its class: "
            "is the list of classes another one?"
        )
        shown = example_cases(cases, boxes.image[pairs], ~now)
        yield Finding("class_names", model, text, False, int((~now).sum()), len(pairs), shown)


def _number(name: str | None) -> int:
    found = NUMBERED.fullmatch(name or "")
    return int(found[1]) if found else -1
