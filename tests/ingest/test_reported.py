"""Every input of ../shared/data/reported: the number it should give, or what it is asked or refused for, or said of it.

All are read as `evaluate` reads them; its README says what is right, and why each is there. None is forgotten.
"""
# ruff: noqa: E501 - a table reads better with one line an input

import pytest

from metrics import ingest
from metrics.ingest.lint import lint
from metrics.store import Workspace
from tests.engine.engine_scenes import finished
from tests.ingest.files import read_refusal

LETTERS = {"7": 0, "8": 0, "9": 0} | {str(case): 1 for case in range(7)}  # the last three name another place than Bern
EXECUTED = {"allow": True}
SPOKEN = {"ignore_case": True, "ignore_punctuation": True}
AP = ("coco_summary", {}, {"AP": 0.875248})
VALUES = {  # suite + outputs (or one file of both) → evaluator, parameters, {metric, or metric of a model or case: value}
    "text/k3_choice_s.jsonl + k3_choice_o.jsonl": ("exact_match", {}, LETTERS),
    "text/k6_parts_s.jsonl + k6_parts_o.jsonl": ("exact_match", {}, {"exact_match": 1}),
    "text/k12_wrapper_s.jsonl + k12_wrapper_o.jsonl": ("json_schema", {}, {"passes": 0}),
    "text/k13_sql_s.jsonl + k13_sql_o.jsonl": ("sql_execution", EXECUTED, {"same_result": 1, "runs": 1}),
    "text/k14_code_s.jsonl + k14_code_o.jsonl": ("code_execution", EXECUTED, {"passed": 1}),
    "text/k16_nan.json + k16_o.jsonl": ("exact_match", {}, {"exact_match": 1}),
    "text/k16_nan.jsonl + k16_o.jsonl": ("exact_match", {}, {"exact_match": 1}),
    "text/k17_nfd_s.jsonl + k17_nfd_o.jsonl": ("exact_match", {}, {"1": 1, "2": 1}),
    "text/th_s.jsonl + th_o.jsonl": ("exact_match", {}, {"plain": 1, "think": 1, "close_only": 1}),
    "text/rank_s.jsonl + rank_o.jsonl": ("ranking", {}, {"mrr": 0.75, "recall_at_1": 0.5, "precision_at_3": 1 / 3}),
    "text/big_s.jsonl + big_o.jsonl": ("exact_match", {}, {"exact_match": 1}),
    "other_tools/chat_img.jsonl": ("exact_match", {}, {"exact_match": 1}),
    "other_tools/mlflow.json": ("exact_match", {}, {"exact_match": 1}),
    "other_tools/js.jsonl + jo.jsonl": ("exact_match", {}, {"exact_match": 1}),
    "other_tools/math_s.jsonl + math_o.jsonl": ("exact_match", {}, {str(case): 1 for case in range(1, 8)}),
    "other_tools/asr.csv": ("corpus_error_rate", {}, {"corpus_wer": 0.125}),
    "other_tools/asr.csv again": ("edit_distance", {}, {"word_error_rate": 0.1}),
    "other_tools/asr_s.csv + asr_o.csv": ("corpus_error_rate", SPOKEN, {"corpus_wer": 0.125}),
    "vision/C7a/suite.csv + outputs.csv": ("roc_auc", {}, {"roc_auc": 0.928389}),
    "vision/C7b/suite.csv + outputs.csv": ("roc_auc", {}, {"roc_auc": 0.928389}),
    "vision/C11/suite.csv + outputs.csv": ("roc_auc", {}, {"roc_auc": 2 / 3}),
    "vision/C11/suite_onehot_task.csv + outputs.csv": ("roc_auc", {}, {"roc_auc": 2 / 3}),
    "vision/SPL/gt.zip + pred.zip": ("coco_summary", {}, {"AP": 0.95}),
    "vision/Y6_out_of_bounds_1e-6/gt.zip + pred.zip": ("coco_summary", {}, {"AP": 0.9}),
    "vision/Y6b_pred_slightly_out/gt.zip + pred.zip": ("coco_summary", {}, {"AP": 0.652475}),
    "vision/Y6c_negative_-1e-7/gt.zip + pred.zip": ("coco_summary", {}, {"AP": 0.568317}),
    "vision/Y6d_polygon_1.0021/gt.zip + pred.zip": ("coco_summary", {}, {"AP": 0.652475}),
    "vision/A23_roboflow_supercat/gt.json + det.json": ("coco_summary", {}, {"AP": 0.950495}),
    "vision/A4_zero_area/gt.json + det.json": AP,
    "vision/A5_bool_iscrowd/gt.json + det.json": AP,
    "vision/A5_str_iscrowd/gt.json + det.json": AP,
    "vision/A6_no_size/gt.json + det.json": AP,
    "vision/A7_cat_str_ids/gt.json + det.json": AP,
    "vision/A7_gt_ann_uuid/gt.json + det.json": AP,
    "vision/A7_gt_str_ids/gt.json + det.json": AP,
    "vision/A7_no_ann_id/gt.json + det.json": AP,
    "vision/S2_flat_poly_bbox/gt.json + det.json": AP,
    "vision/S3_seg_is_xywh_bboxtask/gt.json + det.json": AP,
    "vision/Z8/gt.json + ../A6_no_size/det.json": AP,
    "vision/Z9/gt.json + ../A6_no_size/det.json": AP,
}  # fmt: skip

REFUSED = {  # suite + outputs → the words of the refusal or question
    "text/k6_null_s.jsonl + k6_null_o.jsonl": "row 1, column expected_answers: found '[\"Paris\",null]'; expected a list such as",
    "text/lists/suite.csv + j_list_none.jsonl": "row 1, column retrieved_contexts: found '[\"a\",null]'; expected a list",
    "text/lists/suite.csv + j_nested.jsonl": 'row 1, column retrieved_contexts: found \'[["a","b"]]\'; expected a list',
    "text/lists/suite.csv + json_null.csv": "row 2, column retrieved_contexts: found '[\"The sky is blue.\", null]'; expected",
    "text/lists/suite.csv + py_none.csv": "row 2, column retrieved_contexts: found \"[None, 'Grass is green, mostly.']\"; expected",
    "text/lists/suite.csv + plain_semicolon_sentence.csv": "retrieved_contexts_separator=semicolon or retrieved_contexts_separator=none",
    "text/lists/suite.csv + semi.csv": "retrieved_contexts_separator=semicolon or retrieved_contexts_separator=none",
}
SKY = ["The sky is blue.", "Grass is green, mostly."]
CONTEXTS = {  # outputs of text/lists → the contexts of its first answer
    "j_objs_pc.jsonl": ["a"], "lc_doc_repr.csv": SKY, "np_array.csv": SKY, "py_list.csv": SKY, "py_tuple.csv": SKY,
}  # fmt: skip
RECEIPTS = {  # suite + outputs → lines that its receipt has
    "text/th_s.jsonl + th_o.jsonl": ["th_o.jsonl: answer: thoughts (4) is kept as metadata.reasoning", "reasoning=strip, as it seems; else reasoning=keep"],
    "text/rank_s.jsonl + rank_o.jsonl": ["context_ids[] (1) is not used: an id that was retrieved again counts at its first rank, such as 'a'"],
    "text/lists/suite.csv + j_objs_pc.jsonl": ["retrieved_contexts[].metadata.source (1) is not used"],
    "other_tools/promptfooconfig.yaml": ["assert[javascript] (1) is not used: code is not run", "assert[cost] (3) is metadata.budget_cost_usd", "assert[latency] (3) is metadata.budget_seconds", "assert[icontains] (1) is conditions", "assert[llm-rubric] (1) is criteria", "assert[contains-all] (1) is conditions", "assert[is-json] (1) is json_schema", "assert[not-contains] (1) is conditions", "assert[regex] (1) is conditions"],
    "other_tools/chat_img.jsonl": ["messages: image parts (1) is not used"],
    "other_tools/mlflow.json": ["criteria (1) is criteria"],
    "other_tools/evals.json": ["assertions (1) is criteria", "expected_output (1) is expected_answers", "files (1) is kept as metadata.files"],
    "vision/C7a/suite.csv + outputs.csv": ["score was decided: a score without a predicted class; the classes are 0 and 1: score_of=1"],
    "vision/C7b/suite.csv + outputs.csv": ["score was decided: high scores where prediction is 1, low ones where it is not: score_of=1"],
    "vision/C11/suite.csv + outputs.csv": ["one_hot was decided: columns of 0 and 1, MEL, NV, BCC: one is 1 in each row: one_hot=label"],
    "vision/SPL/gt.zip + pred.zip": ["split=test, as it seems", "split train (14) is not used", "split valid (3) is not used"],
    "vision/Y6_out_of_bounds_1e-6/gt.zip + pred.zip": ["gt.zip: coordinates (1) is up to 1 % beyond the edge"],
    "vision/Y6b_pred_slightly_out/gt.zip + pred.zip": ["pred.zip: coordinates (1) is up to 1 % beyond the edge"],
    "vision/Y6c_negative_-1e-7/gt.zip + pred.zip": ["gt.zip: coordinates (1) is up to 1 % beyond the edge"],
    "vision/Y6d_polygon_1.0021/gt.zip + pred.zip": ["gt.zip: coordinates (1) is up to 1 % beyond the edge"],
    "vision/A23_roboflow_supercat/gt.json + det.json": ["categories[0] (1) is not used: no annotation is of it, and category 1 has its name"],
    "vision/S3_seg_is_xywh_bboxtask/gt.json + det.json": ["annotations[].segmentation (3) is not used: these are no outlines"],
    "vision/A7_no_ann_id/gt.json + det.json": ["annotations[].id (3) is not used: annotations without an id"],
}  # fmt: skip
FINDINGS = {  # suite + outputs → a finding
    "vision/A4_zero_area/gt.json + det.json": "The area of 3 of 3 objects contradicts their box",
    "vision/K3_area_0/gt.json + det.json": "The area of 12 of 12 objects contradicts their box",
    "vision/K3_area_1/gt.json + det.json": "The area of 12 of 12 objects contradicts their box",
    "vision/Y7_duplicate_rows/gt.zip + pred.zip": "1 of 4 objects are there again (same image, class and box)",
}
OWN_TESTS = {  # inputs that are not as simple
    "text/k9_empty_s.jsonl", "text/k9_empty_o.jsonl", "text/bigid_s.jsonl", "vision/F2/suite.csv", "vision/F2/outputs.csv",
    "vision/L6_group_rects/gt.zip", "vision/Z8/images.zip", "other_tools/bot.py", "README.md",
}  # fmt: skip


@pytest.fixture(scope="module")
def reported(shared):
    folder = shared / "data" / "reported"
    if not folder.is_dir():
        pytest.skip("no ../shared/data/reported")
    return folder


def files_of(given):
    """Return the suite's file and that of the outputs, None where the suite's holds them or there are none."""
    suite, _, outputs = given.removesuffix(" again").partition(" + ")
    return suite, suite.rpartition("/")[0] + "/" + outputs if outputs else None


def read(reported, given):
    """Return suite and outputs of what is given (see `files_of`); outputs are None where there are none."""
    suite, outputs = files_of(given)
    if outputs is not None:
        read = ingest.read_suite(reported / suite)
        return read, ingest.read_outputs(reported / outputs, suite=read)
    if ingest.inspect(reported / suite).role == "combined":
        return ingest.read_combined(reported / suite)
    return ingest.read_suite(reported / suite), None


def test_no_input_is_forgotten(reported):
    """Each file is in one of the tables, or has a test of its own."""
    tables = [*VALUES, *REFUSED, *RECEIPTS, *FINDINGS, *(f"text/lists/{file}" for file in CONTEXTS)]
    known = {(reported / file).resolve() for given in tables for file in files_of(given) if file}
    known |= {reported / file for file in OWN_TESTS}
    files = {path for path in reported.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert len(files) > 90
    assert files == known


@pytest.mark.parametrize(("given", "expected"), VALUES.items(), ids=VALUES)
def test_values(reported, tmp_path, given, expected):
    evaluator, parameters, values = expected
    run = finished(Workspace(tmp_path), *read(reported, given), evaluator, parameters={evaluator: parameters})
    whole = run.aggregates[run.aggregates.label.isna() & run.aggregates.slice.isna()]
    found = {}
    for names, of in ((whole.metric, whole), (whole.model, whole), (run.scores.case_id, run.scores)):
        found |= dict(zip(names, of.value, strict=True))
    assert {name: found[name] for name in values} == pytest.approx(values, abs=1e-6)


@pytest.mark.parametrize(("given", "text"), REFUSED.items(), ids=REFUSED)
def test_refusals_and_questions(reported, given, text):
    assert text in read_refusal(read, reported, given)


@pytest.mark.parametrize(("file", "contexts"), CONTEXTS.items(), ids=CONTEXTS)
def test_lists(reported, file, contexts):
    _, outputs = read(reported, f"text/lists/suite.csv + {file}")
    assert outputs.outputs["retrieved_contexts"].to_pylist() == [contexts]


@pytest.mark.parametrize(("given", "lines"), RECEIPTS.items(), ids=RECEIPTS)
def test_receipts(reported, given, lines):
    said = "\n".join(str(line) for part in read(reported, given) if part is not None for line in part.receipt)
    assert [line for line in lines if line not in said] == []


@pytest.mark.parametrize(("given", "text"), FINDINGS.items(), ids=FINDINGS)
def test_findings(reported, given, text):
    assert any(text in str(finding) for finding in lint(*read(reported, given)))


def test_semicolons_are_read_as_is_answered(reported):
    folder = reported / "text" / "lists"
    suite = ingest.read_suite(folder / "suite.csv")
    for file, choice, contexts in (
        ("semi.csv", "semicolon", SKY), ("plain_semicolon_sentence.csv", "none", ["He came; he saw; he won."]),
    ):  # fmt: skip
        reading = ingest.Reading(answers={"retrieved_contexts_separator": choice})
        outputs = ingest.read_outputs(folder / file, suite=suite, readings={folder / file: reading})
        assert outputs.outputs["retrieved_contexts"].to_pylist() == [contexts]


def test_integers_beyond_64_bits_are_different_cases(reported):
    suite = ingest.read_suite(reported / "text" / "bigid_s.jsonl")
    assert suite.cases["case_id"].to_pylist() == [f"34028236692093846346337460743176821145{digit}" for digit in (6, 7)]


def test_nothing_retrieved_is_not_unknown(reported, tmp_path):
    """[] and [""] are answers without a context: what nothing supports counts as unsupported."""
    given = read(reported, "text/k9_empty_s.jsonl + k9_empty_o.jsonl")
    assert given[1].outputs["retrieved_contexts"].to_pylist() == [["It rains in May."], [], ["It rains in May."], [""]]
    run = finished(Workspace(tmp_path), *given, "groundedness")
    nothing, blank = run.scores.value[[1, 3]]
    assert (nothing, blank) == (0, 0)
    assert min(run.scores.value[[0, 2]]) > 0.5


def test_a_group_without_positives_has_no_equalised_odds(reported, tmp_path):
    given = read(reported, "vision/F2/suite.csv + outputs.csv")
    run = finished(Workspace(tmp_path), *given, "group_fairness", parameters={"group_fairness": {"column": "sex"}})
    odds = run.aggregates.set_index("metric").loc["equalized_odds_difference"]
    assert (odds.isna().value, odds.reason) == (True, "no case of the class in a: tpr has no value there")


def test_sizes_are_those_of_the_images(reported):
    folder = reported / "vision" / "Z8"
    suite = ingest.read_suite(folder / "gt.json", images=folder / "images.zip")
    assert suite.cases["image_width"].to_pylist() == [640, 640]


def test_a_group_of_rectangles_is_one_object(reported, tmp_path):
    suite = ingest.read_suite(reported / "vision" / "L6_group_rects" / "gt.zip")
    boxes = [(12, 10, 100, 100), (202, 50, 30, 30), (52, 50, 40, 40)]
    rows = [
        {"case_id": case, "model": "m", "label": label, "score": score, **dict(zip(("x", "y", "width", "height"), box, strict=True))}
        for case, label, score, box in zip("aab", ("cat", "dog", "cat"), (0.9, 0.8, 0.7), boxes, strict=True)
    ]  # fmt: skip
    run = finished(Workspace(tmp_path), suite, ingest.outputs_from_frame(rows, suite=suite), "coco_summary")
    assert run.aggregates.query("metric == 'AP' and label.isna()").value.item() == pytest.approx(0.875248, abs=1e-6)
