"""Evaluators of text against a reference, a rule or itself; no judge is asked."""
