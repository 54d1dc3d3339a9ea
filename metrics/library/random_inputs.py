"""Random cases and data sets, small and nasty, on which the laws of evaluators are checked."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from metrics.core.fields import FIELDS, OUTPUT_FIELDS, Field
from metrics.core.suite import Case, Outputs, Suite, Task

GEOMETRIC = ("detection", "segmentation")
LABELS = ("cat", "dog", "fox")
PIECES = ("the", "cat", "sat. ", "Paris", "1889", '"', "(", "\n", "今天。", "4111 1111 1111 1111")
TEXTS = ("", " ", "{}", "[1, NaN]", '{"a": {"a": 1}}', "NOT", '"Paris" AND NOT regexp("1[89]")', "é" * 99)
NUMBERS = (-1.0, 0.0, 0.0, 0.5, 2.0, 1e6)
SCORES = (0.0, 0.1, 0.25, 0.5, 0.5, 0.9, 1.0)
PREDICTED = tuple(each.name for each in OUTPUT_FIELDS if each.tasks == ("regression",))
EDGES, SIDES = (0.0, 5.0, 10.0, 40.0), (1.0, 10.0, 20.0, 60.0)
PLANES = ((0x20, 0x7F), (0x00, 0x20), (0xA0, 0x250), (0x300, 0x370), (0x4E00, 0x4F00), (0x1F300, 0x1F400))


def random_text(chance: Random) -> str:
    """Return words of several scripts, characters of any kind, or a text that has caused trouble before."""
    kind = chance.randrange(3)
    if kind == 0:
        return "".join(chr(chance.randrange(*chance.choice(PLANES))) for _ in range(chance.randrange(60)))
    if kind == 1:
        return " ".join(chance.choice(PIECES) for _ in range(chance.randrange(12)))
    return chance.choice(TEXTS)


def random_case(chance: Random) -> Case:
    """Return a case with any of its columns missing; none has an error, as no evaluator is given such a case."""
    values: dict[str, Any] = {}
    for name in Case._fields:
        if name in FIELDS and name != "error":
            field = FIELDS[name]
            values[name] = _items(field, values, chance) if field.is_list else _value(field, chance)
    return Case(**values | {"case_id": "1", "model": "m", "run": 1})


def _value(field: Field, chance: Random) -> Any:
    """Return none, one of the column's samples, or any text where no syntax bounds it."""
    if chance.random() < 0.25:
        return None
    is_bound = field.is_number or field.syntax not in ("", "condition")
    return chance.choice(field.samples) if is_bound or chance.random() < 0.15 else random_text(chance)


def _items(field: Field, before: Mapping[str, Any], chance: Random) -> tuple[Any, ...]:
    """Return a list of samples and texts; most often as many as the list that they belong to has items."""
    owner = before.get(field.each_of)
    count = chance.randrange(5) if owner is None or chance.random() < 0.1 else len(owner)
    return tuple(
        chance.choice(field.samples) if field.is_number or chance.random() < 0.4 else random_text(chance)
        for _ in range(count)
    )


def random_data_set(chance: Random, task: Task) -> tuple[Suite, Outputs]:
    """Return a small suite of a task and one model's outputs; some of both may be missing."""
    names = [f"c{index}" for index in range(chance.randint(1, 6))]
    boxed = task in GEOMETRIC

    def label() -> str:
        return chance.choice(LABELS)

    def some(values: Sequence[Any], most: int) -> list[Any]:
        return [chance.choice(values) for _ in range(chance.randint(0, most))]

    def box() -> dict[str, Any]:
        x, y, width, height = (chance.choice(values) for values in (EDGES, EDGES, SIDES, SIDES))
        corners = [x, y, 2.0, x + width, y + height, 1.0]  # as key points
        return {"x": x, "y": y, "width": width, "height": height, "area": width * height, "keypoints": corners}

    cases = [
        {
            "case_id": name,
            "label": None if boxed else chance.choice([None, label()]),
            "expected_answers": [] if boxed else some(LABELS, 2),
            "labels": [] if boxed else list(dict.fromkeys(some(LABELS, 3))),
            "true_value": chance.choice([None, *NUMBERS]),
            "group": chance.choice([None, "g", "h"]),
            "image_width": 100,
            "image_height": 100,
        }
        for name in names
    ]
    truths = [
        {"case_id": name, "annotation_id": index, "label": label(), "is_crowd": chance.random() < 0.5, **box()}
        for index, name in enumerate(some(names, 10))
    ]
    predictions = [
        {"case_id": name, "model": "m", "label": label(), "score": chance.choice(SCORES), **(box() if boxed else {})}
        for name in some(names, 10)
    ]
    answers = [
        {
            "case_id": name,
            "model": "m",
            "answer": None if boxed else chance.choice([None, label(), random_text(chance)]),
            **{name: chance.choice([None, *NUMBERS]) for name in PREDICTED},
        }
        for name in names
    ]
    suite = Suite.from_rows("random", task, cases, truths if boxed else None, LABELS[:2] if boxed else ())
    return suite, Outputs.from_rows(answers, predictions)
