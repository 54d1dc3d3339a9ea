"""Columns and evaluators on offer."""

from dataclasses import replace

import pytest

from components.views.setup import evaluator_offers
from components.widgets import column_mapping
from metrics.core.evaluator import Parameters
from metrics.core.registry import evaluators
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


CATALOGUE = {
    name: replace(
        evaluators()["rouge"], id=name, inputs=inputs, resources=resources, parameters=Parameters,
        default_needs=default_needs,
    )
    for name, inputs, resources, default_needs in (
        ("needs_contexts", ("answer", "retrieved_contexts"), (), ()),
        ("rouge", ("answer", "expected_answers"), (), ()),
        ("classification_text", ("answer", "expected_answers"), (), ("few_answers",)),
        ("judged", ("answer",), ("judge",), ()),
    )
}  # fmt: skip


def test_offers_say_what_is_lacking_and_come_last() -> None:
    offered = evaluator_offers.offers(CATALOGUE, "text", {"answer", "expected_answers"})
    assert [offer.id for offer in offered] == ["rouge", "classification_text", "judged", "needs_contexts"]
    assert offered[-1].lacks == ("retrieved contexts",)
    assert offered[2].asks == ("a judge",)


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        ({"answer", "expected_answers"}, ["rouge"]),
        ({"answer", "expected_answers", "few_answers"}, ["rouge", "classification_text"]),
        ({"answer"}, []),
    ],
    ids=["long answers", "labels as answers", "no expected answers"],
)
def test_default_choice(present: set[str], chosen: list[str]) -> None:
    assert evaluator_offers.default_choice(evaluator_offers.offers(CATALOGUE, "text", present)) == chosen


def test_offers_are_for_the_task() -> None:
    assert evaluator_offers.offers(CATALOGUE, "detection", {"answer"}) == []
