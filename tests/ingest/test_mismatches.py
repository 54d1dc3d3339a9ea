"""Files whose ids do not fit the suite: one problem that says why, with an example of both sides; the rare ones stay."""
# ruff: noqa: E501 - a line as the user reads it

import json
import unicodedata
from pathlib import Path

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import Reading, load_outputs, read_outputs, read_suite
from tests.ingest.files import list_problems, read_refusal, write

LENGTH = 12


def suite_of(ids: list[str]) -> Suite:
    return Suite.from_rows("s", "text", [{"case_id": id, "question": "?"} for id in ids])


def answers(ids: list[str], beside: str = "", column: str = "case_id") -> str:
    head = f"{column},answer" + (",key2" if beside else "")
    return "\n".join([head, *(f"{id},x" + (f",{beside.format(n)}" if beside else "") for n, id in enumerate(ids))])


PLAIN = [f"c{n}" for n in range(LENGTH)]
PADDED = [f"{n:03}" for n in range(1, LENGTH + 1)]
NUMBERS = [str(n) for n in range(1, LENGTH + 1)]
REASONS = {  # ids of the suite, of the outputs, what is found and the reason
    "no likeness": (PLAIN, [f"zz{n}q" for n in range(LENGTH)], "'zz0q'", "'c0', 'c1'"),
    "case": (PLAIN, [id.upper() for id in PLAIN], "'C0'", "'c0', 'c1'. They would match in the same upper and lower case: 'C0' here is 'c0' in the suite"),
    "spaces": (PLAIN, [f"c{n} " for n in range(LENGTH)], "'c0 '", "'c0', 'c1'. They would match without the spaces around them: 'c0 ' here is 'c0' in the suite"),
    "zeros lost": (PADDED, NUMBERS, "'1'", "'001', '002'. They would match without leading zeros: '1' here is '001' in the suite"),
    "zeros in words": ([f"q-{id}" for id in PADDED], [f"q-{id}" for id in NUMBERS], "'q-1'", "'q-001', 'q-002'. They would match without leading zeros: 'q-1' here is 'q-001' in the suite"),
    "numbers from a spreadsheet": (NUMBERS, [f"{id}.0" for id in NUMBERS], "'1.0'", "'1', '2'. They would match without .0 at the end, which spreadsheets add: '1.0' here is '1' in the suite"),
    "files": ([f"a{n}" for n in range(LENGTH)], [f"a{n}.txt" for n in range(LENGTH)], "'a0.txt'", "'a0', 'a1'. They would match without file endings: 'a0.txt' here is 'a0' in the suite"),
    "folders": (PLAIN, [f"out/{id}" for id in PLAIN], "'out/c0'", "'c0', 'c1'. They would match without folders: 'out/c0' here is 'c0' in the suite"),
    "a beginning here": (NUMBERS, [f"case-{id}" for id in NUMBERS], "'case-1'", "'1', '2'. They would match without the beginning 'case-': 'case-1' here is '1' in the suite"),
    "a beginning there": ([f"mt_{id}" for id in NUMBERS], NUMBERS, "'1'", "'mt_1', 'mt_2'. They would match without the beginning 'mt_' of the suite's: '1' here is 'mt_1' in the suite"),
    "an end here": (PLAIN, [f"{id}::gpt" for id in PLAIN], "'c0::gpt'", "'c0', 'c1'. They would match without the end '::gpt': 'c0::gpt' here is 'c0' in the suite"),
    "other marks": ([f"a_{n}" for n in range(LENGTH)], [f"a-{n}" for n in range(LENGTH)], "'a-0'", "'a_0', 'a_1'. They would match with the same marks between their parts: 'a-0' here is 'a_0' in the suite"),
}  # fmt: skip


@pytest.mark.parametrize(("known", "given", "found", "expected"), REASONS.values(), ids=REASONS.keys())
def test_no_id_in_the_suite_is_one_problem_with_its_reason(tmp_path, known, given, found, expected):
    assert read_refusal(
        load_outputs, write(tmp_path, "o.csv", answers(given)), suite=suite_of(known), keep_good_rows=True
    ) == (
        f"o.csv, column case_id: found none of its 12 case ids in the suite, such as {found} in row 2; "
        f"expected case ids of the suite, such as {expected}"
    )


def test_another_column_of_ids_is_named_and_the_one_duplicate_is_seen(tmp_path):
    path = write(tmp_path, "o.csv", answers([f"run{n}z" for n in range(LENGTH)], beside="c{}"))
    with pytest.raises(InputError, match=r"The column key2 holds ids of the suite: map case_id to it$"):
        load_outputs(path, suite=suite_of(PLAIN))
    assert len(load_outputs(path, suite=suite_of(PLAIN), mapping={"case_id": "key2"}).value.outputs) == LENGTH
    ids = [f"x{n}y" for n in range(477)]
    path = write(tmp_path, "o.csv", f"{answers(ids)}\n{ids[3]},y")
    with pytest.raises(InputError) as failure:
        load_outputs(path, suite=suite_of(PLAIN))
    assert [line.split("; expected")[0] for line in str(failure.value).splitlines()] == [
        "o.csv, column case_id: found none of its 477 case ids in the suite, such as 'x0y' in row 2",
        "o.csv, row 479, column case_id: found case 'x3y' of model 'o' again, first in row 5",
    ]


def test_some_unknown_ids_are_one_line_with_their_reason_and_can_be_skipped(tmp_path):
    path = write(tmp_path, "o.csv", answers([*PLAIN[:6], *(id.upper() for id in PLAIN[6:])]))
    with pytest.raises(InputError) as failure:
        load_outputs(path, suite=suite_of(PLAIN))
    assert str(failure.value) == (
        "o.csv, column case_id, 6 rows: found 'C6' (row 8), 'C7' (row 9), 'C8' (row 10) and 3 others; expected the id of "
        "a case of the suite. They would match in the same upper and lower case: 'C6' here is 'c6' in the suite"
    )
    assert len(failure.value.problems) == 6
    assert load_outputs(path, suite=suite_of(PLAIN), keep_good_rows=True).value.left_out == 6


REPEATED = {
    "every case of the suite": ("suite", "case_id,question\n" + "a,1\nb,2\nc,3\n" * 3,
        "f.csv, column case_id: found each of its 3 case ids in 3 rows, such as 'a' in rows 2, 5, 8; expected every case once (several models' answers: a file of outputs, or one combined file)"),
    "one id for all": ("suite", "case_id,question\n" + "a,1\n" * 5,
        "f.csv, column case_id: found one case id in 5 rows, such as 'a' in rows 2, 3, 4; expected every case once (several models' answers: a file of outputs, or one combined file)"),
    "answers of models without their column": ("outputs", "case_id,answer\n" + "c0,x\nc1,y\n" * 2,
        "f.csv, column case_id: found every case in 2 rows of one model, such as 'c0' of 'f' in rows 2, 4; expected one answer per case, model and run (several models: a column model; repeats: a column run)"),
}  # fmt: skip


@pytest.mark.parametrize(("role", "content", "text"), REPEATED.values(), ids=REPEATED.keys())
def test_a_file_in_which_all_ids_repeat_is_one_problem(tmp_path, role, content, text):
    path = write(tmp_path, "f.csv", content)
    assert (
        read_refusal(lambda: read_suite(path) if role == "suite" else load_outputs(path, suite=suite_of(PLAIN))) == text
    )


def test_a_file_given_twice_is_one_problem(tmp_path):
    paths = [write(tmp_path, name, "case_id,model,answer\nc0,m,x\nc1,m,y\nc2,m,z\n") for name in ("a.csv", "b.csv")]
    assert read_refusal(load_outputs, paths, suite=suite_of(PLAIN)).startswith(
        "b.csv, column case_id: found all its 3 answers again, the first of them in a.csv, row 2"
    )


NO_USE = {
    "ids and others": ("id,qestion,colour\n1,a,b\n", "only the columns id, qestion, colour", ". Perhaps question=qestion: map the column so"),
    "German": ("id,frage,erwartete_antwort\n1,a,b\n", "only the columns id, frage, erwartete_antwort", ". Perhaps question=frage, expected_answers=erwartete_antwort: map the columns so"),
    "Chinese": ("id,质问,参考答案\n1,a,b\n", "only the columns id, 质问, 参考答案", ". Perhaps question=质问, expected_answers=参考答案: map the columns so"),
    "Spanish, twice": ("id,pregunta,pregunta corta\n1,a,b\n", "only the columns id, pregunta, pregunta corta", ""),
    "two near names": ("id,questoin,expected_anwser\n1,a,b\n", "only the columns id, questoin, expected_anwser", ". Perhaps question=questoin, expected_answers=expected_anwser: map the columns so"),
    "nothing near": ("id,colour\n1,b\n", "only the columns id, colour", ""),
    "no header": ("1,b\n2,c\n", "only the columns 1, b", ""),
}  # fmt: skip


@pytest.mark.parametrize(("content", "found", "near"), NO_USE.values(), ids=NO_USE.keys())
def test_a_suite_that_neither_asks_nor_expects_anything_is_refused(tmp_path, content, found, near):
    assert read_refusal(read_suite, write(tmp_path, "s.csv", content)) == (
        f"s.csv, row 1: found {found}; expected one of the columns question, expected_answers, reference_contexts, "
        "conditions, json_schema, source_text, label, labels, true_value, reference_context_ids, choices, "
        f"expected_calls, code_tests, attack_condition, criteria{near}"
    )


def test_outputs_without_answers_say_what_is_near(tmp_path):
    assert read_refusal(load_outputs, write(tmp_path, "o.csv", "case_id,anwser\nc0,x\n"), suite=suite_of(PLAIN)) == (
        "o.csv, row 1: found no column with the model's answers, only the columns case_id, anwser; expected a column "
        "answer, output, response, … or retrieved_contexts. Perhaps answer=anwser: map the column so"
    )


ASKED = "case_id,question,expected_answer\nc1,Why?,a\nc2,How?,b\n"
BY_QUESTION = {  # outputs without ids → case and answer
    "a question": ("question,answer\nHow?,b\nWhy?,a\n", [("c2", "b"), ("c1", "a")]),
    "an alias": ("Prompt,answer\nHow? ,b\n", [("c2", "b")]),
    "any column": ("model,what was asked,answer\nm,How?,b\nn,How?,c\n", [("c2", "b"), ("c2", "c")]),
}  # fmt: skip


@pytest.mark.parametrize(("content", "found"), BY_QUESTION.values(), ids=BY_QUESTION.keys())
def test_outputs_without_ids_are_matched_by_their_questions(tmp_path, content, found):
    suite = read_suite(write(tmp_path, "s.csv", ASKED))
    outputs = read_outputs(write(tmp_path, "o.csv", content), suite=suite)
    assert [(row["case_id"], row["answer"]) for row in outputs.outputs.to_pylist()] == found
    assert "is the question, by which the case is found" in str(outputs.receipt[0])


def test_a_question_that_the_suite_does_not_ask_is_a_problem(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", ASKED))
    path = write(tmp_path, "o.csv", "question,answer\nHow?,b\nWho?,c\n")
    assert list_problems(read_outputs, path, suite=suite) == [
        "o.csv, row 3, column question: found 'Who?'; expected a question of the suite"
    ]


NO_MATCH = {
    "a question is asked twice": (ASKED + "c3,Why?,c\n", "question,answer\nWhy?,a\n"),
    "another number of rows": (ASKED, "answer\na\n"),
    "not as many of each model": (ASKED, "model,answer\nm,a\nn,a\n"),
}


@pytest.mark.parametrize(("suite", "content"), NO_MATCH.values(), ids=NO_MATCH.keys())
def test_outputs_that_nothing_matches(tmp_path, suite, content):
    read = read_suite(write(tmp_path, "s.csv", suite))
    [problem] = list_problems(read_outputs, write(tmp_path, "o.csv", content), suite=read)
    assert "no column with the case ids" in problem
    assert "match=rows" not in problem


IN_ORDER = {
    "answers": (ASKED, "answer\na\nb\n", ["c1", "c2"]),
    "of two models": (ASKED, "model,answer\nm,a\nn,a\nm,b\nn,b\n", ["c1", "c2", "c1", "c2"]),
    "classes": ("case_id,label\nc1,cat\nc2,dog\n", "predicted_label\ncat\ndog\n", ["c1", "c2"]),
    "numbers": ("case_id,true_value\nc1,1\nc2,2\n", "y_pred\n1\n2\n", ["c1", "c2"]),
}


@pytest.mark.parametrize(("suite", "content", "ids"), IN_ORDER.values(), ids=IN_ORDER.keys())
def test_rows_in_the_order_of_the_suite_are_asked_about(tmp_path, suite, content, ids):
    read = read_suite(write(tmp_path, "s.csv", suite))
    path = write(tmp_path, "o.csv", content)
    [problem] = list_problems(read_outputs, path, suite=read)
    assert "expected an answer, match=rows. Are the rows in the order of the suite's cases?" in problem
    said = {path: Reading(answers={"match": "rows"})}
    outputs = read_outputs(path, suite=read, readings=said).outputs
    assert sorted(outputs["case_id"].to_pylist()) == sorted(ids)


FORMS = [("NFC", "NFD"), ("NFD", "NFC"), ("NFD", "NFD")]


@pytest.mark.parametrize(("suite_form", "outputs_form"), FORMS)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_ids_and_names_are_equal_in_every_form_of_unicode(tmp_path, suite_form, outputs_form, ending):
    def file(name: str, form: str, rows: list[dict[str, str]]) -> Path:
        rows = [{key: unicodedata.normalize(form, text) for key, text in row.items()} for row in rows]
        lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
        if ending == "jsonl":
            lines = [json.dumps(row) for row in rows]
        return write(tmp_path, f"{name}.{ending}", "\n".join(lines))

    cases = [{"case_id": "möwe", "label": "Möwe", "tags": "größe"}, {"case_id": "café", "label": "x", "tags": "y"}]
    suite = read_suite(file("suite", suite_form, cases))
    predicted = [
        {"case_id": "möwe", "model": "mö", "prediction": "Möwe"},
        {"case_id": "café", "model": "mö", "prediction": "x"},
    ]
    outputs = load_outputs(file("outputs", outputs_form, predicted), suite=suite).value
    assert suite.cases["tags"].to_pylist() == [["größe"], ["y"]]
    assert outputs.outputs["case_id"].to_pylist() == suite.cases["case_id"].to_pylist() == ["möwe", "café"]
    assert outputs.predictions["label"].to_pylist() == ["Möwe", "x"]
    assert outputs.models == ("mö",)


def test_a_suite_that_is_not_composed_is_met_in_its_own_spelling(tmp_path):
    names = [unicodedata.normalize("NFD", name) for name in ("möwe", "café")]
    file = write(tmp_path, "o.csv", "case_id,answer\nmöwe,x\ncafé,y")
    outputs = load_outputs(file, suite=suite_of(names)).value
    assert outputs.outputs["case_id"].to_pylist() == names
