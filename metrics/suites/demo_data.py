"""Labels and a week of production for the bundled samples, to try agreement and monitoring on."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

import pyarrow as pa

from metrics.core.schema import LABELS, now
from metrics.suites.samples import samples
from metrics.text.conditions import parse_condition

LABELLED_SAMPLE = "rag-judged"
CRITERION, RATER = "answer_correctness", "conditions of the suite"
LOGGED_SAMPLE = "rag"
DAYS = 7
DAILY = 80  # interactions
STEADY, RELEASED = "heron-small", "kestrel-rag"  # the models before and after the release
RELEASE_DAY = 2
EVALUATORS = ("looping_detection", "pii_leakage", "language_mismatch")  # they need no expected answers
WARNING, CRITICAL = 0.95, 0.85  # pass rates


def demo_labels() -> pa.Table:
    """Return a label (schema LABELS) of every output of the sample: pass where the answer meets its case's condition.

    A condition names words that a right answer has; nobody has read the answers.
    """
    suite, outputs = next(sample for sample in samples() if sample.id == LABELLED_SAMPLE).read()
    cases = zip(suite.cases["case_id"].to_pylist(), suite.cases["conditions"].to_pylist(), strict=True)
    conditions = {case: parse_condition(written) for case, written in cases}
    rows = [
        {
            "case_id": row["case_id"],
            "model": row["model"],
            "rater": RATER,
            "criterion": CRITERION,
            "value": float(condition.holds(condition.terms_in(row["answer"] or ""))),
            "low": 0.0,
            "high": 1.0,
            "sampling": "random",
            "given": now(),
        }
        for row in outputs.outputs.to_pylist()
        for condition in [conditions[row["case_id"]]]
    ]
    return pa.Table.from_pylist(rows, LABELS)


def demo_lines(until: datetime) -> Iterator[bytes]:
    """Yield the interactions of the week before `until`, a JSON object each, the oldest first.

    The answers are those of the bundled sample; on the last five days they come from a model that answers some
    questions in the wrong language and leaks addresses.
    """
    suite, outputs = next(sample for sample in samples() if sample.id == LOGGED_SAMPLE).read()
    questions = dict(zip(suite.cases["case_id"].to_pylist(), suite.cases["question"].to_pylist(), strict=True))
    rows = outputs.outputs.select(["case_id", "model", "answer"]).to_pylist()
    answers = {(row["model"], row["case_id"]): row["answer"] for row in rows}
    cases = [case for case in questions if (STEADY, case) in answers and (RELEASED, case) in answers]
    first = until - timedelta(days=DAYS)
    for number in range(DAYS * DAILY):
        case = cases[number % len(cases)]
        model = RELEASED if number >= RELEASE_DAY * DAILY else STEADY
        when = first + timedelta(days=number / DAILY)
        line = {
            "id": f"demo-{number:04d}",
            "timestamp": when.isoformat(timespec="seconds"),
            "model": model,
            "question": questions[case],
            "answer": answers[model, case],
        }
        yield json.dumps(line, ensure_ascii=False).encode()
