"""Evaluate: what shall I evaluate?"""

import io
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest
from streamlit.testing.v1 import AppTest

from components.data import target_runs
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import Evaluation, EvaluationInCode, option_name
from metrics.engine.evaluation_fields import page_schema
from metrics.ingest.tables.thoughts import REASONING
from metrics.judge.rubrics import read_rubric
from metrics.judge.saved_objects import save
from metrics.library.given_values import recognize_values
from metrics.library.input_data import read_data
from metrics.store import Run, Workspace
from metrics.store.run_spec import FilterFacts
from tests.engine.engine_scenes import finished
from tests.ingest.files import packed
from tests.ingest.test_hostile_images import saved
from tests.ingest.test_workbooks import book
from tests.pages.conftest import Open
from tests.pages.reading import give, labelled, words

SUITE = "id,user_input,reference,tags\n007,What is 1 + 1?,two,\"['sum', 'easy']\"\nNA,Who am I?,nobody,\n"
OUTPUTS = "id,model,response\n007,small,two\nNA,small,you\n007,large,It is two\nNA,large,nobody\n"
BAD = "case_id,question\na,one\n,two\na,three\n"


@pytest.fixture
def page(workspace: Path, open_page: Open) -> AppTest:
    """The page on an empty workspace."""
    return open_page("evaluate")


@pytest.fixture
def form(evaluate_with: Open) -> AppTest:
    """The page with a suite and the answers of two models."""
    return evaluate_with(("sums.csv", SUITE), ("answers.csv", OUTPUTS))


def tokens_of(page: AppTest) -> list[str]:
    """The files that the address names."""
    found = page.query_params["file"]
    return [found] if isinstance(found, str) else list(found)


def headings(page: AppTest) -> list[str]:
    return [heading.value for heading in page.subheader]


def offer(page: AppTest, name: str) -> AppTest:
    """The checkbox of an evaluator, whose family is opened if it is not."""
    family = evaluators()[name].family
    if "all-evaluators" not in page.session_state or not page.session_state["all-evaluators"]:
        page.session_state["all-evaluators"] = True
        page.run()
    for _ in range(2):
        if found := [box for box in page.checkbox if box.key == f"offer-{name}"]:
            return found[0]
        next(button for button in page.button if button.key == f"open-{family}").click().run()
    raise AssertionError(f"{name} is not on offer")


def drawer(page: AppTest, name: str) -> AppTest:
    """The page with the parameters of an evaluator open."""
    page.session_state[f"drawer-{name}"] = True
    return page.run()


def rest(page: AppTest) -> str:
    """What the page says of the evaluators that cannot run."""
    page.session_state["all-evaluators"] = page.session_state["rest"] = True
    return words(page.run())


def start(page: AppTest) -> AppTest:
    """The button that starts the run."""
    return labelled(page.button, "Start")


def test_the_empty_page_teaches(page: AppTest) -> None:
    assert "Drop your files, or choose a stored suite or a sample." in words(page)
    assert any("expected_answer" in code.value for code in page.code)
    assert start(page).disabled


def test_two_files_are_understood_and_started(page: AppTest, started: list[Run]) -> None:
    give(page, 0, "sums.csv", SUITE)
    assert "sums.csv: 2 rows · case id ← id · question ← user_input · expected answers ← reference · tags" in words(
        page
    )
    give(page, 0, "answers.csv", OUTPUTS)
    assert "sums: 2 cases, text" in words(page)
    assert "2 models: small, large" in words(page)
    assert "Ready to start" in headings(page)
    assert offer(page, "rouge").value
    assert not offer(page, "json_schema").value
    assert "No judge calls" in words(page)
    start(page).click().run()
    [run] = started
    assert run.suite.cases["case_id"].to_pylist() == ["007", "NA"]
    assert run.suite.cases["tags"].to_pylist() == [["sum", "easy"], None]
    assert "rouge" in run.evaluators
    assert run.name.startswith("sums")


def test_the_address_brings_everything_back(form: AppTest, started: list[Run], open_page: Open) -> None:
    offer(form, "bleu").uncheck().run()
    again = open_page("evaluate", **dict(form.query_params.items()))
    assert "2 models: small, large" in words(again)
    assert not offer(again, "bleu").value
    start(again).click().run()
    assert "bleu" not in started[0].evaluators


def test_all_problems_at_once_and_the_good_rows_kept_by_choice(page: AppTest, started: list[Run]) -> None:
    give(give(page, 0, "bad.csv", BAD), 0, "answers.csv", "case_id,model,answer\na,small,x\nzz,small,y\n")
    assert "3 problems in the files" in headings(page)
    said = [text.value.splitlines() for text in page.text if text.value.startswith("✗") and "\n" in text.value]
    assert [lines[:2] for lines in said] == [
        ["✗ bad.csv, row 3, column case_id", "Found nothing."],
        ["✗ bad.csv, row 4, column case_id", "Found 'a' again, first in row 2."],
        ["✗ answers.csv, row 3, column case_id", "Found 'zz'."],
    ]
    assert start(page).disabled
    keep = next(box for box in page.checkbox if box.label.startswith("Keep the"))
    keep.check().run()
    assert page.query_params["keep"] == "1"
    assert "Ready to start" in headings(page)
    assert "skipped; the run records the count" in words(page)
    start(page).click().run()
    assert started[0].spec.suite.left_out + started[0].spec.outputs.left_out > 0


@pytest.mark.parametrize(("content", "said", "skippable"), [
    ("foo,bar\n1,2\n", ("Found only the columns foo, bar.",), False),
    (BAD, ("Found 'a' again, first in row 2.", "Found nothing."), True),
], ids=["useless columns", "a duplicate and an empty id"])  # fmt: skip
def test_a_suite_is_checked_before_there_are_answers(page, content, said, skippable):
    give(page, 0, "suite.csv", content)
    assert all(line in words(page) for line in said)
    assert ("Fix the problems, or skip the bad rows." in words(page)) == skippable
    assert ("Fix the problems in the files." in words(page)) == (not skippable)
    keep = [box for box in page.checkbox if box.label.startswith("Keep the")]
    assert bool(keep) == skippable
    for box in keep:
        box.check().run()
        assert "Answers are missing" in words(page)


@pytest.mark.parametrize(("name", "content"), [
    ("suite.csv", b"\xff\xfe\x00\x01\x02"), ("suite.json", b"{"), ("suite.parquet", b"PAR1"),
    ("suite.csv", b"PK\x03\x04"),
], ids=["bytes", "cut JSON", "cut Parquet", "a zip called CSV"])  # fmt: skip
def test_an_unreadable_file_is_a_problem_and_no_traceback(page: AppTest, name: str, content: bytes) -> None:
    give(page, 0, name, content)
    assert f"{name} cannot be read" in words(page)
    assert start(page).disabled


def test_an_ambiguous_column_is_asked_about(page: AppTest) -> None:
    give(page, 0, "deepeval.csv", "id,input,expected_output,context\n1,q,a,\"['c']\"\n")
    assert "Column “context”" in words(page)
    question = next(group for group in page.get("button_group") if (group.proto.label or "") == "Meaning")
    assert question is not None


@pytest.mark.parametrize(("name", "label"), [("m.csv", "m.csv"), ("s.csv", "s (2).csv")])
def test_what_was_decided_can_be_decided_otherwise(evaluate_with: Open, name: str, label: str) -> None:
    """At first as it seems; then as somebody said, of which the choice can be taken back."""
    page = evaluate_with(("s.csv", SUITE), (name, OUTPUTS.replace("small,", "small,<think>Hm.</think>")))
    assert f"{label}: " in words(page)
    assert "reasoning=strip, as it seems; else reasoning=keep" in words(page)
    for answer, said in (("keep", "reasoning=keep, as you said"), (None, "reasoning=strip, as it seems")):
        (choice,) = [group for group in page.button_group if (group.key or "").startswith("decided-")]
        assert (choice.label or "").startswith(f"{label}, response: {REASONING.text}")
        choice.set_value(answer).run()
        assert said in words(page)
    assert "--" not in words(page)


def test_answers_that_do_not_hold_can_be_taken_back(evaluate_with: Open) -> None:
    page = evaluate_with(("s.csv", SUITE), ("m.csv", "id,big,small\n007,two,2\nNA,you,I\n"))
    assert "Answer the question about a file." in words(page)
    (choice,) = [group for group in page.button_group if (group.key or "").startswith("answer-")]
    choice.set_value("none").run()
    assert "Fix the problems in the files." in words(page)
    labelled(page.button, "Answer the questions about the files again").click().run()
    assert "Answer the question about a file." in words(page)


def test_some_of_the_columns_are_chosen(evaluate_with: Open) -> None:
    page = evaluate_with(("s.csv", SUITE), ("m.csv", "id,big,small,remark\n007,two,2,easy\nNA,you,I,hard\n"))
    (shown,) = page.multiselect
    assert (shown.label, shown.value) == ("Some of these", ["big", "small", "remark"])
    shown.set_value(["big", "small"]).run()
    labelled(page.button, "Take these").click().run()
    assert "2 models: big, small" in words(page)


def test_a_question_about_one_of_several_sheets_is_answered(evaluate_with: Open, tmp_path: Path) -> None:
    sheets = {"A": [["id", "big", "small"], ["007", "two", "2"], ["NA", "you", "I"]], "Notes": [["by Ann"]]}
    page = evaluate_with(("s.csv", SUITE), ("m.xlsx", book(tmp_path / "m.xlsx", sheets).read_bytes()))
    assert "m.xlsx: Which columns hold the answers of a model each, named after it?" in words(page)
    labelled(page.button, "Take these").click().run()
    assert "2 models: big, small" in words(page)


def test_the_preview_knows_the_classes_of_the_suite(evaluate_with: Open) -> None:
    truth = "id,label\n1,cat\n2,dog\n"
    page = evaluate_with(("s.csv", truth), ("m.csv", "id,p_cat,p_dog,remark\n1,0.9,0.1,x\n2,0.2,0.8,y\n"))
    assert "m.csv: 2 rows · case id ← id · scores of 2 classes · 1 kept as metadata" in words(page)


def test_a_role_is_corrected(page: AppTest) -> None:
    give(page, 0, "all.csv", "id,question,reference,response\n1,How?,so,thus\n")
    assert "1 model: all" in words(page)
    role = labelled(page.selectbox, "What all.csv is")
    assert role.value == "both"
    role.select("suite").run()
    assert "Answers are missing" in words(page)
    labelled(page.selectbox, "What all.csv is").select("both").run()
    assert "1 model: all" in words(page)


@pytest.mark.parametrize("together", [False, True])
def test_an_address_of_old_opens(evaluate_with: Open, open_page: Open, together: bool) -> None:
    """One that names the suite and the outputs apart, or one file for both."""
    both = "id,user_input,reference,model,answer\n1,How?,so,small,thus\n"
    files = [("all.csv", both)] if together else [("m.csv", OUTPUTS), ("s.csv", SUITE)]
    first, *more = tokens_of(evaluate_with(*files))
    old = {"suite": first, "together": "1"} if together else {"suite": more[0], "outputs": first}
    page = open_page("evaluate", **old)
    assert ("1 model: small" if together else "2 models: small, large") in words(page)
    assert tokens_of(page) == [old["suite"], *([] if together else [first])]


def test_the_mapping_can_be_corrected(page: AppTest) -> None:
    give(page, 0, "sums.csv", "id,text_of_it,reference\n1,How?,so\n")
    [token] = tokens_of(page)
    box = page.selectbox(key=f"map-smap-{token}-question")
    assert box.value == "–"
    box.select("text_of_it").run()
    assert page.query_params["smap"] == f"{token}.question=text_of_it"
    assert "question ← text_of_it" in words(page)
    page.selectbox(key=f"map-smap-{token}-expected_answers").select("–").run()
    assert "expected answers" not in words(page).split("sums.csv: 1 row")[1].splitlines()[0]


def test_one_file_with_everything(page: AppTest, started: list[Run]) -> None:
    rows = "id,input,expected_output,actual_output,model\n1,How?,so,so,small\n1,How?,so,thus,large\n"
    give(page, 0, "all.csv", rows)
    assert "2 models: small, large" in words(page)
    start(page).click().run()
    assert len(started[0].suite) == 1


def test_a_file_a_model_is_named_by_it_and_renamed(page: AppTest, started: list[Run]) -> None:
    give(page, 0, "sums.csv", SUITE)
    give(page, 0, "outputs_small.csv", "id,response\n007,two\nNA,you\n")
    name = next(box for box in page.text_input if box.label.startswith("Model that made"))
    assert name.value == "small"
    name.input("tiny").run()
    assert "1 model: tiny" in words(page)
    start(page).click().run()
    assert started[0].models == ("tiny",)


def test_coco_files(page: AppTest, started: list[Run]) -> None:
    truth = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 80}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 40], "area": 1200, "iscrowd": 0}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [1, 2, 30, 39], "score": 0.9}]
    give(page, 0, "truth.json", json.dumps(truth))
    assert "Predictions are missing" in words(page)
    give(page, 0, "detector.json", json.dumps(found))
    assert labelled(page.selectbox, "What truth.json is").options[:2] == ["Ground truth", "Predictions"]
    assert "truth: 1 case, detection" in words(page)
    start(page).click().run()
    assert started[0].models == ("detector",)
    assert "average_precision" in started[0].evaluators


def test_a_stored_suite_takes_new_outputs(form: AppTest, started: list[Run], open_page: Open) -> None:
    start(form).click().run()
    again = open_page("evaluate", **{"from": "stored"})
    give(again, 0, "more.csv", "id,model,response\n007,third,two\n")
    assert "sums: 2 cases, text" in words(again)
    assert "1 answer missing: those cases are not scored" in words(again)
    start(again).click().run()
    assert started[1].models == ("third",)


def test_a_stored_suite_offers_the_answers_of_earlier_runs(workspace, started, open_page):
    cases = [{"case_id": f"c{n}", "question": f"{n}?", "expected_answers": ["yes"]} for n in range(4)]
    suite = Suite.from_rows("desk", "text", cases)
    answers = [{"case_id": f"c{n}", "model": model, "answer": "yes"} for n in range(3) for model in ("small", "large")]
    run = finished(Workspace(), suite, Outputs.from_rows(answers), "rouge", name="Monday")
    kept = Workspace().save_suite(suite.restricted(pa.array(["c2", "c3"])))
    page = open_page("evaluate", **{"from": "stored", "suite": kept, "by": "file"})
    [shown] = labelled(page.selectbox, "What the models answered").options
    assert shown.startswith("small, large · 1 of 2 cases · Monday, ")
    assert page.query_params["answers"] == run.spec.outputs.fingerprint
    assert "desk: 2 cases, text" in words(page)
    assert "2 answers missing: those cases are not scored" in words(page)
    start(page).click().run()
    assert started[0].models == ("small", "large")
    assert started[0].outputs.outputs["case_id"].to_pylist() == ["c2", "c2"]


def test_the_cases_of_a_stored_suite_are_handed_out_to_be_answered(workspace: Path, open_page: Open) -> None:
    cases = [{"case_id": "007", "question": "Who?", "expected_answers": ["you"]}, {"case_id": "8", "question": "=1"}]
    kept = Workspace().save_suite(Suite.from_rows("desk", "text", cases))
    page = open_page("evaluate", **{"from": "stored", "suite": kept})
    assert [button.label for button in page.get("download_button")] == ["Cases to answer, CSV"]
    table = target_runs.cases_to_answer(kept)
    assert table is not None
    assert table.decode() == "case_id,question,answer\r\n007,Who?,\r\n8,'=1,\r\n"


REFUSED = [
    ("empty.csv", b"", "empty.csv is empty"),
    ("outputs.csv", b"\x89PNG\r\n\x1a\n", "outputs.csv is a PNG image, not a CSV table"),
    ("suite.json", b"%PDF-1.7", "suite.json is a PDF, not JSON"),
    ("suite.csv", b"<!doctype html><p>Sign in", "suite.csv is a web page (HTML), not a CSV table"),
    ("suite.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "suite.xlsx is an old or protected Office document (.xls, .doc), not an Excel workbook"),
    ("masks.zip", b"\x1f\x8b\x08", "masks.zip is a gzip archive, not a zip archive"),
]  # fmt: skip


def test_a_refused_upload_says_why(page: AppTest) -> None:
    for name, content, why in REFUSED:
        give(page, 0, name, content)
        assert f"✗ Not stored: {why}" in words(page)
        assert not page.query_params.get("suite")


def test_the_encoding_is_shown_and_corrected(page: AppTest) -> None:
    give(page, 0, "sums.csv", "id,user_input,reference\n1,Größe?,groß\n".encode("cp1252"))
    box = labelled(page.selectbox, "sums.csv was read as")
    assert box.value == "Windows-1252"
    assert page.dataframe[-1].value["user_input"].tolist() == ["Größe?"]
    box.select("Windows-1251").run()
    assert page.dataframe[-1].value["user_input"].tolist() == ["GrцЯe?"]
    give(page, 0, "answers.csv", "id,model,response\n1,small,größer\n".encode("utf-16"))
    assert "sums.csv was read as Windows-1251." in words(page)
    assert "answers.csv was read as UTF-16." in words(page)


def test_a_workbook_that_is_read_whole_names_both_sheets(page: AppTest, tmp_path: Path) -> None:
    """A sheet chosen by hand is read alone, until it is taken back."""
    sheets = {
        "Questions": [["id", "question", "expected_answer"], ["007", "Who?", "you"]],
        "Replies": [["id", "model", "answer"], ["007", "small", "you"]],
    }
    give(page, 0, "all.xlsx", book(tmp_path / "all.xlsx", sheets).read_bytes())
    for sheet, understood in (("Questions and Replies", True), ("Questions", False), ("Questions and Replies", True)):
        box = labelled(page.selectbox, "Sheet read of all.xlsx")
        assert (box.value, "all: 1 case, text" in words(page)) == (sheet, understood)
        box.select("Questions" if understood else "as it seems").run()
    assert "as it seems" in labelled(page.selectbox, "Sheet read of all.xlsx").options


def test_the_sheet_of_a_workbook_is_chosen(page: AppTest, tmp_path: Path) -> None:
    sheets = {"Cases": [["id", "question"], ["007", "Who?"]], "Answers": [["id", "answer"], ["007", "you"]]}
    content = book(tmp_path / "all.xlsx", sheets).read_bytes()
    give(page, 0, "all.xlsx", content)
    assert labelled(page.selectbox, "Sheet read of all.xlsx").value == "Cases and Answers"
    give(page, 0, "all2.xlsx", content)
    boxes = [box for box in page.selectbox if box.label == "Sheet read of all2.xlsx"]
    assert "no column with the model's answers" in words(page)
    boxes[0].select("Answers").run()
    assert "all: 1 case, text" in words(page)
    assert "1 model: all2" in words(page)


def test_further_settings_go_with_the_run(form: AppTest, started: list[Run]) -> None:
    offer(form, "rouge")
    for name, value in (("seed", 7), ("case_timeout", 9.0), ("budget_cases", 1)):
        next(box for box in form.number_input if box.key == f"setting.{name}").set_value(value).run()
    next(box for box in form.selectbox if box.key == "setting.as_in").select("h2o").run()
    next(box for box in (*form.checkbox, *form.toggle) if box.key == "setting.save_llm_result").set_value(True).run()
    start(form).click().run()
    spec = started[0].spec
    assert (spec.seed, spec.case_timeout, spec.suite.cases, spec.as_in) == (7, 9, 1, "h2o")
    assert spec.save_llm_result
    assert started[0].evaluators["rouge"]["thresholds"] == {"rouge1": 0.75, "rouge2": 0.75, "rougeL": 0.75}
    assert spec.suite.budget is not None


def test_further_settings_are_asked_in_words(form: AppTest) -> None:
    """Not by the names of the command's options; what most people leave as it is comes last."""
    asked = [box for box in form.main if (getattr(box, "key", "") or "").startswith("setting.")]
    names = [(box.key or "").removeprefix("setting.") for box in asked]
    assert names == list(page_schema(Evaluation)["properties"])
    assert not {box.label.lower().replace(" ", "_") for box in asked} & set(Evaluation.model_fields)
    boxes = dict(zip(names, asked, strict=True))
    assert (boxes["as_in"].options, boxes["as_in"].placeholder) == (["H2O Eval Studio", "Open RAG Eval"], "Assay's own")
    assert boxes["duplicates"].options == ["count as one", "count each"]
    assert (names[0], names[-2:]) == ("where", ["seed", "save_llm_result"])
    assert [option_name("budget_cases", door) for door in ("command", "python", "page")] == [
        "--budget-cases", "budget_cases", boxes["budget_cases"].label,
    ]  # fmt: skip


def test_conditions_and_classes_go_with_the_run(form: AppTest, started: list[Run]) -> None:
    offer(form, "classification_text")
    for name, text in (("where", "case_id=007"), ("label_map", "yes=no")):
        next(box for box in form.multiselect if box.key == f"setting.{name}").set_value([text]).run()
    start(form).click().run()
    suite = started[0].spec.suite
    assert (suite.filter, suite.label_map) == (FilterFacts(where=("case_id = 007",), cases=2, met=1), {"yes": "no"})


@pytest.mark.parametrize(("name", "value", "said", "starts"), [
    ("where", ["case_id=007"], "1 of 2 cases: case_id = 007", True),
    ("budget_cases", 1, "1 of 2 cases, drawn at random", True),
    ("where", ["case_id=008"], "no case with case_id = 008", False),
    ("where", ["splitt=test"], "found 'splitt'; expected one of tag", False),
    ("label_map", ["yes=no"], "yes taken for no", True),
])  # fmt: skip
def test_what_of_the_data_is_evaluated_is_said_before_the_start(form: AppTest, name, value, said, starts) -> None:
    offer(form, "classification_text")
    assert said not in words(form)
    next(box for box in (*form.multiselect, *form.number_input) if box.key == f"setting.{name}").set_value(value).run()
    assert said in words(form)
    assert start(form).disabled is not starts
    assert ("Ready to start" in [head.value for head in form.subheader]) is starts


def test_parameters_go_with_the_run(form: AppTest, started: list[Run]) -> None:
    offer(form, "rouge")
    drawer(form, "rouge")
    next(box for box in form.number_input if box.key == "parameter-rouge.threshold").set_value(0.4).run()
    assert json.loads(form.query_params["parameters"]) == {"rouge": {"threshold": 0.4}}
    assert "Threshold: 0.4 (default none)" in words(form)
    assert "1 changed" in offer(form, "rouge").label
    start(form).click().run()
    assert started[0].evaluators["rouge"]["threshold"] == 0.4
    assert Workspace().runs()


def test_the_main_metric_is_chosen_from_the_evaluators_own(form: AppTest, started: list[Run]) -> None:
    offer(form, "rouge")
    drawer(form, "rouge")
    next(box for box in form.selectbox if box.key == "parameter-rouge.primary").select("rouge1").run()
    start(form).click().run()
    known = started[0].evaluator("rouge")
    assert known is not None
    assert known.primary.name == "rouge1"


def test_an_evaluator_without_its_model_explains_itself_before_the_run(form, started, open_page):
    assert "will be skipped" not in words(form), "nothing that needs a model is chosen unasked"
    assert "Toxicity: classifier: no classifier is chosen: set classifier to a local folder" in rest(form)
    form = open_page("evaluate", **(dict(form.query_params.items()) | {"evaluator": "toxicity_classifier"}))
    assert "needs a classifier model" in offer(form, "toxicity_classifier").label
    assert (
        "Will be skipped: no classifier is chosen: set classifier to a local folder or the name of a model on the hub, "
        "such as unitary/toxic-bert." in words(form)
    )
    assert "1 evaluator will be skipped; the list says why" in words(form)
    field = next(field for field in form.text_input if field.key == "model-classifier")
    field.set_value("/no/such/model").run()
    assert "Will be skipped: there is no folder '/no/such/model'; name one with a classifier" in words(form)
    next(field for field in form.text_input if field.key == "model-classifier").set_value("unitary/toxic-bert").run()
    assert "be skipped" not in words(form)
    assert form.query_params["classifier"] in ("unitary/toxic-bert", ["unitary/toxic-bert"])
    assert "asks a classifier model" in offer(form, "toxicity_classifier").label
    start(form).click().run()
    assert started[0].spec.resources == {"classifier": "unitary/toxic-bert"}


def test_thresholds_of_other_metrics_are_chosen_and_set(form: AppTest) -> None:
    offer(form, "rouge")
    drawer(form, "rouge")
    choice = next(box for box in form.multiselect if box.key == "parameter-rouge.thresholds")
    assert choice.options == ["rouge1", "rouge2", "rougeLsum"]
    choice.select("rouge2").run()
    next(box for box in form.number_input if box.key == "parameter-rouge.thresholds.rouge2").set_value(0.2).run()
    assert json.loads(form.query_params["parameters"]) == {"rouge": {"thresholds": {"rouge2": 0.2}}}


def test_a_saved_rubric_is_chosen_by_name(form: AppTest, workspace: Path) -> None:
    (workspace / "judge.json").write_text(json.dumps({"model": "scripted", "base_url": "http://127.0.0.1:9/v1"}))
    save(workspace, read_rubric("tone: {weight: 1, description: Kind., levels: {kind: 1, rude: 0}}", "support.yaml"))
    offer(form, "rubric")
    drawer(form, "rubric")
    labelled(form.selectbox, "Rubric").select("support").run()
    own = json.loads(form.query_params["parameters"])["rubric"]
    assert own["rubric"] == "support, version 1"
    assert [one["name"] for one in own["dimensions"]] == ["tone"]
    choice = next(box for box in form.multiselect if box.key == "parameter-rubric.thresholds")
    assert "tone" in choice.options
    labelled(form.selectbox, "Rubric").select("usual").run()
    assert "parameters" not in form.query_params


def test_a_model_of_one_evaluator_is_its_parameter(form: AppTest, started: list[Run]) -> None:
    assert "such as HuggingFaceTB/SmolLM2-135M" in rest(form)
    drawer(form, "perplexity")
    own = next(field for field in form.text_input if field.key == "parameter-perplexity.language_model")
    own.set_value("some/model").run()
    offer(form, "perplexity").check().run()
    assert "be skipped" not in words(form)
    start(form).click().run()
    assert started[0].evaluators["perplexity"]["language_model"] == "some/model"


def test_a_run_of_nothing_but_skipped_evaluators_is_not_started(form: AppTest, open_page: Open) -> None:
    again = open_page("evaluate", **(dict(form.query_params.items()) | {"evaluator": "perplexity"}))
    assert "No chosen evaluator can run: the list says what each needs." in words(again)
    assert start(again).disabled


def test_the_files_that_agents_made_go_with_their_outputs(page: AppTest, started: list[Run]) -> None:
    give(page, 0, "tasks.jsonl", '{"case_id": "a", "question": "Plot it."}')
    chat = [{"role": "user", "content": "Plot it."}, {"role": "assistant", "content": "Done."}]
    give(page, 0, "agent.jsonl", json.dumps({"case_id": "a", "model": "m", "messages": chat}))
    assert "Traces: messages; the answer from them." in words(page)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("a/plot.json", '{"bars": 3}')
    give(page, 0, "files.zip", archive.getvalue())
    assert "Ready to start" in headings(page)
    start(page).click().run()
    [run] = started
    assert "agent_sanity" in run.evaluators
    outputs = run.workspace.outputs(run.spec.outputs.fingerprint)
    [artifact] = outputs.outputs["artifacts"][0].as_py()
    assert json.loads(artifact)["name"] == "plot.json"
    assert (outputs.files / json.loads(artifact)["stored"]).read_text() == '{"bars": 3}'


def test_a_selection_takes_the_predictions_of_the_suite_it_is_of(workspace, started, open_page):
    cases = [{"case_id": f"c{n}", "question": f"{n}?", "expected_answers": ["yes"]} for n in range(4)]
    suite = Suite.from_rows("desk", "text", cases)
    Workspace().save_suite(suite)
    kept = Workspace().save_suite(suite.restricted(pa.array(["c2", "c3"])))
    page = open_page("evaluate", **{"from": "stored", "suite": kept})
    give(page, 0, "out_small.csv", "id,answer\n" + "".join(f"c{n},yes\n" for n in range(3)))
    assert "of which this suite is a selection" in words(page)
    assert "1 answer missing" in words(page)
    start(page).click().run()
    assert started[0].outputs.outputs["case_id"].to_pylist() == ["c2"]


def test_a_pasted_table_is_a_file(page: AppTest) -> None:
    labelled(page.text_area, "A table with its header").input("id\tinput\tanswer\texpected\n1\tHow?\tso\tthus\n")
    labelled(page.text_input, "Name").input("small")
    labelled(page.button, "Add it").click().run()
    assert "✓ small.tsv: 1 question, expected answers, answers" in words(page)
    assert "1 model: small" in words(page)


def test_columns_of_models_are_used_by_a_word(page: AppTest) -> None:
    rows = "".join(f"q{n},a{n},b{n},c{n},x\n" for n in range(9))
    give(page, 0, "wide.csv", "question,expected,big,small,topic\n" + rows)
    assert "Answers are missing" in words(page)
    assert labelled(page.multiselect, "Answers").value == ["big", "small"]
    labelled(page.button, "Use them").click().run()
    assert "2 models: big, small" in words(page)


WIDE = {
    "classes": ("id,y_true,logreg,tree\n1,cat,cat,dog\n2,dog,dog,dog\n", ["logreg", "tree"]),
    "numbers": ("id,y_true,ridge,forest\n1,.5,2,3\n2,7,9.5,1\n", ["ridge", "forest"]),
    "named for models": ("id,y_true,y_pred_a,y_pred_b\n1,cat,cat,dog\n2,dog,dog,dog\n", []),
}  # fmt: skip


@pytest.mark.parametrize(("table", "asked"), WIDE.values(), ids=WIDE.keys())
def test_predictions_of_models_beside_the_truth(page: AppTest, table: str, asked: list[str]) -> None:
    give(page, 0, "wide.csv", table)
    if asked:
        assert labelled(page.multiselect, "Answers").value == asked
        labelled(page.button, "Use them").click().run()
    assert f"2 models: {', '.join(asked or 'ab')}" in words(page)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_images_of_classes_are_in_order(page: AppTest, tmp_path: Path, kind: str) -> None:
    truth = f"filename,label\na.{kind.lower()},cat\nb.{kind.lower()},dog\n"
    archive = packed(tmp_path / "images.zip", {f"{each}.{kind.lower()}": saved(kind) for each in "ab"})
    for name, content in (("images.zip", archive.read_bytes()), ("labels.csv", truth), ("m.csv", truth)):
        give(page, 0, name, content)
    assert "✓ images.zip: images" in words(page)
    assert "✗" not in words(page)


CASES = [("Who?", "you"), ("When?", "now"), ("Where?", "here")]
SAID = {"a": ("you", "then", "there"), "b": ("me", "now", "here")}
FORMS = {  # the same cases and answers, as people have them
    "a file for each model": {"suite.csv": "id,question,expected\n" + "".join(
        f"{n},{q},{want}\n" for n, (q, want) in enumerate(CASES))} | {
        f"out_{m}.csv": "id,answer\n" + "".join(f"{n},{text}\n" for n, text in enumerate(said))
        for m, said in SAID.items()},
    "notebooks": {f"{m}.csv": "question,expected,answer\n" + "".join(
        f"{q},{want},{text}\n" for (q, want), text in zip(CASES, said, strict=True)) for m, said in SAID.items()},
    "one table": {"all.csv": "question,expected,model,answer\n" + "".join(
        f"{q},{want},{m},{said[n]}\n" for m, said in SAID.items() for n, (q, want) in enumerate(CASES))},
}  # fmt: skip


@pytest.mark.parametrize("files", FORMS.values(), ids=FORMS.keys())
def test_the_page_reads_what_the_command_and_python_read(page, files, started, tmp_path):
    """Dropped at once in one order, given in the other: the same suite and outputs."""
    page.file_uploader[0].set_value([(name, text.encode(), "text/csv") for name, text in files.items()]).run()
    start(page).click().run()
    [run] = started
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    given = [str(tmp_path / name) for name in reversed(files)]
    suite, outputs, *_ = recognize_values(given, None)
    for read in (
        read_data(EvaluationInCode(suite=suite, outputs=outputs), "python"),
        read_data(Evaluation(suite=given[0], outputs=tuple(given[1:])), "command"),
    ):
        assert read.suite.fingerprint == run.suite.fingerprint
        found, shown = ([*map(str, one.outputs.to_pylist())] for one in (read.outputs, run.outputs))
        assert sorted(found) == sorted(shown)


def test_the_first_of_several_files_is_marked_where_it_is_wrong(evaluate_with: Open) -> None:
    page = evaluate_with(("bad.csv", BAD), ("a.csv", "case_id,model,answer\na,m,one\n"))
    marks = [text.value for text in page.text if text.value[1:].startswith((" bad.csv: ", " a.csv: "))]
    assert marks[0].startswith("✗ bad.csv: 3 questions")
    assert marks[0].endswith("2 bad rows")
    assert marks[1].startswith("✓ a.csv: 1 row, ")


def test_new_cases_for_a_stored_suite_are_shown_the_way(workspace: Path, open_page: Open) -> None:
    fingerprint = Workspace(workspace).save_suite(Suite.from_rows("kept", "text", [{"case_id": "a", "question": "A?"}]))
    page = open_page("evaluate", **{"from": "stored", "suite": fingerprint})
    give(page, 0, "more.csv", "id,question,expected_answer\nb,B?,yes\n")
    [link] = [each.proto for each in page.get("page_link") if each.proto.label.startswith("Are these new cases?")]
    assert (link.page, "view=make" in link.query_string) == ("suites", True)
