"""Evaluators of the retrieved contexts themselves."""
