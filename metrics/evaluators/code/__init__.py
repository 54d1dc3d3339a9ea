"""Evaluators that run what a model wrote, in a sandbox: code against its tests, queries against a database."""
