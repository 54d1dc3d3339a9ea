"""Numbers to be predicted, and lists of true classes: recognised where they are clear, asked about where not."""

import pandas as pd
import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.ingest import Reading, inspect, read_outputs, read_suite
from metrics.ingest.load import outputs_from_frame
from tests.ingest.files import write


@pytest.mark.parametrize(("text", "given", "values"), [
    pytest.param("case_id,true_value\na,-1.5\nb,2\n", {}, [-1.5, 2.0], id="by-name"),
    pytest.param("id,y_true\na,1.25\nb,2\n", {}, [1.25, 2.0], id="fractions"),
    pytest.param("id,target\na,1.25\nb,2e3\n", {}, [1.25, 2000.0], id="target"),
    pytest.param("id,label\na,1\nb,2\n", {"task": "regression"}, [1.0, 2.0], id="task-given"),
    pytest.param("id,y_true\na,1\nb,2\n", {"mapping": {"true_value": "y_true"}}, [1.0, 2.0], id="mapping-given"),
])  # fmt: skip
def test_true_values(tmp_path, text, given, values):
    suite = read_suite(write(tmp_path, "s.csv", text), **given)
    assert (suite.task, suite.cases["true_value"].to_pylist()) == ("regression", values)


@pytest.mark.parametrize(("text", "task"), [
    pytest.param("id,y_true\na,1\nb,0\n", "classification", id="few-whole-numbers"),
    pytest.param("id,question,target\na,What is 1/2?,0.5\n", "text", id="an-answer-to-a-question"),
])  # fmt: skip
def test_what_stays_what_it_was(tmp_path, text, task):
    assert read_suite(write(tmp_path, "s.csv", text)).task == task


def test_many_whole_numbers_are_asked_about(tmp_path):
    path = write(tmp_path, "s.csv", "id,y_true\n" + "".join(f"c{n},{n}\n" for n in range(30)))
    (question,) = inspect(path, "suite").questions
    assert (question.column, question.choices) == ("y_true", ("true_value", "label"))
    with pytest.raises(InputError, match="numbers to be predicted"):
        read_suite(path)
    assert read_suite(path, mapping={"label": "y_true"}).task == "classification"


@pytest.mark.parametrize("columns", ["predicted_value,lower,upper", "y_pred,y_lower,y_upper", "prediction,low,high"])
def test_predictions_with_their_intervals(tmp_path, columns):
    suite = read_suite(write(tmp_path, "s.csv", "id,true_value\na,1\nb,2\n"))
    path = write(tmp_path, "m.csv", f"id,{columns}\na,0.5,0,1\nb,,1,\n")
    rows = read_outputs([path], suite=suite).outputs.to_pylist()
    assert [(row["predicted_value"], row["predicted_low"], row["predicted_high"]) for row in rows] == [
        (0.5, 0.0, 1.0), (None, 1.0, None),
    ]  # fmt: skip


def test_outputs_without_a_prediction_are_refused(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "id,true_value\na,1\n"))
    with pytest.raises(InputError, match=r"no column with the predicted value.*predicted_value, forecast"):
        read_outputs([write(tmp_path, "m.csv", "id,model\na,m\n")], suite=suite)


@pytest.mark.parametrize(("column", "first", "second"), [
    pytest.param("true_labels", '"[""cat"", ""dog""]"', "[]", id="JSON"),
    pytest.param("true_labels", "cat;dog", "", id="semicolons"),
    pytest.param("true_labels", "cat|dog", "", id="bars"),
])  # fmt: skip
def test_several_true_classes_and_predicted_ones(tmp_path, column, first, second):
    suite = read_suite(write(tmp_path, "s.csv", f"id,{column}\na,{first}\nb,{second}\n"))
    assert (suite.task, suite.labels) == ("classification", ("cat", "dog"))
    assert suite.cases["labels"].to_pylist() == [["cat", "dog"], []]
    path = write(tmp_path, "m.csv", f"id,predicted_labels\na,{first}\nb,{second}\n")
    outputs = read_outputs([path], suite=suite)
    assert [(row["case_id"], row["label"]) for row in outputs.predictions.to_pylist()] == [("a", "cat"), ("a", "dog")]
    assert len(outputs.outputs) == 2


COMMAS = {  # cells → values; None where only a person knows
    "decimal commas": (["3,5", "2"], [3.5, 2.0]), "in German": (["1.234,5", "2,25"], [1234.5, 2.25]),
    "in English": (["1,234.5", "2"], [1234.5, 2.0]), "millions": (["1,234,567", "2.5"], [1234567.0, 2.5]),
    "small ones": (["-0,25", "1e3"], [-0.25, 1000.0]),
    "shares": (["0,134", "1,234"], [0.134, 1.234]), "either": (["1,234", "2,345"], None),
    "both": (["3,5", "2.5"], None), "with a point alone": (["3,5", "1.234"], None),
}  # fmt: skip
READ = {
    "comma": {"1,234": 1.234, "2,345": 2.345, "3,5": 3.5, "2.5": 2.5, "1.234": 1234},
    "point": {"1,234": 1234, "2,345": 2345},
}


@pytest.mark.parametrize("format", ["csv", "jsonl"])
@pytest.mark.parametrize(("cells", "values"), COMMAS.values(), ids=COMMAS.keys())
def test_commas_in_numbers(tmp_path, cells, values, format):
    """In the truth, where they decide the task, and in predictions."""

    def table(name, column):
        rows = [{"case_id": str(place), column: cell} for place, cell in enumerate(cells)]
        text = f"case_id;{column}\n" + "".join(f"{row['case_id']};{row[column]}\n" for row in rows)
        return write(tmp_path, f"{name}.{format}", rows if format == "jsonl" else text)

    truth, predictions = table("s", "y_true"), table("o", "y_pred")
    reading = Reading(answers={} if values else {"decimal": "comma"})
    if values is None:
        with pytest.raises(InputError, match="an answer, decimal=comma or decimal=point") as refused:
            read_suite(truth, task="regression")
        assert len(refused.value.problems) == 1  # no cell is wrong besides
        values = [READ["comma"][cell] for cell in cells]
    suite = read_suite(truth, reading=reading, task="regression")
    assert suite.cases["true_value"].to_pylist() == values
    assert "numbers such as" in str(suite.receipt)
    outputs = read_outputs(predictions, suite=suite, readings={predictions: reading})
    assert outputs.outputs["predicted_value"].to_pylist() == values


@pytest.mark.parametrize(("mark", "values"), [("point", [1.037, 12.5]), ("comma", [1037, 12500])])
def test_points_between_semicolons_may_separate_thousands(tmp_path, mark, values):
    """No number shows what the point is: only other numbers, or a file whose cells commas divide, do."""
    file = write(tmp_path, "s.csv", "id;y_true\na;1.037\nb;12.500\n")
    with pytest.raises(InputError, match="an answer, decimal=comma or decimal=point"):
        read_suite(file, task="regression")
    suite = read_suite(file, task="regression", reading=Reading(answers={"decimal": mark}))
    assert suite.cases["true_value"].to_pylist() == values
    for plain in ("id,y_true\na,1.037\nb,12.500\n", "id;y_true\na;1.037\nb;0.500\n", "id;y_true\na;1.037\nb;12.5\n"):
        read = read_suite(write(tmp_path, "t.csv", plain), task="regression")
        assert read.cases["true_value"].to_pylist()[0] == 1.037


def test_decimal_commas_are_no_classes(tmp_path):
    suite = read_suite(write(tmp_path, "s.csv", "id;target\na;3,5\nb;2,25\n"))
    assert (suite.task, suite.cases["true_value"].to_pylist()) == ("regression", [3.5, 2.25])


def test_a_comma_between_thousands_as_a_person_says(tmp_path):
    path = write(tmp_path, "s.csv", "id;true_value\na;1,234\nb;2,345\n")
    suite = read_suite(path, reading=Reading(answers={"decimal": "point"}))
    assert suite.cases["true_value"].to_pylist() == [READ["point"][cell] for cell in ("1,234", "2,345")]


@pytest.mark.parametrize(("cells", "numbers", "asked"), [
    (["3,50 €", "2 €"], [3.5, 2.0], "as_written"), (["$1,234.50", "$2"], [1234.5, 2.0], "as_written"),
    (["1 234,5", "12,0"], [1234.5, 12.0], ""), (["1\u202f234", "−3"], [1234.0, -3.0], ""),
    (["1'234.5", None], [1234.5, None], ""),
])  # fmt: skip
def test_numbers_with_a_unit_or_blanks_count_as_they_are_written(cells, numbers, asked):
    suite = Suite.from_rows("s", "regression", [{"case_id": str(place), "true_value": 1.0} for place in range(2)])
    frame = pd.DataFrame({"case_id": ["0", "1"], "predicted_value": cells})
    outputs = outputs_from_frame(frame, suite=suite)
    assert outputs.outputs["predicted_value"].to_pylist() == numbers
    assert any(f"unit={asked}, as it seems" in line.meaning for line in outputs.receipt) == bool(asked)


@pytest.mark.parametrize(("name", "cells", "read"), [
    ("cost_usd", ["$0.50", "$2"], [0.5, 2.0]), ("duration_s", ["350 ms", "20 ms"], [0.35, 0.02]),
    ("latency_ms", ["350 ms", "20 ms"], [0.35, 0.02]), ("latency_ms", ["3 s", "2 s"], [3.0, 2.0]),
    ("tokens", ["120 tokens", "7 tokens"], [120, 7]),
    ("cost_usd", ["0,50 €", "2 €"], None), ("duration_s", ["98 %", "3 %"], None),
    ("tokens", ["1.2k", "3k"], None), ("duration_s", ["3 s", "20 ms"], None),
])  # fmt: skip
def test_units_of_a_field_are_read_and_others_asked_about(name, cells, read):
    suite = Suite.from_rows("s", "text", [{"case_id": str(place), "question": "?"} for place in range(2)])
    frame = pd.DataFrame({"case_id": ["0", "1"], "answer": "a", name: cells})
    if read is None:
        with pytest.raises(InputError, match=r"expected (an answer, unit=as_written or unit=share|a number)"):
            outputs_from_frame(frame, suite=suite)
    else:
        field = {"latency_ms": "duration_s"}.get(name, name)
        assert outputs_from_frame(frame, suite=suite).outputs[field].to_pylist() == read


def test_per_cent_is_asked_about():
    suite = Suite.from_rows("s", "regression", [{"case_id": "0", "true_value": 0.9}])
    frame = pd.DataFrame({"case_id": ["0"], "predicted_value": ["98 %"]})
    with pytest.raises(InputError, match="an answer, unit=as_written or unit=share"):
        outputs_from_frame(frame, suite=suite)
    for answer, number in (("share", 0.98), ("as_written", 98.0)):
        outputs = outputs_from_frame(frame, suite=suite, answers={"unit": answer})
        assert outputs.outputs["predicted_value"].to_pylist() == [number]
