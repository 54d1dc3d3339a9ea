"""Files of preferences: the forms they come in, and everything that can be wrong with them."""

from pathlib import Path

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest.given_files import GivenFile
from metrics.ingest.preference_files import read_preferences

SUITE = Suite.from_rows("s", "text", [{"case_id": name, "question": name} for name in ("c1", "c2", "c3")])
MODELS = ("bolt", "atlas", "gpt_4", "4")
NAMES = ("case_id", "model_a", "model_b", "rater", "outcome", "note")
ARENA = """question_id,model_a,model_b,winner,judge
c1,bolt,atlas,model_a,ann
c1,atlas,bolt,Tie (bothbad),bo
c2,bolt,atlas,tie,ann
c3,bolt,atlas,atlas,ann
"""


def read(tmp_path: Path, text: str, name: str = "votes.csv", **options: object) -> GivenFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_preferences(path, suite=SUITE, models=MODELS, **options)  # type: ignore[arg-type]


def rows(found: GivenFile) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in NAMES) for row in found.table.to_pylist()]


def test_a_winner_a_row_and_json_lines_of_a_judge(tmp_path):
    found = read(tmp_path, ARENA, a_first=True)
    assert rows(found) == [
        ("c1", "atlas", "bolt", "ann", 0.0, ""), ("c1", "atlas", "bolt", "bo", 0.5, "both bad"),
        ("c2", "atlas", "bolt", "ann", 0.5, ""), ("c3", "atlas", "bolt", "ann", 1.0, ""),
    ]  # fmt: skip
    assert found.table["shown_first"].to_pylist() == ["bolt", "atlas", "bolt", "bolt"]
    assert (set(found.table["by"].to_pylist()), found.notes) == ({"people"}, ())
    text = '{"case_id": "c1", "model_a": "bolt", "model_b": "atlas", "winner": 2, "reason": "It is right."}\n'
    found = read(tmp_path, text, "votes.jsonl", by="judge")
    assert rows(found) == [("c1", "atlas", "bolt", "people", 1.0, "It is right.")]
    assert (found.table["by"].to_pylist(), found.table["turn"].to_pylist()) == (["judge"], [""])


def test_a_column_a_rater_and_both_models_in_one(tmp_path):
    """As in PandaLM's test set: 1 the first model, 2 the second, 0 a tie; names may have the mark between them."""
    found = read(tmp_path, "case_id,cmp_key,annotator1,annotator2\nc1,gpt_4_bolt,1,2\nc2,bolt_4,,0\n")
    assert rows(found) == [
        ("c1", "bolt", "gpt_4", "annotator1", 0.0, ""), ("c1", "bolt", "gpt_4", "annotator2", 1.0, ""),
        ("c2", "4", "bolt", "annotator2", 0.5, ""),
    ]  # fmt: skip
    assert found.value_columns == ("annotator1", "annotator2")
    assert found.table["shown_first"].null_count == 3


def test_all_problems_at_once(tmp_path):
    text = "case_id,model_a,model_b,winner\nc9,bolt,atlas,1\nc1,bolt,bolt,1\nc1,bolt,elm,1\nc1,bolt,atlas,best\n"
    with pytest.raises(InputError) as failure:
        read(tmp_path, text + "c2,bolt,atlas,1\nc2,atlas,bolt,1\n")
    told = str(failure.value)
    for part in (
        "row 2, column case_id: found 'c9'",
        "column model_b, 2 rows: found 'bolt – bolt' (row 3), 'bolt – elm' (row 4)",
        "row 5, column winner: found 'best'",
        "row 7: found 'c2' compared again, first in row 6",
    ):  # fmt: skip
        assert part in told
    good = read(tmp_path, text + "c2,bolt,atlas,1\n", keep_good_rows=True)
    assert (len(good.table), len(good.problems)) == (1, 4)


@pytest.mark.parametrize(("text", "told"), [
    ("case_id,model_a,winner\nc1,bolt,1\n", "no column model_b"),
    ("case_id,model_a,model_b\nc1,bolt,atlas\n", "no column with the winner"),
    ("case_id,model_a,model_b,rater1\nc1,bolt,atlas,\n", "no preference"),
])  # fmt: skip
def test_a_file_that_cannot_be_used(tmp_path, text, told):
    with pytest.raises(InputError, match=told):
        read(tmp_path, text)
