"""Evaluators of what agents did and made."""
