"""Result CSVs of Open RAG Eval, side by side: dropped on New evaluation, each is a model with its scores."""

import json
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import expect

from tests.journeys.studio_walk import StudioWalk
from tests.pages.conftest import settle

pytestmark = pytest.mark.browser


def results(path: Path, grades: list[float], vital: list[float], answered: str) -> Path:
    """A result CSV with a question for each grade; `answered` has a letter y or n for each."""
    rows = [
        {
            "query_id": f"q{number}",
            "query": f"How many moons has planet {number}?",
            "retrieved_passages": json.dumps({"[1]": f"Planet {number} has a moon."}),
            "generated_answer": json.dumps([{"text": f"One, says {path.stem}.", "citations": ["[1]"]}]),
            "retrieval_score_mean_umbrela_score": grade,
            "generation_score_vital_nuggetizer_score": share,
            "generation_score_hallucination_score": None,
            "generation_score_no_answer_score": json.dumps({"query_answered": "yes" if letter == "y" else "no"}),
        }
        for number, (grade, share, letter) in enumerate(zip(grades, vital, answered, strict=True), 1)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_two_configurations_side_by_side(walk: StudioWalk, tmp_path: Path) -> None:
    files = [
        results(tmp_path / "top_k_5.csv", [3, 2, 1, 2], [1, 0.5, 0, 0.5], "yyny"),
        results(tmp_path / "top_k_10.csv", [3, 3, 2, 3], [1, 1, 0.5, 1], "yyyy"),
    ]
    walk.open()
    walk.upload("Drop your files", *files)
    walk.sees("Ready to start", "Scores you have")
    walk.start()
    board = walk.board()
    assert set(board) == {"top_k_5", "top_k_10"}
    found = {model: {head: text for head, text in row.items() if "Own scores" in head} for model, row in board.items()}
    assert [next(iter(row.values()))[:4] for row in found.values()] == ["2.75", "2.00"]
    walk.page.goto(walk.page.url + "&form=boxes")
    settle(walk.page)
    expect(walk.page.get_by_text("Box: the middle half of the cases").first).to_be_visible()
    walk.sees("Median")
    walk.keep_picture("boxes")
