"""The evidence of runs that were sealed before verdicts were typed: every verdict is still shown."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from metrics.analysis import example
from metrics.analysis.cases.old_evidence import FAIL, HOLD, read_evidence
from metrics.core.evidence import Evidence, Verdict
from metrics.store import Workspace

GOLDEN = Path(__file__).parents[2] / "golden" / "v1-judged"
CASES: dict[str, tuple[dict[str, Any], list[Verdict]]] = {
    "claims rest on contexts": (
        {"claims": [{"claim": "A.", "verdict": "supported", "reason": "So 1.", "contexts": [1, 3]}], "supported": 1},
        [Verdict("A.", "yes", "supported", "So 1.", (("contexts", 1), ("contexts", 3)))],
    ),
    "claims rest on claims of the other side": (
        {
            "claims": [{"claim": "A.", "verdict": "unsupported", "reason": "", "reference_claims": []}],
            "reference_claims": [{"claim": "B.", "verdict": "supported", "reason": "", "answer_claims": [1]}],
        },
        [Verdict("A.", "no", "unsupported"), Verdict("B.", "yes", "supported", rests_on=(("claims", 1),))],
    ),
    "a context is its own subject": (
        {"contexts": [{"context": 2, "verdict": "useless", "reason": "No.", "expected_answer": None}]},
        [Verdict("Context 2", "no", "useless", "No.", (("contexts", 2),))],
    ),
    "a sentence of a context": (
        {"sentences": [{"sentence": "S.", "verdict": "relevant", "reason": "", "context": 2}]},
        [Verdict("S.", "yes", "relevant", rests_on=(("contexts", 2),))],
    ),
    "a grade": (
        {"passages": [{"context": 1, "grade": 3, "intent": "a date"}, {"context": 2, "grade": None, "reason": "cut"}]},
        [
            Verdict("Context 1", "yes", "grade 3", rests_on=(("contexts", 1),), facts={"intent": "a date"}),
            Verdict("Context 2", "unknown", "unreadable", "cut", (("contexts", 2),)),
        ],
    ),
    "a part is named by its text": (
        {"parts": [{"text": "P.", "contexts": [1]}], "citations": [{"part": 1, "contexts": [1], "verdict": "partial"}]},
        [Verdict("P.", "unknown", "partial", rests_on=(("contexts", 1),))],
    ),
    "a nugget in part": (
        {"nuggets": [{"nugget": "n", "importance": "vital", "verdict": "partial_support", "reason": ""}]},
        [Verdict("n", "unknown", "partial support", facts={"importance": "vital"})],
    ),
    "texts that pass or fail": (
        {"verdicts": [{"place": "answer", "verdict": "fails", "reason": "so"}]},
        [Verdict("answer", "no", "fails", "so")],
    ),
    "steps beside the expected ones": (
        {"alignment": [{"expected": "Grind.", "step": "Mill.", "verdict": "match", "similarity": 0.87}]},
        [Verdict("Mill.", "yes", "match", expected="Grind.", facts={"similarity": 0.87})],
    ),
    "no verdict, no list": ({"questions": [{"question": "Q?", "cosine": 0.5}], "note": "x", "empty": []}, []),
    "no text to judge": ({"verdicts": []}, []),
    "a list of which one has no verdict": ({"items": [{"item": "x", "verdict": True}, {"item": "y"}]}, []),
    "numbers that name nothing": (
        {"links": [{"claim": 0, "verdict": True}, {"claim": 2, "verdict": True}], "claims": [{"text": "A."}]},
        [Verdict("", "yes", "yes", facts={"claim": 0}), Verdict("", "yes", "yes", facts={"claim": 2})],
    ),
}


def read(record: dict[str, Any]) -> Evidence:
    evidence = read_evidence(json.dumps(record))
    assert evidence is not None
    return evidence


@pytest.mark.parametrize("name", CASES)
def test_former_records_become_verdicts(name: str) -> None:
    record, expected = CASES[name]
    evidence = read(record)
    assert [verdict for group in evidence.verdicts.values() for verdict in group] == expected
    assert evidence.facts == {
        key: value for key, value in record.items() if key not in evidence.verdicts and key != "verdicts"
    }


@pytest.mark.parametrize(
    ("word", "holds"),
    [(True, "yes"), (False, "no"), (None, "unknown"), (2, "yes"), (1, "no"), ("Yes", "yes"), ("partial", "unknown")],
)
def test_what_holds_is_told_by_the_words_of_that_time(word: object, holds: str) -> None:
    (verdict,) = read({"items": [{"item": "x", "verdict": word}]}).verdicts["items"]
    assert verdict.holds == holds
    assert not HOLD & FAIL


def test_who_judged_is_kept() -> None:
    judge, panel = {"model": "j", "calls": []}, {"judges": [], "spread": {}, "left_out": [], "notes": []}
    evidence = read({"note": "x", "judge": judge, "panel": panel})
    assert (evidence.judge, evidence.panel, evidence.facts) == (judge, panel, {"note": "x"})


def test_typed_evidence_is_read_as_it_is_whatever_its_words() -> None:
    evidence = Evidence({"claims": (Verdict("A.", "no", "excellent"),)}, {"grade": [{"verdict": "good"}]})
    assert (read_evidence(json.dumps(evidence.record)), read_evidence(None)) == (evidence, None)


def test_a_sealed_run_of_that_time_shows_its_verdicts(tmp_path: Path) -> None:
    (run,) = Workspace(Path(shutil.copytree(GOLDEN, tmp_path / "golden"))).runs()
    view = example(run, "loan-period")
    told = {row["evaluator"]: row["evidence"].verdicts for row in view.scores.to_dict("records") if row["evidence"]}
    assert {name: list(groups) for name, groups in told.items()} == {
        "faithfulness": ["claims"], "answer_relevance": ["claims"], "context_precision": ["contexts"],
        "context_recall": ["reference_claims"], "answer_correctness": ["claims", "reference_claims"],
    }  # fmt: skip
    verdicts = [verdict for groups in told.values() for group in groups.values() for verdict in group]
    assert {verdict.holds for verdict in verdicts} == {"yes", "no"}
    assert all(verdict.text and verdict.label for verdict in verdicts)
    assert all(row["judge"]["model"] for row in (e.record for e in view.scores["evidence"] if e) if "judge" in row)
