"""What is no regular file, given where a file is expected: said at once, in one line, never waited for."""

import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from metrics.cli import rag_config
from metrics.core.errors import InputError
from metrics.core.files import open_regular
from metrics.core.plugins import load_reference
from metrics.core.project_file import read_toml
from metrics.ingest import load_suite
from metrics.ingest.lint.unknown_classes import names_in
from metrics.ingest.media.images import read_images
from metrics.judge.cache import Replay
from metrics.judge.saved_objects import file_text
from metrics.library import target_choice
from metrics.library.plain_coco import read_plain
from metrics.monitoring.line_reader import check_file
from metrics.targets.spec import _from_file

PIPE = "a pipe, which can be read only once: save it to a file first"


@pytest.fixture(autouse=True)
def _not_for_ever():
    """End a test that waits for a pipe: the signal interrupts its call."""

    def late(*_: object) -> None:
        raise AssertionError("it waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def pipe(place: Path) -> None:
    os.mkfifo(place)


def bound(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))


KINDS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe": (pipe, PIPE),
    "a device without end": (lambda place: place.symlink_to("/dev/zero"), "a device"),
    "a socket": (bound, "No such device or address"), "a folder": (lambda place: place.mkdir(), "a folder"),
    "a link to nothing": (lambda place: place.symlink_to("nothing"), "No such file or directory"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "why"), KINDS.values(), ids=KINDS)
def test_only_a_regular_file_is_opened(tmp_path, monkeypatch, make, why):
    monkeypatch.chdir(tmp_path)  # the address of a socket is short
    make(Path("p"))
    with pytest.raises(OSError) as caught:  # noqa: PT011 - strerror is what is compared
        open_regular("p")
    assert caught.value.strerror == why


READERS: dict[str, Callable[[Path], object]] = {
    "suite or outputs": load_suite,
    "project file": lambda place: read_toml(place, "a project file"),
    "configuration of Open RAG Eval": rag_config._document,
    "plugin": lambda place: load_reference(f"{place}:entry", place.parent),
    "description of a target": lambda place: _from_file(place, {}),
    "prompt of a target": lambda place: target_choice._text(f"@{place}", "--target-system"),
    "names of classes": names_in, "prompt or rubric": file_text, "exported cache": Replay, "file to watch": check_file,
}  # fmt: skip


@pytest.mark.attack(
    "suite author",
    "a pipe in place of a file makes a command wait for ever",
    "inputs are opened without waiting, and only regular files",
)
@pytest.mark.parametrize("ending", ["", ".json", ".py", ".gz"])
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_pipe_is_no_input(tmp_path, read, ending):
    os.mkfifo(tmp_path / f"p{ending}")
    with pytest.raises(InputError, match=r"a pipe, which can be read only|FILE\.py:OBJECT"):
        read(tmp_path / f"p{ending}")


def test_a_pipe_of_images_or_results_is_no_input(tmp_path):
    os.mkfifo(tmp_path / "p")
    assert PIPE in read_images(tmp_path / "p", ["a.png"], tmp_path / "media").problems[0].found
    assert read_plain(tmp_path / "p", tmp_path / "p", "segm") is None
    assert read_plain(tmp_path / "p", tmp_path / "p", "bbox") is None
