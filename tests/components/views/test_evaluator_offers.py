"""Evaluators on offer: what each lacks, where it stands, what a search finds, what the address chooses."""

from dataclasses import replace

import pytest

from components.views.setup import evaluator_drawer
from components.views.setup.evaluator_offers import Choice, choice, offers, shelved, tick_presets
from metrics.core.evaluator import Parameters
from metrics.core.presets import suitable
from metrics.core.registry import evaluators
from metrics.presentation.families import is_found

DATA = {"question", "answer", "expected_answers", "worded_answers", "few_outputs"}
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
    assert is_found(evaluators()["rouge"], wanted) is found


SYNONYMS = {
    "custom": "g_eval", "own criterion": "g_eval", "rubric": "rubric", "criteria": "rubric", "accuracy": "exact_match",
    "hallucination": "groundedness", "groundedness": "groundedness", "toxicity": "toxicity_classifier",
    "pii": "pii_leakage", "json": "json_schema", "regex": "text_matching", "latency": "latency", "cost": "cost",
    "map": "average_precision", "iou": "segmentation_iou", "f1": "classification", "ndcg": "ranking",
    "bias": "fairness_bias", "jailbreak": "jailbreak_success",
}  # fmt: skip


@pytest.mark.parametrize(("wanted", "id"), SYNONYMS.items(), ids=SYNONYMS)
def test_search_knows_what_people_call_it(wanted: str, id: str) -> None:
    assert is_found(evaluators()[id], wanted)
    assert sum(is_found(entry, wanted) for entry in evaluators().values()) < len(evaluators()) / 2


RIGHT = ("rouge", "answer_semantic_similarity")


@pytest.mark.parametrize(("values", "judge", "chosen", "ticked"), [
    ({}, False, RIGHT, {"right"}),
    ({"preset": ["right", "claims"]}, False, RIGHT, {"right", "claims"}),
    ({"preset": ["right", "claims"]}, True, (*RIGHT, "answer_correctness", "answer_relevance"), {"right", "claims"}),
    ({"preset": ["answers"]}, False, (*RIGHT, "answer_relevancy_sentence"), {"right", "topic"}),
    ({"preset": ["right"], "evaluator": ["rouge"]}, False, ("rouge",), set()),
    ({"preset": ["claims"], "evaluator": [*RIGHT, "bleu"]}, False, (*RIGHT, "bleu"), {"right", "claims"}),
    ({"evaluator": ["bleu", "no_such"]}, False, ("bleu",), set()), ({"evaluator": ["none"]}, False, (), set()),
    ({"preset": ["none"]}, False, (), set()), ({"preset": ["detection"]}, False, (), set()),
], ids=["nothing", "one waits for a judge", "a judge", "several by one name", "a preset in part", "and one more",
        "by name", "none", "no preset", "a preset for other data"])  # fmt: skip
def test_the_address_chooses(address, values, judge, chosen, ticked):
    address.update(values)
    found = chosen_by_address(judge)
    assert found.chosen == chosen
    assert set(found.ticked) == ticked
    assert "grounded" not in found.held, "there are no contexts"


def chosen_by_address(judge: bool = False) -> Choice:
    """What the address chooses for DATA, as the page asks it."""
    shelf = shelved(
        offers(evaluators(), "text", DATA), (), lambda id: not judge and "judge" in evaluators()[id].needs, lambda _: ""
    )
    return choice(list(suitable("text", DATA)), "text", DATA, shelf, lambda: {"right": RIGHT})


@pytest.mark.parametrize(("values", "ticks", "written"), [
    ({}, ["right", "topic"], {"preset": ["right", "topic"], "evaluator": None}),
    ({}, [], {"preset": "none", "evaluator": None}),
    ({"evaluator": [*RIGHT, "bleu"]}, [], {"preset": "none", "evaluator": ["bleu"]}),
    ({"evaluator": ["bleu"]}, ["right"], {"preset": ["right"], "evaluator": ["bleu", *RIGHT]}),
    ({}, ["right", "claims"], {"preset": ["right", "claims"], "evaluator": None}),
], ids=["one more", "none left", "what was added stays", "added to what was named", "a judge awaited"])  # fmt: skip
def test_a_tick_adds_and_takes_its_evaluators(address, monkeypatch, values, ticks, written):
    address.update(values)
    put: dict[str, object] = {}
    monkeypatch.setattr("components.widgets.url.put", lambda **values: put.update(values))
    tick_presets(ticks, chosen_by_address())
    assert put == written


def test_changes_are_listed_beside_their_defaults() -> None:
    own = {"threshold": 0.4, "use_stemmer": True, "thresholds": {"rouge2": 0.2}}
    assert evaluator_drawer.changed_words(evaluators()["rouge"], own) == [
        "Threshold: 0.4 (default none)", "Use stemmer: yes (default no)",
        'Thresholds: {"rouge2": 0.2} (default none)',
    ]  # fmt: skip
    assert evaluator_drawer.changed_words(evaluators()["faithfulness"], {"threshold": 0.6}) == [
        "Threshold: 0.6 (default 0.75)"
    ]
