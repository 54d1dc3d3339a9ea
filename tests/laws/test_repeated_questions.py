"""The same question several times: cases of their own where something else is expected or given, at every door."""

import io
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from components.data import evaluation_inputs
from components.data.uploaded_files import keep, upload_folder
from metrics import ingest
from metrics.core.errors import InputError
from metrics.core.suite import Outputs, Suite
from metrics.engine.evaluation import EvaluationInCode
from metrics.ingest.arrays import ranges_of
from metrics.library.input_data import read_data
from tests.laws.forms import FILES, FORMS, can_hold

Rows = list[dict[str, Any]]
Read = tuple[Suite, Outputs, str]  # and what the receipt says of rows that are left out


def rows_of(*rows: tuple[str, str, list[str], str], **more: str) -> Rows:
    names = ("question", "expected_answer", "contexts", "answer")
    return [dict(zip(names, row, strict=True)) | more for row in rows]


ONE = ("Who wrote it?", "Ann", ["Ann wrote it."], "Ann")
OTHERS = {
    "another expected answer": ("Who wrote it?", "Bob", ["Ann wrote it."], "Bob"),
    "other contexts": ("Who wrote it?", "Ann", ["Ann and Bob wrote it."], "Bob"),
    "both": ("Who wrote it?", "Bob", ["Bob wrote it."], "Bob"),
    "another question": ("Who read it?", "Ann", ["Ann wrote it."], "Bob"),
}
LAST = ("When?", "now", ["It was now."], "now")


def read(**given: Any) -> Read:
    data = read_data(EvaluationInCode.model_validate(given), "python" if "outputs" in given else "command")
    return data.suite, data.outputs, left_out(data.suite)


def left_out(suite: Suite) -> str:
    return " ".join(line.meaning for line in suite.receipt if (line.place, line.use) == ("rows", "unused"))


def by_command(rows: Rows, form: str, folder: Path, **more: bool) -> Read:
    return read(suite=str(FORMS[form](rows, folder / "rows")), **more)


def by_frame(rows: Rows, form: str, folder: Path, **more: bool) -> Read:
    del form, folder
    import pandas as pd

    return read(suite=pd.DataFrame(rows), **more)


def by_page(rows: Rows, form: str, folder: Path, keep_good_rows: bool = False) -> Read:
    path = FORMS[form](rows, folder / "rows")
    token = keep(io.BytesIO(path.read_bytes()), path.name, upload_folder())
    inputs = evaluation_inputs.Inputs("upload", token, outputs=(token,), together=True, keep=keep_good_rows)
    found = evaluation_inputs.read_inputs(inputs)
    if not found.complete:
        raise InputError(found.problems)
    data = evaluation_inputs.load_data(inputs)
    return data.suite, data.outputs, left_out(data.suite)


DOORS: dict[str, Callable[..., Read]] = {"command": by_command, "Python": by_frame, "page": by_page}


def forms_of(rows: Rows, seed: str) -> list[str]:
    return Random(seed).sample([form for form in FILES if can_hold(form, "as it is", rows)], 2)


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("other", OTHERS)
def test_what_is_asked_of_other_facts_is_another_case(other: str, door: str, tmp_path: Path) -> None:
    rows = rows_of(ONE, LAST, OTHERS[other])
    for form in forms_of(rows, f"{other} {door}"):
        folder = tmp_path / form.replace(" ", "")
        folder.mkdir()
        suite, outputs, _ = DOORS[door](rows, form, folder)
        answers = dict(zip(*(outputs.outputs[name].to_pylist() for name in ("case_id", "answer")), strict=True))
        found = suite.cases.select(["case_id", "question", "expected_answers"]).to_pylist()
        assert [(each["question"], each["expected_answers"], answers[each["case_id"]]) for each in found] == [
            (row["question"], [row["expected_answer"]], row["answer"]) for row in rows
        ]


@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize("door", DOORS)
def test_a_second_answer_is_no_case_and_its_row_is_named(door: str, tmp_path: Path) -> None:
    rows = rows_of(ONE, LAST, OTHERS["another question"], (*ONE[:3], "Bob"), (*LAST[:3], "then"))
    with pytest.raises(InputError, match="again, first in"):
        DOORS[door](rows, "CSV", tmp_path)
    suite, _, said = DOORS[door](rows, "CSV", tmp_path, keep_good_rows=True)
    assert len(suite) == 3
    assert said.endswith(": 4–5" if door == "Python" else ": 5–6")  # a file's first row is its header


@pytest.mark.parametrize("other", ["another expected answer", "other contexts"])
def test_models_share_the_cases_of_a_repeated_question(other: str, tmp_path: Path) -> None:
    """In one table with a column `model`, and in a file for each model."""
    rows = {name: rows_of(ONE, LAST, OTHERS[other]) for name in ("a", "b")}
    table = [row | {"model": name} for name, own in rows.items() for row in own]
    files = [str(FORMS["CSV"](own, tmp_path / name)) for name, own in rows.items()]
    for found in (read(suite=str(FORMS["CSV"](table, tmp_path / "all"))), read(suite=files[0], outputs=tuple(files))):
        assert (len(found[0]), len(found[1].outputs), found[1].models) == (3, 6, ("a", "b"))


def test_what_each_model_retrieved_makes_no_other_case() -> None:
    import pandas as pd

    rows = [row | {"contexts": [name], "model": name} for name in ("a", "b") for row in rows_of(ONE, LAST)]
    suite, outputs = ingest.combined_from_frame(pd.DataFrame(rows)).value
    assert (len(suite), len(outputs.outputs)) == (2, 4)


@pytest.mark.parametrize(
    ("task", "columns"),
    [
        ("classification", {"label": "p", "predicted_label": "q"}),
        ("regression", {"true_value": 1.5, "predicted_value": 2.0}),
    ],
)
def test_models_that_predict_the_same_question_share_its_case(task: str, columns: dict[str, Any]) -> None:
    import pandas as pd

    rows = [{"question": text, "model": model} | columns for model in "ab" for text in ("x", "y", "z")]
    loaded = ingest.combined_from_frame(pd.DataFrame(rows))
    assert (loaded.value[0].task, len(loaded.value[0]), loaded.missing) == (task, 3, 0)


def test_ids_say_which_rows_are_one_case() -> None:
    import pandas as pd

    rows = [row | {"id": id} for row, id in zip(rows_of(ONE, ONE, OTHERS["both"]), "123", strict=True)]
    assert len(ingest.combined_from_frame(pd.DataFrame(rows)).value[0]) == 3
    rows[2]["id"] = "1"
    with pytest.raises(InputError, match="expected the same expected_answers in all rows of one case"):
        ingest.combined_from_frame(pd.DataFrame(rows))


def test_row_numbers_are_said_as_ranges() -> None:
    import numpy as np

    assert ranges_of(np.array([2, 3, 4, 9, 11, 12])) == "2–4, 9, 11–12"
    assert ranges_of(np.arange(1, 60, 2)).endswith("37, 39 and 10 more")
