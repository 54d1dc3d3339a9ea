"""Evaluators of what answers took: time, cost and tokens."""
