"""inspect(): what is shown before anything is read."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.ingest import ListCell, inspect
from tests.ingest.files import write

CSV = 'Case ID,prompt,model,output,contexts,Topic\n007,Q,m,A,"[""c1"", ""c2""]",t\n8,Q2,m,,c3;c4,\n9,Q3,m,B,"[""cut",\n'


def test_csv(tmp_path):
    preview = inspect(write(tmp_path, "u.csv", CSV))
    assert (preview.file, preview.format, preview.role, preview.task, preview.rows) == (
        "u.csv", "csv", "combined", "text", 3,
    )  # fmt: skip
    assert preview.mapping == {
        "case_id": "Case ID", "question": "prompt", "model": "model", "answer": "output", "retrieved_contexts": "contexts",
    }  # fmt: skip
    assert preview.unmapped == ("Topic",)
    assert preview.first[0] == {
        "Case ID": "007", "prompt": "Q", "model": "m", "output": "A", "contexts": '["c1", "c2"]', "Topic": "t",
    }  # fmt: skip
    assert preview.lists == (
        ListCell("contexts", "retrieved_contexts", 2, '["c1", "c2"]', "JSON array", ("c1", "c2")),
        ListCell("contexts", "retrieved_contexts", 3, "c3;c4", ";", ("c3", "c4")),
        ListCell("contexts", "retrieved_contexts", 4, '["cut', "one text", None),
    )


KINDS = {
    "suite": ("s.csv", "case_id,question\n1,q\n", ("csv", "suite", "text", 1)),
    "outputs": ("o.jsonl", [{"case_id": "1", "answer": "a"}], ("jsonl", "outputs", "text", 1)),
    "classification suite": ("s.parquet", [{"case_id": "1", "label": "a"}], ("parquet", "suite", "classification", 1)),
    "classification outputs": ("o.csv", "case_id,label,score\n1,a,1\n", ("csv", "outputs", "classification", 1)),
    "detection suite": ("s.csv", "image,label,x,y,width,height\na,b,1,1,1,1\n", ("csv", "suite", "detection", 1)),
    "detection outputs": ("o.csv", "image,label,score,x,y,width,height\na,b,1,1,1,1,1\n", ("csv", "outputs", "detection", 1)),
    "coco": ("t.json", {"images": [], "annotations": [], "categories": []}, ("coco_ground_truth", "suite", "detection", 0)),
    "coco results": ("r.json", [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 1, 1], "score": 1}], ("coco_results", "outputs", "detection", 1)),
    "json": ("s.json", [{"id": 1, "input": "q", "expected_output": "e"}], ("json", "suite", "text", 1)),
}  # fmt: skip


@pytest.mark.parametrize(("name", "content", "facts"), KINDS.values(), ids=KINDS.keys())
def test_kinds(tmp_path, name, content, facts):
    preview = inspect(write(tmp_path, name, content), filename="mine")
    assert (preview.format, preview.role, preview.task, preview.rows) == facts
    assert preview.file == "mine"


def test_large_files_are_not_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("metrics.ingest.formats.table_reader.WHOLE_BYTES", 100)
    preview = inspect(write(tmp_path, "s.csv", "case_id,question\n" + "1,q\n" * 100))
    assert preview.rows is None
    assert len(preview.first) == 20
