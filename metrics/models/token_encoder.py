"""Contextual token vectors: the hidden states of a transformer, for comparisons token by token."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from metrics.core.array_types import Floats, Singles
from metrics.models import embedder
from metrics.models.batches import Tokenizer, by_length, padded
from metrics.models.model_files import fingerprints, load, model_folder, no_folder, no_library

KIND = "token encoder"
FOLDER = f"one with an encoder of transformers, or choose {embedder.BUNDLED!r}"


@dataclass(frozen=True, slots=True)
class Tokens:
    """A text's token vectors [n, d], the weight of each [n] (0 for special tokens), and whether the text was cut.

    `unknown` is the share of its tokens that are not in the model's vocabulary, 0 … 1: they all look alike to it.
    """

    vectors: Singles
    weights: Floats
    truncated: bool
    unknown: float = 0.0


class TokenEncoder:
    """A transformer whose hidden states are read, loaded when a text first needs it.

    `name` is the model's name and `weights` the sha256 of its weights; both are stored with every score.
    """

    def __init__(self, folder: Path, name: str):
        self.name = name
        self.weights, _ = fingerprints(folder)
        self._folder = folder

    def encode(self, texts: Sequence[str], layer: int | None = None) -> list[Tokens]:
        """Return the hidden states of each text's tokens after `layer` (0: the embeddings; None: the last).

        Special tokens are included. A text longer than the model's window is read by its beginning. Raises ValueError
        where the model has no such layer.
        """
        import torch

        model, tokenizer = self._loaded
        layers = int(model.config.num_hidden_layers)
        if layer is not None and not 0 <= layer <= layers:
            raise ValueError(f"{self.name} has the layers 0 … {layers}, not {layer}")
        distinct = list(dict.fromkeys(texts))
        encoded = [tokenizer.encode(text.encode("utf-8", "replace").decode()) for text in distinct]
        found: dict[str, Tokens] = {}
        for batch in by_length([len(row["input_ids"]) for row, _ in encoded]):
            with torch.inference_mode():
                made = model(
                    **padded([encoded[place][0] for place in batch], model.config.pad_token_id or 0, model.device),
                    output_hidden_states=True,
                )
            states = made.hidden_states[layers if layer is None else layer].cpu().numpy()
            for place, rows in zip(batch, states, strict=True):
                row, cut = encoded[place]
                weights = 1.0 - np.array(row["special_tokens_mask"], np.float64)
                unknown = np.array(row["input_ids"]) == tokenizer.own.unk_token_id
                share = float(unknown @ weights / max(weights.sum(), 1.0))
                found[distinct[place]] = Tokens(rows[: len(weights)].copy(), weights, cut, share)
        return [found[text] for text in texts]

    @cached_property
    def _loaded(self) -> tuple[Any, Tokenizer]:
        model, tokenizer = load(KIND, self._folder, "AutoModel", whole=False)
        return model, Tokenizer(tokenizer, model.config)


def open_token_encoder(setting: str, cache_folder: Path) -> TokenEncoder:  # noqa: ARG001
    """Return the encoder that `setting` names: "bundled", a local folder, or the name of a model on the hub.

    Raises MissingResource where there is none.
    """
    if setting == embedder.BUNDLED:
        return TokenEncoder(embedder.bundled_folder(), embedder.BUNDLED_NAME)
    otherwise = f", or choose {embedder.BUNDLED!r}"
    return TokenEncoder(*model_folder(setting, KIND, missing_token_encoder(setting), otherwise))


def missing_token_encoder(setting: str) -> str | None:
    """Return why the encoder of this setting is not available, or None; nothing is loaded."""
    if setting == embedder.BUNDLED:
        return embedder.missing_embedder(setting)
    return no_library(KIND) or no_folder(setting, FOLDER)
