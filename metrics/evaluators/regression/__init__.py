"""Evaluators of predicted numbers over a data set."""
