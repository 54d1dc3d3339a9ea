"""Cases as rows and as columns: joined with outputs in any order, with whatever is missing."""

import numpy as np
import pyarrow as pa
import pytest

from metrics.core.cases import Cases, join_cases
from metrics.core.suite import Case, Outputs, Suite

SUITE = Suite.from_rows(
    "s", "text",
    [
        {
            "case_id": f"c{n}", "question": f"q{n}" if n % 2 else None, "expected_answers": [f"e{n}"] * (n % 3),
            "site": "x",
        }
        for n in range(9)
    ],
)  # fmt: skip


def test_join_gives_a_case_for_each_output_in_its_order():
    suite = Suite.from_rows("s", "text", [{"case_id": "1", "question": "q1", "site": "x"}, {"case_id": "2"}])
    outputs = Outputs.from_rows(
        [
            {"case_id": "2", "model": "m", "answer": None},
            {"case_id": "1", "model": "m", "answer": "a", "retrieved_contexts": ["c"]},
        ]
    )
    assert list(join_cases(suite, outputs)) == [
        Case(case_id="2", model="m", position=1, answer=""),
        Case(case_id="1", model="m", question="q1", answer="a", retrieved_contexts=("c",), metadata={"site": "x"}),
    ]


def outputs(*places: int) -> Outputs:
    return Outputs.from_rows([{"case_id": f"c{n}", "model": "m", "run": 1, "answer": f"a{n}"} for n in places])


@pytest.mark.parametrize("places", [
    pytest.param((2, 3, 4), id="neighbours"), pytest.param((1, 4, 8), id="with gaps"),
    pytest.param((5, 0, 5), id="in no order, repeated"), pytest.param((), id="none"),
])  # fmt: skip
def test_rows_and_columns_are_one(places):
    cases = Cases.joined(SUITE, outputs(*places).outputs)
    assert [case.position for case in cases] == list(places) == cases.column("position").to_pylist()
    assert [case.question for case in cases] == [f"q{n}" if n % 2 else None for n in places]
    assert [case.expected_answers for case in cases] == [(f"e{n}",) * (n % 3) for n in places]
    assert [case.metadata for case in cases] == [{"site": "x"}] * len(places)
    assert cases.column("question").to_pylist() == [case.question for case in cases]
    assert cases.lacks("question").tolist() == [n % 2 == 0 for n in places]
    assert cases.lacks("expected_answers").tolist() == [n % 3 == 0 for n in places]
    assert cases.lacks("source_text").all()
    assert not cases.lacks("answer").any()
    assert list(Cases.of(list(cases))) == list(cases)
    assert Cases.of(cases) is cases
    kept = np.flatnonzero([n > 2 for n in places])
    assert list(cases.take(pa.array(kept))) == [cases[int(place)] for place in kept]


def test_absent_answers_unknown_cases_and_lone_surrogates():
    silent = Outputs.from_rows([{"case_id": "c1", "model": "m", "answer": None}])
    assert Cases.joined(SUITE, silent.outputs)[0].answer == ""
    assert Cases.of([Case()]).lacks("answer").tolist() == [True]
    with pytest.raises(KeyError, match="c77"):
        Cases.joined(SUITE, outputs(1, 77).outputs)
    case = Case.of(case_id="a", answer="x\ud800", retrieved_contexts=("\udfff", "b"), metadata={"note": "\ud800"})
    cases = Cases.of([case])
    assert (list(cases), cases.column("answer").to_pylist()) == ([case], ["x\ufffd"])
    assert cases.column("retrieved_contexts").to_pylist() == [["\ufffd", "b"]]
