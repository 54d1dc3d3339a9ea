"""Plan → work units → executor → parts → seal. Whoever holds a run's lock works on it; everybody else reads."""

from metrics.engine.estimate import Estimate, estimate
from metrics.engine.execute import execute
from metrics.engine.run_control import cancel, create, resume, start

__all__ = ["Estimate", "cancel", "create", "estimate", "execute", "resume", "start"]
