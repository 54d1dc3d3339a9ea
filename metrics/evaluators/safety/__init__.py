"""Evaluators of what an answer must not contain."""
