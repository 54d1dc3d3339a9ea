"""Traces of agents: every known form becomes one JSON of steps."""
