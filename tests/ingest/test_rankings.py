"""Rankings: reference ids with grades in any spelling, TREC's qrels and runs, BEIR's folders, and what is refused."""
# ruff: noqa: E501 - a table reads better with one line a case

import pytest

from metrics.core.cases import Cases
from metrics.core.errors import InputError
from metrics.core.registry import evaluators
from metrics.core.suite import Suite
from metrics.ingest import Reading, inspect, load_outputs, load_suite, read_combined, read_outputs, read_suite
from tests.ingest.files import packed, unpacked, write

QRELS = "q1 0 a 2\nq1 0 b 0\nq2\t0\tc\t1\n"
RUN = "q1 Q0 b 1 9.5 bm25\nq1 Q0 a 2 9.75 bm25\nq1 Q0 z 3 9.5 bm25\nq9 Q0 a 1 1 bm25\n"
BEIR = {
    "queries.jsonl": '{"_id": "q1", "text": "Why?"}\n{"_id": "q2", "text": "How?"}\n{"_id": "q3", "text": "Who?"}\n',
    "corpus.jsonl": '{"_id": "a", "title": "A", "text": "so"}\n{"_id": "b", "title": "", "text": "no"}\n',
    "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\tb\t1\n",
    "qrels/train.tsv": "query-id\tcorpus-id\tscore\nq3\ta\t1\n",
}  # fmt: skip
SPELLED = {
    "two columns": ("s.csv", "case_id,relevant_ids,relevance_grades\n1,a;b,2;1\n"),
    "an object in a cell": ("s.csv", 'case_id,qrels\n1,"{""a"": 2, ""b"": 1}"\n'),
    "objects in a cell": ("s.csv", 'case_id,qrels\n1,"[{""id"":""a"",""rel"":2},{""id"":""b"",""rel"":1}]"\n'),
    "an object": ("s.jsonl", [{"case_id": "1", "reference_context_ids": {"a": 2, "b": 1}}]),
    "beside a list": ("s.jsonl", [{"case_id": "1", "qrels": {"a": 2, "b": 1}}, {"case_id": "2", "qrels": ["a"]}]),
    "objects": ("s.json", [{"case_id": "1", "qrels": [{"doc_id": "a", "grade": 2}, {"doc_id": "b", "grade": 1}]}]),
}  # fmt: skip


def graded(suite: Suite) -> list[tuple[str, list[str], list[float] | None]]:
    rows = suite.cases.to_pylist()
    return [(row["case_id"], row["reference_context_ids"], row["reference_grades"]) for row in rows]


@pytest.mark.parametrize(("name", "content"), SPELLED.values(), ids=SPELLED.keys())
def test_grades_in_every_spelling(tmp_path, name, content):
    assert graded(read_suite(write(tmp_path, name, content)))[0] == ("1", ["a", "b"], [2, 1])


def test_ids_without_grades_and_wrong_grades(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "case_id,reference_context_ids\n1,a;b\n2,\n"))
    assert graded(suite) == [("1", ["a", "b"], None), ("2", None, None)]
    outputs = read_outputs(write(tmp_path, "o.csv", 'case_id,context_ids\n1,"[]"\n2,\n'), suite=suite)
    assert outputs.outputs["context_ids"].to_pylist() == [[], None]  # nothing found, and nothing said
    content = 'case_id,qrels,reference_grades\n1,a;b,2\n2,a;a,\n3,"{""x"": ""hi""}",\n4,a,one\n5,a,inf\n'
    with pytest.raises(InputError) as failure:
        read_suite(write(tmp_path, "s.csv", content))
    assert [(one.row, one.column) for one in failure.value.problems] == [
        (2, "reference_grades"), (3, "qrels"), (4, "qrels"), (5, "reference_grades"), (6, "reference_grades"),
    ]  # fmt: skip


def test_qrels_and_a_run(tmp_path):
    """Equal scores stand by falling id, whatever the ranks say; a query without results has an empty list."""
    suite = read_suite(write(tmp_path, "trec.qrels", QRELS))
    assert graded(suite) == [("q1", ["a", "b"], [2, 0]), ("q2", ["c"], [1])]
    loaded = load_outputs(write(tmp_path, "x.run", RUN), suite=suite)
    rows = loaded.value.outputs.to_pylist()
    assert [(row["case_id"], row["model"], row["context_ids"]) for row in rows] == [
        ("q1", "bm25", ["a", "z", "b"]), ("q2", "bm25", []),
    ]  # fmt: skip
    assert any("1 queries that the suite does not have" in note for note in loaded.notes)
    assert any("bm25 has nothing for 1 queries: they score 0" in note for note in loaded.notes)
    assert any("the column of ranks is not read" in note for note in loaded.notes)


def test_scores_that_are_equal_in_single_precision_are_equal(tmp_path):
    suite = read_suite(write(tmp_path, "q.txt", QRELS))
    run = "q1 Q0 a 1 1.00000001 m\nq1 Q0 b 2 1.0 m\n"
    assert read_outputs(write(tmp_path, "r.txt", run), suite=suite).outputs["context_ids"][0].as_py() == ["b", "a"]


WRONG = {
    "an id twice": (QRELS + "q1 0 a 1\n", 4, "'a' again for query 'q1'"),
    "three fields": (QRELS + "q3 0 a\n", 4, "q3 0 a"),
}


@pytest.mark.parametrize(("content", "row", "found"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_with_qrels(tmp_path, content, row, found):
    with pytest.raises(InputError) as failure:
        read_suite(write(tmp_path, "a.qrels", content))
    assert [(one.row, one.found) for one in failure.value.problems] == [(row, found)]


def test_a_run_of_another_suite_is_refused(tmp_path):
    suite = read_suite(write(tmp_path, "q.txt", QRELS))
    with pytest.raises(InputError, match="q9"):
        read_outputs(write(tmp_path, "r.txt", "q9 Q0 a 1 1 m\n"), suite=suite)


@pytest.mark.parametrize("make", [unpacked, lambda path, entries: packed(path / "b.zip", entries)],
    ids=["folder", "zip"])  # fmt: skip
def test_a_folder_of_beir(tmp_path, make):
    place = make(tmp_path, BEIR)  # type: ignore[operator]
    loaded = load_suite(place)
    assert graded(loaded.value) == [("q1", ["a", "b"], [2, 0]), ("q2", ["b"], [1])]
    assert loaded.value.cases["question"].to_pylist() == ["Why?", "How?"]
    assert loaded.value.cases["reference_contexts"].to_pylist() == [["A\nso"], ["no"]]
    assert any("split test was read, not train" in note for note in loaded.notes)
    train = read_suite(place, reading=Reading(sheet="train"))
    assert graded(train) == [("q3", ["a"], [1])]
    assert inspect(place).sheets == ("test", "train")


def test_qrels_beside_a_table_of_queries(tmp_path):
    place = unpacked(tmp_path, {"queries.tsv": "q1\tWhy?\nq2\tHow?\n", "qrels.dev.tsv": QRELS})
    assert read_suite(place).cases["question"].to_pylist() == ["Why?", "How?"]


def test_an_id_again_counts_at_its_first_rank(tmp_path):
    suite = read_suite(write(tmp_path, "q.txt", QRELS))
    run = read_outputs(
        write(tmp_path, "r.run", "q1 Q0 a 1 1 m\nq1 Q0 z 2 3 m\nq1 Q0 a 3 2 m\nq1 Q0 a 4 1 m\n"), suite=suite
    )
    assert run.outputs["context_ids"].to_pylist() == [["z", "a"], []]
    listed = read_outputs(
        write(tmp_path, "o.jsonl", [{"case_id": "q1", "context_ids": ["z", "a", "a", "z"]}]), suite=suite
    )
    why = "(2) is not used: an id that was retrieved again counts at its first rank"
    assert f"r.run: lines {why}" in str(run.receipt[0])
    assert f"o.jsonl: context_ids[] {why}" in str(listed.receipt[0])
    entry = evaluators()["ranking"]
    for outputs in (run, listed):
        [score] = entry(Cases.joined(suite, outputs.outputs.slice(0, 1)), entry.parameters())
        values = {name: score.values[name] for name in ("recall_at_3", "precision_at_3", "mrr", "map")}
        assert values == {"recall_at_3": 1.0, "precision_at_3": 1 / 3, "mrr": 1 / 2, "map": 1 / 2}


NOTHING = {  # contexts and ids as written → as read
    "both": ([], [], [], []), "contexts": ([], None, [], []),
    "ids": (None, [], [], []), "neither": (None, None, None, None),
    "one of them": (["p"], None, ["p"], None),
}  # fmt: skip


@pytest.mark.parametrize(("contexts", "ids", *"ab"), NOTHING.values(), ids=NOTHING.keys())
def test_where_nothing_was_retrieved_there_are_neither_contexts_nor_ids(tmp_path, contexts, ids, a, b):
    suite = read_suite(write(tmp_path, "s.csv", "case_id,question\n1,q\n2,q\n"))
    rows = [{"case_id": "1", "retrieved_contexts": contexts, "context_ids": ids, "answer": "x"},
            {"case_id": "2", "retrieved_contexts": ["p"], "context_ids": ["i"], "answer": "x"}]  # fmt: skip
    row = read_outputs(write(tmp_path, "o.jsonl", rows), suite=suite).outputs.to_pylist()[0]
    assert (row["retrieved_contexts"], row["context_ids"]) == (a, b)


JUDGED = {  # judgements in other forms: what is said to be unused
    "comments and blank lines": ("# by Ann\n\nq1 0 a 2\n# more\nq1 0 b 0\n\nq2\t0\tc\t1\n", {"lines with #": 2}),
    "three columns": ("q1 a 2\nq1 b 0\nq2\tc\t1\n", {}),
    "five columns": ("q1 0 a 2 Ann\nq1 0 b 0 Bob\nq2 0 c 1 Bob\n", {"column 5": 3}),
    "a query whose id begins with #": ("#1 0 a 2\n#1 0 b 0\nq2 0 c 1\n", {}),
}
RUNS = {  # runs in other forms: the model, and what is said to be unused
    "comments and blank lines": ("# by Ann\nq1 Q0 a 1 9.5 bm25\n\nq1\tQ0\tb\t2\t8\tbm25\n", "bm25", {"lines with #": 1, "column 4": 2}),
    "columns past the sixth": ("q1 Q0 a 1 9.5 bm25 x y\nq1 Q0 b 2 8 bm25\n", "bm25", {"column 7": 1, "column 8": 1, "column 4": 2}),
    "no tag": ("q1 Q0 a 1 9.5\nq1 Q0 b 2 8\n", "r", {"column 4": 2}),
    "no rank but 0": ("q1 0 a 0 9.5 dense-v2\nq1 0 b 0 8 dense-v2\n", "dense-v2", {"column 4": 2}),
}  # fmt: skip


@pytest.mark.parametrize(("text", "unused"), JUDGED.values(), ids=JUDGED)
def test_judgements_in_other_forms(tmp_path, text, unused):
    suite = read_suite(write(tmp_path, "a.qrels", text))
    assert [ids for _, ids, _ in graded(suite)] == [["a", "b"], ["c"]]
    assert {line.place: line.count for line in suite.receipt if line.use == "unused"} == unused


@pytest.mark.parametrize(("text", "model", "unused"), RUNS.values(), ids=RUNS)
def test_runs_in_other_forms(tmp_path, text, model, unused):
    suite = read_suite(write(tmp_path, "a.qrels", "q1 0 a 1\n"))
    outputs = read_outputs(write(tmp_path, "r.txt", text), suite=suite)
    assert (outputs.models, outputs.outputs["context_ids"].to_pylist()) == ((model,), [["a", "b"]])
    assert {line.place: line.count for line in outputs.receipt if line.use == "unused"} == unused


def test_grades_beside_the_answers_of_two_models(tmp_path):
    rows = [
        {"case_id": "1", "qrels": {"a": grade}, "answer": "x", "model": model}
        for model, grade in zip("mno", (2, 2, 1), strict=True)
    ]
    suite, _ = read_combined(write(tmp_path, "s.jsonl", rows[:2]))
    assert graded(suite) == [("1", ["a"], [2])]
    with pytest.raises(InputError, match="reference_grades"):
        read_combined(write(tmp_path, "t.jsonl", rows))


@pytest.mark.parametrize(("relevant", "retrieved", "read", "asked"), [
    (["a"], [" a "], ["a"], ""), ([" a", "[b]"], ["a", "b"], ["a", "b"], ""),
    (["a", "b"], ["A", "x", "b"], ["a", "x", "b"], "ids_spelling=same"), (["a"], ["A", "a"], ["A", "a"], "=other"),
    (["a", "A"], ["\u00e0", "A"], ["\u00e0", "A"], ""), (["\u00e9"], ["e\u0301"], ["\u00e9"], ""),
    (["7"], ["007"], ["7"], "ids_spelling=same"), (["7", "8"], ["007", "8"], ["007", "8"], ""),
    (["guide"], ["docs/guide"], ["guide"], "ids_spelling=same"), (["guide"], ["a/guide", "b/guide"], None, ""),
    (["a", "b"], ["x, a", "b"], ["x", "a", "b"], "ids_separator=split"), (["a"], ["x y"], ["x y"], ""),
    (["a"], "x a", ["x", "a"], "ids_separator=split"), (["d1, d2"], ["d2"], ["d2"], "ids_separator=split"),
    (["Wu, 2020"], ["Wu, 2020"], ["Wu, 2020"], "ids_separator=none"),
])  # fmt: skip
def test_ids_spelled_or_joined_otherwise_are_met_and_said(tmp_path, relevant, retrieved, read, asked):
    rows = [{"case_id": "1", "question": "?", "reference_context_ids": relevant}]
    suite = load_suite(write(tmp_path, "s.jsonl", rows))
    outputs = load_outputs(write(tmp_path, "o.jsonl", [{"case_id": "1", "context_ids": retrieved}]), suite=suite.value)
    assert outputs.value.outputs["context_ids"].to_pylist() == [read or retrieved]
    said = [line.meaning for line in (*suite.value.receipt, *outputs.value.receipt) if line.use == "asked"]
    assert [asked in each for each in said] == [True] * bool(asked)


def test_joined_ids_of_passages_stay_one_each(tmp_path):
    suite = Suite.from_rows("s", "text", [{"case_id": "1", "question": "?", "reference_context_ids": ["a"]}])
    row = {"case_id": "1", "context_ids": ["a, b"], "retrieved_contexts": ["Text."]}
    outputs = load_outputs(write(tmp_path, "o.jsonl", [row]), suite=suite).value
    assert outputs.outputs["context_ids"].to_pylist() == [["a, b"]]
    assert any("ids_separator=none" in line.meaning for line in outputs.receipt)
