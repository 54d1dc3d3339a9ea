"""Models by name: which are available, and the message where one is not."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metrics.core.errors import MissingResource
from metrics.models import missing_model, provide
from metrics.models.embedder import Embedder
from metrics.models.hhem import open_classifier

NO_FOLDER = "there is no folder '{0}'; name one"


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


@pytest.mark.parametrize(("kind", "setting", "reason"), [
    *((kind, "some-maker/model", None) for kind in ("embedder", "classifier", "language_model", "token_encoder")),
    *((kind, "/no/such", NO_FOLDER) for kind in ("embedder", "classifier", "language_model", "token_encoder")),
    ("embedder", "bundled", None), ("token_encoder", "bundled", None), ("embedder", "./models/mine", NO_FOLDER),
    ("embedder", "a/b/c", NO_FOLDER), ("classifier", ".", None),
    ("language_model", "/no/such/model.gguf", "there is no file '{0}'; name one with a causal language model"),
    ("language_model", __file__, "'{0}' is a file, but no GGUF file; name one"),
])  # fmt: skip
def test_what_is_missing_is_known_beforehand(kind: str, setting: str, reason: str | None, tmp_path: Path) -> None:
    found = missing_model(kind, {kind: setting})
    assert (found is None) == (reason is None)
    if reason is not None:
        assert str(found).startswith(reason.format(setting))
        with pytest.raises(MissingResource):
            provide([kind], {kind: setting}, tmp_path)


def test_a_hub_name_is_the_only_way_to_a_download(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def refuse(name: str, local_files_only: bool = False, **_: object) -> None:
        asked.append((name, local_files_only))
        raise FileNotFoundError if local_files_only else ConnectionError

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    reason = "the classifier 'some/model' is neither a local folder nor available from"
    with pytest.raises(MissingResource, match=reason):
        open_classifier("some/model", tmp_path)
    assert asked == [("some/model", True), ("some/model", False)], "the copy on disk first"
    with pytest.raises(MissingResource, match=r"there is no folder '\./some/model'"):
        open_classifier("./some/model", tmp_path)
    assert len(asked) == 2


def test_what_is_missing_is_listed_with_the_way_out(tmp_path: Path) -> None:
    settings = {"embedder": "/no/such/folder"}
    assert missing_model("embedder", {}) is None
    with pytest.raises(
        MissingResource,
        match=r"^there is no folder '/no/such/folder'; name one .*; no language model is chosen: set lang",
    ):
        provide(["embedder", "language_model"], settings, tmp_path)
