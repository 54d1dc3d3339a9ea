"""Evaluators of summaries."""
