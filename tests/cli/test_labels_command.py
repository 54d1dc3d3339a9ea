"""python -m metrics labels …: add, list, export, remove."""

import csv
import io
import re

import pytest

from metrics.analysis.labels.human_labels import human_labels
from metrics.cli.main import main
from metrics.store import Workspace
from metrics.store.rating_sets import Labels
from tests.labels import labelled_run

GOOD = "case_id,model,rater,label\nc0,long,ann,pass\nc1,long,ann,fail\nc1,short,ann,unsure\n"


@pytest.fixture
def run(workspace):
    return labelled_run(Workspace(), 4)


def test_add_list_export_remove(run, tmp_path, capsys):
    (tmp_path / "good.csv").write_text(GOOD)
    assert main(["labels", "add", "latest", str(tmp_path / "good.csv")]) == 0
    captured = capsys.readouterr()
    assert captured.err.splitlines() == [
        "good.csv: 3 labels from label",
        "Without --sampling random, labels speak for the labelled outputs alone, unless every output has one.",
    ]
    (one,) = Labels(run).sets()
    assert (captured.out, main(["labels", "list", "latest"])) == (f"{one.id}\n", 0)
    assert "3 labels  1 rater " in capsys.readouterr().out
    assert main(["labels", "export", "latest", "-o", str(tmp_path / "all.csv")]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "all.csv").read_text())))
    assert [(row["case_id"], row["model"], row["label"]) for row in rows] == [
        ("c0", "long", "pass"), ("c1", "long", "fail"), ("c1", "short", "unsure"),
    ]  # fmt: skip
    assert (main(["labels", "remove", "latest", one.id]), Labels(run).sets()) == (0, [])


def test_mapping_and_sampling(run, tmp_path):
    (tmp_path / "odd.csv").write_text("case_id,model,expert,says\nc0,long,ann,pass\n")
    options = ["--map", "label=says", "--map", "rater=expert", "--sampling", "picked"]
    assert main(["labels", "add", "latest", str(tmp_path / "odd.csv"), *options]) == 0
    (row,) = Labels(run).table().to_pylist()
    assert (row["rater"], row["value"], row["sampling"]) == ("ann", 1.0, "picked")


def test_all_problems_of_all_files_and_nothing_is_added(run, tmp_path, capsys):
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "bad.csv").write_text("case_id,model,label\nnope,long,pass\n")
    (tmp_path / "worse.csv").write_text("case_id,model,label\nc0,tall,maybe\n")
    files = [str(tmp_path / name) for name in ("good.csv", "bad.csv", "worse.csv")]
    assert main(["labels", "add", "latest", *files]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "bad.csv, row 2, column case_id: found 'nope'; expected the case_id of one of the 4 cases of the suite",
        "worse.csv, row 2, column model: found 'tall'; expected a model of the run: long, short",
        "worse.csv, row 2, column label: found 'maybe'; expected pass, fail, unsure or a number",
        "--keep-good-rows skips these rows and takes the good ones",
    ]
    assert Labels(run).sets() == []
    assert main(["labels", "add", "latest", files[0], "--map", "label"]) == 2
    assert capsys.readouterr().err == "--map: found 'label'; expected CANONICAL=COLUMN\n"
    assert main(["labels", "remove", "latest", "page-1"]) == 2
    assert capsys.readouterr().err == "there is no set of labels 'page-1'; there are none\n"


def test_a_share_of_errors_lies_between_0_and_1(run, capsys):
    assert main(["labels", "acceptance", "latest", "--most-errors", "5"]) == 2
    assert re.search("--most-errors: found '?5'?; expected a share between 0 and 1", capsys.readouterr().err)


def test_outputs_to_label_next_come_back_with_their_chances(run, tmp_path, capsys):
    asked = ["labels", "next", "latest", "--criterion", "good", "--metric", "rougeL", "--most", "5"]
    assert main([*asked, "-o", str(tmp_path / "next.csv")]) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "next.csv").read_text())))
    assert len({(row["case_id"], row["model"]) for row in rows}) == 5
    filled = ["case_id,model,criterion,label", *(f"{row['case_id']},{row['model']},good,pass" for row in rows)]
    (tmp_path / "filled.csv").write_text("\n".join(filled))
    assert main(["labels", "add", "latest", str(tmp_path / "filled.csv"), "--sampling", "weighted"]) == 0
    chances = human_labels(run, "good").chances
    assert ((chances > 0) & (chances <= 1)).sum() == 5
