"""Columns of uploaded files: how they are mapped, and what is said of it."""

import pytest

from components.widgets import column_mapping
from metrics.ingest import Preview


@pytest.mark.parametrize(
    ("pairs", "canonical", "column", "before", "after"),
    [
        ([], "question", "q", None, ["question=q"]),
        (["question=q"], "question", "prompt", "q", ["question=prompt"]),
        (["question=q"], "answer", "q", None, ["answer=q"]),
        (["question=q", "tags=t"], "question", None, "q", ["tags=t", "metadata.q=q"]),
        (["metadata.q=q"], "question", "q", None, ["question=q"]),
        (["answer=a=b"], "question", "q", None, ["answer=a=b", "question=q"]),
    ],
    ids=["first", "corrected", "one meaning a column", "to nothing", "back again", "an equals sign in a name"],
)
def test_changed(pairs: list[str], canonical: str, column: str | None, before: str | None, after: list[str]) -> None:
    assert column_mapping.changed(pairs, canonical, column, before) == after


def test_summary_names_what_was_renamed() -> None:
    preview = Preview(
        "a.csv", "csv", "suite", "text", (), {"case_id": "case_id", "question": "user_input"}, unmapped=("a", "b"),
        ignored=("c",),
    )  # fmt: skip
    assert column_mapping.summary(preview) == "case id · question ← user_input · 2 kept as metadata · 1 ignored"


@pytest.mark.parametrize(("role", "canonical", "expected"), [
    ("outputs", "label", "predicted class"), ("outputs", "labels", "predicted classes"),
    ("suite", "label", "true class"), ("combined", "label", "true class"),
    ("combined", "predicted_label", "predicted class"), ("outputs", "answer", "answer"),
])  # fmt: skip
def test_a_class_in_a_file_of_outputs_is_the_predicted_one(role: str, canonical: str, expected: str) -> None:
    assert column_mapping.words(canonical, role) == expected
