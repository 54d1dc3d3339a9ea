"""Scores of cases: those that lack an input stand among the others, whatever the evaluator returns."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from metrics.core.cases import Cases
from metrics.core.evaluator import CaseScore, Evaluator, Metric, Parameters, Status
from metrics.core.evaluator_decorator import evaluator
from metrics.core.score_columns import STATUSES, ScoreColumns
from metrics.core.suite import Case
from metrics.engine.load_resources import Resources
from metrics.engine.score_cases import score_cases

LENGTH = (Metric("length", "Characters of the question.", high=100.0),)


@evaluator(id="by_case", title="By case", inputs=("question",), metrics=LENGTH)
def by_case(case: Case, parameters: Parameters) -> CaseScore:
    """Characters of the question."""
    return CaseScore({"length": float(len(case.question or ""))})


@evaluator(id="by_batch", title="By batch", inputs=("question",), metrics=LENGTH)
def by_batch(cases: Sequence[Case], parameters: Parameters) -> list[CaseScore]:
    """Characters of the question."""
    return [by_case(case, parameters) for case in cases]


@evaluator(id="by_column", title="By column", inputs=("question",), metrics=LENGTH)
def by_column(cases: Cases, parameters: Parameters) -> ScoreColumns:
    """Characters of the question."""
    ids, n = cases.column("case_id"), len(cases)
    lengths = {"length": pc.utf8_length(cases.column("question")).cast(pa.float64())}
    none = pa.nulls(n, pa.string())
    return ScoreColumns(ids, lengths, pa.repeat(pa.scalar(0, pa.int8()), n), none, none)


@evaluator(id="too_few", title="Too few", inputs=("question",), metrics=LENGTH)
def too_few(cases: Cases, parameters: Parameters) -> list[CaseScore]:
    """A score less than there are cases."""
    return [by_case(case, parameters) for case in cases][1:]


CASES = [
    Case(case_id="1", question="abc"), Case(case_id="2"), Case(case_id="3", error="HTTP 503"),
    Case(case_id="4", question=""), Case(case_id="5", question="é"),
]  # fmt: skip


def scored(entry: Evaluator, cases: list[Case], tmp_path: Path) -> list[CaseScore]:
    made = score_cases(entry, Parameters(), Cases.of(cases), Resources({}, tmp_path))
    assert made.case_ids.to_pylist() == [case.case_id for case in cases]
    return [made.at(place) for place in range(len(made))]


@pytest.mark.parametrize("entry", [by_case, by_batch, by_column], ids=lambda entry: entry.id)
@pytest.mark.parametrize("cases", [CASES, CASES[:1], CASES[1:3], []], ids=["some", "all", "none", "empty"])
def test_every_shape_scores_the_cases_that_it_can(entry, cases, tmp_path):
    lengths = {"1": 3.0, "4": 0.0, "5": 1.0}
    statuses = {"2": Status.NOT_APPLICABLE, "3": Status.ERROR}
    found = scored(entry, cases, tmp_path)
    assert [score.values["length"] for score in found] == [lengths.get(case.case_id) for case in cases]
    assert [score.status for score in found] == [statuses.get(case.case_id, Status.OK) for case in cases]


@pytest.mark.parametrize("entry", [by_case, by_batch, by_column], ids=lambda entry: entry.id)
def test_texts_are_composed_unless_they_are_asked_for_as_written(entry: Evaluator, tmp_path: Path) -> None:
    """Nulls, lists and the names of cases stay; five characters are four once é is one."""

    class AsWritten(Parameters):
        def reads_as_written(self) -> bool:
            return True

    apart = "cafe\u0301"
    rows = [
        Case(apart, question=apart, choices=("a", apart)),
        Case("2", question="plain"),
        Case("3"),
        Case("4", question="café"),
    ]
    cases = Cases.of(rows)
    for parameters, sizes in ((Parameters(), [4, 5, None, 4]), (AsWritten(), [5, 5, None, 4])):
        found = score_cases(entry, parameters, cases, Resources({}, tmp_path))
        assert [found.at(place).values.get("length") for place in range(4)] == sizes
        assert found.case_ids.to_pylist() == [apart, "2", "3", "4"]
    made = cases.compose_texts()
    assert [case.choices for case in made] == [("a", "café"), (), (), ()]
    assert made.column("case_id").to_pylist()[0] == apart
    assert made.compose_texts() is made


def test_shared_scores_and_batches_with_too_few(tmp_path):
    ids = pa.array(["1", "2", "3"])
    made = ScoreColumns.of(
        ids, ["length"], [CaseScore({"length": 1.0}), CaseScore({}, Status.ERROR, "why")], pa.array([1, 0, 1])
    )
    assert [made[case].values["length"] for case in ("1", "2", "3")] == [None, 1.0, None]
    assert made.status.to_pylist() == [STATUSES.index("error"), 0, STATUSES.index("error")]
    found = scored(too_few, CASES, tmp_path)
    assert [score.status for score in found] == [Status.ERROR, Status.NOT_APPLICABLE, *[Status.ERROR] * 3]
    assert found[0].reason == "ValueError: too_few returned 0 scores for 1 cases"
