"""Evaluators of conversations: each turn of the assistant, and the whole."""
