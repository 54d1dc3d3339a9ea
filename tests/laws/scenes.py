"""Small data sets, one of each task, on which every evaluator of it scores something; and what laws do to them."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import cycle
from random import Random
from typing import Any, Literal

from metrics.core.fields import CASE_FIELDS
from metrics.core.suite import Outputs, Suite, Task

Row = dict[str, Any]


@dataclass(frozen=True)
class Scene:
    """A suite and the outputs of models, as rows."""

    task: Task
    cases: tuple[Row, ...]
    outputs: tuple[Row, ...]
    annotations: tuple[Row, ...] = ()
    predictions: tuple[Row, ...] = ()
    labels: tuple[str, ...] = field(default=())

    def tables(self) -> tuple[Suite, Outputs]:
        visual = self.task in ("detection", "segmentation")
        suite = Suite.from_rows("scene", self.task, self.cases, self.annotations if visual else None, self.labels)
        return suite, Outputs.from_rows(self.outputs, None if self.task == "text" else self.predictions)

    def each(self, change: Callable[[Iterable[Row]], Iterable[Row]]) -> "Scene":
        parts = {
            name: tuple(change(getattr(self, name))) for name in ("cases", "outputs", "annotations", "predictions")
        }
        return replace(self, **parts)

    def of_cases(self, ids: Iterable[str]) -> "Scene":
        places = {name: place for place, name in enumerate(ids)}
        return self.each(
            lambda rows: sorted(
                (row for row in rows if row["case_id"] in places), key=lambda row: places[row["case_id"]]
            )
        )

    def of_models(self, *models: str) -> "Scene":
        return self.each(
            lambda rows: sorted(
                (row for row in rows if row.get("model") in (None, *models)),
                key=lambda row: models.index(row["model"]) if "model" in row else 0,
            )
        )

    def shuffled(self) -> "Scene":
        ids = self.ids
        Random(7).shuffle(ids)
        return self.of_cases(ids)

    @property
    def ids(self) -> list[str]:
        return [case["case_id"] for case in self.cases]

    def doubled(self, ids: Iterable[str] | None = None) -> "Scene":
        """Return each of these cases (default all) twice, the second beside the first under an id of its own."""
        chosen = set(self.ids if ids is None else ids)

        def twice(rows: Iterable[Row]) -> Iterable[Row]:
            for number, row in enumerate(rows):
                for part in range(2 if row["case_id"] in chosen else 1):
                    own = {"annotation_id": 2 * number + part} if "annotation_id" in row else {}
                    yield row | own | {"case_id": row["case_id"] + "'" * part}

        return self.each(twice)

    def weighing(self, weight: float, ids: Iterable[str]) -> "Scene":
        """Return the scene in which these cases have that weight, and the others none."""
        chosen = set(ids)
        return replace(self, cases=tuple(case | {"weight": weight} if case["case_id"] in chosen else case
                                         for case in self.cases))  # fmt: skip

    def grouped(self) -> "Scene":
        """Return the scene in which each case, with its copies, is a group of its own."""
        return replace(self, cases=tuple(case | {"group": case["case_id"].rstrip("'")} for case in self.cases))

    def renamed(self, names: Mapping[str, str]) -> "Scene":
        """Return the scene in which classes have other names, in the same order."""
        own = ("label", "labels", "negative_labels")

        def changed(rows: Iterable[Row]) -> Iterable[Row]:
            for row in rows:
                yield row | {name: _replaced(row[name], names) for name in own if row.get(name) is not None}

        return replace(self.each(changed), labels=tuple(names[label] for label in self.labels))

    def without(self, **values: Any) -> "Scene":
        """Return the scene in which every row that has one of these fields has that value."""
        return self.each(lambda rows: [row | {name: values[name] for name in values if name in row} for row in rows])


def _replaced(value: Any, names: Mapping[str, str]) -> Any:
    return names[value] if isinstance(value, str) else [names[one] for one in value]


FACTS = (
    "The mill was built in {year}.", "It stands on the river Oos, {year} paces from the bridge.",
    "Its wheel turned until {year}.", "A heron nests on the roof since {year}.",
)  # fmt: skip
STEPS = (
    '{"steps": [{"role": "system", "text": "Be kind."}, {"role": "user", "text": "go"}, '
    '{"tool": "look", "arguments": {"n": %d}, "result": "x"}, '
    '{"tool": "look", "arguments": {"n": 1}, "error": "no"}, {"role": "assistant", "text": "gone"}], '
    '"artifacts": [{"name": "a.json", "content": "{%%s"}]}'
)
SCHEMA = '{"type": "object", "required": ["a"]}'


def text_scene(size: int = 4) -> Scene:
    """Questions about mills, answered by two models twice; every field that an evaluator may need is there."""
    cases, outputs = [], []
    any_case = {
        field.name: [field.samples[0]] if field.is_list else field.samples[0]
        for field in CASE_FIELDS
        if field.role in ("ask", "expect", "help") and field.fits("text")
    }
    for index in range(size):
        said = [fact.format(year=1500 + index) for fact in FACTS]
        cases.append(
            any_case
            | {
                "case_id": f"c{index}", "question": f"What is known of the old mill number {index} by the river?",
                "expected_answers": [" ".join(said[:2])],
                "conditions": '"mill" AND NOT "barn"', "json_schema": SCHEMA, "source_text": " ".join(said),
                "reference_contexts": said[:2], "reference_context_ids": [f"p{index}", "p9"],
                "expected_calls": '[{"name": "look", "arguments": {"n": 1}}]',
                "reference_grades": [2.0, 1.0], "choices": said[:3], "correct_choice": index % 3,
                "tags": ["even", "should-refuse"] if index % 2 == 0 else ["should-answer"],
                # one starts processes
                "code_tests": "assert mill" if index == 2 else None,
                "database_script": "CREATE TABLE mill (year INTEGER);" if index == 2 else None,
                "system_prompt": f"You are a guide. {said[3]}",
            }
        )  # fmt: skip
        for model, words in (
            ("m", f"{said[0]} {said[2]} Write to a{index}@b.org [1]."),
            ("n", f"{said[1]} The barn is old."),
        ):
            outputs += [
                {
                    "case_id": f"c{index}", "model": model, "run": run,
                    "answer": f"{words} Said {model}{run % (index + 1)}.", "metadata.score": str(index / 4),
                    "retrieved_contexts": [f"Chunk {n}: {said[n]}" for n in range(3)], "citations": ["1"],
                    "choice_logprobs": [-9.0 - run, -10.0 + index, -9.5],
                    "duration_s": 1.0 + index / 4 + run, "cost_usd": 0.01 + index / 100, "tokens": 50 + index * run,
                    "context_ids": ["p0", f"p{run}", f"p{index + 4}"],
                    "trace": STEPS % (index + run) % ("}" if run == 1 else ""),
                }
                for run in (1, 2)
            ]  # fmt: skip
    return Scene("text", tuple(cases), tuple(outputs))


def class_scene() -> Scene:
    """Images of two classes with a score for each class."""
    chance = Random(3)
    cases = [
        {
            "case_id": f"c{n}",
            "label": "ab"[n % 2],
            "labels": ["ab"[n % 2]],
            "tags": ["x"] if n < 3 else [],
            "metadata.tribe": "uv"[n // 4],
        }
        for n in range(8)
    ]
    outputs = [{"case_id": case["case_id"], "model": model} for case in cases for model in "mn"]
    predictions = []
    for row in outputs:
        score = round(chance.uniform(0.05, 0.95), 3)
        predictions += [row | {"label": label, "score": s} for label, s in (("a", score), ("b", round(1 - score, 3)))]
    return Scene("classification", tuple(cases), tuple(outputs), (), tuple(predictions), ("a", "b"))


def _corners(box: dict[str, float]) -> list[float]:
    return [box["x"], box["y"], 2.0, box["x"] + box["width"], box["y"] + box["height"], 1.0]


def number_scene() -> Scene:
    """Cases with a true number, and two models that predict one with an interval."""
    chance = Random(4)
    cases = [{"case_id": f"c{n}", "true_value": n**1.5 - 2.0, "tags": ["x"] if n < 3 else []} for n in range(8)]
    outputs = []
    for case in cases:
        for model in "mn":
            predicted = round(float(str(case["true_value"])) + chance.uniform(-3, 3), 3)
            ends = {"predicted_low": predicted - 2.0, "predicted_high": predicted + 2.0}
            outputs.append({"case_id": case["case_id"], "model": model, "predicted_value": predicted, **ends})
    return Scene("regression", tuple(cases), tuple(outputs))


def box_scene(task: Task = "detection") -> Scene:
    """Images with boxes of two classes; some are found, some missed, some invented, no two with the same score."""
    chance = Random(5)
    cases = [
        {
            "case_id": f"c{n}", "image_width": 100, "image_height": 80, "tags": ["x"] if n < 3 else [],
            "negative_labels": ["cat", "dog"],
        }
        for n in range(6)
    ]  # fmt: skip
    annotations, predictions, outputs = [], [], []
    for case in cases:
        for label in ("cat", "dog", "cat"):
            x, y = chance.randrange(0, 60), chance.randrange(0, 50)
            box = {"x": float(x), "y": float(y), "width": 25.0, "height": 20.0}
            annotations.append(
                {"case_id": case["case_id"], "annotation_id": len(annotations), "label": label, "area": 500.0,
                 "is_crowd": False, "keypoints": _corners(box), **box}
            )  # fmt: skip
            for model in "mn":
                if chance.random() < 0.8:
                    moved = box | {"x": x + chance.uniform(0, 6)}
                    predictions.append(
                        {"case_id": case["case_id"], "model": model, "label": chance.choice([label, "dog"]),
                         "score": round(chance.uniform(0.1, 0.99), 6), "keypoints": _corners(moved), **moved}
                    )  # fmt: skip
        outputs += [{"case_id": case["case_id"], "model": model} for model in "mn"]
    return Scene(task, tuple(cases), tuple(outputs), tuple(annotations), tuple(predictions), ("cat", "dog"))


SCENES: Mapping[str, Callable[[], Scene]] = {
    "text": text_scene, "classification": class_scene, "detection": box_scene,
    "segmentation": lambda: box_scene("segmentation"), "regression": number_scene,
}  # fmt: skip


LONG = "The mill turns. " * 6_250  # 100,000 characters
ODD_TEXTS = (
    "", " \n\t", "\0", "Zoë can’t", "Zoe\u0308 can't", "🌊👩‍👩‍👧 \U0010ffff", "\u202eمطحنة\u202c",
    "今天。天气很好。", "a" * 5_000, "()[]{}\\\"'<>&%", "1e308 5e-324 NaN inf -0 ² ٣ 1_000", "=1+1",
    "{}", "[1, NaN]", "NOT", "\ufeffThe mill.", "- one\n- two\n1. three",
)  # fmt: skip


def odd_texts() -> Scene:
    """Cases whose texts are what breaks programs; one answer has 100,000 characters."""
    cases, outputs = [], []
    for index, text in enumerate((*ODD_TEXTS, LONG)):
        other = ODD_TEXTS[(index * 5 + 1) % len(ODD_TEXTS)]
        cases.append(
            {"case_id": f"c{index}", "question": other, "expected_answers": [other, text[:300]], "conditions": '"mill"',
             "json_schema": SCHEMA, "source_text": text[:300]}
        )  # fmt: skip
        outputs.append(
            {"case_id": f"c{index}", "model": "m", "answer": text, "retrieved_contexts": [other, text[:300]],
             "citations": [text[:20]], "trace": other, "metadata.score": text[:9]}
        )  # fmt: skip
    return Scene("text", tuple(cases), tuple(outputs))


def odd_scores(scene: Scene) -> Scene:
    """Return a scene whose scores are all equal, or as small and as near to 1 as they can be."""
    odd = (0.5, 0.5, 0.5, 5e-324, 1.0, 1.0 - 2**-53, 0.0)
    predictions = [row | {"score": odd[place % len(odd)]} for place, row in enumerate(scene.predictions)]
    return replace(scene, predictions=tuple(predictions))


def odd_boxes(scene: Scene) -> Scene:
    """Return a scene of boxes without area, of 10⁹ pixels and of a fraction of one."""
    sides = (0.0, 1e9, 1e-9, 25.0, 5e-324)

    def changed(rows: Iterable[Row]) -> tuple[Row, ...]:
        own = enumerate(rows)
        return tuple(
            row
            | {"width": sides[n % 5], "height": sides[n % 3]}
            | ({"area": sides[n % 5] * sides[n % 3]} if "area" in row else {})
            for n, row in own
        )

    return replace(odd_scores(scene), annotations=changed(scene.annotations), predictions=changed(scene.predictions))


def odd_numbers() -> Scene:
    """Numbers of any size, infinite and missing ones, and intervals whose ends are in the wrong order."""
    sizes = (0.0, 5e-324, 1e-200, -1e60, 1e75, 1e308, float("inf"), float("nan"), None)
    scene = number_scene()
    outputs = tuple(
        row | {name: sizes[(place + at) % len(sizes)] for at, name in enumerate(row) if name.startswith("predicted")}
        for place, row in enumerate(scene.outputs)
    )
    cases = tuple(row | {"true_value": sizes[place % 6]} for place, row in enumerate(scene.cases))
    return replace(scene, cases=cases, outputs=outputs)


def odd(task: str) -> Scene:
    if task == "text":
        return odd_texts()
    if task == "regression":
        return odd_numbers()
    return odd_scores(class_scene()) if task == "classification" else odd_boxes(SCENES[task]())


ACCENTED = {"mill": "m\u00efll", "river": "riv\u00e9r", "barn": "b\u00e4rn", "kind": "k\u00efnd", "gone": "g\u00f6ne"}
AS_WRITTEN = ("code_tests", "database_script")  # which are run, not compared


def write_in_forms(scene: Scene, *forms: Literal["NFC", "NFD"]) -> Scene:
    """Return a scene of text with accents, its cells in each form of Unicode by turns."""
    turn = cycle(forms)

    def written(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(written, value))
        if not isinstance(value, str):
            return value
        for plain, accented in ACCENTED.items():
            value = value.replace(plain, accented)
        return unicodedata.normalize(next(turn), value)

    return scene.each(
        lambda rows: [{key: row[key] if key in AS_WRITTEN else written(row[key]) for key in row} for row in rows]
    )


def unscorable(scene: Scene, *ids: str) -> Scene:
    """Return a scene with nothing to score in these cases, default all: no answer, label, number or object."""
    chosen = set(ids or scene.ids)
    blank = {"label": None, "labels": None, "true_value": None}
    cases = tuple(
        case | {name: None for name in blank if name in case} if case["case_id"] in chosen else case
        for case in scene.cases
    )
    outputs = tuple(
        {name: row[name] for name in ("case_id", "model", "run") if name in row}
        | ({"error": "out of memory"} if scene.task == "text" else {})
        if row["case_id"] in chosen
        else row
        for row in scene.outputs
    )
    rest = {
        name: tuple(row for row in getattr(scene, name) if row["case_id"] not in chosen)
        for name in ("annotations", "predictions")
    }
    return replace(scene, cases=cases, outputs=outputs, **rest)
