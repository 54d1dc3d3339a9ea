"""Open RAG Eval's answers: one passage a row, the answer on the first row of each query and run only."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.errors import InputError
from metrics.ingest import load_combined, read_outputs, read_suite
from tests.ingest.files import list_problems, write

HEADER = "query_id,query,query_run,passage_id,passage,generated_answer\n"
SMALL = HEADER + (
    'query_3,How many moons?,1,[2],"Seven, it is said.",Seven [2]\n'
    "query_3,How many moons?,1,[3],[1] Earth has a moon.,\n"
    "query_3,How many moons?,2,[3],Earth has a moon.,\n"
    "query_3,How many moons?,2,[2],Seven.,Seven [2]\n"
    "query_4,Who?,1,NA,NA,NO_ANSWER\n"
    "query_5,Where?,1,ERROR,Runtime error: 504 Gateway Timeout,API_ERROR\n"
)
COLUMNS = ["case_id", "run", "answer", "context_ids", "retrieved_contexts", "error"]
READ = [
    ("query_3", 1, "Seven [2]", ["2", "3"], ["Seven, it is said.", "[1] Earth has a moon."], None),
    ("query_3", 2, "Seven [2]", ["3", "2"], ["Earth has a moon.", "Seven."], None),
    ("query_4", 1, None, [], [], None), ("query_5", 1, None, [], [], "Runtime error: 504 Gateway Timeout"),
]  # fmt: skip


def rows(outputs):
    return [tuple(row.values()) for row in outputs.outputs.select(COLUMNS).to_pylist()]


def test_passages_ids_answers_runs_and_words_in_place_of_answers(tmp_path):
    loaded = load_combined(write(tmp_path, "rag.csv", b"\xef\xbb\xbf" + SMALL.encode()))
    suite, outputs = loaded.value
    assert suite.cases.select(["case_id", "question"]).to_pylist() == [
        {"case_id": "query_3", "question": "How many moons?"}, {"case_id": "query_4", "question": "Who?"},
        {"case_id": "query_5", "question": "Where?"},
    ]  # fmt: skip
    assert rows(outputs) == READ
    assert outputs.models == ("rag",)
    assert not loaded.problems


def test_beside_a_suite_in_two_files_and_without_ids(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "query_id,expected\nquery_3,Seven\nquery_4,I\nquery_5,Here\n"))
    path = write(tmp_path, "rag.csv", SMALL)
    assert rows(read_outputs(path, suite=suite)) == READ
    both = read_outputs([path, write(tmp_path, "other.csv", SMALL)], suite=suite)
    assert both.models == ("rag", "other")
    with pytest.raises(InputError, match=r"other.csv.* all its 6 answers again, the first of them in rag.csv, row 2"):
        read_outputs([path, tmp_path / "other.csv"], suite=suite, model_names={path: "m", tmp_path / "other.csv": "m"})
    content = "query_id,query,passage,generated_answer,expected_answer\n1,q,one,a,e\n1,,two,,\n1,,,,\n"
    suite, outputs = load_combined(write(tmp_path, "o.csv", content)).value
    assert suite.cases.select(["question", "expected_answers"]).to_pylist() == [
        {"question": "q", "expected_answers": ["e"]}
    ]
    assert outputs.outputs["retrieved_contexts"].to_pylist() == [["one", "two"]]
    assert outputs.outputs["context_ids"].to_pylist() == [None]


def test_a_second_answer_is_a_problem_but_its_passage_is_good(tmp_path):
    path = write(tmp_path, "o.csv", SMALL.replace("Earth has a moon.,\n", "Earth has a moon.,Eight [3]\n", 1))
    said = (
        "o.csv, row 3, column answer: found 'Eight [3]', but 'Seven [2]' in row 2; "
        "expected one answer for each case · model · run"
    )
    assert list_problems(load_combined, path) == [said]
    kept = load_combined(path, keep_good_rows=True)
    assert [str(problem) for problem in kept.problems] == [said]
    assert (rows(kept.value[1]), kept.value[1].left_out) == (READ, 0)


IDS = {
    "an id twice": ("q,x,1,[1],p,a\nq,x,1,1,p2,\n", "row 3, column context_ids: found '1' again, first in row 2; expected each passage id once for each case · model · run"),
    "a passage without an id": ("q,x,1,[1],p,a\nq,x,1,,p2,\n", "row 3, column context_ids: found nothing; expected the id of the passage, as in the other rows"),
    "another question": ("q,x,1,[1],p,a\nq,y,1,[2],p2,\n", "row 3, column question: found 'y', but 'x' in row 2; expected one question for each case"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "said"), IDS.values(), ids=IDS.keys())
def test_problems(tmp_path, content, said):
    assert list_problems(load_combined, write(tmp_path, "o.csv", HEADER + content)) == [f"o.csv, {said}"]


def test_lists_of_ids_and_a_column_of_errors(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "id,question\n1,a\n2,b\n3,c\n"))
    content = (
        "id,answer,contexts,passage_ids,error\n"
        '1,x,"[""a"", ""b""]","[1, doc-3]",False\n2,,"[""a"", ""b""]","[2, 7]",timed out\n3,y,c,[doc-3],\n'
    )
    path = write(tmp_path, "o.csv", content)
    with pytest.raises(InputError, match="found 1 ids for 2 contexts"):  # `[1, doc-3]` is no list
        read_outputs(path, suite=suite)
    path.write_text(content.replace("[1, doc-3]", "[1]; [doc-3]"))
    assert rows(read_outputs(path, suite=suite)) == [
        ("1", 1, "x", ["1", "doc-3"], ["a", "b"], None), ("2", 1, None, ["2", "7"], ["a", "b"], "timed out"),
        ("3", 1, "y", ["doc-3"], ["c"], None),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["csv_results.csv", "test_csv_connector.csv"])
def test_real_files(shared, name):
    path = shared / "data/formats/open_rag_eval" / name
    suite, outputs = load_combined(path).value
    ids = {(row["case_id"], row["run"]): row["context_ids"] for row in outputs.outputs.to_pylist()}
    assert ids == {
        ("query_1", 1): ["1", "2", "3"], ("query_2", 1): ["1"], ("query_3", 1): ["2", "3"],
        ("query_4", 1): ["1", "2"], ("query_5", 1): ["1", "2", "3", "4", "5"],
        ("query_6", 1): ["1"], ("query_6", 2): ["1", "2"],
    }  # fmt: skip
    assert (outputs.outputs["answer"].null_count, read_outputs(path, suite=suite).outputs.num_rows) == (0, 7)
