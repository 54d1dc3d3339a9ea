"""Plan → work units → executor → parts → seal. Whoever holds a run's lock works on it; everybody else reads."""

from metrics.engine.control import cancel, create, resume, start
from metrics.engine.estimate import Estimate, estimate
from metrics.engine.execute import execute

__all__ = ["Estimate", "cancel", "create", "estimate", "execute", "resume", "start"]
