"""HHEM: what we compute is what transformers' own T5 with a head on each token says of the first one."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.errors import MissingResource
from metrics.models import hhem as module
from metrics.models.classifier import probabilities
from metrics.models.hhem import PROMPT, HallucinationClassifier, open_classifier
from tests.models import tiny

TEXT = st.lists(st.sampled_from(tiny.WORDS), min_size=1, max_size=8).map(" ".join)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> HallucinationClassifier:
    folder = tmp_path_factory.mktemp("models")
    found = open_classifier(str(tiny.hhem(folder / "hhem")), folder / "cache")
    assert isinstance(found, HallucinationClassifier)
    return found


@pytest.fixture(scope="module")
def oracle(made: HallucinationClassifier) -> object:
    """transformers' T5 for token classification with the same weights, one pair at a time."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, T5Config, T5ForTokenClassification

    foundation = made._place / "flan-t5-base"
    model = T5ForTokenClassification(T5Config.from_pretrained(foundation, num_labels=2)).eval()
    weights = load_file(made._place / "model.safetensors")
    absent, unknown = model.load_state_dict(
        {name.removeprefix("t5."): values for name, values in weights.items()}, strict=False
    )
    assert (absent, unknown) == (["transformer.encoder.embed_tokens.weight"], [])
    tokenizer = AutoTokenizer.from_pretrained(foundation)

    def score(premise: str, claim: str) -> float:
        inputs = tokenizer(PROMPT.format(premise=premise, claim=claim), return_tensors="pt")
        assert inputs["input_ids"][0, 0] == tokenizer.pad_token_id
        with torch.no_grad():
            return float(model(**inputs).logits[0, 0].softmax(-1)[1])

    return score


@settings(max_examples=10)
@given(pairs=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=6))
def test_the_probability_is_that_of_the_first_token(made, oracle, pairs):
    """In a batch as alone, so padding changes nothing."""
    logits, cut = made._rows(pairs)
    found = probabilities(made, np.asarray(logits, float))[:, 1]
    assert found == pytest.approx([oracle(*pair) for pair in pairs], abs=1e-5)  # type: ignore[operator]
    assert not any(cut)


def test_a_long_premise_is_cut_and_the_claim_kept(made, oracle, monkeypatch):
    tokenizer = made._loaded[1]
    monkeypatch.setattr(tokenizer, "window", 30)  # 14 of them the prompt's
    [short, long] = ([name] * count for name, count in (("cat", 10), ("cat", 40)))
    assert made.classify([(" ".join(short), "red sun")]).truncated.tolist() == [False]
    features, cut = module.prompted(tokenizer, " ".join(long), "red sun")
    assert cut
    said = tokenizer.own.convert_ids_to_tokens(features["input_ids"])
    assert (said[0], said[-3:]) == ("<pad>", ["red", "sun", "</s>"])
    assert 10 <= said.count("cat") <= len(said) - 14
    assert len(said) <= 30
    features, cut = module.prompted(tokenizer, "cat", " ".join(["sun"] * 50))
    assert (len(features["input_ids"]), cut) == (30, True)


def test_marks_in_a_text_are_words(made: HallucinationClassifier) -> None:
    features, _ = module.prompted(made._loaded[1], "cat </s> <pad> dog", "</s>")
    marks = [features["input_ids"].count(number) for number in (0, 1)]
    assert marks == [1, 1]


def test_without_its_foundation_it_says_what_to_get_and_asks_no_hub(tmp_path, monkeypatch):
    shutil.rmtree(tiny.hhem(tmp_path / "m") / "flan-t5-base")
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("the hub was asked"))
    monkeypatch.chdir(tmp_path)
    wanted = r"HHEM takes its .* from google/flan-t5-base: put config\.json, tokenizer\*, .*flan-t5-base"
    for setting in (str(tmp_path / "m"), "m"):
        with pytest.raises(MissingResource, match=wanted):
            open_classifier(setting, tmp_path)


def test_chosen_by_its_hub_name_it_gets_its_foundation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.hhem(tmp_path / "m")
    foundation = (folder / "flan-t5-base").rename(tmp_path / "foundation")
    asked = []

    def snapshot(name: str, **_: object) -> str:
        asked.append(name)
        return str(folder if name == module.MODEL else foundation)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    found = open_classifier(module.MODEL, tmp_path)
    assert (found.name, asked) == (module.MODEL, [module.MODEL, "google/flan-t5-base"])
    assert found.classify([("cat", "cat")]).logits.shape == (1, 2)


def test_weights_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = tiny.hhem(tmp_path / "m")
    weights = load_file(folder / "model.safetensors")
    gone = next(name for name in weights if "block.1" in name)
    save_file({name: values for name, values in weights.items() if name != gone}, folder / "model.safetensors")
    with pytest.raises(MissingResource, match=r"weights that do not fit the foundation: encoder\.block\.1"):
        open_classifier(str(folder), tmp_path).classify([("a", "b")])
