"""JUnit XML of a run, for CI: a test case for each model and each condition it has to meet."""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from metrics.analysis import leaderboard
from metrics.presentation.safe_text import safe
from metrics.presentation.style import interval
from metrics.reports.gates import Outcome
from metrics.store import Run


def junit(run: Run, outcomes: Sequence[Outcome]) -> bytes:
    """JUnit XML in UTF-8: a case for each gate's outcome, then for each model and threshold of the leaderboard.

    The class name is the model. A model without a value fails its gate; at a threshold it is skipped, with the reason.
    """
    cases = [*_gates(outcomes), *_thresholds(run)]
    seconds = (run.manifest or {}).get("seconds", 0.0)
    failures, skipped = (sum(f"<{kind}" in case for case in cases) for kind in ("failure ", "skipped "))
    counts = f'tests="{len(cases)}" failures="{failures}" errors="0" skipped="{skipped}" time="{seconds:.3f}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f"<testsuite name={_attribute(run.name)} timestamp={_attribute(run.created[:19])} {counts}>",
        *cases,
        "</testsuite>",
        "</testsuites>",
    ]
    return ("\n".join(lines) + "\n").encode()


def _gates(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        name = f"fail-under {outcome.evaluator}.{outcome.metric}={outcome.gate.value:g}"
        yield _case(outcome.model, name, "" if outcome.passed else _element("failure", outcome.message, "fail-under"))


def _thresholds(run: Run) -> Iterator[str]:
    board = leaderboard(run)
    for column in board.columns:
        if column.threshold is None or column.direction == "none" or column.minor:
            continue
        limit = f"{'≤' if column.direction == 'lower' else '≥'} {column.threshold:g}"
        for model in board.models:
            cell = board.cells.get((model, column.key))
            if cell is None:
                continue
            inner = ""
            if cell.value is None:
                inner = _element("skipped", f"no value: {cell.reason or 'no case was scored'}")
            elif cell.problem:
                bounds = interval(cell.low, cell.high)
                basis = f"n = {cell.n:,}" + (f", 95 % interval {bounds}" if bounds else "")
                inner = _element("failure", f"{column.title} is {cell.value:.4g}, not {limit} ({basis})", "threshold")
            yield _case(model, f"threshold {column.evaluator}.{column.title} {limit}", inner)


def _case(model: str, name: str, inner: str) -> str:
    return f"<testcase classname={_attribute(model)} name={_attribute(name)}>{inner}</testcase>"


def _element(name: str, message: str, kind: str = "") -> str:
    type_ = f" type={_attribute(kind)}" if kind else ""
    return f"<{name} message={_attribute(message)}{type_}>{escape(safe(message))}</{name}>"


def _attribute(text: str) -> str:
    return quoteattr(safe(text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
