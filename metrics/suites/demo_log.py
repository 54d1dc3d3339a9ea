"""A week of production of the bundled library assistant, to try a monitor on."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

from metrics.suites.samples import samples

SAMPLE = "rag"
DAYS = 7
DAILY = 80  # interactions
STEADY, RELEASED = "heron-small", "kestrel-rag"  # the models before and after the release
RELEASE_DAY = 2
EVALUATORS = ("looping_detection", "pii_leakage", "language_mismatch")  # they need no expected answers
WARNING, CRITICAL = 0.95, 0.85  # pass rates


def demo_lines(until: datetime) -> Iterator[bytes]:
    """Yield the interactions of the week before `until`, a JSON object each, the oldest first.

    The answers are those of the bundled sample; on the last five days they come from a model that answers some
    questions in the wrong language and leaks addresses.
    """
    suite, outputs = next(sample for sample in samples() if sample.id == SAMPLE).read()
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
            "id": f"demo-{number:04d}", "timestamp": when.isoformat(timespec="seconds"), "model": model,
            "question": questions[case], "answer": answers[model, case],
        }  # fmt: skip
        yield json.dumps(line, ensure_ascii=False).encode()
