"""The rubric editor's tables: what is edited comes back as the same rubric."""

from typing import Any

import pandas as pd
import pytest

from components.views.judge.rubric_editor import dimension_table, level_table, rubric_of, shares
from metrics.judge.rubrics import USUAL, USUAL_RUBRIC, Rubric
from tests.judge.test_rubrics import TWO, read_rubric


@pytest.mark.parametrize("rubric", [USUAL_RUBRIC, read_rubric(TWO, "support.yaml")], ids=["usual", "own"])
def test_tables_hold_the_whole_rubric(rubric: Rubric) -> None:
    begun = rubric.model_dump(mode="json")
    assert Rubric.model_validate(rubric_of(begun, dimension_table(begun), level_table(begun, USUAL))) == rubric


def test_meanings_of_usual_levels_show_their_scores() -> None:
    one = {"name": "tone", "weight": 1, "description": "Kind.", "meanings": {"poor": "curt"}}
    table = level_table({"dimensions": [one]}, USUAL)
    assert table["level"].tolist() == list(USUAL)
    assert table.loc[table["level"] == "poor", "meaning"].tolist() == ["curt"]


def test_unfinished_rows_are_dropped_or_told() -> None:
    begun: dict[str, Any] = {"id": "a", "title": "A", "version": 2, "dimensions": []}
    dimensions = pd.DataFrame(
        [
            {"name": None, "weight": None, "description": None, "needs_any": None, "zero_if_missing": None},
            {"name": " tone ", "weight": None, "description": None, "needs_any": None, "zero_if_missing": None},
        ]
    )
    levels = pd.DataFrame([{"dimension": "tone", "level": "kind", "score": None, "meaning": None}])
    made = rubric_of(begun, dimensions, levels)
    assert [(one["name"], one["weight"], one["levels"]) for one in made["dimensions"]] == [("tone", 0.0, {})]
    assert shares(made) == ""


def test_weights_are_shown_as_shares() -> None:
    weights = {"tone": 1, "truth": 2, "brevity": 5}
    assert shares({"dimensions": [{"name": name, "weight": weight} for name, weight in weights.items()]}) == (
        "Tone 12 % · Truth 25 % · Brevity 62 %"
    )
