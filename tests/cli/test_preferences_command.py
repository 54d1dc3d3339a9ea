"""python -m metrics preferences …: add, list, export, remove, ranking."""

import json
from itertools import combinations

import pytest

from metrics.cli.main import main
from metrics.core.schema import BOTH_BAD
from metrics.store import Workspace
from metrics.store.rating_sets import Preferences
from tests.preferences import MODELS, compared_run, judgement, vote


@pytest.fixture
def run(workspace):
    return compared_run(Workspace(), 12)


def test_what_is_exported_can_be_added_again(run, tmp_path, capsys):
    """People's sides and notes, and both orders of a judge, survive."""
    vote(run, 0, "birch", "amber", 1.0, shown_first="birch")
    vote(run, 1, "birch", "amber", 0.5, note=BOTH_BAD, criterion="tone")
    judgement(run, 0, "amber", "birch", 1.0, 0.0)
    before = Preferences(run).table().drop_columns(["given", "number"]).to_pylist()
    assert main(["preferences", "export", "latest", "-o", str(tmp_path / "all.csv")]) == 0
    for one in Preferences(run).sets():
        assert main(["preferences", "remove", "latest", one.id]) == 0
    assert main(["preferences", "add", "latest", str(tmp_path / "all.csv")]) == 0
    assert capsys.readouterr().err.splitlines() == ["all.csv: 4 preferences from winner"]
    assert Preferences(run).table().drop_columns(["given", "number"]).to_pylist() == before
    assert main(["preferences", "list", "latest"]) == 0
    assert "4 preferences  2 raters" in capsys.readouterr().out


def test_the_ranking_in_words_and_as_a_table(run, capsys):
    assert main(["preferences", "ranking", "latest"]) == 2
    assert "no preferences" in capsys.readouterr().err
    for index in range(12):
        for one, other in combinations(MODELS, 2):
            vote(run, index, one, other, float(index % 4 > 0))
            judgement(run, index, one, other, float(index % 4 > 0), float(index % 4 > 0))
    assert main(["preferences", "ranking", "latest"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in lines] == [
        "By matches in people's preferences", "By matches in the judge's preferences",
        "Position bias of j: the answer shown first is preferred in 0.500",
        "Judge and people prefer the same in 1.00",
    ]  # fmt: skip
    assert main(["preferences", "ranking", "latest", "--format", "json", "--tag", "even"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["source"], row["model"]) for row in rows[::3]] == [
        ("people", "amber"), ("judge", "amber"), ("both", "amber"),
    ]  # fmt: skip
    assert main(["preferences", "ranking", "latest", "--criterion", "qualty"]) == 2
    assert "quality" in capsys.readouterr().err


def test_all_problems_of_all_files_and_nothing_is_added(run, tmp_path):
    (tmp_path / "good.csv").write_text("case_id,model_a,model_b,winner\nc0,amber,birch,tie\n")
    (tmp_path / "bad.csv").write_text("case_id,model_a,model_b,winner,shown_first\nc0,amber,birch,tie,cedar\n")
    assert main(["preferences", "add", "latest", str(tmp_path / "good.csv"), str(tmp_path / "bad.csv")]) == 2
    assert Preferences(run).sets() == []
