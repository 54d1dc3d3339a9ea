"""Token encoders: the hidden states are the model's own, in a batch as alone."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from metrics.models import provide
from metrics.models.embedder import BUNDLED_WEIGHTS
from metrics.models.token_encoder import TokenEncoder, open_token_encoder
from tests.models import tiny

TEXT = st.lists(st.sampled_from(tiny.WORDS), max_size=10).map(" ".join)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> TokenEncoder:
    found = open_token_encoder(str(tiny.classifier(tmp_path_factory.mktemp("models") / "tiny")), Path())
    found._loaded[0].double()  # so that rounding hides nothing
    return found


@settings(max_examples=10)
@given(texts=st.lists(TEXT, min_size=1, max_size=6), layer=st.sampled_from([None, 0, 1, 2]))
def test_the_states_are_the_model_s(made: TokenEncoder, texts: list[str], layer: int | None) -> None:
    import torch

    model, tokenizer = made._loaded
    for text, found in zip(texts, made.encode(texts, layer), strict=True):
        inputs = tokenizer.own(text, return_tensors="pt", return_special_tokens_mask=True)
        marks = inputs.pop("special_tokens_mask")[0].numpy()
        with torch.no_grad():
            states = model(**inputs, output_hidden_states=True).hidden_states[2 if layer is None else layer][0]
        assert found.vectors == pytest.approx(states.numpy(), abs=1e-9)
        assert found.weights.tolist() == (1 - marks).tolist()
        assert not found.truncated


def test_a_layer_that_is_not_there(made: TokenEncoder) -> None:
    with pytest.raises(ValueError, match=r"tiny has the layers 0 … 2, not 17"):
        made.encode(["cat"], 17)


def test_long_and_odd_texts(made: TokenEncoder) -> None:
    found = made.encode(["cat " * 99, "", "\ud800"])
    assert [len(entry.vectors) for entry in found] == [16, 2, 3]
    assert [entry.truncated for entry in found] == [True, False, False]
    assert np.isfinite(found[2].vectors).all()


def test_the_bundled_model_needs_no_choice(tmp_path: Path) -> None:
    found = provide(["token_encoder"], {}, tmp_path)["token_encoder"]
    assert (found.name, found.weights) == ("all-MiniLM-L6-v2", BUNDLED_WEIGHTS)
