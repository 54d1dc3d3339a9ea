"""The vector cache: what goes in comes out, once, for every process, and nothing else gets in."""

import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from metrics.core.errors import AssayError
from metrics.models.vectors import VectorCache, key

KEYS = [key(f"text {index}") for index in range(1_200)]


def unit(count: int, width: int = 4, seed: int = 0) -> np.ndarray:
    table = np.random.default_rng(seed).normal(size=(count, width))
    return (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "vectors" / "m.sqlite3"


@pytest.fixture
def cache(path: Path) -> Iterator[VectorCache]:
    cache = VectorCache(path)
    yield cache
    cache.close()


def test_what_is_kept_is_found_bit_for_bit(cache: VectorCache, path: Path) -> None:
    vectors = unit(len(KEYS))
    cache.keep(KEYS, vectors, [index % 7 == 0 for index in range(len(KEYS))])
    for reader in (cache, VectorCache(path)):
        found = reader.lookup([*KEYS, key("never seen")])
        assert list(found) != []
        assert len(found) == len(KEYS)
        for index, name in enumerate(KEYS):
            assert found[name].vector.tobytes() == vectors[index].tobytes()
            assert found[name].truncated == (index % 7 == 0)
    reader.close()


def test_nothing_of_a_text_is_kept_but_its_hash(cache: VectorCache, path: Path) -> None:
    """No text, no pickle: a key of 32 bytes and raw numbers."""
    vector = unit(1)
    cache.keep([key("my secret")], vector, [False])
    rows = sqlite3.connect(path)
    [(name, blob, flag)] = rows.execute("SELECT * FROM vectors").fetchall()
    rows.close()
    assert name == key("my secret")
    assert (blob, flag) == (vector.tobytes(), 0)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_claim_is_one_process_s(cache: VectorCache, path: Path) -> None:
    other = VectorCache(path)
    assert (cache.claim(KEYS[:3]), other.claim(KEYS[1:5])) == (set(KEYS[:3]), set(KEYS[3:5]))
    cache.keep(KEYS[:3], unit(3), [False] * 3)
    assert other.claim(KEYS[:3]) == set(), "what is kept is nobody's to compute"
    cache.claim(KEYS[6:8])
    cache.release()
    assert other.claim(KEYS[6:8]) == set(KEYS[6:8])
    other.close()


def test_a_claim_runs_out(cache: VectorCache, path: Path) -> None:
    """Whoever was killed does not keep the others waiting for ever."""
    other = VectorCache(path)
    cache.claim(KEYS[:2], lease=-1)
    assert other.claim(KEYS[:2]) == set(KEYS[:2])
    other.close()


def test_a_damaged_file_is_named(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(AssayError, match=r"the vector cache .*m\.sqlite3 is damaged .*; delete it"):
        VectorCache(path)


def test_workers_share_the_work(path: Path) -> None:
    """Three workers that open the new file at once and want the same texts compute each once."""
    with ThreadPoolExecutor(3) as pool:
        shares = list(pool.map(_claim_and_keep, [(path, seed) for seed in range(3)]))
    assert sorted(index for share in shares for index in share) == list(range(len(KEYS)))
    cache = VectorCache(path)
    assert len(cache.lookup(KEYS)) == len(KEYS)
    cache.close()


def _claim_and_keep(task: tuple[Path, int]) -> list[int]:
    path, seed = task
    cache = VectorCache(path)
    mine: list[int] = []
    for start in range(0, len(KEYS), 100):
        claimed = cache.claim(KEYS[start : start + 100])
        some = [index for index in range(start, start + 100) if KEYS[index] in claimed]
        cache.keep([KEYS[index] for index in some], unit(len(some), seed=seed), [False] * len(some))
        mine += some
    cache.close()
    return mine
