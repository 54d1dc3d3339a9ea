"""Cases that are not independent: twice in a suite, in its contexts, in two parts of a suite."""

import pytest

from metrics.core.errors import InputError
from metrics.core.suite import Suite
from metrics.suites.duplicates import Duplicate, duplicates, independent_cases

RIVER = "Which river flows through the old town of Basel near the Mittlere bridge?"


def suite(*questions: str, name: str = "s", **columns: list[object]) -> Suite:
    rows = [
        {"case_id": f"{name}{place}", "question": question}
        | {column: values[place] for column, values in columns.items()}
        for place, question in enumerate(questions)
    ]
    return Suite.from_rows(name, "text", rows)


def told(found: list[Duplicate]) -> list[tuple[str, str, str, float]]:
    return [(one.kind, one.case_id, one.other, round(one.likeness, 3)) for one in found]


def test_the_same_words_nearly_the_same_and_in_a_context():
    given = suite("Who built the gate?", "WHO built the gate", RIVER, RIVER.replace("bridge", "ferry"), "Who?")
    assert told(duplicates(given)) == [("same", "s0", "s1", 1.0), ("near", "s2", "s3", 0.833)]
    assert independent_cases(given, duplicates(given)) == 3
    given = suite(RIVER, RIVER, RIVER, perturbs=[None, "s0", None])
    assert told(duplicates(given)) == [("same", "s0", "s2", 1.0)]
    contexts = [[f"Quiz. {RIVER} The Rhine."], [f"{RIVER} It is asked often."], []]
    given = suite(RIVER, "Who?", "Where?", reference_contexts=contexts)
    assert told(duplicates(given)) == [("in context", "s0", "s1", 1.0)]
    with pytest.raises(InputError, match="no questions"):
        duplicates(Suite.from_rows("s", "text", [{"case_id": "a", "source_text": "x"}]))


def test_between_two_parts_and_of_whole_conversations():
    one = suite(RIVER, "Who built the gate?", "Who built the gate?", name="a")
    other = suite("Who built the gate?", "Where is the mill?", name="b", source_text=[None, f"{RIVER} Rhine."])
    assert told(duplicates(one, other)) == [
        ("in context", "a0", "b1", 1.0), ("same", "a1", "b0", 1.0), ("same", "a2", "b0", 1.0),
    ]  # fmt: skip
    begun = [f"user: {what}\nagent: It is.\nuser: And since when is that so, please?" for what in ("Gate?", "Mill?")]
    given = suite(*begun, begun[0])
    assert told(duplicates(given))[0] == ("same", "s0", "s2", 1.0)
    assert ("s0", "s1") not in {(one.case_id, one.other) for one in duplicates(given) if one.kind == "same"}
