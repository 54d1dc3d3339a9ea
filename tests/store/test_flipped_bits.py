"""Bits that flip in what changes beside the runs: monitors, labels, reviews, thresholds, boards.

Each is an error that names the file, or changes nothing that is read.
"""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from metrics import monitoring
from metrics.core.errors import InputError
from metrics.store import Run, Workspace
from metrics.store.board_settings import Boards, BoardSettings
from metrics.store.rating_sets import DrawSizes, Labels
from metrics.store.reviews import Place, Review, SavedView, SavedViews
from metrics.store.threshold_profiles import ThresholdProfiles
from tests.monitoring.monitor_scenes import begun, line, write

FLIPS = 12  # of each file
pytestmark = pytest.mark.attack(
    "workspace writer",
    "a bit of a monitor, of labels, reviews, thresholds or a board is changed",
    "each file has a checksum, and an error names it",
)


def fed(folder: Path) -> monitoring.Monitor:
    """Return a monitor with two parts of samples."""
    monitor = begun(folder)
    monitoring.feed(monitor, write(folder / "log.jsonl", [line(place, place % 3 > 0) for place in range(30)]), batch=15)
    return monitor


def flips(path: Path) -> list[bytes]:
    """Return the bytes of a file with one bit changed, at places drawn over all of it."""
    whole, draw = path.read_bytes(), random.Random(path.name)
    made = []
    for _ in range(FLIPS):
        content = bytearray(whole)
        content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
        made.append(bytes(content))
    return made


def check_flips(paths: list[Path], read: Callable[[], object]) -> int:
    """Flip bits of each file; return how many flips were told, by an error that names the file."""
    before, told = repr(read()), 0
    for path in paths:
        whole = path.read_bytes()
        for content in flips(path):
            path.write_bytes(content)
            try:
                found = repr(read())
            except InputError as failure:
                found, told = str(failure), told + 1
            assert found == before or path.name in found
        path.write_bytes(whole)
    assert repr(read()) == before
    return told


def test_monitors(tmp_path: Path) -> None:
    monitor = fed(tmp_path)

    def read() -> object:
        here = monitoring.monitor(Workspace(tmp_path), monitor.name)
        numbers = [table.to_csv() for table in (monitoring.trend(here), monitoring.failures(here))]
        scores = monitoring.sample_scores(here, 0).to_csv()
        return numbers, scores, monitoring.get_metrics(here), here.state, here.spec, list(here.latest(1))

    files = [path for path in sorted(monitor.folder.iterdir()) if path.suffix in (".json", ".parquet")]
    assert len(files) >= 4
    assert check_flips(files, read) > 0.9 * FLIPS * len(files)


def test_a_lost_part_of_a_monitor_is_told(tmp_path: Path) -> None:
    monitor = fed(tmp_path)
    (part, *_) = sorted(monitor.folder.glob("samples-*.parquet"))
    part.unlink()
    with pytest.raises(InputError, match=part.name):
        monitoring.trend(monitor)


def test_labels_and_the_chances_of_being_drawn(run: Run) -> None:
    labels = Labels(run)
    for case in ("c0", "c1"):
        labels.give(case, "good", "ann", "faithful", 1.0, "random")
    sizes = DrawSizes(run, "faithful")
    sizes.keep([("c0", "good"), ("c1", "good")], [0.5, 2.0], ("rouge", "rougeL"))
    files = [*labels.folder.glob("*.parquet"), sizes.path]

    def read() -> object:
        drawn = sizes.table()
        assert drawn is not None
        return labels.table().to_pylist(), labels.sets(), drawn.to_pylist(), sizes.metric()

    assert check_flips(files, read) > FLIPS


def test_reviews_and_views(run: Run) -> None:
    review, views = Review(run), SavedViews(run.workspace.path)
    review.tag([Place("c0"), Place("c1", "good")], ["odd"])
    review.note(Place("c0"), "why?")
    review.choose_point(0.25, 0.5)
    views.keep(SavedView("mine", "leaderboard", "?run=1"))

    def read() -> object:
        return review.marks(), review.point(), views.all()

    assert check_flips([review.path, views.path], read) > FLIPS


def test_thresholds(run: Run) -> None:
    profiles = ThresholdProfiles(run.workspace.path)
    profiles.use("strict")
    profiles.put({("rouge", "rougeL"): 0.75})
    profiles.mark_decisive("0" * 64, ["rouge.rougeL"])

    def read() -> object:
        here = ThresholdProfiles(run.workspace.path)
        return here.in_force, here.thresholds(), here.decisive("0" * 64)

    assert check_flips([profiles.path], read) > FLIPS / 2


def test_boards(tmp_path: Path) -> None:
    boards, settings = Boards(tmp_path), BoardSettings({"a": "the first"}, hidden=("b",))
    boards.change("0" * 64, lambda _: settings, ["a", "b"])
    assert check_flips([tmp_path / "boards" / f"{'0' * 64}.json"], lambda: boards.settings("0" * 64)) > FLIPS / 2
