"""Runs, suites, outputs and labels on disk: Parquet tables, each written whole; a manifest seals a run."""

from metrics.store.run import Progress, Run
from metrics.store.workspace import Workspace

__all__ = ["Progress", "Run", "Workspace"]
