"""The report says who is strongest head to head, of three models or more."""

from pathlib import Path

from tests.analysis.scored import scored_run
from tests.presentation.asked import ask


def test_the_strongest_by_matches_is_in_the_notes(workspace: Path) -> None:
    scores = {"good": [1.0] * 36 + [0.0] * 4, "fair": [1.0] * 20 + [0.0] * 20, "poor": [1.0] * 4 + [0.0] * 36}
    told = [
        note for note in ask("which_leads", scored_run({"text_matching.passes": scores})).notes if "By matches" in note
    ]
    assert len(told) == 1
    assert told[0].startswith("By matches in Text matching: Passes, good leads: good 0.")
    assert told[0].index("good 0.") < told[0].index("fair 0.") < told[0].index("poor 0.")
    del scores["poor"]
    two = ask("which_leads", scored_run({"text_matching.passes": scores})).notes
    assert not [note for note in two if "By matches" in note]
