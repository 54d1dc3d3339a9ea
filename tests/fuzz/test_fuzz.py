"""Every target holds on a few changed inputs, and on what once broke it; `make fuzz` tries more."""

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from metrics.ingest import format_table
from metrics.ingest.format_table import open_upload, reader_of
from tests.fuzz.reader_seeds import SEEDS
from tests.fuzz.reader_targets import upload
from tests.fuzz.table import TARGETS, corpus
from tests.fuzz.target import CORPUS, Input, Target

EXAMPLES = 60 if os.environ.get("HYPOTHESIS_PROFILE") == "long" else 6  # of each target


def tried(target: Target, inputs: Sequence[Input], tmp_path: Path) -> None:
    """Check the target on each input, and name the one that breaks it."""
    for number, given in enumerate(inputs):
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            target.holds(given, folder)
        except Exception as failure:
            failure.add_note(f"{target.name}, input {number}: {given.name} {given.data[:300]!r}")
            raise


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.attack(
    "suite author",
    "a changed file of any format crashes or hangs a reader, or is read in part",
    "each is read, or refused with a list of problems",
)
def test_a_target_holds_on_changed_inputs(name: str, tmp_path: Path) -> None:
    target, rng = TARGETS[name], Random(name)
    seeds = list(target.seeds())
    changed = []
    for number in range(EXAMPLES):
        given = seeds[number % len(seeds)]
        for _ in range(rng.randint(1, 3)):
            given = target.mutate(given, seeds, rng)
        changed.append(given)
    tried(target, changed, tmp_path)


@pytest.mark.parametrize("name", [name for name in TARGETS if corpus(name)])
def test_what_once_broke_a_target_does_so_no_more(name: str, tmp_path: Path) -> None:
    tried(TARGETS[name], corpus(name), tmp_path)


def test_the_corpus_is_small_and_of_targets() -> None:
    files = [file for file in CORPUS.rglob("*") if file.is_file()]
    assert {file.parent.name for file in files} <= TARGETS.keys()
    assert sum(file.stat().st_size for file in files) < 500_000


def test_every_reader_is_a_target_and_its_seeds_are_its_own(tmp_path: Path) -> None:
    """A new reader needs a seed, which it recognises and which can be read as something."""
    readers = [*format_table.EITHER, *format_table.FOLDERS, *format_table.FILES]
    assert {reader.name for reader in readers} == SEEDS.keys()
    for name, seeds in SEEDS.items():
        for number, seed in enumerate(seeds):
            folder = tmp_path / f"{name}-{number}"
            folder.mkdir()
            with open_upload(upload(seed, folder)) as found:
                assert reader_of(found).name == name, (name, number)
