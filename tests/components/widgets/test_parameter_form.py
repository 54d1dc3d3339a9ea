"""The form of an evaluator's parameters, from the JSON schema of its model."""

from enum import StrEnum
from typing import Literal

import pytest
from pydantic import Field

from components.widgets.parameter_form import fields, parse_numbers, value_text
from metrics.core.evaluator import Parameters
from metrics.core.registry import evaluators


class Grid(StrEnum):
    COCO = "coco"
    VOC = "voc"


class Sample(Parameters):
    iou: float = Field(0.5, ge=0, le=1, description="Overlap.")
    depth: int = Field(3, gt=0)
    strict: bool = False
    grid: Grid = Grid.COCO
    mode: Literal["a", "b"] = "b"
    pattern: str = "x+"
    ious: tuple[float, ...] = (0.5, 0.75)
    words: list[str] = Field(default_factory=list)
    grids: tuple[Grid, ...] = (Grid.COCO,)
    modes: tuple[Literal["a", "b"], ...] = ()
    criterion: str = Field("", max_length=4_000)
    usd: float = Field(1.0, title="Dollars")
    limit: int | None = None
    pairs: dict[str, float] = Field(default_factory=dict)


@pytest.mark.parametrize(("name", "kind", "facts"), [
    ("threshold", "number", {"optional": True, "default": None}),
    ("iou", "number", {"low": 0, "high": 1, "default": 0.5, "description": "Overlap.", "title": "Iou"}),
    ("depth", "integer", {"low": 0, "default": 3}), ("strict", "boolean", {"default": False}),
    ("grid", "choice", {"options": ("coco", "voc"), "default": "coco"}),
    ("mode", "choice", {"options": ("a", "b"), "default": "b"}), ("pattern", "text", {"default": "x+"}),
    ("ious", "numbers", {"default": [0.5, 0.75]}), ("words", "texts", {"options": ()}),
    ("grids", "texts", {"options": ("coco", "voc"), "default": ["coco"]}),
    ("modes", "texts", {"options": ("a", "b")}), ("criterion", "prose", {"default": ""}),
    ("usd", "number", {"title": "Dollars"}), ("limit", "integer", {"optional": True, "title": "Limit"}),
    ("pairs", "json", {}),
])  # fmt: skip
def test_field_of_schema(name: str, kind: str, facts: dict[str, object]) -> None:
    field = {field.name: field for field in fields(Sample.model_json_schema())}[name]
    assert field.kind == kind
    assert {fact: getattr(field, fact) for fact in facts} == facts


def test_every_parameter_of_every_evaluator_has_a_field() -> None:
    for entry in evaluators().values():
        schema = entry.parameters.model_json_schema()
        assert [field.name for field in fields(schema)] == list(schema["properties"]), entry.id


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("0.5, 0.75", [0.5, 0.75]), ("1;10 100", [1, 10, 100]), ("", []), ("1e-3", [0.001]), (" 2.0 ", [2.0])],
)
def test_parse_numbers(text: str, numbers: list[float]) -> None:
    assert parse_numbers(text) == numbers
    assert [type(number) for number in parse_numbers(text)] == [type(number) for number in numbers]


def test_parse_numbers_names_the_word() -> None:
    with pytest.raises(ValueError, match="'ten' is not a number"):
        parse_numbers("1, ten")


@pytest.mark.parametrize(("value", "text"), [
    (None, "none"), (True, "yes"), (False, "no"), ("", "empty"), ("auto", "auto"), (0.5, "0.5"), ([], "[]"),
    (["a", "b"], "a, b"), ([0.5, 1], "[0.5, 1]"), ({"rouge2": 0.2}, '{"rouge2": 0.2}'),
])  # fmt: skip
def test_value_text(value: object, text: str) -> None:
    assert value_text(value) == text
