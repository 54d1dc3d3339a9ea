"""A stand-in for an embedder, so that evaluators are tested without a model: a word is an axis, chosen by its hash.

The cosine of two texts follows by hand: of texts without repeated words it is shared / √(words · words).
"""

import re
from collections.abc import Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

WIDTH = 4096  # words of a test have different axes


class WordVectors:
    """Counts of words, scaled to unit length; more than `window` words count as read in part."""

    name = "words"
    weights = "0" * 64

    def __init__(self, window: int = 10_000) -> None:
        self.window = window
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        table = np.zeros((len(texts), WIDTH), np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.casefold()):
                table[row, crc32(word.encode("utf-8", "surrogatepass")) % WIDTH] += 1
        return table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1)

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        return np.array([len(re.findall(r"\w+", text)) > self.window for text in texts], bool)
