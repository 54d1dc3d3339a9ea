"""Every target holds on a few changed inputs, and on what once broke it; `make fuzz` tries more."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from metrics.ingest import format_table
from metrics.ingest.format_table import open_upload, reader_of
from tests.fuzz import __main__ as command
from tests.fuzz.mutation import mutated
from tests.fuzz.reader_seeds import SEEDS
from tests.fuzz.reader_targets import upload
from tests.fuzz.table import TARGETS, corpus
from tests.fuzz.target import CORPUS, PROJECT, Input, Target

EXAMPLES = 12  # of each target
FEW = {"run_archive": 4}


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
    for number in range(FEW.get(name, EXAMPLES)):
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


def test_a_change_keeps_what_an_input_is() -> None:
    """Most changed zips are still zips, most changed JSON is JSON: else nothing behind the first check is tried."""
    for name, begins in (("yolo", rb"PK"), ("parquet", rb"PAR1"), ("json", rb"[\[{\"]")):
        changed = [mutated(SEEDS[name][0].data, Random(seed), SEEDS[name][-1].data) for seed in range(60)]
        assert sum(bool(re.match(begins, data)) for data in changed) > 40, name
        assert len(set(changed)) > 40, name


BROKEN = """
import sys
from pathlib import Path
from tests.fuzz import child
from tests.fuzz.target import CORPUS, PROJECT, Input, Target

def check(given, folder):
    if b"x" in given.data:
        {breaks}

child.CORPUS, child.EXAMPLE_SECONDS, child.MEMORY = Path(sys.argv[1]) / "corpus", 1, 1 << 29
child.fuzz(Target("broken", lambda: [Input("a", b"yyyyxyyyyy")], check), [], "1", Path(sys.argv[1]), 0.2)
"""
BREAKS = {
    "an exception": ("raise KeyError('x')", 0, "crash KeyError at "),
    "a wrong answer": ("assert not given.data", 0, "crash AssertionError at "),
    "too much memory": ("bytes(1 << 30)", 0, "crash MemoryError at "),
    "a loop": ("while True: pass", -signal.SIGPROF, "more than 20 s of processor time"),
    "the process ends": ("import os; os.abort()", -signal.SIGABRT, "SIGABRT"),
}


@pytest.mark.parametrize(("breaks", "code", "told"), BREAKS.values(), ids=BREAKS)
def test_a_break_is_found_and_kept(breaks: str, code: int, told: str, tmp_path: Path, monkeypatch: Any) -> None:
    script = tmp_path / "broken.py"
    script.write_text(BROKEN.format(breaks=breaks), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script, tmp_path], capture_output=True, text=True, check=False, timeout=600,
        cwd=PROJECT, env=os.environ | {"PYTHONPATH": str(PROJECT)},
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    monkeypatch.setattr(command, "CORPUS", tmp_path / "corpus")
    said = command.ended("broken", tmp_path / "current", -code, done.stderr) if code else done.stdout
    assert told in said
    kept = [Input.kept(file) for file in (tmp_path / "corpus" / "broken").iterdir()]
    assert Input("a", b"x") in kept or code, "made as small as it can be"
    assert all(b"x" in given.data for given in kept)
