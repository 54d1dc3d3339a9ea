"""Labels of the bundled judged sample, to try the agreement of judge and labels on: its conditions, no people's."""

import pyarrow as pa

from metrics.core.label_schema import LABELS, now
from metrics.suites.samples import samples
from metrics.text.conditions import parse_condition

SAMPLE = "rag-judged"
CRITERION, RATER = "answer_correctness", "conditions of the suite"


def demo_labels() -> pa.Table:
    """Return a label (schema LABELS) of every output of the sample: pass where the answer meets its case's condition.

    A condition names words that a right answer has; nobody has read the answers.
    """
    suite, outputs = next(sample for sample in samples() if sample.id == SAMPLE).read()
    cases = zip(suite.cases["case_id"].to_pylist(), suite.cases["conditions"].to_pylist(), strict=True)
    conditions = {case: parse_condition(written) for case, written in cases}
    rows = [
        {
            "case_id": row["case_id"], "model": row["model"], "rater": RATER, "criterion": CRITERION,
            "value": float(condition.holds(condition.found(row["answer"] or ""))), "low": 0.0, "high": 1.0,
            "sampling": "random", "given": now(),
        }
        for row in outputs.outputs.to_pylist()
        for condition in [conditions[row["case_id"]]]
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, LABELS)
