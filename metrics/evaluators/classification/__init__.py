"""Evaluators of predicted labels over a data set."""
