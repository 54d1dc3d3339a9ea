"""Plan → work units → executor → parts → seal. Only the process that holds a run's lock writes; all others read."""

from metrics.engine.estimate import Estimate, estimate
from metrics.engine.execute import execute
from metrics.engine.reuse_estimate import Reusable, find_reusable
from metrics.engine.run_control import cancel, create, repeat, resume, start, with_followed
from metrics.engine.snapshots import snapshot
