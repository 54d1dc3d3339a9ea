"""Files of people's labels: the forms they come in, and everything that can be wrong with them."""

from pathlib import Path

import pytest

from metrics.core.suite import Suite
from metrics.ingest.given_files import GivenFile
from metrics.ingest.label_files import read_labels
from tests.ingest.files import read_refusal

SUITE = Suite.from_rows("s", "text", [{"case_id": name, "question": name} for name in ("c1", "c2", "007")])
MODELS = ("a", "b")
LONG = """case_id,model,rater,criterion,label
c1,a,ann,good,pass
c1,a,bo,good,Fail
c2,b,ann,good, unsure\x20
007,b,ann,good,1
"""
WIDE = "query_id;model_name;annotator;fluency;comment;depth\nc1;a;ann;5;fine;1\n007;b;ann;;?;2\n"
RATERS = "idx,annotator1,annotator2,note\nc1,yes,no,x\nc2,no,,y\n"
NAMES = ("case_id", "model", "rater", "criterion", "value")


def read(tmp_path: Path, text: str, name: str = "labels.csv", **options: object) -> GivenFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_labels(path, suite=SUITE, **{"models": MODELS, **options})  # type: ignore[arg-type]


def rows(found: GivenFile) -> list[tuple[object, ...]]:
    return [tuple(row[name] for name in NAMES) for row in found.table.to_pylist()]


def test_a_label_a_row(tmp_path):
    found = read(tmp_path, LONG, sampling="picked")
    assert rows(found) == [
        ("c1", "a", "ann", "good", 1.0), ("c1", "a", "bo", "good", 0.0), ("c2", "b", "ann", "good", None),
        ("007", "b", "ann", "good", 1.0),
    ]  # fmt: skip
    assert set(found.table["sampling"].to_pylist()) == {"picked"}
    assert (found.form, found.value_columns, found.notes, found.problems) == ("long", ("label",), (), ())


def test_a_column_a_criterion_or_a_rater(tmp_path):
    found = read(tmp_path, WIDE)
    assert rows(found) == [
        ("c1", "a", "ann", "fluency", 5.0), ("c1", "a", "ann", "depth", 1.0), ("007", "b", "ann", "depth", 2.0),
    ]  # fmt: skip
    assert found.form == "criteria"
    assert found.columns == {"case_id": "query_id", "model": "model_name", "rater": "annotator"}
    assert found.ignored == ("comment",)
    found = read(tmp_path, RATERS, models=("a",))
    assert rows(found) == [
        ("c1", "a", "annotator1", "label", 1.0), ("c1", "a", "annotator2", "label", 0.0),
        ("c2", "a", "annotator1", "label", 0.0),
    ]  # fmt: skip
    assert (found.form, found.ignored) == ("raters", ("note",))
    assert found.notes == ("No column names the model: the labels belong to the run's only model, a.",)


def test_the_users_mapping_goes_first(tmp_path):
    text = "case_id,model,verdict,expert_says,who\nc1,a,pass,fail,ann\n"
    found = read(tmp_path, text, mapping={"label": "expert_says", "rater": "who"})
    assert rows(found) == [("c1", "a", "ann", "label", 0.0)]
    assert read_refusal(read, tmp_path, text, mapping={"label": "nope", "colour": "who"}).splitlines() == [
        "labels.csv: found no column 'nope' for label; expected one of case_id, model, verdict, expert_says, who",
        "labels.csv: found a mapping of 'colour'; expected one of case_id, model, rater, criterion, label",
    ]


BAD = """case_id,model,rater,criterion,label
nope,a,ann,good,4
,a,ann,good,pass
c1,z,ann,good,5
c1,a,ann,good,maybe
c2,a,ann,good,
c2,b,ann,good,3
c2,b,ann,good,3
"""


def test_every_problem_at_once(tmp_path):
    assert read_refusal(read, tmp_path, BAD).splitlines() == [
        "labels.csv, row 2, column case_id: found 'nope'; expected the case_id of one of the 3 cases of the suite",
        "labels.csv, row 3, column case_id: found nothing; expected a case id",
        "labels.csv, row 3, column label: found 'pass'; expected a number, as the other labels of the criterion",
        "labels.csv, row 4, column model: found 'z'; expected a model of the run: a, b",
        "labels.csv, row 5, column label: found 'maybe'; expected pass, fail, unsure or a number",
        "labels.csv, row 6, column label: found nothing; expected pass, fail, unsure or a number",
        "labels.csv, row 8: found 'c2' labelled again, first in row 7; expected one label per case, model, rater and "
        "criterion (a column of raters distinguishes several)",
    ]
    kept = read(tmp_path, BAD, keep_good_rows=True)
    assert (rows(kept), len(kept.problems)) == ([("c2", "b", "ann", "good", 3.0)], 7)


NONE = {
    "no case": ("name,label\nc1,pass\n", "row 1: found no column with the case ids; expected a column case_id, id, "),
    "no model of several": ("case_id,label\nc1,pass\n", "row 1: found no column with the models; expected a column "),
    "no label": ("case_id,model,remark\nc1,a,fine words\n", "row 1: found no column of labels among remark; expected "
                 "a column label, human_label, verdict, rating, grade, human_score, or one a criterion or rater, of "),
    "infinite": ("case_id,model,label\nc1,a,inf\n", "column label: found 'inf'; expected pass"),
    "long": (f"case_id,model,rater,label\nc1,a,{'x' * 201},pass\n", "expected a name of at most 200 characters"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), NONE.values(), ids=NONE)
def test_what_is_no_file_of_labels(tmp_path, text, said):
    assert said in read_refusal(read, tmp_path, text)
