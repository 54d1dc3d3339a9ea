"""Runs, suites and outputs on disk: typed Parquet parts, each written beside and renamed, sealed by a manifest."""

from metrics.store.run import Progress, Run
from metrics.store.workspace import Workspace

__all__ = ["Progress", "Run", "Workspace"]
