"""Labelled sets of ../shared/data for the local judge, in halves by passage."""

import random
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from tests.corpora.grounding import Grounded

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"


def begin(held_out: bool, passages: int) -> Iterator[Grounded]:
    """Yield the responses to a number of passages of BEGIN's Wizard of Wikipedia part, of one half; none without it.

    Right is a response that people found fully attributable to its passage.
    """
    file = DATA / "begin" / "begin_dev_wow.tsv"
    if not file.is_file():
        return
    frame = pd.read_csv(file, sep="\t").drop_duplicates(["knowledge", "response"])
    known = sorted(frame["knowledge"].unique())
    random.Random(1).shuffle(known)
    half = known[-passages:] if held_out else known[:passages]
    for row in frame[frame["knowledge"].isin(half)].sort_values("knowledge", kind="stable").itertuples():
        right = row.begin_label == "Fully attributable"
        yield Grounded(f"{half.index(row.knowledge)}", "response", row.knowledge, row.response, right, row.message)
