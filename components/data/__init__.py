"""What pages read and change: cached reads of runs, writes with their roles.

A finished run never changes, so what is read from one is kept; everything else is read on each call. What is handed on
is frozen: types of the library or of this package, and data frames, which are read-only.
"""

from typing import TYPE_CHECKING

from metrics.store.reviews import Mark, Place
from metrics.store.team import NotAllowed
from metrics.text.condition_form import (
    ConditionForm,
    Group as ConditionGroup,
    Row as ConditionRow,
    condition_of,
    row_problem,
)

if TYPE_CHECKING:
    from metrics.core.presets import Preset
    from metrics.engine import Estimate
    from metrics.ingest import Preview
    from metrics.ingest.file_roles import FileRole, Roles, SeenFile
    from metrics.ingest.given_files import GivenFile
    from metrics.ingest.lint import Finding, UnknownClass
    from metrics.ingest.tables.columns import Question
    from metrics.judge.cache import Statistics
    from metrics.judge.local.other_models import GgufFile, ModelServer
    from metrics.judge.open_judges import Trial
    from metrics.monitoring import MetricDrift
    from metrics.perturbations import Kind
    from metrics.stats.judge_correction import Estimate as MeanEstimate
    from metrics.store.rating_sets import GivenSet
    from metrics.store.run_progress import EvaluatorProgress, Progress
    from metrics.suites import Change as SuiteChange, Difference as SuiteDifference, Version
