"""Suites for the tests of test sets."""

from typing import Any

from metrics.core.suite import Suite

ROWS: list[dict[str, Any]] = [
    {"case_id": "a", "question": "How long?", "tags": ["loans", "easy"], "complexity": "simple", "area": "desk"},
    {"case_id": "b", "question": "How much is it, and why?", "tags": ["fees"], "complexity": "complex", "area": "desk"},
    {"case_id": "c", "question": "WHO asks?", "tags": ["fees", "easy"], "area": "hall", "weight": 2.0},
    {"case_id": "c~copy", "question": "WHO asks?", "tags": ["fees", "copy"], "perturbs": "c", "perturbation": "copy"},
    {"case_id": "d", "expected_answers": ["=1+1", "two"], "complexity": " "},
]


def suite(rows: list[dict[str, Any]] = ROWS, name: str = "desk") -> Suite:
    return Suite.from_rows(name, "text", rows)


def ids(found: Suite) -> list[str]:
    return list(found.cases["case_id"].to_pylist())
