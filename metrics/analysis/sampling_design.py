"""What of a suite bears on the means of its cases: which cases are in, their weights and groups."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from metrics.store import Run


class Design:
    """The cases of a run's suite, all or those with a tag: positions `inside`, their weights and clusters or None."""

    def __init__(self, run: Run, tag: str | None):
        path = run.workspace.path / "suites" / run.spec["suite"]["fingerprint"] / "cases.parquet"
        with pq.ParquetFile(path) as file:  # read_table would import pandas: the start page waits
            cases = file.read(columns=["weight", "group", "tags"])
        self.cases = len(cases)
        inside = np.ones(self.cases, bool)
        if tag is not None:
            tags = cases["tags"].combine_chunks()
            inside = np.zeros(self.cases, bool)
            inside[pc.list_parent_indices(tags).filter(pc.equal(pc.list_flatten(tags), tag)).to_numpy()] = True
        self.inside = np.flatnonzero(inside)
        self.size = len(self.inside)
        self.weights: NDArray[np.float64] | None = None
        self.clusters: NDArray[np.int64] | None = None
        if cases["weight"].null_count < self.cases:
            self.weights = pc.fill_null(cases["weight"], 1.0).to_numpy()[self.inside]
        if cases["group"].null_count < self.cases:
            own = pa.array([f"\x00{row}" for row in range(self.cases)])  # a case without a group is its own
            codes = pc.coalesce(cases["group"].combine_chunks(), own).dictionary_encode().indices.to_numpy()
            self.clusters = np.unique(codes[self.inside], return_inverse=True)[1].astype(np.int64)
