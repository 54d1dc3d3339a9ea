"""Token log-likelihoods of texts by a causal language model, each distinct text computed only once per model."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from metrics.core.installation import missing_extra
from metrics.models.batches import BATCH_TOKENS, Tokenizer, by_length, padded
from metrics.models.model_cache import CachedModel, Rows
from metrics.models.model_files import load, model_folder, no_folder, no_library
from metrics.models.vectors import Text

KIND = "language model"
FOLDER = "one with a causal language model (config.json, its tokenizer and model.safetensors), or a GGUF file"
GGUF = ".gguf"
GGUF_PACKAGES = ("gguf", "accelerate")
WINDOW = 1_024  # tokens read at once, at most: a longer text is read in overlapping windows
LOGITS = 2**27  # logits in memory at once, half a gigabyte: tokens × vocabulary


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of a target after its prefix: the mean over its `tokens` of −ln p(token | all before it), in nats.

    0 without tokens. `windows`: in how many overlapping windows the text was read; with more than one, most tokens saw
    only the window before them.
    """

    mean: float
    tokens: int
    windows: int


class LanguageModel(CachedModel):
    """A causal language model of transformers.

    Prefix and target are tokenised as one text; a token belongs to the target if it ends in it. The text begins with
    the beginning-of-text token where the vocabulary has one, so that the first word is predicted too; without one, the
    first token of a text without prefix is not counted. A text longer than the window w (what the model reads, at most
    WINDOW) is read in windows that begin w/2 tokens apart, and each token is scored in the first one that holds it: it
    sees at least w/2 tokens before it. Special tokens such as </s> in a text are words.
    """

    rows = "losses"
    version = "1"
    portion = 16

    def losses(self, pairs: Sequence[tuple[str, str]]) -> list[Loss]:
        """Return the loss of each target after its prefix, in order; every distinct pair is computed only once."""
        rows = (entry.vector for entry in self._stored(pairs))
        return [Loss(float(mean), int(tokens), int(windows)) for mean, tokens, windows in rows]

    @cached_property
    def _loaded(self) -> tuple[Any, Tokenizer]:
        folder, file = (self._place.parent, self._place.name) if self._place.is_file() else (self._place, None)
        model, tokenizer = load(KIND, folder, "AutoModelForCausalLM", gguf=file)
        return model, Tokenizer(tokenizer, model.config)

    def _rows(self, texts: Sequence[Text]) -> tuple[Rows, list[bool]]:
        import torch

        model, tokenizer = self._loaded
        window = min(tokenizer.window, WINDOW)
        # index of the text, its tokens, how many of the last ones to score
        pieces: list[tuple[int, list[int], int]] = []
        tokens, windows = np.zeros(len(texts), int), np.zeros(len(texts), int)
        for place, pair in enumerate(texts):
            ids, first = tokenise(tokenizer, pair[0], pair[1])
            tokens[place] = len(ids) - first
            for piece, scored in in_windows(ids, first, window):
                pieces.append((place, piece, scored))
                windows[place] += 1
        sums = np.zeros(len(texts))
        at_once = min(BATCH_TOKENS, max(window, LOGITS // model.get_output_embeddings().weight.shape[0]))
        for batch in by_length([len(piece) for _, piece, _ in pieces], at_once):
            rows = [{"input_ids": (row := pieces[k][1]), "attention_mask": [1] * len(row)} for k in batch]
            features = padded(rows, device=model.device)
            with torch.inference_mode():
                logits = model(**features, use_cache=False).logits
                for k, row in zip(batch, logits, strict=True):
                    place, piece, scored = pieces[k]
                    begin, end = len(piece) - scored, len(piece)
                    wanted = torch.tensor(piece[begin:end], device=row.device)
                    losses = torch.nn.functional.cross_entropy(row[begin - 1 : end - 1], wanted, reduction="none")
                    sums[place] += float(losses.double().sum())
        means = sums / np.maximum(tokens, 1)
        return np.stack([means, tokens, windows], axis=1).astype(np.float32), [False] * len(texts)


def tokenise(tokenizer: Tokenizer, prefix: str, target: str) -> tuple[list[int], int]:
    """Return the tokens of prefix and target, with beginning-of-text token, and the index of the first to score."""
    prefix, target = tokenizer.plain(prefix), tokenizer.plain(target)
    found = tokenizer.own(prefix + target, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    ids = list(found["input_ids"])
    ends = [end for _, end in found["offset_mapping"]]
    first = next((place for place, end in enumerate(ends) if end > len(prefix)), len(ids))
    beginning = tokenizer.own.bos_token_id
    if beginning is not None:
        return [beginning, *ids], first + 1
    return ids, max(first, min(1, len(ids)))


def in_windows(ids: Sequence[int], first: int, window: int) -> list[tuple[list[int], int]]:
    """Return parts of `ids` of at most `window` tokens, and how many of the last ones of each to score.

    The parts begin window/2 apart; each token from `first` on is scored once, in the first part that holds it.
    """
    parts = []
    stride = max(window // 2, 1)
    start, done = 0, first
    while done < len(ids):
        end = min(start + window, len(ids))
        if end > done:
            parts.append((list(ids[start:end]), end - done))
            done = end
        start += stride
    return parts


def open_language_model(setting: str, cache_folder: Path) -> LanguageModel:
    """Return the model that `setting` names: a local folder, a GGUF file, or the name of a model on the hub.

    Raises MissingResource where there is none.
    """
    return LanguageModel(*model_folder(setting, KIND, missing_language_model(setting)), cache_folder)


def missing_language_model(setting: str) -> str | None:
    """Return why the language model of this setting is not available, or None; nothing is loaded."""
    if reason := no_library(KIND):
        return reason
    place = Path(setting).expanduser()
    if setting.lower().endswith(GGUF):
        if not place.is_file():
            return f"there is no file {setting!r}; name {FOLDER}"
        return missing_extra("a language model in a GGUF file", "models", *GGUF_PACKAGES)
    if place.is_file():
        return f"{setting!r} is a file, but no GGUF file; name {FOLDER}"
    return no_folder(setting, f"{FOLDER}, or a model of the hub")
