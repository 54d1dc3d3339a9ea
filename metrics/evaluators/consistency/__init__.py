"""Evaluators of how much repeated runs of one case agree."""
