"""Models by name: which are available, and the message where one is not."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metrics.core.errors import MissingResource
from metrics.models import missing_model, provide
from metrics.models.embedder import Embedder


def test_the_embedder_needs_no_choice_and_is_opened_once(tmp_path: Path) -> None:
    first, second = (
        provide(["embedder"], settings, tmp_path)["embedder"] for settings in ({}, {"embedder": "bundled"})
    )
    assert isinstance(first, Embedder)
    assert first is second
    assert provide([], {}, tmp_path) == {}


def test_threads_that_ask_at_once_get_one_model(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda _: provide(["embedder"], {}, tmp_path)["embedder"], range(6)))
    assert len({id(embedder) for embedder in found}) == 1


def test_what_is_missing_is_listed_with_the_way_out(tmp_path: Path) -> None:
    settings = {"embedder": "/no/such/folder"}
    assert missing_model("embedder", {}) is None
    with pytest.raises(
        MissingResource,
        match=r"^there is no folder '/no/such/folder'; name one .*; no language model is chosen: set lang",
    ):
        provide(["embedder", "language_model"], settings, tmp_path)
