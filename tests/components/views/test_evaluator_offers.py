"""Evaluators on offer: what each lacks, where it stands, what a search finds, what the address chooses."""

from dataclasses import replace

import pytest

from components.views.setup import evaluator_drawer
from components.views.setup.evaluator_offers import Offer, choice, offers, shelved
from metrics.core.evaluator import Parameters
from metrics.core.registry import evaluators
from metrics.library.presets import PRESETS, suitable

DATA = {"question", "answer", "expected_answers", "worded_answers"}
CATALOGUE = {
    name: replace(
        evaluators()["rouge"], id=name, inputs=inputs, resources=resources, parameters=Parameters,
        default_needs=default_needs, family=family,
    )
    for name, inputs, resources, default_needs, family in (
        ("contexts", ("answer", "retrieved_contexts"), (), (), "answers"),
        ("overlap", ("answer", "expected_answers"), (), (), "text"),
        ("labels", ("answer", "expected_answers"), (), ("few_answers",), "text"),
        ("judged", ("answer",), ("judge",), (), "answers"),
        ("classified", ("answer",), ("classifier",), (), "safety"),
    )
}  # fmt: skip


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The query parameters of a page, without a browser."""
    values: dict[str, list[str]] = {}
    monkeypatch.setattr("components.widgets.url.params", lambda name: values.get(name, []))
    monkeypatch.setattr("components.widgets.url.param", lambda name, default="": (values.get(name) or [default])[0])
    return values


def test_offers_say_what_they_lack_ask_and_are_meant_for() -> None:
    offered = {offer.id: offer for offer in offers(CATALOGUE, "text", DATA)}
    assert list(offered) == list(CATALOGUE)
    assert offered["contexts"].lacks == ("retrieved contexts",)
    assert offered["judged"].asks == ("a judge",)
    assert offered["labels"].hint == "for expected answers that recur, like labels"
    assert not offered["overlap"].hint
    assert offers(CATALOGUE, "detection", {"answer"}) == []


@pytest.mark.parametrize(("asked", "judge", "ready", "waiting", "modelless"), [
    ([], False, ["overlap", "labels"], ["judged"], ["classified"]),
    ([], True, ["overlap", "labels", "judged"], [], ["classified"]),
    (["classified", "judged"], False, ["overlap", "labels", "classified"], ["judged"], []),
], ids=["neither judge nor model", "with a judge", "asked for by name"])  # fmt: skip
def test_what_cannot_run_is_set_aside_with_its_reason(asked, judge, ready, waiting, modelless):
    shelf = shelved(
        offers(CATALOGUE, "text", DATA), asked, lambda name: name == "judged" and not judge,
        lambda name: "no classifier is chosen" if name == "classified" else "",
    )  # fmt: skip
    assert [offer.id for offer in shelf.ready] == ready
    assert [offer.id for offer in shelf.columnless] == ["contexts"]
    assert [offer.id for offer in shelf.waiting] == waiting
    assert [(offer.id, reason) for offer, reason in shelf.modelless] == [
        (name, "no classifier is chosen") for name in modelless
    ]


@pytest.mark.parametrize(("wanted", "found"), [
    ("ROUGE", True), ("longest common", True), ("rouge2", True), ("text references", True), ("zebra", False),
], ids=["a name", "the definition", "a metric", "the family", "nothing"])  # fmt: skip
def test_search_looks_into_names_metrics_and_definitions(wanted: str, found: bool) -> None:
    assert Offer(evaluators()["rouge"], (), ()).matches(wanted) is found


@pytest.mark.parametrize(("values", "chosen", "preset", "change"), [
    ({}, PRESETS["quick"].runnable("text", DATA), "quick", (0, 0)),
    ({"preset": ["answers"]}, ["rouge", "bleu"], "answers", (0, 0)),
    ({"preset": ["answers"], "evaluator": ["rouge", "perplexity"]}, ["rouge", "perplexity"], "answers", (1, 1)),
    ({"evaluator": ["rouge", "no_such"]}, ["rouge"], "", (1, 0)), ({"evaluator": ["none"]}, [], "", (0, 0)),
    ({"preset": ["detection"]}, PRESETS["quick"].runnable("text", DATA), "quick", (0, 0)),
], ids=["nothing", "a preset", "a preset, changed", "by name", "none", "a preset for other data"])  # fmt: skip
def test_the_address_chooses(address, values, chosen, preset, change):
    address.update(values)
    ready = [*PRESETS["quick"].runnable("text", DATA), "perplexity"]
    found = choice(list(suitable("text", DATA)), "text", DATA, ready)
    assert sorted(found.chosen) == sorted(chosen)
    assert (found.preset, found.change) == (preset, change)


def test_changes_are_listed_beside_their_defaults() -> None:
    own = {"threshold": 0.4, "use_stemmer": True, "thresholds": {"rouge2": 0.2}}
    assert evaluator_drawer.changed_words(evaluators()["rouge"], own) == [
        "Threshold: 0.4 (default none)", "Use stemmer: yes (default no)",
        'Thresholds: {"rouge2": 0.2} (default none)',
    ]  # fmt: skip
    assert evaluator_drawer.changed_words(evaluators()["faithfulness"], {"threshold": 0.6}) == [
        "Threshold: 0.6 (default 0.75)"
    ]
