"""The models that evaluators suggest: all of them are listed, and a check tells a model from a wrong one."""

import pytest

from metrics.cli.main import main
from metrics.core.registry import evaluators
from metrics.library.known_models import KNOWN, check_model, suggested
from metrics.models import SOURCES
from metrics.models.embedder import BUNDLED
from tests.models import tiny

TAKERS = [(entry.id, kind) for entry in evaluators().values() for kind in entry.resources if kind in SOURCES]


@pytest.mark.parametrize(("id", "kind"), TAKERS, ids=lambda value: value)
def test_every_evaluator_that_takes_a_model_is_served(id, kind):
    entry = evaluators()[id]
    serving = [model.name for model in KNOWN if model.kind == kind and entry in model.serves]
    assert serving, f"no known model is a {kind} for {id}"
    assert set(suggested(entry, kind)) <= set(serving), "what a parameter suggests is listed"
    assert SOURCES[kind].default in ("", *serving)


@pytest.mark.parametrize("model", KNOWN, ids=lambda model: f"{model.title}-{model.kind}")
def test_each_is_checked_by_an_evaluator_that_it_serves(model):
    entry = evaluators()[model.evaluator]
    assert entry in model.serves
    assert (model.metric or entry.primary.name) in {metric.name for metric in entry.metrics}
    assert len(model.expected) > 1
    assert all(low < high for _, low, high in model.expected)


@pytest.mark.parametrize("model", [model for model in KNOWN if model.name == BUNDLED], ids=lambda model: model.kind)
def test_the_bundled_one_computes_what_it_should(model, tmp_path):
    assert model.place is not None
    assert (model.size, model.missing) == ("91.6 MB", "")
    ok, words = check_model(model, tmp_path)
    assert (ok, words.count("expected")) == (True, len(model.expected)), "each number beside what it should be"


def test_another_model_in_its_place_is_wrong(tmp_path):
    (model,) = (model for model in KNOWN if model.evaluator == "toxicity_classifier")
    labels = ("toxic", "severe_toxic", "obscene", "threat", "insult", "identity_hate")
    other = tiny.classifier(tmp_path / "other", labels, "multi_label_classification")
    ok, words = check_model(model, tmp_path, str(other))
    assert ok is False
    assert "of 'You are a stupid idiot.', expected 0.8 to 1.01" in words
    ok, words = check_model(model, tmp_path, str(tiny.classifier(tmp_path / "unfit", ("no", "yes"))))
    assert ok is False
    assert "toxic" in words


def test_the_command_says_what_is_here_and_what_is_absent(workspace, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    assert main(["models", "list"]) == 0
    listed = capsys.readouterr().out
    assert "all-MiniLM-L6-v2, embedder, 91.6 MB: here" in listed
    assert "unitary/toxic-bert, classifier, about 440 MB: not on this machine\n  for toxicity_classifier\n" in listed
    assert main(["models", "check", "unitary/toxic-bert"]) == 0
    assert capsys.readouterr().out.startswith("unitary/toxic-bert, classifier: absent: not on this machine")
    assert main(["models", "check", "unitary/toxic"]) == 2
    assert "unitary/toxic-bert" in capsys.readouterr().err
