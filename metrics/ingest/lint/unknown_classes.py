"""Classes of predictions that the suite does not have: ignored, counted as false, or taken for a class of the suite."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.classes import as_flag, class_key, classes_by_key
from metrics.core.errors import InputError, InputProblem
from metrics.core.files import text_of
from metrics.core.suite import PREDICTIONS, Outputs, Suite
from metrics.core.unicode_forms import normalized
from metrics.ingest.lint.checks import changed
from metrics.vision.geometry import whole

TASKS_ASKED = ("detection", "segmentation", "classification")  # whose predictions may have classes the suite has not
Rest = Literal["", "ignore", "false"]
OPTION = "--unknown-classes"
EXPECTED = "respell, ignore, false, NAME=CLASS with a class of the suite, or a .json or .csv file of names and classes"
ALIKE = 0.6  # ratio of difflib from which on names are proposed
MEANT = {
    "ignore": "predictions of classes that the suite does not have ignored",
    "false": "predictions of classes that the suite does not have kept as false positives",
}


@dataclass(frozen=True, slots=True)
class UnknownClass:
    """A class that predictions have and the suite has not; `nearest` are classes of the suite with similar names.

    `meant` is the one class of the suite that is the same but for its spelling: `1.0` or `True` for 1, `Red_Kite` for
    red kite.
    """

    name: str
    count: int
    models: tuple[str, ...]
    nearest: tuple[str, ...] = ()
    meant: str | None = None

    @property
    def respelling(self) -> str:
        """The name and the class that it means; characters that look alike are written out."""
        alike = normalized("NFC", self.name.strip()) == self.meant
        return f"{ascii(self.name) if alike else repr(self.name)} = {self.meant!r}"


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """What becomes of unknown classes: `names` maps some to classes of the suite, `rest` says what becomes of others.

    ignore: their predictions are left out, as pycocotools does. false: they stay, and are wrong: false positives where
    these are counted (precision, F1, confusion); AP is a mean over the suite's classes and does not change. "": each
    must be mapped. `respell` maps every class that is only spelled otherwise.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    rest: Rest = ""
    respell: bool = False

    @classmethod
    def parse(cls, items: Iterable[str]) -> "ClassChoice":
        """Return the choice in texts: `respell`, `ignore`, `false`, `NAME=CLASS`, or a file of names and classes.

        A file is a JSON object or a CSV of two columns. InputError listing every text that is none of these.
        """
        names: dict[str, str] = {}
        rest: Rest = ""
        respell = False
        problems = []
        for item in items:
            name, equals, own = item.rpartition("=")
            if item == "respell":
                respell = True
            elif item in ("ignore", "false"):
                rest = "ignore" if item == "ignore" else "false"
            elif equals and name and own:
                names |= {name: own.strip(), name.strip(): own.strip()}  # blanks may be all that differs
            elif Path(item).suffix.lower() in (".json", ".csv"):
                names |= names_in(Path(item))
            else:
                problems.append(InputProblem(OPTION, repr(item), EXPECTED))
        if problems:
            raise InputError(problems)
        return cls(names, rest, respell)


def unknown_classes(suite: Suite, outputs: Outputs) -> tuple[UnknownClass, ...]:
    """Return the classes of the predictions that the suite does not have, the most frequent first.

    Of objects with keys (core.label_keys) they are checked when they are read.
    """
    keyed = suite.label_keys and suite.task != "classification"
    if suite.task not in TASKS_ASKED or keyed or outputs.predictions is None:
        return ()
    meant = _spellings(suite.labels)
    table = outputs.predictions.select(["label", "model"]).filter(_unknown(suite, outputs.predictions))
    counts = table.group_by("label", use_threads=False).aggregate([("model", "count"), ("model", "distinct")])
    found = [
        UnknownClass(row["label"], row["model_count"], tuple(sorted(row["model_distinct"])),
                     _nearest(row["label"], suite.labels), meant(row["label"]))
        for row in counts.to_pylist()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda each: (-each.count, each.name)))


def unanswered(suite: Suite, outputs: Outputs) -> tuple[UnknownClass, ...]:
    """Return the unknown classes of models of which nobody chose to keep them as false."""
    kept = {change["model"] for change in outputs.changes if change["change"] == "false"}
    return tuple(one for one in unknown_classes(suite, outputs) if not kept.issuperset(one.models))


def settle(suite: Suite, outputs: Outputs, choice: ClassChoice) -> Outputs:
    """Return the outputs with the unknown classes treated as chosen, recorded in `changes`.

    InputError where a class is mapped to one that the suite does not have, an unknown class is left without an answer,
    or ignoring unknown classes would leave nothing of a model.
    """
    found = unknown_classes(suite, outputs)
    if not found:
        return outputs
    expected = "a class of the suite: " + _some(suite.labels)
    wrong = {name: own for name, own in choice.names.items() if own not in suite.labels}
    problems = [InputProblem(OPTION, f"{name!r} taken for {own!r}", expected) for name, own in wrong.items()]
    respelled = {each.name: each.meant for each in found if each.meant is not None and choice.respell}
    choice = replace(choice, names={**respelled, **choice.names})
    left = [each.name for each in found if each.name not in choice.names]
    if left and not choice.rest:
        problems.append(InputProblem("predictions", unknown_text(found), f"an answer: {OPTION} {EXPECTED}"))
    if choice.rest == "ignore":
        lost = _nothing_left(suite, outputs, choice.names)
        expected = f"classes of the suite: {_some(suite.labels)}; or {OPTION} false, by which they count as wrong"
        problems += [
            InputProblem("predictions", f"only unknown classes of the model {name!r}", expected) for name in lost
        ]
    if problems:
        raise InputError(problems)
    for model in outputs.models:
        outputs = _settled(suite, outputs, model, choice)
    return outputs


def unknown_text(found: Iterable[UnknownClass]) -> str:
    """Return the unknown classes in words: `3 classes that the suite does not have: kitty (12 predictions) …`."""
    each = list(found)
    names = [f"{one.name} ({one.count:,})" for one in each]
    what = "a class" if len(each) == 1 else f"{len(each):,} classes"
    return f"predictions of {what} that the suite does not have: {_some(names)}"


def _settled(suite: Suite, outputs: Outputs, model: str, choice: ClassChoice) -> Outputs:
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    mine = np.asarray(pc.equal(table["model"], model).combine_chunks(), np.bool_)
    unknown = mine & np.asarray(_unknown(suite, table), np.bool_)
    labels = whole(table["label"])
    for name, own in choice.names.items():
        rows = unknown & np.asarray(pc.fill_null(pc.equal(labels, name), False))
        if rows.any():
            labels = pc.if_else(pa.array(rows), own, labels)
            table = table.set_column(table.schema.get_field_index("label"), "label", labels)
            outputs = changed(outputs, model, "class", f"class {name} taken for {own}", int(rows.sum()), table)
            unknown &= ~rows
    if choice.rest and unknown.any():
        kept = table if choice.rest == "false" else table.filter(pa.array(~unknown))
        outputs = changed(outputs, model, choice.rest, MEANT[choice.rest], int(unknown.sum()), kept)
    return outputs


def _unknown(suite: Suite, predictions: pa.Table) -> pa.Array:
    known = pc.is_in(whole(predictions["label"]), value_set=pa.array(suite.labels, pa.string()))
    return pc.invert(known)


def _nothing_left(suite: Suite, outputs: Outputs, names: Mapping[str, str]) -> list[str]:
    """Return the models all of whose predictions have unknown classes that `names` does not map."""
    table = PREDICTIONS.empty_table() if outputs.predictions is None else outputs.predictions
    known = pc.is_in(whole(table["label"]), value_set=pa.array([*suite.labels, *names], pa.string()))
    kept = set(table["model"].filter(known).unique().to_pylist())
    return [name for name in table["model"].unique().to_pylist() if name not in kept]


def _nearest(name: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    folded: dict[str, str] = {}
    for label in labels:
        folded.setdefault(class_key(label), label)
    return tuple(folded[each] for each in get_close_matches(class_key(name), list(folded), 3, ALIKE))


def _spellings(labels: tuple[str, ...]) -> Callable[[str], str | None]:
    """Return a function from a name to the one class that is the same but for its spelling; None where none is."""
    # Of two classes that are true and false, yes and no, or 1 and 0, any of these words is one.
    by_key = {key: own for key, own in classes_by_key(labels).items() if len(own) == 1}
    by_flag = {as_flag(label): label for label in labels}
    flags = by_flag if len(labels) == 2 and by_flag.keys() == {True, False} else {}

    def meant(name: str) -> str | None:
        own = by_key.get(class_key(name))
        return own[0] if own else flags.get(as_flag(name))

    return meant


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:10]) + (f" and {len(listed) - 10:,} more" if len(listed) > 10 else "")


def names_in(path: Path) -> dict[str, str]:
    """Return what a JSON object, or a CSV of two columns, takes for what. InputError on another form."""
    try:
        text = text_of(path, "utf-8-sig")
        if path.suffix.lower() == ".json":
            names = json.loads(text)
            if isinstance(names, dict) and all(isinstance(own, str) for own in names.values()):
                return names
        else:
            rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
            if all(len(row) == 2 for row in rows):
                return {name.strip(): own.strip() for name, own in rows}
    except (OSError, ValueError, csv.Error) as error:
        raise InputError([InputProblem(str(path), str(error), "a file of names and classes")]) from None
    raise InputError([InputProblem(str(path), "another form", '{"name": "class"}, or rows of two columns')])
