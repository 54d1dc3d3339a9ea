"""Do the classes mean what they were read as? Judged by the true classes of the cases, or of the objects met."""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Int32s, Ints
from metrics.core.classes import classes_by_key
from metrics.core.suite import Suite
from metrics.ingest.lint.findings import Finding, example_cases, per_cent
from metrics.ingest.lint.scene import Boxes, compared, overlaps
from metrics.vision.geometry import whole

NUMBERED = re.compile(r"(?:category_id |class )?(\d{1,9})(?:\.0)?")  # a number, also as readers name unknown classes
FEWEST, FEW = 10, 2  # pairs of boxes on the same object that prove a numbering, and that raise a doubt
ERRORS, GAIN = 3.0, 0.3  # by how much another numbering has to agree better: standard errors, and share of the pairs
KNOWN = 0.99  # share of the predictions that must have a class of the suite in another numbering
STRANGE = 0.2  # share of agreeing classes below which the names are doubtful
ENOUGH = 30  # pairs for that

VOID_NAME = re.compile(  # of pixels that are no class
    r"(void|ignored?|unlabel?led|border|boundary|dont[ _-]?care|no[ _-]?data|unknown)", re.IGNORECASE
)
OF_PLACES = ("classes-from-0", "classes-from-1")  # the numberings that classes with names alone can have
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


def class_numbers(suite: Suite) -> tuple[Ints, bool]:
    """Return the number of each class of the suite [labels], and whether the classes are numbered by themselves.

    A number is the class's id in the file, else its name where all names are numbers, else its place in the list.
    """
    if suite.category_ids:
        return np.array(suite.category_ids, np.int64), True
    named = [_number(label) for label in suite.labels]
    numbered = bool(named) and -1 not in named
    return np.array(named if numbered else range(len(named)), np.int64), numbered


def numbers_of(labels: pa.ChunkedArray, suite: Suite) -> Ints:
    """Return the number of each label [N]: that of the suite's class, or the one in its name; −1 for neither.

    Classes that are not numbered have none, so that they stay what they are.
    """
    names = pc.dictionary_encode(whole(labels))
    own, numbered = class_numbers(suite)
    by_name = dict(zip(suite.labels, own.tolist() if numbered else [-1] * len(own), strict=True))
    known = [by_name.get(name, _number(name)) for name in names.dictionary.to_pylist()]
    codes = names.indices.fill_null(len(known)).to_numpy(zero_copy_only=False)
    return np.asarray(np.array([*known, -1], np.int64)[codes])


def renumbered(name: str, labels: pa.ChunkedArray, suite: Suite) -> pa.Array:
    """Return the labels in another numbering; those that would be no class of the suite stay as they are."""
    known, _ = class_numbers(suite)
    places = pc.index_in(pa.array(NUMBERINGS[name][1](numbers_of(labels, suite), known)), value_set=pa.array(known))
    return pc.coalesce(pa.array(suite.labels, pa.string()).take(places), whole(labels))


def class_findings(
    model: str, boxes: Boxes, labels: pa.ChunkedArray, truth: Boxes, truth_labels: pa.ChunkedArray, suite: Suite
) -> Iterator[Finding]:
    """Yield that the classes agree with those of the objects in another numbering, or in none.

    `boxes` and `truth` are aligned with the labels.
    """
    objects, usable = compared(truth, boxes)
    on, met = overlaps(boxes.image[usable], boxes.box[usable], truth.take(objects))
    pairs = usable[on]
    true = whole(truth_labels).take(pa.array(objects[met]))
    now = _equal(whole(labels).take(pa.array(pairs)), true)
    cases, images = whole(suite.cases["case_id"]), boxes.image[pairs]
    moved = _numbering(model, labels, pairs, true, images, suite, "boxes that lie on an object have its class", True)
    if moved is not None:
        yield moved
    elif len(pairs) >= ENOUGH and now.mean() < STRANGE:
        text = (
            f"Only {per_cent(now.sum(), len(pairs))} of {len(pairs):,} boxes that lie on an object have its class: "
            "is the list of classes another one?"
        )
        shown = example_cases(cases, images, ~now)
        yield Finding("class_names", model, text, False, int((~now).sum()), len(pairs), shown)


def spelling_findings(suite: Suite) -> Iterator[Finding]:
    """Yield that the suite has classes that are the same but for their spelling: are they one?"""
    alike = [own for own in classes_by_key(suite.labels).values() if len(own) > 1]
    if alike:
        names = "; ".join(", ".join(map(repr, own)) for own in alike[:5])
        text = (
            f"Classes that only differ in their spelling are different ones: {names}. Correct the file if they are not."
        )
        yield Finding("class_spelling", None, text, False, sum(map(len, alike)), len(suite.labels))


def void_findings(suite: Suite, annotations: pa.Table) -> Iterator[Finding]:
    """Yield that a class of masks has a name of pixels without one: it counts in every mean unless it is ignored."""
    for label in suite.labels:
        rows = pc.equal(annotations["label"], label) if VOID_NAME.fullmatch(label) else None
        if rows is not None and (count := int(pc.sum(rows).as_py() or 0)):
            text = (
                f"The class {label!r} of {count:,} regions counts as any other in the mean. If its pixels are those "
                f"without a class, name it in ignore_labels."
            )
            yield Finding("void_class", None, text, False, count, len(annotations))


def label_findings(model: str, predictions: pa.Table, suite: Suite) -> Iterator[Finding]:
    """Yield that the predicted classes of cases, those with the best scores, are right in another numbering."""
    cases = pc.index_in(whole(predictions["case_id"]), value_set=whole(suite.cases["case_id"]))
    rows = cases.fill_null(-1).to_numpy()
    true = whole(suite.cases["label"]).take(cases)
    score = whole(predictions["score"]).fill_null(1.0).to_numpy()
    order = np.lexsort((-score, predictions["run"].to_numpy(), rows))
    answers = np.stack([rows, predictions["run"].to_numpy()])[:, order]
    first = np.ones(len(order), np.bool_)
    first[1:] = (answers[:, 1:] != answers[:, :-1]).any(axis=0)
    pairs = order[first & np.asarray(pc.is_valid(true.take(pa.array(order))))]
    truths = true.take(pa.array(pairs))
    finding = _numbering(model, predictions["label"], pairs, truths, rows[pairs], suite, "cases have their class")
    if finding is not None:
        yield finding


def _numbering(
    model: str, labels: pa.ChunkedArray, pairs: Ints, true: pa.Array, cases: Int32s, suite: Suite, words: str,
    few: bool = False,
) -> Finding | None:  # fmt: skip
    """Return the finding that labels at `pairs` agree with the true ones in another numbering; None where not."""
    # Of `few` pairs all have to agree, and none does now: a doubt. `cases` [pairs] are the rows of the suite that they
    # belong to.
    if len(pairs) < (FEW if few else FEWEST):
        return None
    here = pa.array(pairs)
    now = _equal(whole(labels).take(here), true)
    best: tuple[int, str, Bools] | None = None
    names = [name for name in NUMBERINGS if class_numbers(suite)[1] or name in OF_PLACES]
    for name in names if suite.labels else ():
        others = renumbered(name, labels, suite)
        known = np.asarray(pc.is_in(others, value_set=pa.array(suite.labels, pa.string())))
        then = _equal(others.take(here), true)
        gain, loss = int((then & ~now).sum()), int((now & ~then).sum())
        needed = max(ERRORS * np.sqrt(gain + loss), GAIN * len(pairs))
        certain = gain - loss >= needed or bool(few and then.all() > now.any())
        if known.mean() >= KNOWN and certain and (best is None or then.sum() > best[0]):
            best = int(then.sum()), name, then
    if best is None:
        return None
    _, name, then = best
    text = (
        f"Class numbers seem to be {NUMBERINGS[name][0]}: {per_cent(now.sum(), len(pairs))} of {len(pairs):,} {words}, "
        f"and {per_cent(then.sum(), len(pairs))} would."
    )
    shown = example_cases(whole(suite.cases["case_id"]), cases, ~now)
    return Finding("class_numbers", model, text, len(pairs) >= FEWEST, int((~now).sum()), len(pairs), shown, name)


def _equal(labels: pa.Array, true: pa.Array) -> Bools:
    return np.asarray(pc.fill_null(pc.equal(labels, true), False))


def _number(name: str | None) -> int:
    found = NUMBERED.fullmatch(name or "")
    return int(found[1]) if found else -1
