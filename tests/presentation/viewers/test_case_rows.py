"""Rows of cases: what the browser is told to draw, from plain values."""

import json
import math
from typing import Any

import pandas as pd
import pytest

from metrics.analysis import Column
from metrics.core.evidence import Evidence, Verdict
from metrics.presentation import palette
from metrics.presentation.viewers.case_rows import case_rows
from metrics.presentation.viewers.viewer_files import FOLDER
from metrics.presentation.why_words import why
from tests.components.board_scenes import column

HOSTILE = "<img src=x onerror=alert(1)> **m**"
CASE = {
    "case_id": "c1", "model": "m", "run": 1, "value": 0.25, "status": "ok", "reason": None, "preview": "Why?",
    "tags": [], "errors": None, "answer": "Because.",
}  # fmt: skip


def drawn(of: Column | None = None, models: bool = False, repeats: bool = False, **changed: Any) -> dict[str, Any]:
    frame = pd.DataFrame([{**CASE, **changed}]).astype({"errors": "Int64", "value": "float64"})
    (row,) = case_rows(frame, of or column("rouge/l"), ["/case?case=c1"], models=models, repeats=repeats)
    return row


def test_a_case_has_its_texts_its_bar_and_its_address():
    row = drawn(reason="two words are missing", tags=["night"])
    assert (row["id"], row["href"], row["question"], row["answer"]) == ("c1", "case?case=c1", "Why?", "Because.")
    assert (row["reason"], row["facts"], row["model"]) == ("two words are missing", "night", None)
    assert (row["value"], row["share"], row["step"]) == ("0.250", 0.25, palette.goodness_step(0.25))


@pytest.mark.parametrize(("of", "value", "share", "goodness", "failing"), [
    pytest.param(column("e/m"), 0.2, 0.2, 0.2, True, id="below-its-threshold"),
    pytest.param(column("e/m"), 0.5, 0.5, 0.5, False, id="on-its-threshold"),
    pytest.param(column("e/m", "lower"), 0.8, 0.8, 0.2, True, id="above-where-lower-is-better"),
    pytest.param(column("e/m", threshold=None), 0.0, 0.0, 0.0, False, id="no-threshold"),
    pytest.param(column("e/m", "none"), 0.1, 0.1, None, False, id="no-better-end"),
    pytest.param(column("e/m", high=math.inf), 7.0, None, None, False, id="open-range-has-no-bar"),
    pytest.param(column("e/m", low=-1.0), 0.0, 0.5, 0.5, True, id="range-from-below-zero"),
    pytest.param(column("e/m"), 1.0000001, 1.0, 1.0, False, id="past-the-end-by-rounding"),
])  # fmt: skip
def test_the_bar(of, value, share, goodness, failing):
    row = drawn(of, value=value)
    assert row["share"] == share
    assert row["step"] == (None if goodness is None else palette.goodness_step(goodness))
    assert row["failing"] is failing


def test_numbers_say_themselves_why_and_labels_are_counted():
    scores = [Verdict("tone", "unknown", "4"), Verdict("safe", "yes", "true"), Verdict("ease", "no", "-1.5e-05")]
    assert why(Evidence({"scores": scores})) == "Scores: tone 4, safe true, ease -1.5e-05."
    claims = [Verdict("Lima is old.", "yes", "supported"), Verdict("Lima is large.", "no", "unsupported")]
    assert why(Evidence({"claims": claims})) == "Claims: 1 unsupported (“Lima is large.”), 1 supported."


def test_a_case_without_a_value_says_why():
    row = drawn(value=None, status="parse_failure", reason="no JSON")
    assert (row["value"], row["share"], row["failing"], row["reason"]) == ("reply unreadable", None, False, "no JSON")


@pytest.mark.parametrize(
    ("errors", "text", "failing"), [(3, "3 errors", True), (1, "1 error", True), (0, "0 errors", False)]
)
def test_an_image_counts_its_errors(errors, text, failing):
    row = drawn(value=None, errors=errors, answer=None)
    assert (row["value"], row["failing"], row["share"]) == (text, failing, None)


def test_models_and_repeats_are_named_where_there_are_several():
    row = drawn(models=True, repeats=True, model=HOSTILE, run=2)
    assert (row["model"], row["facts"], json.loads(json.dumps(row))) == (HOSTILE, "repeat 2", row)


@pytest.mark.parametrize("script", sorted(path.name for path in FOLDER.glob("*.js")))
@pytest.mark.attack("model", "HTML in an answer", "viewers set text, never HTML")
def test_the_scripts_never_parse_text_as_html(script):
    text = (FOLDER / script).read_text(encoding="utf-8")
    assert not [
        sink for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(") if sink in text
    ]
