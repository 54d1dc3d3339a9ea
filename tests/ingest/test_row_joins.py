"""Files without case ids: each row is of the case that a column tells, in whatever order, at every door."""

import random
from pathlib import Path

import pandas as pd
import pytest

from metrics.core.errors import InputError
from metrics.engine.evaluation import EvaluationInCode
from metrics.ingest.file_roles import describe, see_file
from metrics.library.evaluate import as_evaluation
from metrics.library.input_data import Data, read_data

COUNT = 12
TEXTS = [f"message {number:02}" for number in range(COUNT)]
CLASSES = ["ham", "spam", "ham"] * (COUNT // 3)
NUMBERS = [str(number * 1.5) for number in range(COUNT)]
TABLES = {  # what the column is called that both have → the columns of the suite, and of the answers
    "text": ({"text": TEXTS, "label": CLASSES}, {"text": TEXTS, "pred": CLASSES}),
    "input": ({"input": TEXTS, "expected": TEXTS}, {"input": TEXTS, "output": TEXTS}),
    "article": ({"article": TEXTS, "expected": TEXTS}, {"article": TEXTS, "answer": TEXTS}),
    "sensor": ({"sensor": TEXTS, "y_true": NUMBERS}, {"sensor": TEXTS, "y_pred": NUMBERS}),
    "question_id": ({"id": TEXTS, "expected": CLASSES}, {"question_id": TEXTS, "answer": CLASSES}),
    "city": ({"city": TEXTS, "expected": CLASSES}, {"city": TEXTS, "answer": CLASSES}),
}


def shuffled(table: dict[str, list[str]], rows: int = COUNT) -> pd.DataFrame:
    return pd.DataFrame(table).sample(frac=1, random_state=random.Random(4).randrange(99)).head(rows)


def read(folder: Path, suite: pd.DataFrame, answers: pd.DataFrame, door: str, **more: object) -> Data:
    """Return what a door reads: two files, frames with the name of the model, or what a page gives."""
    if door == "python":
        frames = [each.reset_index(drop=True) for each in (suite, answers)]
        return read_data(as_evaluation(frames[0], {"m": frames[1]}, None, more), "python")
    for name, table in (("cases.csv", suite), ("m.csv", answers)):
        table.to_csv(folder / name, index=False)
    given = {"suite": str(folder / "cases.csv"), "outputs": [str(folder / "m.csv")], **more}
    return read_data(EvaluationInCode.model_validate(given), "page" if door == "page" else "command")


def pairs(data: Data) -> set[tuple[object, ...]]:
    """Return what each case expects and what is answered to it."""
    cases = {row["case_id"]: row for row in data.suite.cases.to_pylist()}
    truths = ("label", "true_value", "expected_answers")
    told = {id: next(row[name] for name in truths if row[name] not in (None, [])) for id, row in cases.items()}
    found = data.outputs.outputs if data.outputs.predictions is None else data.outputs.predictions
    held = ("label", "predicted_value", "answer")
    return {(str(told[row["case_id"]]), str(next(row[name] for name in held if row.get(name) is not None)))
            for row in found.to_pylist()}  # fmt: skip


@pytest.mark.parametrize("door", ["command", "page", "python"])
@pytest.mark.parametrize(("column", "tables"), TABLES.items(), ids=TABLES.keys())
@pytest.mark.parametrize("rows", [COUNT, COUNT - 3])
def test_a_column_of_both_files_tells_the_case(tmp_path, column, tables, door, rows):
    data = read(tmp_path, pd.DataFrame(tables[0]), shuffled(tables[1], rows), door)
    assert all(answer.strip("[]'") == truth.strip("[]'") for truth, answer in pairs(data))
    assert len(data.outputs.outputs) == rows
    assert any(line.place == column and line.meaning.endswith("by which the case is found") for line in data.receipt)


def test_rows_in_order_do_not_count_where_a_column_contradicts_them(tmp_path):
    suite, answers = TABLES["text"]
    with pytest.raises(
        InputError, match=r"the answer 'rows'.*match=text.*Their order differs by text \(\d+ of 12 rows\)"
    ):
        read(tmp_path, pd.DataFrame(suite), shuffled(answers), "command", read=["match=rows"])
    again = suite | {"text": [TEXTS[0], *TEXTS[:-1]]}  # then it tells no case, and still contradicts
    twice = answers | {"text": [TEXTS[0], *TEXTS[:-1]]}
    with pytest.raises(InputError, match=r"in another order by text.*a column with the case ids in both files"):
        read(tmp_path, pd.DataFrame(again), shuffled(twice), "command", read=["match=rows"])


def test_columns_that_say_different_things_are_asked_about(tmp_path):
    suite, answers = TABLES["text"]
    index = {"row": list(map(str, range(COUNT)))}
    other = shuffled(answers).assign(**index)
    with pytest.raises(InputError, match=r"match=text'\] or read=\['match=row'") as told:
        read(tmp_path, pd.DataFrame(suite | index), other, "python")
    assert len(told.value.problems) == 1
    data = read(tmp_path, pd.DataFrame(suite | index), other, "python", read=["match=text"])
    assert all(answer == truth for truth, answer in pairs(data))


def test_numbers_named_as_ids_are_asked_about_unless_a_text_tells(tmp_path):
    suite = {"id": list(range(COUNT)), "text": TEXTS, "label": CLASSES}
    answers = {"response_id": list(range(COUNT)), "pred": CLASSES}
    with pytest.raises(InputError, match="match=response_id or --read match=rows"):
        read(tmp_path, pd.DataFrame(suite), shuffled(answers), "command")
    data = read(tmp_path, pd.DataFrame(suite), shuffled(answers), "command", read=["match=response_id"])
    assert all(answer == truth for truth, answer in pairs(data))
    counted = shuffled({"text": TEXTS, "pred": CLASSES}).assign(response_id=range(COUNT))
    data = read(tmp_path, pd.DataFrame(suite), counted, "command")
    assert all(answer == truth for truth, answer in pairs(data))


def test_other_values_of_a_name_that_both_have_do_not_count(tmp_path):
    stamps = [str(number) for number in range(100, 100 + COUNT)]
    suite = pd.DataFrame({"label": CLASSES, "stamp": TEXTS})
    data = read(tmp_path, suite, pd.DataFrame({"pred": CLASSES, "stamp": stamps}), "command", read=["match=rows"])
    assert all(answer == truth for truth, answer in pairs(data))


@pytest.mark.parametrize("door", ["command", "page", "python"])
def test_tables_of_truths_and_answers_are_joined_by_what_they_share(tmp_path, door):
    one = pd.DataFrame({"actual": NUMBERS, "predicted": NUMBERS})
    other = shuffled({"actual": NUMBERS, "predicted": NUMBERS}).reset_index(drop=True)
    same = pd.DataFrame({"actual": ["1.5", *NUMBERS[:-1]], "predicted": NUMBERS})

    def both(second: pd.DataFrame, first: pd.DataFrame = one) -> Data:
        if door == "python":
            return read_data(as_evaluation({"a": first, "b": second}, None, None, {}), "python")
        for name, table in (("a.csv", first), ("b.csv", second)):
            table.to_csv(tmp_path / name, index=False)
        files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
        given = {"suite": files[0], "outputs": files if door == "page" else files[1:]}
        return read_data(EvaluationInCode.model_validate(given), "page" if door == "page" else "command")

    assert all(answer == truth for truth, answer in pairs(both(other)))
    assert len(both(one).suite) == COUNT
    with pytest.raises(InputError, match=r"in another order by actual \(\d+ of 12 rows\)"):
        both(same.sample(frac=1, random_state=2).reset_index(drop=True), same)


def test_a_file_says_what_it_is_joined_by_only_where_that_is_known(tmp_path):
    names = {
        "text": "",
        "question": ", joined by question",
        "id": ", joined by id",
        "filename": ", joined by file name",
    }
    for name, joined in names.items():
        path = tmp_path / "m.csv"
        path.write_text(f"{name},predicted_label\na,x\nb,y\n")
        assert describe(see_file(path), "outputs") == f"2 answers{joined}"


def test_the_column_that_was_the_id_stays_so_for_classes_in_columns(tmp_path):
    suite = pd.DataFrame({"filename": ["p0.jpg", "p1.jpg"], "sea": [1, 0], "boat": [1, 1]})
    scores = pd.DataFrame({"filename": ["p1.jpg", "p0.jpg"], "sea": [0.1, 0.9], "boat": [0.8, 0.7]})
    data = read(tmp_path, suite, scores, "command", read=["one_hot=labels"])
    assert data.suite.cases["case_id"].to_pylist() == ["p0.jpg", "p1.jpg"]


def test_ids_in_another_column_of_the_suite_are_named_with_the_cure(tmp_path):
    suite = pd.DataFrame({"ticket": ["t-a", "t-b"], "expected": ["x", "y"]})
    answers = pd.DataFrame({"id": ["t-b", "t-a"], "answer": ["y", "x"]})
    told = "The column ticket of the suite holds them: map case_id=ticket in the suite's file"
    with pytest.raises(InputError, match=told):
        read(tmp_path, suite, answers, "command")
    mapped = {"map": [f"{tmp_path / 'cases.csv'}=case_id=ticket"]}
    assert len(read(tmp_path, suite, answers, "command", **mapped).outputs.outputs) == 2


def test_a_suite_of_several_files_is_named_for_them(tmp_path):
    files = [tmp_path / "rag_a.csv", tmp_path / "rag_b.csv"]
    for path in files:
        path.write_text("y_true,y_pred\n1.5,2\n2,2.5\n")
    given = {"suite": str(files[0]), "outputs": [str(files[1])]}
    assert read_data(EvaluationInCode.model_validate(given)).suite.name == "rag_a and 1 more"
