"""Classes of predictions that the suite does not have: ignored, counted as false, or taken for a class of the suite."""

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.errors import InputError, InputProblem
from metrics.core.regular_files import text_of
from metrics.core.suite import PREDICTIONS, Outputs, Suite
from metrics.ingest.lint.fixes import changed
from metrics.vision.geometry import whole

TASKS_ASKED = (
    "detection",
    "classification",
)  # the tasks whose predictions may have classes that the suite does not have
Rest = Literal["", "ignore", "false"]
OPTION = "--unknown-classes"
EXPECTED = "ignore, false, NAME=CLASS with a class of the suite, or a .json or .csv file of names and classes"
ALIKE = 0.6  # ratio of difflib from which on names are proposed
MEANT = {
    "ignore": "predictions of classes that the suite does not have ignored",
    "false": "predictions of classes that the suite does not have kept as false positives",
}


@dataclass(frozen=True, slots=True)
class UnknownClass:
    """A class that predictions have and the suite has not; `nearest` are classes of the suite with similar names."""

    name: str
    count: int
    models: tuple[str, ...]
    nearest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClassChoice:
    """What becomes of unknown classes: `names` maps some to classes of the suite, `rest` says what becomes of others.

    ignore: their predictions are left out, as pycocotools does. false: they stay, and are wrong: false positives where
    these are counted (precision, F1, confusion); AP is a mean over the suite's classes and does not change. "": each
    must be mapped.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    rest: Rest = ""

    @classmethod
    def parse(cls, items: Iterable[str]) -> "ClassChoice":
        """Return the choice in texts: `ignore`, `false`, `NAME=CLASS`, or the name of a file of names and classes.

        A file is a JSON object or a CSV of two columns. InputError listing every text that is none of these.
        """
        names: dict[str, str] = {}
        rest: Rest = ""
        problems = []
        for item in items:
            name, equals, own = item.rpartition("=")
            if item in ("ignore", "false"):
                rest = "ignore" if item == "ignore" else "false"
            elif equals and name and own:
                names[name.strip()] = own.strip()
            elif Path(item).suffix.lower() in (".json", ".csv"):
                names |= _names_in(Path(item))
            else:
                problems.append(InputProblem(OPTION, repr(item), EXPECTED))
        if problems:
            raise InputError(problems)
        return cls(names, rest)


def unknown_classes(suite: Suite, outputs: Outputs) -> tuple[UnknownClass, ...]:
    """Return the classes of the predictions that the suite does not have, the most frequent first.

    Classes with keys (core.label_keys) are checked when they are read.
    """
    if suite.task not in TASKS_ASKED or suite.label_keys or outputs.predictions is None:
        return ()
    table = outputs.predictions.select(["label", "model"]).filter(_unknown(suite, outputs.predictions))
    counts = table.group_by("label", use_threads=False).aggregate([("model", "count"), ("model", "distinct")])
    found = [
        UnknownClass(row["label"], row["model_count"], tuple(sorted(row["model_distinct"])),
                     _nearest(row["label"], suite.labels))
        for row in counts.to_pylist()
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda each: (-each.count, each.name)))


def unanswered(suite: Suite, outputs: Outputs) -> tuple[UnknownClass, ...]:
    """Return the unknown classes of models of which nobody chose to keep them as false."""
    kept = {change["model"] for change in outputs.changes if change["change"] == "false"}
    return tuple(one for one in unknown_classes(suite, outputs) if not kept.issuperset(one.models))


def settle(suite: Suite, outputs: Outputs, choice: ClassChoice) -> Outputs:
    """Return the outputs with the unknown classes treated as chosen, recorded in `changes`.

    InputError where a class is mapped to one that the suite does not have, or an unknown class is left without an
    answer.
    """
    found = unknown_classes(suite, outputs)
    if not found:
        return outputs
    problems = [
        InputProblem(OPTION, f"{name!r} taken for {own!r}", "a class of the suite: " + _some(suite.labels))
        for name, own in choice.names.items()
        if own not in suite.labels
    ]
    left = [each.name for each in found if each.name not in choice.names]
    if left and not choice.rest:
        problems.append(InputProblem("predictions", unknown_text(found), f"an answer: {OPTION} {EXPECTED}"))
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
    """Return the outputs with the unknown classes of a model treated as chosen."""
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
    """Return which predictions have a class that the suite does not have."""
    known = pc.is_in(whole(predictions["label"]), value_set=pa.array(suite.labels, pa.string()))
    return pc.invert(known)


def _nearest(name: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    folded: dict[str, str] = {}
    for label in labels:
        folded.setdefault(_fold(label), label)
    return tuple(folded[each] for each in get_close_matches(_fold(name), list(folded), 3, ALIKE))


def _fold(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", re.sub(r"(?<=\d)\.0$", "", name)).strip().casefold()


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:10]) + (f" and {len(listed) - 10:,} more" if len(listed) > 10 else "")


def _names_in(path: Path) -> dict[str, str]:
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
