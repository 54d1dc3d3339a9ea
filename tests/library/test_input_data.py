"""What is said of all files is about those that it fits."""

import pytest

from metrics.core.errors import InputError
from metrics.engine.evaluation import EvaluationInCode
from metrics.library.input_data import read_data
from tests.ingest.files import write


def data(tmp_path, frames, **fields):
    given = {"suite": "id,text,truth\n1,a,spam\n2,b,ham\n", "outputs": "uid,guess,lang\n1,spam,de\n2,ham,en\n"}
    files = {name: str(write(tmp_path, f"{name}.csv", text)) for name, text in given.items()}
    if frames:
        pandas = pytest.importorskip("pandas")
        read = {name: pandas.read_csv(file, dtype=str) for name, file in files.items()}
        return read_data(EvaluationInCode.model_validate({**read, "task": "classification", **fields}))
    given = {"suite": files["suite"], "outputs": (files["outputs"],), "task": "classification"}
    return read_data(EvaluationInCode.model_validate({**given, **fields}))


OWN = ["label=truth", "case_id=uid", "predicted_label=guess"]


@pytest.mark.parametrize("frames", [False, True], ids=["files", "frames"])
def test_a_column_that_is_mapped_in_all_files_is_of_the_one_that_has_it(tmp_path, frames):
    found = data(tmp_path, frames, map=[*OWN, "metadata.words=text", "metadata.language=lang"])
    assert found.outputs.predictions["label"].to_pylist() == ["spam", "ham"]
    assert found.suite.cases["metadata.words"].to_pylist() == ["a", "b"]
    assert found.outputs.outputs["metadata.language"].to_pylist() == ["de", "en"]


@pytest.mark.parametrize("frames", [False, True], ids=["files", "frames"])
def test_a_column_that_no_file_has_is_an_error(tmp_path, frames):
    with pytest.raises(InputError, match=r"found metadata\.language=lnag; expected the name of a column of one of"):
        data(tmp_path, frames, map=[*OWN, "metadata.language=lnag"])
    with pytest.raises(InputError, match="no column 'truht' for label; expected one of id, text, truth"):
        data(tmp_path, frames, map=["label=truht", *OWN[1:]])


def test_skipped_rows_are_told_with_the_reason(tmp_path):
    told = []
    suite, outputs = (write(tmp_path, name, text) for name, text in (
        ("s.csv", "id,label\n1,a\n2,\n"), ("o.csv", "id,prediction\n1,a\n9,b\n")))  # fmt: skip
    given = {"suite": str(suite), "outputs": (str(outputs),), "keep_good_rows": True}
    read_data(EvaluationInCode.model_validate(given), tell=lambda *lines: told.append(lines))
    kind, first, *rows = next(lines for lines in told if lines[0] == "warning")
    assert (kind, first) == ("warning", "rows were skipped:")
    assert rows == [
        "s.csv, row 3, column label: found nothing; expected the true class of the case",
        "o.csv, row 3, column id: found '9'; expected the id of a case of the suite",
    ]
