"""Classifiers: the arithmetic of models with known weights, batches that change nothing, and what can be missing."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.errors import MissingResource
from metrics.core.files import sha256_of
from metrics.models import classifier as module
from metrics.models.classifier import (
    Classified,
    Classifier,
    classify_groups,
    find_label,
    probabilities,
    provenance,
    require_label,
)
from metrics.models.hhem import open_classifier
from tests.models import tiny
from tests.models.word_models import WordClassifier

TEXT = st.lists(st.sampled_from(tiny.WORDS), max_size=6).map(" ".join)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Classifier:
    """A tiny BERT with random weights, its cache elsewhere; in double precision, so that rounding hides nothing."""
    folder = tmp_path_factory.mktemp("models")
    found = open_classifier(str(tiny.classifier(folder / "tiny")), folder / "cache")
    found._loaded[0].double()
    return found


def alone(made: Classifier, *parts: str) -> np.ndarray:
    """The logits of one text or pair by transformers itself, without a batch."""
    import torch

    model, tokenizer = made._loaded
    with torch.no_grad():
        inputs = tokenizer.own(*parts, return_tensors="pt", truncation=True, max_length=16)
        inputs.pop("special_tokens_mask", None)
        return np.asarray(model(**inputs).logits[0], np.float64)


@settings(max_examples=15)
@given(texts=st.lists(TEXT | st.tuples(TEXT, TEXT), min_size=1, max_size=8))
def test_padding_changes_no_number(made: Classifier, texts: list[str | tuple[str, str]]) -> None:
    logits, _ = made._rows(texts)
    for text, row in zip(texts, logits, strict=True):
        expected = alone(made, *((text,) if isinstance(text, str) else text))
        assert row == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("texts", [["cat dog"], ["cat dog", "sun", "the cat sat on a mat"]], ids=["alone", "padded"])
def test_the_arithmetic_is_the_model_s(tmp_path: Path, texts: list[str]) -> None:
    """tiny.averaging_classifier, computed anew with numpy: the first token's state, and the mean of all, normed.

    s = norm(norm(e_first) + mean over tokens of norm(e));  twice normed, as nothing stands between the two norms
    z = Σ_k k · tanh(s_k)
    """
    found = open_classifier(str(tiny.averaging_classifier(tmp_path / "model")), tmp_path / "cache")
    logits = found.classify(texts).logits
    vocabulary = [*dict.fromkeys(tiny.BERT_MARKS.values()), *tiny.WORDS]

    def norm(rows: np.ndarray) -> np.ndarray:
        return (rows - rows.mean(-1, keepdims=True)) / np.sqrt(rows.var(-1, keepdims=True) + 1e-12)

    for text, row in zip(texts, logits, strict=True):
        tokens = ["[CLS]", *text.split(), "[SEP]"]
        embedded = norm(np.eye(len(vocabulary))[[vocabulary.index(token) for token in tokens]])
        state = norm(norm(embedded[0] + embedded.mean(0)))
        assert row == pytest.approx([np.tanh(state) @ np.arange(1, len(vocabulary) + 1)], abs=1e-4)
    assert found.independent, "one label has a probability of its own"


def test_a_long_text_is_cut_and_marked(made: Classifier) -> None:
    fits = "cat " * 14  # 16 with the two marks
    found = made.classify([fits, fits + "dog", ("cat", "dog"), ("cat " * 13, "dog")])
    assert found.truncated.tolist() == [False, True, False, True]
    assert found.logits[0] == pytest.approx(found.logits[1], abs=1e-6), "what is cut does not count"
    assert provenance(made, found.truncated) == {
        "model": "tiny", "weights_sha256": made.weights, "texts_read_in_part": 2,
    }  # fmt: skip
    assert len(made.weights) == 64


def test_marks_in_a_text_are_words(made: Classifier) -> None:
    """An answer cannot end its own side of a pair."""
    _, tokenizer = made._loaded
    features, _ = tokenizer.encode("cat [SEP] dog [CLS]", "sat")
    assert [features["input_ids"].count(number) for number in (2, 3)] == [1, 2]


def test_a_text_is_computed_once_ever(made: Classifier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(made._place)
    first = open_classifier(folder, tmp_path).classify(["the cat", ("the cat", "sat"), ("the", "cat sat"), "the cat"])
    monkeypatch.setattr(module, "load", lambda *_: pytest.fail("all logits are on disk; the model is not needed"))
    again = open_classifier(folder, tmp_path).classify([("the", "cat sat"), "the cat", ("the cat", "sat")])
    assert again.logits.tolist() == first.logits[[2, 0, 1]].tolist()
    assert first.logits[1].tolist() != first.logits[2].tolist(), "the same words, parted elsewhere"
    assert open_classifier(folder, tmp_path).classify([]).logits.shape == (0, 2)


def test_nothing_odd_in_a_text_stops_it(made: Classifier) -> None:
    found = made.classify(["", "\ud800 lone", "\0", "x" * 50_000, ("", "")])
    assert np.isfinite(found.logits).all()


# Labels and probabilities


@pytest.mark.parametrize(("labels", "problem", "independent"), [
    (("no", "yes"), None, False), (("a", "b", "c"), "single_label_classification", False),
    (("a", "b", "c"), "multi_label_classification", True), (("score",), None, True),
], ids=["two labels", "single", "multi", "one label"])  # fmt: skip
def test_softmax_or_sigmoid_by_the_kind_of_problem(tmp_path, labels, problem, independent):
    found = open_classifier(str(tiny.classifier(tmp_path / "m", labels, problem)), tmp_path)
    assert found.labels == tuple(labels)
    assert found.independent is independent
    logits = found.classify(["the cat", "sat"]).logits
    shares = probabilities(found, logits)
    if independent:
        assert shares == pytest.approx(1 / (1 + np.exp(-logits)))
    else:
        assert shares.sum(axis=1) == pytest.approx(np.ones(2))
        assert np.log(shares[:, 0] / shares[:, 1]) == pytest.approx(logits[:, 0] - logits[:, 1])
    assert probabilities(found, logits, independent=True) == pytest.approx(1 / (1 + np.exp(-logits)))


def test_extreme_logits_have_probabilities() -> None:
    stand_in = WordClassifier(("a", "b"), False, lambda text: (0.5, 0.5))
    logits = np.array([[1e4, -1e4], [0.0, 0.0]])
    assert probabilities(stand_in, logits).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert probabilities(stand_in, logits, independent=True).tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert probabilities(stand_in, np.zeros((0, 2))).shape == (0, 2)


def test_labels_are_found_whatever_their_case() -> None:
    labels = ("ENTAILMENT", "Not-Entailment", "identity_hate")
    assert find_label(labels, "entailment") == 0
    assert find_label(labels, "identity_attack", "identity hate") == 2
    assert find_label(labels, "entail") is None
    stand_in = WordClassifier(("LABEL_0", "LABEL_1"), False, lambda text: (0.5, 0.5))
    with pytest.raises(
        MissingResource,
        match="words has the labels LABEL_0, LABEL_1; hhem needs one called consistent or supported: ch",
    ):
        require_label(stand_in, "hhem", "consistent", "supported")


def test_groups_are_computed_together_and_given_back_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORTION", 3)
    stand_in = WordClassifier(("a", "b"), True, lambda text: (0.5, 0.9 if text == "x" else 0.1), window=1)
    groups = [["x"], [], ["y", "x x"], ["x"], []]
    found = list(classify_groups(stand_in, groups))
    assert [len(entry.logits) for entry in found] == [1, 0, 2, 1, 0]
    assert found[2].truncated.tolist() == [False, True]
    assert isinstance(found[0], Classified)
    assert stand_in.asked == ["x", "y", "x x", "x"]
    assert [entry.logits.shape for entry in classify_groups(stand_in, [[], []])] == [(0, 2), (0, 2)]


# What can be missing


def test_a_model_without_a_head_is_no_classifier(tmp_path: Path) -> None:
    """Its head would be drawn at random."""
    from transformers import BertForSequenceClassification

    folder = tiny.classifier(tmp_path / "headless")
    BertForSequenceClassification.from_pretrained(folder).bert.save_pretrained(folder)
    with pytest.raises(
        MissingResource, match=r"cannot be loaded \(ValueError: its weights lack classifier\.bias, clas"
    ):
        open_classifier(str(folder), tmp_path).classify(["a"])


def test_pickled_weights_are_never_loaded(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(MissingResource, match=r"no weights as \*\.safetensors; pickled weights can run code"):
        open_classifier(str(tmp_path), tmp_path)


def test_code_of_a_model_s_own_is_never_run(tmp_path: Path) -> None:
    folder = tiny.classifier(tmp_path / "m")
    config = (folder / "config.json").read_text()
    config = config.replace('"model_type": "bert"', '"model_type": "own", "auto_map": {"AutoConfig": "evil.Config"}')
    (folder / "config.json").write_text(config)
    (folder / "evil.py").write_text("raise SystemExit('ran')")
    with pytest.raises(MissingResource, match=r"the classifier in .* cannot be loaded"):
        open_classifier(str(folder), tmp_path).classify(["a"])


def test_a_folder_without_a_configuration_says_so(tmp_path: Path) -> None:
    with pytest.raises(
        MissingResource, match=r"has no config\.json that can be read; name one with a classifier: conf"
    ):
        open_classifier(str(tmp_path), tmp_path)


@pytest.mark.parametrize(("limit", "positions", "kind", "window"), [
    (512, 512, "bert", 512), (10**30, 514, "roberta", 512), (10**30, 514, "xlm-roberta", 512), (512, None, "t5", 512),
    (10**30, None, "t5", 2_048), (10**30, 131_072, "qwen3", 2_048), (8_192, 8_192, "modernbert", 2_048),
])  # fmt: skip
def test_the_window_is_what_the_model_reads(limit: int, positions: int | None, kind: str, window: int) -> None:
    from types import SimpleNamespace

    from metrics.models.batches import window as found

    config = SimpleNamespace(
        model_type=kind, pad_token_id=1, **({"max_position_embeddings": positions} if positions else {})
    )
    assert found(SimpleNamespace(model_max_length=limit), config) == window


def test_files_of_a_model_are_told_by_their_hash(tmp_path: Path) -> None:
    first, second = (
        open_classifier(str(tiny.classifier(tmp_path / name, seed=seed)), tmp_path / "cache")
        for name, seed in (("a", 0), ("b", 1))
    )
    assert first.weights == sha256_of(tmp_path / "a" / "model.safetensors")
    assert first.classify(["the cat"]).logits.tolist() != second.classify(["the cat"]).logits.tolist()
    assert len(list((tmp_path / "cache" / "logits").glob("*.sqlite3"))) == 2
