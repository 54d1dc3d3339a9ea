"""Evaluators of an answer against the question or the expected answers, by meaning."""
