"""Label scores of classification outputs: long (a row per class), wide (a column per class), or of one class alone."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.core.array_types import Bools, Floats, Ints
from metrics.core.classes import FALSE, TRUE, as_flag, class_key, classes_by_key, positive_class
from metrics.core.label_keys import labels_of
from metrics.core.receipt import FileQuestion
from metrics.ingest import arrays
from metrics.ingest.arrays import flat, only
from metrics.ingest.sheet import Sheet
from metrics.ingest.source import Problems
from metrics.ingest.tables.columns import Columns
from metrics.ingest.tables.contexts import ANSWER_KEY
from metrics.ingest.tables.decimals import NUMBER

MOST_OTHERS = 2  # columns beside the classes that hold numbers from 0 to 1 and are none
ROUNDING = 0.01  # by which scores that are shares of 1 may miss it
ENOUGH = 10  # rows whose scores lie on the side of their class, which shows what they are of
CLOSING = re.compile(r"[\])}'\"]*$")
AFTER = re.compile(r"[\s_.:\-(\[]+\S.*|[A-Z][a-z]\w*|[\])}'\"]+")  # what may follow a class in the name of its column
BETWEEN = ("_", ".", ":", "-", " ", "[", "(", "'", '"')
SCORE_WORD = re.compile(r"[\W_]*((p|pr|y|pred|prob|proba|probability|score|logit|conf|confidence)[\W_]*)*", re.I)
FLAGS: Mapping[bool | None, Sequence[str]] = {True: TRUE[:3], False: FALSE[:3]}
PREDICTED, SCORE, PREDICTION = "predicted", "score", "prediction"


@dataclass(frozen=True, slots=True)
class Affixes:
    """What stands before and after the class in the names of score columns: `p_`, `_score`, `score[` and `]`."""

    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.before}CLASS{self.after}"

    def class_in(self, column: str) -> str:
        """Return the class that a column is of; "" where it has another name."""
        fits = column.startswith(self.before) and column.endswith(self.after)
        return column[len(self.before) : len(column) - len(self.after)] if fits else ""

    @property
    def separates(self) -> bool:
        """Whether they tell the columns of classes from others."""
        return self.before[-1:] in BETWEEN or bool(self.after)


def class_columns(sheet: Sheet, columns: Sequence[str], labels: Sequence[str]) -> dict[str, str]:
    """Return class → its score column, in their order, where a file has one for each class; empty where it has not.

    The columns are named like the classes, or with the same before or after it: `p_cat`, `cat_score`, `score[cat]`.
    With these, numbers in columns of classes that the suite does not have are found too. Of two such sets is asked.
    """
    if {"label", "score"} <= set(columns):
        return {}
    found: dict[Affixes, dict[str, str]] = {}
    names = {_fold_class(name): name for name in columns}
    flags = {own: label for label in labels for own in FLAGS.get(as_flag(label), ()) if len(labels) == 2}
    spelled = {_fold_class(label): label for label in labels if label}
    ways = (({name: name for name in columns}, {label: label for label in labels if label}),
            (names, spelled if len(spelled) == len(labels) else {}), (names, flags))  # fmt: skip
    for known, texts in ways:  # as they are, spelled otherwise, or 1 for yes
        sets = {affixes: {label: known[name] for label, name in own.items()}
                for affixes, own in _sets(list(known), texts).items()}  # fmt: skip
        if max(map(len, sets.values()), default=0) > max(map(len, found.values()), default=0):
            found = sets
    most = max(map(len, found.values()), default=0)
    if most == 1 and len(labels) == 2:
        return _single(sheet, found)
    if most < min(2, len(labels)):
        return {}
    best = {affixes: own for affixes, own in found.items() if len(own) == most}
    chosen = next(iter(best))
    if len(best) > 1:
        choices = tuple(map(str, best))
        text = "Which columns are the scores? The others are kept as metadata."
        places = f"{len(best)} sets of columns named after the classes: {', '.join(choices)}"
        answer = sheet.problems.ask(sheet.file, FileQuestion("scores", text, choices), places)
        chosen = next((affixes for affixes in best if str(affixes) == answer), chosen)
    classes = dict(best[chosen])
    others = [name for name in columns if name not in classes.values()]
    if chosen.separates:
        classes |= _also_named(sheet, classes, {name: chosen.class_in(name) for name in others})
    order = {name: place for place, name in enumerate(columns)}
    return dict(sorted(classes.items(), key=lambda item: order[item[1]]))


def _single(sheet: Sheet, found: Mapping[Affixes, Mapping[str, str]]) -> dict[str, str]:
    """Return the one of two classes that has a score column, and the column; empty where there are others like it."""
    own = [sets for affixes, sets in found.items() if SCORE_WORD.fullmatch(affixes.before + affixes.after)]
    if len(own) != 1 or column_numbers(sheet, next(iter(own[0].values()))) is None:
        return {}
    return dict(own[0])


def _sets(columns: Sequence[str], labels: Mapping[str, str]) -> dict[Affixes, dict[str, str]]:
    """Return of each way to name score columns the classes that have one, {class: column}; `labels`: text → class."""
    found: dict[Affixes, dict[str, str]] = {}
    for name in columns:
        body = CLOSING.sub("", name)
        for text, label in labels.items():
            ways = [(body[: -len(text)], name[len(body) :])] if body.endswith(text) else []
            if name.startswith(text) and AFTER.fullmatch(name[len(text) :]):
                ways.append(("", name[len(text) :]))
            for way in ways:
                found.setdefault(Affixes(*way), {})[label] = name
    return dict(sorted(found.items(), key=lambda item: (len(item[0].before + item[0].after), str(item[0]))))


def _fold_class(name: str) -> str:
    return class_key(name).replace(" ", "_")


def _also_named(sheet: Sheet, classes: Mapping[str, str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the classes that the suite does not have, of numeric columns that are named as the scores are."""
    # Where the scores of every row sum to 1 without them, columns with other numbers than 0 are none.
    numbers = {own: name for name, own in named.items() if own and column_numbers(sheet, name) is not None}
    if not numbers or not np.allclose(_scores(sheet, list(classes.values())).sum(axis=0), 1, atol=ROUNDING):
        return numbers
    return {own: name for own, name in numbers.items() if not _scores(sheet, [name]).any()}


def unlisted_classes(sheet: Sheet, classes: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """Return the columns of `names` that are classes too: with them, and only so, the scores of every row sum to 1.

    They are classes that the suite does not have, in a file whose columns are named like the classes. Where no sum
    tells, of columns with numbers from 0 to 1 that are not all the same is asked.
    """
    if any(name != column for name, column in classes.items()):
        return {}
    shares = [name for name in names if _are_shares(sheet, name)]
    known = _scores(sheet, list(classes.values()))
    if not shares or np.allclose(known.sum(axis=0), 1, atol=ROUNDING):
        return {}
    scores, total = _scores(sheet, shares), known.sum(axis=0)
    for count in range(min(MOST_OTHERS, len(shares) - 1) + 1):
        for others in combinations(range(len(shares)), count):
            if np.allclose(total + scores.sum(axis=0) - scores[list(others)].sum(axis=0), 1, atol=ROUNDING):
                return {name: name for place, name in enumerate(shares) if place not in others}
    varied = [name for name, own in zip(shares, scores, strict=True) if len(own) < ENOUGH or np.ptp(own) > 0]
    if not varied or not ((known >= 0) & (known <= 1)).all():
        return {}
    text = (
        "Are these columns scores of classes that the suite does not have? --map metadata.NAME=COLUMN keeps one of "
        "them as metadata."
    )
    found = f"numbers from 0 to 1 in {', '.join(varied)}, beside the scores of the suite's classes"
    question = FileQuestion("other_scores", text, ("classes", "metadata"))
    answer = sheet.problems.ask(sheet.file, question, found, place=varied[0])
    return {name: name for name in varied} if answer == "classes" else {}


def column_numbers(sheet: Sheet, name: str) -> pa.Array | None:
    """Return the numbers of a column; None where a cell is none, or there is no cell."""
    cells = pc.drop_null(sheet.text(name).combine_chunks())
    if not len(cells) or not pc.all(pc.match_substring_regex(cells, NUMBER)).as_py():
        return None
    return pc.cast(pc.utf8_trim_whitespace(cells), pa.float64())


def _are_shares(sheet: Sheet, name: str) -> bool:
    values = column_numbers(sheet, name)
    return values is not None and bool(pc.all(pc.and_(pc.greater_equal(values, 0), pc.less_equal(values, 1))).as_py())


def _scores(sheet: Sheet, names: Sequence[str]) -> Floats:
    """Return the numbers of columns [names, rows], 0 where there is none."""
    unchecked = Sheet(sheet.file, sheet.table, sheet.rows, Problems())
    return np.nan_to_num(np.stack([unchecked.numbers(name) for name in names]))


def wide(sheet: Sheet, columns: Columns, classes: dict[str, str], labels: Sequence[str]) -> tuple[pa.Table, Ints]:
    """Return label and score of each row and class, and the row of the sheet each comes from; empty cells give none.

    Classes stand in the order of their columns; of two `labels` one alone may have a column. A predicted class beside
    them has to be the highest-scored one. A single 1 beside 0 in every row is a predicted class without a score.
    """
    scores = np.stack([sheet.numbers(name) for name in classes.values()], axis=1)
    empty = np.isnan(scores).all(axis=1)
    first = next(iter(classes.values()))
    sheet.report(empty & ~sheet.bad, first, "no score in any class column", "a score for each class")
    if len(classes) == 1 and len(labels) == 2:
        return _of_both(sheet, columns, labels, next(iter(classes)), scores[:, 0])
    if len(classes) > 1 and np.isin(scores, (0, 1)).all() and (scores.sum(axis=1) == 1).all():
        place = ", ".join(classes.values())
        sheet.problems.note(sheet.file, place, "used", "the predicted class, 1 of 0 and 1: no scores")
        rows, places = np.nonzero(scores == 1)
        labels = pa.array(list(classes), pa.string()).take(pa.array(places))
        return pa.table({"label": labels, "score": pa.nulls(len(rows), pa.float64())}), rows
    return _as_decided(sheet, columns, tuple(classes), scores)


def long(sheet: Sheet, columns: Columns, table: pa.Table, labels: Sequence[str]) -> tuple[pa.Table, Ints, bool]:
    """Return label and score (none where the file has none) of each row, the row of the sheet it comes from, and
    whether a case may have several rows.

    The predicted class is the column predicted_label, else label, else the answer; predicted_labels has several. A
    score is that of the predicted class, unless it is of one of two `labels`: the data show it, or a person says so.
    """
    found = columns.columns
    if "predicted_labels" in found:
        lists = flat(sheet.lists(columns, "predicted_labels"))
        rows = np.asarray(pc.list_parent_indices(lists).to_numpy(), np.int64)
        return pa.table({"label": lists.flatten(), "score": pa.nulls(len(rows), pa.float64())}), rows, False
    name = _predicted_column(columns)
    if name is None and ("score" not in found or len(labels) != 2):
        expected = "columns label and score, or prediction, or one score column for each class of the suite"
        raise sheet.problems.fail(sheet.file, "no column with the predicted class", expected, 1)
    if "score" not in found:
        return *_read_named(sheet, str(name)), False
    scores = sheet.numbers(found["score"], need=True)
    if name is not None:
        label = sheet.text(name)
        sheet.report(arrays.is_blank(label), name, label, "a class")
    of = _score_of(sheet, columns, table, labels, scores)
    if of is not None:
        return *_of_both(sheet, columns, labels, of, scores), False
    if name is None:
        nothing = pa.table({"label": pa.array([], pa.string()), "score": pa.array([], pa.float64())})
        return nothing, np.zeros(0, int), False
    shares = bool(((scores >= 0.5) & (scores <= 1)).all() and (scores > 0.5).any())
    likelier = shares and len(labels) == 2 and set(label.to_pylist()) <= set(labels)
    if likelier and not arrays.duplicates([table[key] for key in ANSWER_KEY])[0].any():
        sheet.problems.note(sheet.file, SCORE, "used", "of the predicted class of two; the other one has the rest to 1")
        second = np.where(np.asarray(pc.equal(label, labels[1])), scores, 1 - scores)
        return *_of_both(sheet, columns, labels, labels[1], second), False
    return pa.table({"label": label, "score": arrays.floats(scores)}), np.arange(len(sheet)), True


def _of_both(sheet: Sheet, columns: Columns, labels: Sequence[str], own: str, scores: Floats) -> tuple[pa.Table, Ints]:
    """Return the scores of one of two classes and of the other: what is missing to 1, or the margin's opposite."""
    shares = bool((np.isnan(scores) | ((scores >= 0) & (scores <= 1))).all())
    both = [scores if label == own else (1 if shares else 0) - scores for label in labels]
    return _as_decided(sheet, columns, labels, np.stack(both, axis=1))


def _predicted_column(columns: Columns) -> str | None:
    found = columns.columns
    return found.get("predicted_label") or found.get("label") or found.get("answer")


def _read_named(sheet: Sheet, name: str) -> tuple[pa.Table, Ints]:
    """Return the classes in a column, without scores; a model that gave no answer predicted nothing."""
    label = sheet.text(name)
    missing = arrays.is_blank(label)
    own = [labels_of(text) for text in only(pa.table([label], ["label"]), ~missing)["label"].to_pylist()]
    rows = np.repeat(np.flatnonzero(~missing), [len(labels) for labels in own])
    named = pa.array([one for labels in own for one in labels], pa.string())
    return pa.table({"label": named, "score": pa.nulls(len(rows), pa.float64())}), rows


def _as_decided(sheet: Sheet, columns: Columns, classes: Sequence[str], scores: Floats) -> tuple[pa.Table, Ints]:
    """Return the scores [rows, classes] as labels and scores; where the predicted classes beside them are others than
    the highest-scored ones, a person says which of the two count.
    """
    order = np.tile(np.arange(len(classes)), (len(scores), 1))
    name = _predicted_column(columns)
    if name is not None:
        texts = [text or "" for text in sheet.text(name).to_pylist()]
        known_as = _respelled(sheet, name, texts, classes)
        places = {label: place for place, label in enumerate(classes)}
        codes = np.array([places.get(known_as.get(text, text), -1) for text in texts], np.int64)
        known = np.flatnonzero(codes >= 0)
        own = np.full(len(codes), np.nan)
        own[known] = scores[known, codes[known]]
        with np.errstate(invalid="ignore"):
            apart = known[(scores[known] > own[known, None]).any(axis=1)]
        if len(apart):
            found = f"another class than the highest-scored one in {len(apart):,} of {len(known):,} rows"
            text = "Which decides: the scores, or this column, of which the classes alone are read?"
            question = FileQuestion("decided_by", text, (SCORE, PREDICTION))
            row = int(sheet.rows[apart[0]])
            if sheet.problems.ask(sheet.file, question, found, place=name, row=row) == PREDICTION:
                return _read_named(sheet, name)
        order[known] -= order[known] <= codes[known, None]
        order[known, 0] = codes[known]  # the predicted class first breaks ties
    placed = np.take_along_axis(scores, order, axis=1)
    rows, at = np.nonzero(~np.isnan(placed))
    labels = pa.array(list(classes), pa.string()).take(pa.array(order[rows, at]))
    return pa.table({"label": labels, "score": pa.array(placed[rows, at])}), rows


def _respelled(sheet: Sheet, name: str, texts: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """Return the class of each text in a column of predicted classes that is one but for its spelling."""
    # It is taken for that class unless a person says that it is another one; numbers always are.
    own = {key: label for key, (label, *others) in classes_by_key(classes).items() if not others}
    meant = {text: own[class_key(text)] for text in dict.fromkeys(texts) if class_key(text) in own}
    other = {text: label for text, label in meant.items() if text not in classes}
    if all(class_key(label).lstrip("-").isdecimal() for label in other.values()):  # 1.0 is 1
        return other
    count = sum(text in other for text in texts)
    pairs = ", ".join(f"{text!r} as {label!r}" for text, label in list(other.items())[:5]) + ", …" * (len(other) > 5)
    found = f"classes that are only spelled otherwise, {pairs}, in {count:,} of {len(texts):,} rows"
    text = "Are they these classes, or others, where the scores alone say the predicted class?"
    question = FileQuestion("class_spelling", text, ("same", "other"))
    return other if sheet.problems.ask(sheet.file, question, found, default="same", place=name) == "same" else {}


def _score_of(sheet: Sheet, columns: Columns, table: pa.Table, labels: Sequence[str], scores: Floats) -> str | None:
    """Return the class of two that the single score of every case is of; None where it is that of the predicted one."""
    if len(labels) != 2 or arrays.duplicates([table[name] for name in ANSWER_KEY])[0].any():
        return None
    name, column = _predicted_column(columns), columns.columns["score"]
    positive = likely = positive_class(labels)
    if name is None:
        found, shown = f"a score without a predicted class; the classes are {' and '.join(labels)}", likely is not None
    else:
        keys = [class_key(text or "") for text in sheet.text(name).to_pylist()]
        of = [np.array([key == class_key(label) for key in keys]) for label in labels]
        places = [place for place in (0, 1) if _is_of(scores, of[place], of[1 - place])]
        likely = labels[places[0]] if len(places) == 1 else None
        shown = likely is not None and (len(scores) >= ENOUGH or likely == positive)
        found = f"high scores where {name} is {likely}, low ones where it is not"
    asked = any("score_of" in given for given in sheet.problems.answers.values())
    if likely is None and name is not None and not asked:
        if not (scores < 0.5).any() or not ((scores >= 0) & (scores <= 1)).all():
            return None
        found = "scores below a half: that of the predicted one of two classes is none"
    choices = tuple(labels) if name is None else (*labels, PREDICTED)
    text = "Of which class is the score?" + (" predicted: of the one that is predicted." if name is not None else "")
    if asked and likely is None:
        found = "scores"
    question = FileQuestion("score_of", text, choices)
    answer = sheet.problems.ask(sheet.file, question, found, default=likely if shown else None, place=column)
    return None if answer == PREDICTED else answer


def _is_of(scores: Floats, own: Bools, other: Bools) -> bool:
    """Return whether scores [n] are those of one class: high where it is predicted, low where the other one is."""
    # The scores of predicted classes of two are none below a half, or below 0 where they are margins.
    shares = bool(((scores >= 0) & (scores <= 1))[~np.isnan(scores)].all())
    middle = 0.5 if shares else 0.0
    if not (scores < middle).any():
        return False
    highest, lowest = scores[other].max(initial=-np.inf), scores[own].min(initial=np.inf)
    if not own.any() or not other.any():
        return bool(highest <= middle <= lowest)
    return bool(highest < lowest or highest == lowest == middle)
