"""Resources by name: what can be had, and what is said where it cannot."""

from pathlib import Path

import pytest

from metrics.errors import MissingResource
from metrics.models import lacking, provide
from metrics.models.embedder import Embedder


def test_the_embedder_needs_no_choice_and_is_opened_once(tmp_path: Path) -> None:
    first, second = (
        provide(["embedder"], settings, tmp_path)["embedder"] for settings in ({}, {"embedder": "bundled"})
    )
    assert isinstance(first, Embedder)
    assert first is second
    assert provide([], {}, tmp_path) == {}


def test_what_is_missing_is_listed_with_the_way_out(tmp_path: Path) -> None:
    settings = {"embedder": "/no/such/folder"}
    assert list(lacking(["embedder", "telepathy"], settings)) == ["embedder", "telepathy"]
    with pytest.raises(
        MissingResource, match=r"^there is no folder '/no/such/folder'; name one .*; no telepathy is chosen$"
    ):
        provide(["embedder", "telepathy"], settings, tmp_path)
