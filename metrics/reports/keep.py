"""What is computed once a run is finished and kept beside it: what its report and the first views of its pages show."""

import logging
from collections.abc import Iterator
from contextlib import suppress
from itertools import permutations

import pyarrow as pa

from metrics.analysis.cases.case_pages import failing
from metrics.analysis.comparison.compare import compare
from metrics.analysis.leaderboard.headline import headline, primary_columns
from metrics.analysis.leaderboard.leaderboard import leaderboard
from metrics.analysis.slices.find_slices import find_slices
from metrics.analysis.slices.slice_outcomes import measures, outcomes
from metrics.analysis.slices.slice_values import slice_values
from metrics.core.errors import InputError, describe_failure
from metrics.reports.build import build
from metrics.store import Run
from metrics.store.kept_facts import is_kept

MAX_MODELS = 3  # that are compared and sliced beforehand
logger = logging.getLogger("metrics")


def keep_facts(run: Run) -> None:
    """Compute what a finished run's report and pages show at first, so that it is kept; nothing of a small run.

    What cannot be computed or stored is computed when it is asked for: that is no failure of the run.
    """
    if not is_kept(run):
        return
    pa.set_memory_pool(pa.system_memory_pool())  # it gives back what is freed: a quarter less of a million cases
    try:
        run.query("SET GLOBAL allocator_bulk_deallocation_flush_threshold = '1MB'")  # as DuckDB does by this
        for _ in _compute_facts(run):
            pa.default_memory_pool().release_unused()
    except Exception as failure:  # whatever it is, the run is sealed
        logger.warning("not computed beforehand: %s", describe_failure(failure))


def _compute_facts(run: Run) -> Iterator[None]:
    """Compute one fact after another: what takes the most memory first, while little else is held."""
    board = leaderboard(run)
    leading = headline(board).models[:MAX_MODELS]
    for one, other in permutations(leading, 2):
        yield
        compare(run, one, other)
    for column in primary_columns(board):
        failing(run, column.evaluator, column.metric)
    for measure in [one for one in measures(run) if one.primary][:1]:
        for model in leading:
            with suppress(InputError):  # the model has no value of it
                for read in (outcomes, find_slices, slice_values):
                    yield
                    read(run, model, measure.evaluator, measure.metric)
    yield
    build(run)
