"""What the insights say of three models whose every number is known."""

import pytest

from metrics.analysis import insights
from metrics.store import Run, Workspace
from tests.analysis.scored import scored_run, told

RIGHT_AND_FOUND = (
    "20 cases; an answer fails if at least half of Answer correctness are on the wrong side of their thresholds, its "
    "contexts fail if at least half of Context recall are"
)


@pytest.fixture(scope="module")
def run(shelf: Workspace) -> Run:
    """`a` finds all, `b` half, `c` nothing; case c19 is the hardest; `a` is fast and dear, `b` cheap, `c` slow."""
    return scored_run(
        {
            "context_recall": {"a": [1.0] * 20, "b": [0.5] * 20, "c": [0.0] * 20},
            "answer_correctness": {"a": [0.9] * 19 + [0.2], "b": [0.8] * 19 + [0.1], "c": [0.3] * 19 + [0.0]},
        },
        None,
        {
            "a": {"duration_s": [1.0] * 20, "cost_usd": [0.03] * 20},
            "b": {"duration_s": [2.0] * 20, "cost_usd": [0.01] * 20},
            "c": {"duration_s": [3.0] * 20, "cost_usd": [0.02] * 20},
        },
        workspace=shelf,
    )


def test_what_is_said_of_each(run: Run) -> None:
    found = insights(run)
    said = {
        ("hardest_case", "answer_correctness", ""): (
            "high", "Case c19 is the hardest: 3 of 3 models fail it at Answer correctness",
            "the mean over the models is 0.100, the threshold 0.75", ["c19"],
        ),
        ("hardest_case", "context_recall", ""): (
            "low", "Case c0 is the hardest: 2 of 3 models fail it at Context recall",
            "the mean over the models is 0.500, the threshold 0.75; cases that 2 of 3 models fail: 20", ["c0"],
        ),
        ("retrieval_cause", "", "c"): (
            "high", "c: 20 of 20 failing answers have contexts that fail too", RIGHT_AND_FOUND,
            [f"c{place}" for place in range(20)],
        ),
        ("retrieval_cause", "", "b"): (
            "low", "b: 1 of 1 failing answers have contexts that fail too", RIGHT_AND_FOUND,
            ["c19"],
        ),
        ("generation_cause", "", "a"): (
            "low", "a: 1 of 1 failing answers fail although their contexts pass", RIGHT_AND_FOUND,
            ["c19"],
        ),
        ("leading_model", "", "a"): (
            "info", "a leads: ahead in 2 of 2 questions (Retrieval?: Context recall, Right?: Answer correctness), "
            "behind in none.",
            "paired tests in Context recall, Answer correctness, Holm-corrected over all metrics and pairs of models",
            [],
        ),
        ("worst_retrieval", "", "c"): (
            "high", "c retrieves worst: its contexts reach 0.00 % of the metrics' ranges",
            "over Context recall; significantly worse than every other model, never the reverse; "
            "c misses the threshold of Context recall",
            [],
        ),
        ("best_retrieval", "", "a"): (
            "info", "a retrieves best: its contexts reach 100 % of the metrics' ranges",
            "over Context recall; significantly better than every other model, never the reverse",
            [],
        ),
        ("fastest_model", "", "a"): (
            "info", "a is the fastest: median 1.00 s per case",
            "a median 1.00 s (1.00–1.00), p95 1.00 s (≥ 1.00), n = 20; "
            "b median 2.00 s (2.00–2.00), p95 2.00 s (≥ 2.00), n = 20", [],
        ),
        ("slowest_model", "", "c"): (
            "info", "c is the slowest: median 3.00 s per case",
            "c median 3.00 s (3.00–3.00), p95 3.00 s (≥ 3.00), n = 20; "
            "b median 2.00 s (2.00–2.00), p95 2.00 s (≥ 2.00), n = 20", [],
        ),
        ("cheapest_model", "", "b"): (
            "info", "b is the cheapest: median 0.010 USD per case",
            "b median 0.010 USD (0.010–0.010), p95 0.010 USD (≥ 0.010), n = 20; "
            "c median 0.020 USD (0.020–0.020), p95 0.020 USD (≥ 0.020), n = 20", [],
        ),
        ("most_expensive_model", "", "a"): (
            "info", "a is the most expensive: median 0.030 USD per case",
            "a median 0.030 USD (0.030–0.030), p95 0.030 USD (≥ 0.030), n = 20; "
            "c median 0.020 USD (0.020–0.020), p95 0.020 USD (≥ 0.020), n = 20", [],
        ),
        ("slowest_case", "", "c"): (
            "info", "c is slowest on case c0: 3.00 s", "the median of 60 answers is 2.00 s", ["c0"],
        ),
        ("dearest_case", "", "a"): (
            "info", "a is most expensive on case c0: 0.030 USD", "the median of 60 answers is 0.020 USD", ["c0"],
        ),
    }  # fmt: skip
    for (kind, evaluator, model), (severity, message, evidence, ids) in said.items():
        wanted = {name: value for name, value in (("evaluator", evaluator), ("model", model)) if value}
        row = told(found, kind, **wanted)
        assert (row["severity"], row["message"], row["evidence"]) == (severity, message, evidence)
        assert row["case_ids"] == ids
