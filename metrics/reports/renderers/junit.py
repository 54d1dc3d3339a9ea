"""JUnit XML of a run, for CI: a test case for each gate and model; default thresholds as properties."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from metrics.analysis import leaderboard
from metrics.presentation.format import interval
from metrics.presentation.safe_text import safe
from metrics.reports.gates import Outcome, no_value
from metrics.store import Run


def junit(run: Run, outcomes: Sequence[Outcome]) -> bytes:
    """Return JUnit XML in UTF-8 with a test case for each outcome of a gate; it fails where the gate does.

    What was found is the failure's message, or the output of a test case that passes. A run in which no case has a
    value has one more test case, an error that says why. The class name is the model. The thresholds that evaluators
    declare are not gates: how each model compares with them is a property of the suite.
    """
    failures = sum(not outcome.passed for outcome in outcomes)
    why = no_value(run)
    seconds = (run.manifest or {}).get("seconds", 0.0)
    counts = (
        f'tests="{len(outcomes) + (why is not None)}" failures="{failures}" errors="{int(why is not None)}" '
        f'skipped="0" time="{seconds:.3f}"'
    )
    properties = list(_properties(run))
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"<testsuite name={_attribute(run.name)} timestamp={_attribute(run.created[:19])} {counts}>",
        *(["<properties>", *properties, "</properties>"] if properties else []),
        *map(_case, outcomes),
        *([] if why is None else [_error(why)]),
        "</testsuite>",
        "</testsuites>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _case(outcome: Outcome) -> str:
    name = f"{outcome.option} {outcome.gate}"
    inner = f"<system-out>{escape(safe(outcome.message))}</system-out>"
    if not outcome.passed:
        message = f'message={_attribute(outcome.message)} type="{outcome.option}"'
        inner = f"<failure {message}>{escape(safe(outcome.message))}</failure>"
    return f"<testcase classname={_attribute(outcome.model)} name={_attribute(name)}>{inner}</testcase>"


def _error(why: str) -> str:
    message = f'message={_attribute(why)} type="no-value"'
    return f'<testcase classname="run" name="has values"><error {message}>{escape(safe(why))}</error></testcase>'


def _properties(run: Run) -> Iterator[str]:
    """Yield a property for each model and threshold of the leaderboard: met, missed or no value, and the numbers."""
    board = leaderboard(run)
    for column in board.columns:
        if column.threshold is None or column.direction == "none" or column.minor:
            continue
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None:
                continue
            if cell.value is None:
                text = f"no value: {cell.reason or 'no case was scored'}"
            else:
                bounds = interval(cell.low, cell.high)
                basis = f"n = {cell.n:,}" + (f", 95 % interval {bounds}" if bounds else "")
                text = f"{'missed' if cell.problem else 'met'}: {cell.value:.4g} ({basis})"
            name = f"threshold {column.evaluator}.{column.title} {column.limit}, {model}"
            yield f"<property name={_attribute(name)} value={_attribute(text)}/>"


def _attribute(text: str) -> str:
    return quoteattr(safe(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
