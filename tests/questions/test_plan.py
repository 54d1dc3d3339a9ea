"""How many questions of which kind, about which chunks, in which language."""

import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from metrics.core.errors import InputError
from metrics.questions.plan import FOLLOWING, NextTo, Plan, Task, languages_of
from metrics.questions.settings import question_settings, shared_out
from metrics.text.chunks import Chunk

WEIGHTS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 100), min_size=1).filter(
    lambda w: sum(w.values()) > 0
)


def chunks(**documents: int) -> list[Chunk]:
    return [
        Chunk(f"{name}#{number}", name, name, "", f"{name} {number}")
        for name, count in documents.items()
        for number in range(1, count + 1)
    ]


def planned(own: list[Chunk], **settings: Any) -> list[Task]:
    wanted = question_settings(settings)
    plan = Plan(own, wanted, NextTo(len(own)))
    return plan.tasks(languages_of(plan.counts(), wanted.languages), {})


@pytest.mark.parametrize(
    ("number", "weights", "counts"),
    [
        (10, {"a": 1, "b": 1, "c": 1}, [4, 3, 3]),
        (7, {"a": 50, "b": 30, "c": 20}, [4, 2, 1]),  # 3.5, 2.1, 1.4: the largest remainder gets the seventh
        (1, {"a": 1, "b": 2}, [0, 1]),
        (5, {"a": 0, "b": 3}, [0, 5]),
        (3, {"a": 0.1, "b": 0.1, "c": 0.1}, [1, 1, 1]),
    ],
    ids=["thirds", "largest remainder", "one", "zero", "fractions"],
)
def test_shared_out(number, weights, counts):
    assert list(shared_out(number, weights).values()) == counts


@given(st.integers(0, 500), WEIGHTS.filter(lambda weights: sum(weights.values()) > 0))
def test_the_shares_make_up_the_number_and_are_less_than_one_off(number, weights):
    found = shared_out(number, weights)
    assert sum(found.values()) == number
    total = sum(weights.values())
    assert all(abs(found[name] - number * weight / total) < 1 + 1e-9 for name, weight in weights.items())


def test_each_document_in_turn_and_each_chunk_once_before_any_again():
    own = chunks(a=6, b=2, c=2)
    tasks = planned(own, number=10, weights={"factoid": 1, "reasoning": 1})
    first = [own[task.chunks[0]] for task in tasks]
    assert sorted(chunk.id for chunk in first) == sorted(chunk.id for chunk in own)
    assert Counter(chunk.document for chunk in first[:3]) == {"a": 1, "b": 1, "c": 1}
    assert tasks == planned(own, number=10, weights={"factoid": 1, "reasoning": 1})
    assert tasks != planned(own, number=10, weights={"factoid": 1, "reasoning": 1}, seed=1)


def test_what_is_asked_about_one_chunk_is_one_task():
    assert [task.count for task in planned(chunks(a=2), number=5, weights={"factoid": 1})] == [3, 2]


def test_kinds_that_need_more_than_one_passage():
    own = chunks(a=4, b=1)
    for name in ("multi_hop", "comparison"):
        tasks = planned(own, number=10, weights={name: 1})
        assert all(len(set(task.chunks)) == 2 for task in tasks)
        assert sum(task.count for task in tasks) == 10 == len(tasks), "another partner each time"
    for task in planned(own, number=5, weights={"summary": 1}):
        places = task.chunks
        assert places == tuple(range(places[0], places[0] + len(places)))
        assert len(places) <= FOLLOWING
        assert len({own[place].document for place in places}) == 1


def test_one_chunk_has_no_partner():
    tasks = planned(chunks(a=1), number=4, weights={"multi_hop": 1, "factoid": 1})
    assert {task.kind.name: task.count for task in tasks} == {"factoid": 4}
    assert planned(chunks(a=1), number=4, weights={"multi_hop": 1}) == []


def test_most_questions_about_a_document_and_languages_in_turn():
    tasks = planned(chunks(a=5, b=5), number=9, per_document=2, languages=["English", "Deutsch"])
    assert sum(task.count for task in tasks) == 4
    wanted = languages_of({"factoid": 3, "summary": 2}, ["English", "Deutsch"])
    assert wanted == {
        ("factoid", "English"): 2, ("factoid", "Deutsch"): 1, ("summary", "Deutsch"): 1, ("summary", "English"): 1,
    }  # fmt: skip


@pytest.mark.parametrize(("given", "told"), [
    ({"number": 0}, "column number: found 0; expected Input should be greater than or equal to 1"),
    ({"weights": {"trivia": 1}}, "'trivia': no kind of question; there are factoid, reasoning"),
    ({"weights": {"factoid": 0}}, "at least one is above 0"),
    ({"min_words": 9, "max_words": 3}, "the fewest words are more than the most"),
    ({"chunk_size": 10, "seed": -1}, "column seed"),
], ids=["number", "kind", "no weight", "lengths", "two"])  # fmt: skip
def test_bad_settings_are_told(given, told):
    with pytest.raises(InputError, match=re.escape(told)):
        question_settings(given)
