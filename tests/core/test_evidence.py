"""Evidence: verdicts and facts, stored as JSON and read back."""

import json

import pytest

from metrics.core.evaluator import CaseScore
from metrics.core.evidence import RESERVED, Evidence, Verdict

FULL = Evidence(
    {
        "claims": [
            Verdict("A.", "no", "hedged", "It says perhaps.", (("contexts", 1), ("contexts", 3)), "perhaps A"),
            Verdict("B.", "yes", facts={"weight": 0.5}),
        ],
        "steps": [Verdict("", "no", "deleted", expected="Pour."), Verdict("Stir.", "no", "inserted", expected="")],
    },
    {"hedged": 1, "note": None}, {"model": "j", "calls": [{"step": "claims", "key": "0"}]},
    {"judges": [], "spread": {}, "left_out": [], "notes": []},
)  # fmt: skip


def test_the_stored_record_is_documented_and_without_empty_fields():
    assert FULL.record == {
        "version": 1,
        "verdicts": {
            "claims": [
                {
                    "text": "A.", "holds": "no", "label": "hedged", "reason": "It says perhaps.",
                    "rests_on": [["contexts", 1], ["contexts", 3]], "quote": "perhaps A",
                },
                {"text": "B.", "holds": "yes", "facts": {"weight": 0.5}},
            ],
            "steps": [
                {"text": "", "holds": "no", "label": "deleted", "expected": "Pour."},
                {"text": "Stir.", "holds": "no", "label": "inserted", "expected": ""},
            ],
        },
        "judge": {"model": "j", "calls": [{"step": "claims", "key": "0"}]},
        "panel": {"judges": [], "spread": {}, "left_out": [], "notes": []},
        "hedged": 1,
        "note": None,
    }  # fmt: skip


@pytest.mark.parametrize("evidence", [FULL, Evidence(), Evidence(facts={"a": [1]}), Evidence({"claims": ()})])
def test_what_is_stored_is_read_back(evidence):
    read = Evidence.of_record(json.loads(json.dumps(evidence.record)))
    assert read.record == evidence.record
    assert (read.facts, read.judge, read.panel) == (evidence.facts, evidence.judge, evidence.panel)
    assert read.verdicts == {name: tuple(group) for name, group in evidence.verdicts.items() if group}


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_fact_cannot_take_the_name_of_a_field(name):
    with pytest.raises(ValueError, match=f"no fact of an evidence can be called {name}"):
        Evidence(facts={name: 1})


def test_a_score_takes_no_plain_records_for_evidence():
    """They would be shown as a table, without the marks that say what holds."""
    with pytest.raises(TypeError, match=r"evidence is a metrics\.core\.evidence\.Evidence, not dict"):
        CaseScore({"x": 1.0}, evidence={"claims": [{"claim": "A.", "verdict": "hedged"}]})
