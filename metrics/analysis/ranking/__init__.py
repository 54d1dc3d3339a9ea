"""Which model, when several metrics or several suites count? Pareto front, weighted score, models over suites."""
