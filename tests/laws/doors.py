"""Suites and outputs as records, from a seed: what the law "same data, every door" writes in every form."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from metrics.core.suite import Outputs, Suite, Task

Row = dict[str, Any]
MODELS = ("alpha", "007")
# texts that a careless reader takes for something else
HARD = (
    "NA", "null", "None", "nan", "007", "1.0", "1e5", "true", "FALSE", "2024-01-02", "-", "=1+1", "[1] says so", "a;b",
    'a "quoted", word', "two\nlines", "café", "ß", "{braces}", "0x1F", "+1", "#REF", "yes", "~", "12:30", " spaced ",
)  # fmt: skip
CALL = '[{"name": "look", "arguments": {"n": %d}}]'
NUMBERS = (0.0, 1.0, 3.0, 0.5, 2.25, 1e-7, 123456789.125, 1e20)


@dataclass(frozen=True)
class Data:
    """A suite and outputs as records whose keys are the columns of the schemas."""

    task: Task
    cases: tuple[Row, ...]
    outputs: tuple[Row, ...]
    predictions: tuple[Row, ...] | None = None
    annotations: tuple[Row, ...] | None = None

    def tables(self) -> tuple[Suite, Outputs]:
        """Return suite and outputs made of the records without any reader."""
        suite = Suite.from_rows("data", self.task, self.cases, self.annotations)
        return suite, Outputs.from_rows(self.outputs, self.predictions)


def text_data(random: Random) -> Data:
    """Return questions with lists, weights, groups, tags and metadata of hard texts, answered twice by two models."""
    cases = tuple(
        {
            "case_id": name, "question": f"{_words(random)} {place}", "expected_answers": _listed(random),
            "reference_contexts": _listed(random), "weight": random.choice((1.0, 2.0, 0.5)),
            "group": random.choice(("a", "01", "NA")), "tags": random.choice((["x"], ["x", "y z"])),
            "metadata.level": random.choice(("1", "2")), "metadata.note": _words(random),
        }
        for place, name in enumerate(("1", "002", "NA", "c 4"))
    )  # fmt: skip
    make = lambda _: {  # noqa: E731
        "answer": _words(random), "retrieved_contexts": _listed(random), "duration_s": random.choice(NUMBERS),
        "cost_usd": random.choice(NUMBERS), "tokens": random.randint(0, 10**9), "citations": ["1", "2"],
    }  # fmt: skip
    return Data("text", cases, _answered(cases, 2, make))


def sparse_data(random: Random) -> Data:
    """Return questions of which some lack a list, weight, group or metadata, and answers of which some are errors."""
    cases = tuple(
        {
            "case_id": str(place + 1), "question": f"what is {place}", "expected_answers": _listed(random),
            "reference_contexts": None if place % 2 else _listed(random), "group": None if place == 1 else "g",
            "weight": None if place == 2 else 2.0, "perturbs": None if place != 2 else "1",
            "metadata.level": None if place == 0 else str(place),
        }
        for place in range(4)
    )  # fmt: skip

    def answer(case: Row) -> Row:
        failed = case["case_id"] == "2"
        return {
            "answer": None if failed else _words(random), "tokens": None if failed else 7,
            "error": "timed out" if failed else None, "metadata.seed": None if failed else "5",
        }  # fmt: skip

    return Data("text", cases, _answered(cases, 1, answer))


def scored_data(random: Random, classes: tuple[str, ...] = ("cat", "dog", "NA")) -> Data:
    """Return cases of classes, and a score of every class from two models."""
    cases = tuple(
        {"case_id": str(place), "label": classes[place % 3], "weight": 1.0 + place % 2, "group": f"g{place % 3}"}
        for place in range(6)
    )
    outputs = _answered(cases, 1, lambda _: {})
    scores = tuple(row | {"label": name, "score": random.randint(0, 64) / 64} for row in outputs for name in classes)
    return Data("classification", cases, outputs, scores)


def class_data(random: Random) -> Data:
    """Return cases of classes that are predicted without scores."""
    classes = ("yes", "no", "1")
    cases = tuple({"case_id": f"c{place}", "label": classes[place % 3]} for place in range(5))
    outputs = _answered(cases, 1, lambda _: {})
    predictions = tuple(row | {"label": random.choice(classes), "score": None} for row in outputs)
    return Data("classification", cases, outputs, predictions)


def several_data(random: Random) -> Data:
    """Return cases that have several classes each."""
    sets = (["red"], ["red", "blue"], ["blue", "NA"])
    cases = tuple({"case_id": f"c{place}", "labels": sets[place % 3]} for place in range(6))
    outputs = _answered(cases, 1, lambda _: {})
    predictions = tuple(row | {"label": name, "score": None} for row in outputs for name in random.choice(sets))
    return Data("classification", cases, outputs, predictions)


def regression_data(random: Random) -> Data:
    """Return numbers to be predicted, and predictions with intervals, twice."""
    cases = tuple({"case_id": str(place), "true_value": random.choice(NUMBERS) + place / 4} for place in range(5))
    make = lambda _: {"predicted_value": random.choice(NUMBERS), "predicted_low": -1.5, "predicted_high": 2e20}  # noqa: E731
    return Data("regression", cases, _answered(cases, 2, make))


def agent_data(random: Random) -> Data:
    """Return tasks with the calls that are expected, and traces."""
    cases = tuple(
        {"case_id": f"c{place}", "question": f"do {place}", "expected_calls": CALL % place} for place in range(3)
    )
    call = {"tool": "look", "arguments": {"n": 1}, "result": "x"}

    def answer(_: Row) -> Row:
        steps = {"steps": [{"role": "user", "text": _words(random)}, call]}
        return {"answer": _words(random), "trace": json.dumps(steps, ensure_ascii=False, separators=(",", ":"))}

    return Data("text", cases, _answered(cases, 1, answer))


def box_data(random: Random) -> Data:
    """Return boxes of two classes in three images, and two predictions in each by two models."""
    cases = tuple(
        {"case_id": f"{name}.png", "image_width": 64, "image_height": 32, "metadata.image_name": f"{name}.png"}
        for name in ("1", "002", "b c")
    )

    def box(label: str) -> Row:
        x, y, width, height = (float(random.randint(*span)) for span in ((0, 20), (0, 10), (4, 40), (4, 20)))
        return {"label": label, "x": x, "y": y, "width": width, "height": height, "area": width * height}

    drawn = [row | box(label) | {"is_crowd": False} for row in cases for label in ("cat", "NA", "cat")]
    facts = ("case_id", "label", "x", "y", "width", "height", "area", "is_crowd")
    annotations = tuple(
        {"annotation_id": number, **{name: row[name] for name in facts}} for number, row in enumerate(drawn, 1)
    )
    outputs = _answered(cases, 1, lambda _: {})
    predictions = tuple(
        row | box(random.choice(("cat", "NA"))) | {"score": random.randint(1, 64) / 64}
        for row in outputs
        for _ in range(2)
    )
    return Data("detection", cases, outputs, predictions, annotations)


DATA: dict[str, Callable[[Random], Data]] = {
    "text": text_data, "sparse": sparse_data, "scored": scored_data,
    "numbers": lambda random: scored_data(random, ("0", "1", "2")), "classes": class_data, "several": several_data,
    "regression": regression_data, "agent": agent_data, "boxes": box_data,
}  # fmt: skip


def suite_rows(data: Data) -> list[Row]:
    """Return the records that a file of the suite holds."""
    if data.annotations is None:  # `labels` alone is asked about; true_labels says what it is
        return [{"true_labels" if name == "labels" else name: own for name, own in row.items()} for row in data.cases]
    sizes = {row["case_id"]: {name: row[name] for name in ("image_width", "image_height")} for row in data.cases}
    boxes = ("label", "x", "y", "width", "height")
    return [
        {"image": row["case_id"]} | sizes[row["case_id"]] | {name: row[name] for name in boxes}
        for row in data.annotations
    ]


def output_rows(data: Data) -> list[Row]:
    """Return the records that a file of the outputs holds."""
    if data.predictions is None:
        return [dict(row) for row in data.outputs]
    if data.annotations is not None:
        return [
            {"image" if name == "case_id" else name: own for name, own in row.items() if name != "area"}
            for row in data.predictions
        ]
    if "labels" in data.cases[0]:
        return [
            row | {"predicted_labels": [each["label"] for each in data.predictions if key(each) == key(row)]}
            for row in data.outputs
        ]
    if all(row["score"] is None for row in data.predictions):
        return [{**{name: row[name] for name in KEY}, "predicted_label": row["label"]} for row in data.predictions]
    return [dict(row) for row in data.predictions]


KEY = ("case_id", "model", "run")


def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return which answer a record belongs to."""
    return tuple(row[name] for name in KEY)


def facts_of(suite: Suite, outputs: Outputs) -> dict[str, Any]:
    """Return what a suite and outputs say, whatever the order of their rows and columns."""
    cases = {row["case_id"]: _filled(row) for row in suite.cases.to_pylist()}
    answers = {key(row): _filled(row) for row in outputs.outputs.to_pylist()}
    tables = {"annotations": suite.annotations, "predictions": outputs.predictions}
    objects = {
        name: sorted(repr(_filled(row)) for row in ([] if table is None else table.to_pylist()))
        for name, table in tables.items()
    }
    return {"task": suite.task, "labels": sorted(suite.labels), "cases": cases, "outputs": answers, **objects}


def differences(wanted: Any, found: Any, place: str = "") -> list[str]:
    """Return where what was found is another than what was wanted."""
    if not (isinstance(wanted, dict) and isinstance(found, dict)):
        return [] if wanted == found else [f"{place}: {found!r} in place of {wanted!r}"[:500]]
    every = dict.fromkeys([*wanted, *found])
    return [text for name in every for text in differences(wanted.get(name), found.get(name), f"{place}/{name}")]


def _filled(row: Row) -> Row:
    ids = ("annotation_id", "prediction_id")  # places in a file
    return {name: value for name, value in sorted(row.items()) if value is not None and name not in ids}


def _words(random: Random) -> str:
    return random.choice(HARD) if random.random() < 0.7 else " ".join(random.sample(("mill", "river", "on"), 2))


def _listed(random: Random) -> list[str]:
    return [_words(random) for _ in range(random.randint(1, 3))]


def _answered(cases: Iterable[Row], repeats: int, make: Callable[[Row], Row]) -> tuple[Row, ...]:
    return tuple(
        {"case_id": case["case_id"], "model": model, "run": run, **make(case)}
        for case in cases
        for model in MODELS
        for run in range(1, repeats + 1)
    )
