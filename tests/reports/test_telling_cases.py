"""The report says which labels are suspect, and how few cases keep the ranking."""

from pathlib import Path

import numpy as np

from tests.analysis.scored import scored_run
from tests.presentation.asked import ask
from tests.stats.test_item_response import drawn


def test_suspects_and_the_short_suite_are_in_the_notes(workspace: Path) -> None:
    right = drawn(0, 60, 16, 0.2)[0]
    right[:2] = right.mean(axis=0) < np.median(right.mean(axis=0))
    given = {f"m{model:02}": column.tolist() for model, column in enumerate(right.T)}
    told = [
        note for note in ask("which_leads", scored_run({"text_matching.passes": given})).notes if "logistic" in note
    ]
    assert len(told) == 1
    assert told[0].startswith("Cases by Text matching: Passes (two-parameter logistic model): 2 of 60 cases are prob")
    assert "keeps the ranking of the models" in told[0] or "keep the ranking of the models" in told[0]
    few = scored_run({"text_matching.passes": dict(list(given.items())[:5])})
    assert not [note for note in ask("which_leads", few).notes if "logistic" in note]
