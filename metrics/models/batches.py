"""Tokenised texts: the model's window, special tokens in a text, batches of similar length."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

BATCH_TOKENS = 8_192  # tokens computed at once, padding included
BATCH_TEXTS = 32
MAX_WINDOW = 2_048  # tokens read at once, also by a model that could read more: attention takes memory by their square
OFFSET_POSITIONS = ("roberta", "camembert", "mpnet", "longformer", "data2vec-text", "xmod")  # padding takes the first

Features = dict[str, list[int]]  # of one text, by name: input_ids, attention_mask …


class Tokenizer:
    """A tokenizer of transformers with the window of its model: `encode` says whether a text was cut."""

    def __init__(self, tokenizer: Any, config: Any):
        self.own = tokenizer
        self.window = window(tokenizer, config)

    def encode(self, *parts: str) -> tuple[Features, bool]:
        """Return the features of a text or a pair of texts, and whether the longer part was cut to the window."""
        plain = [self.plain(part) for part in parts]
        features = self.own(*plain, truncation=False, verbose=False, return_special_tokens_mask=True)
        cut = len(features["input_ids"]) > self.window
        if cut:
            features = self.own(
                *plain, truncation=True, max_length=self.window, verbose=False, return_special_tokens_mask=True
            )
        return dict(features), cut

    def plain(self, text: str) -> str:
        """Return the text with the tokenizer's special tokens ([SEP], </s> …) split up: in a text they are words."""
        return self._marks.sub(lambda found: f"{found[0][0]} {found[0][1:]}", text) if self._marks else text

    @cached_property
    def _marks(self) -> "re.Pattern[str] | None":
        marks = [mark for mark in self.own.all_special_tokens if len(mark) > 1 and not mark.isalnum()]
        return re.compile("|".join(re.escape(mark) for mark in marks)) if marks else None


def window(tokenizer: Any, config: Any) -> int:
    """Return how many tokens, special ones included, the model can read at once."""
    limits = [MAX_WINDOW, int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None)
    if positions:
        taken = (config.pad_token_id or 0) + 1 if any(kind in config.model_type for kind in OFFSET_POSITIONS) else 0
        limits.append(int(positions) - taken)
    return min(limits)


def by_length(lengths: Sequence[int], tokens: int = BATCH_TOKENS, texts: int = BATCH_TEXTS) -> Iterator[list[int]]:
    """Yield the indices of `lengths` in batches of similar length, the longest first; at most `tokens` with padding."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if batch and (len(batch) == texts or (len(batch) + 1) * lengths[batch[0]] > tokens):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def padded(rows: Sequence[Features], filler: int = 0, device: Any = "cpu") -> dict[str, Any]:
    """Return features of several texts as tensors [n, longest] on a device, padded at the right outside the mask."""
    import torch

    longest = max(len(row["input_ids"]) for row in rows)
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in rows[0]]
    fillers = {"input_ids": filler}
    return {
        name: torch.tensor(
            [row[name] + [fillers.get(name, 0)] * (longest - len(row[name])) for row in rows], device=device
        )
        for name in names
    }
