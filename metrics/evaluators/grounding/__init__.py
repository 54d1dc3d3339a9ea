"""Evaluators of how far an answer rests on the retrieved contexts."""
