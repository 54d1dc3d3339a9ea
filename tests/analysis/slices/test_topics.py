"""How many topics the questions of a suite have, and that their clusters are settled."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis.slices.topics import clustered, topics
from metrics.core.array_types import Singles
from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.engine.engine_scenes import finished


class Axes:
    """An embedder of thirty directions, one question each in turn."""

    def encode(self, texts: list[str]) -> Singles:
        return np.eye(30, dtype=np.float32)[np.arange(len(texts)) % 30]


@pytest.mark.parametrize(("size", "count"), [
    (80, 2), (200, 5), (1_000, 22), (2_000, 24),
], ids=["two at least", "of forty cases each", "the root of half the cases", "no more than 24"])  # fmt: skip
def test_the_number_of_topics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, count: int) -> None:
    rows = [{"case_id": f"c{place}", "question": "Who?"} for place in range(size)]
    answers = [{"case_id": "c0", "model": "m", "answer": "x"}]
    run = finished(
        Workspace(tmp_path), Suite.from_rows("s", "text", rows), Outputs.from_rows(answers), "looping_detection"
    )
    monkeypatch.setattr("metrics.models.provide", lambda *_: {"embedder": Axes()})
    found = topics(run)
    assert found.names == tuple(str(place) for place in range(count))
    assert np.unique(found.codes).tolist() == list(range(count))


def test_a_case_without_a_question_has_no_topic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"case_id": f"c{place}", "question": "Who?" if place % 5 else None} for place in range(100)]
    answers = [{"case_id": "c0", "model": "m", "answer": "x"}]
    run = finished(
        Workspace(tmp_path), Suite.from_rows("s", "text", rows), Outputs.from_rows(answers), "looping_detection"
    )
    monkeypatch.setattr("metrics.models.provide", lambda *_: {"embedder": Axes()})
    assert np.flatnonzero(topics(run).codes < 0).tolist() == list(range(0, 100, 5))


@pytest.mark.parametrize("seed", range(5))
def test_every_vector_is_nearest_to_the_centre_of_its_own_cluster(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(300, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = clustered(vectors, 6)
    centres = np.stack([vectors[codes == code].sum(axis=0) for code in range(6)])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    assert (vectors @ centres.T).argmax(axis=1).tolist() == codes.tolist()
