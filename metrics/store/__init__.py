"""Runs, suites, outputs and labels on disk: Parquet tables, each written whole; a manifest seals a run."""

from metrics.store.kept_facts import keep_by_run
from metrics.store.run import Run, cache_by_run
from metrics.store.run_progress import Progress
from metrics.store.workspace import Workspace
