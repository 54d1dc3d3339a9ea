"""Language models: the loss of a text is that of a plain loop over its tokens, batched, padded and in windows."""

from math import exp, log
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from metrics.core.errors import MissingResource
from metrics.core.installation import how_to_install
from metrics.models import language_model as module
from metrics.models.language_model import (
    LanguageModel,
    in_windows,
    missing_language_model,
    open_language_model,
    tokenise,
)
from tests.models import tiny

TEXT = st.lists(st.sampled_from(tiny.WORDS), max_size=9).map(" ".join)
LONG = st.lists(st.sampled_from(tiny.WORDS), max_size=70).map(" ".join)
PAIRS = st.lists(st.tuples(TEXT | LONG, (TEXT | LONG).map(lambda text: f" {text}" if text else "")), max_size=6)
WINDOW = 24  # of the tiny models


def opened(folder: Path, beginning: bool) -> LanguageModel:
    found = open_language_model(str(tiny.language_model(folder / "m", beginning, WINDOW)), folder / "cache")
    found._loaded[0].double()  # so that rounding hides nothing
    return found


@pytest.fixture(scope="module", params=[True, False], ids=["with a beginning", "without"])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LanguageModel:
    return opened(tmp_path_factory.mktemp("models"), request.param)


def plain_loop(made: LanguageModel, prefix: str, target: str) -> tuple[float, int]:
    """The sum of −ln p(token | what its window shows before it), a token and a forward pass at a time."""
    import torch

    model, tokenizer = made._loaded
    beginning = tokenizer.own.bos_token_id
    before, all_of = (
        [tokenizer.own.convert_tokens_to_ids(word) for word in text.split()] for text in (prefix, prefix + target)
    )
    ids = ([] if beginning is None else [beginning]) + all_of
    first = len(ids) - (len(all_of) - len(before))
    total, counted = 0.0, 0
    for place in range(max(first, 1), len(ids)):
        start = 0 if place < WINDOW else ((place - WINDOW) // (WINDOW // 2) + 1) * (WINDOW // 2)
        with torch.no_grad():
            logits = model(torch.tensor([ids[start:place]])).logits[0, -1]
        total -= float(torch.log_softmax(logits, -1)[ids[place]])
        counted += 1
    return total, counted


@settings(max_examples=10)
@given(pairs=PAIRS)
def test_padding_batches_and_windows_change_no_number(made: LanguageModel, pairs: list[tuple[str, str]]) -> None:
    if not pairs:
        return
    rows, _ = made._rows(pairs)
    for pair, (mean, tokens, windows) in zip(pairs, rows, strict=True):
        total, counted = plain_loop(made, *pair)
        assert (tokens, mean * tokens) == (counted, pytest.approx(total, rel=1e-5, abs=1e-5))
        assert (windows > 0) == (tokens > 0)


def test_the_arithmetic_is_the_model_s(tmp_path: Path) -> None:
    """tiny.bigram_model: of n words, a word follows itself with e²/(e² + n − 1), any other with 1/(e² + n − 1)."""
    found = open_language_model(str(tiny.bigram_model(tmp_path / "m")), tmp_path / "cache")
    rest = exp(2) + len(tiny.WORDS) + 2 - 1
    same, other = log(rest) - 2, log(rest)
    losses = found.losses([("", "cat"), ("", "cat cat cat dog"), ("the cat", " cat"), ("the cat", " dog")])
    expected = [other, (2 * other + 2 * same) / 4, same, other]
    assert [loss.mean for loss in losses] == pytest.approx(expected, abs=2e-4)
    assert [(loss.tokens, loss.windows) for loss in losses] == [(1, 1), (4, 1), (1, 1), (1, 1)]


@settings(max_examples=50)
@given(length=st.integers(0, 90), first=st.integers(0, 90), window=st.integers(2, 30))
def test_every_token_is_scored_once_with_half_a_window_before_it(length: int, first: int, window: int) -> None:
    ids = list(range(length))
    scored = []
    for piece, count in in_windows(ids, first, window):
        assert 0 < count <= len(piece) <= window
        assert piece == list(range(piece[0], piece[0] + len(piece)))
        assert piece[-count] - piece[0] >= min(piece[-count], window // 2)
        scored += piece[-count:]
    assert scored == ids[first:]


def test_what_belongs_to_the_target(made: LanguageModel) -> None:
    _, tokenizer = made._loaded
    beginning = tokenizer.own.bos_token_id is not None
    ids, first = tokenise(tokenizer, "the cat", " sat on")
    assert (len(ids), first) == ((5, 3) if beginning else (4, 2))
    ids, first = tokenise(tokenizer, "", "sat on")
    assert (len(ids), first) == ((3, 1) if beginning else (2, 1)), (
        "the first word is predicted from the beginning alone"
    )
    ids, first = tokenise(tokenizer, "the c", "at")
    assert len(ids) - first == 1, "a token that ends in the target belongs to it"


def test_a_text_that_cannot_be_scored_has_no_tokens(made: LanguageModel) -> None:
    found = made.losses([("", ""), ("the", ""), ("", "cat"), ("", "\ud800 cat")])
    beginning = made._loaded[1].own.bos_token_id is not None
    assert [loss.tokens for loss in found] == [0, 0, int(beginning), 1 + beginning]
    assert [loss.windows for loss in found][:2] == [0, 0]


def test_marks_in_a_text_are_words(tmp_path: Path) -> None:
    found = opened(tmp_path, True)
    ids, _ = tokenise(found._loaded[1], "", "cat <s> dog")
    assert ids.count(found._loaded[1].own.bos_token_id) == 1


def test_a_pair_is_computed_once_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = str(tiny.language_model(tmp_path / "m"))
    pairs = [("the", " cat"), ("", "the cat"), ("the", " cat")]
    first = open_language_model(folder, tmp_path).losses(pairs)
    assert first[0] == first[2] != first[1]
    monkeypatch.setattr(module, "load", lambda *_, **__: pytest.fail("all is on disk; the model is not needed"))
    assert open_language_model(folder, tmp_path).losses(pairs) == first


def test_a_big_vocabulary_makes_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = opened(tmp_path, True)
    monkeypatch.setattr(module, "LOGITS", 1)
    shapes = []
    padded = module.padded
    monkeypatch.setattr(
        module,
        "padded",
        lambda rows, **options: shapes.append((len(rows), len(rows[0]["input_ids"]))) or padded(rows, **options),
    )
    found._rows([("", "cat " * count) for count in (20, 20, 10, 10, 1)])
    assert max(rows * length for rows, length in shapes) <= WINDOW


# What can be missing


def test_gguf_without_its_packages_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr(module, "GGUF_PACKAGES", ("no_such_gguf", "json"))
    reason = f"a language model in a GGUF file needs assay[models]: {how_to_install('models')}"
    assert missing_language_model(str(tmp_path / "m.gguf")) == reason


def test_a_classifier_is_no_language_model(tmp_path: Path) -> None:
    with pytest.raises(
        MissingResource, match=r"the language model in .* cannot be loaded \(ValueError: .*weights lack"
    ):
        open_language_model(str(tiny.classifier(tmp_path / "m")), tmp_path).losses([("", "a")])
