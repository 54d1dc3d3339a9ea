"""Two models' corrected difference and the ranks that follow, of runs whose labels and judge are known."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis.labels.corrected_differences import corrected_differences, corrected_ranks
from metrics.analysis.labels.corrected_means import corrected_means
from tests.analysis.scored import scored_run
from tests.labels import add_labels

ROUGE = ("rouge", "rouge1")
LIFT = {"a": 0.0, "b": 0.0, "c": 0.35}  # of the chance that people pass an answer


def test_a_kind_judge_of_one_model_is_seen_through(workspace: Path) -> None:
    """The judge prefers `b`, people prefer `c`: labels of the same or of other cases show it."""
    rng = np.random.default_rng(4)
    size, ease = 300, rng.random(300)
    passed = {model: rng.random(size) < 0.2 + 0.4 * ease + lift for model, lift in LIFT.items()}
    kind = {"a": 0.0, "b": 0.3, "c": 0.0}
    score = {model: np.clip(0.5 * own + 0.2 * rng.random(size) + kind[model], 0, 1) for model, own in passed.items()}
    run = scored_run({".".join(ROUGE): {model: own.tolist() for model, own in score.items()}})
    places = {"a": range(80), "b": range(80), "c": range(40, 120)}
    add_labels(run, [(f"c{i}", model, "ann", float(passed[model][i])) for model in LIFT for i in places[model]])
    rows = {(row.model_a, row.model_b): row for row in corrected_differences(run, "good", ROUGE)}
    assert rows["a", "b"].judged > 0.2
    assert rows["a", "b"].better is None
    assert (rows["a", "c"].better, rows["b", "c"].better) == ("c", "c")
    assert (rows["a", "b"].labelled_both, rows["a", "c"].labelled_both) == (80, 40)
    means = {row.model: row.corrected.value for row in corrected_means(run, "good", ROUGE)}
    for (a, b), row in rows.items():
        assert row.corrected.value == pytest.approx(means[b] - means[a])
        assert row.corrected.low < passed[b].mean() - passed[a].mean() < row.corrected.high
    assert corrected_ranks([*rows.values()]) == {"a": 2, "b": 2, "c": 1}


def test_too_few_labels_of_a_model_say_how_many_more(workspace: Path) -> None:
    rng = np.random.default_rng(1)
    run = scored_run({".".join(ROUGE): {model: rng.random(30).tolist() for model in ("a", "b")}})
    add_labels(run, [(f"c{i}", "a", "ann", float(i % 2)) for i in range(20)])
    add_labels(run, [(f"c{i}", "b", "ann", float(i % 2)) for i in range(4)], file="more.csv")
    (row,) = corrected_differences(run, "good", ROUGE)
    assert (row.corrected, row.needs, row.better, row.labelled_b) == (None, 6, None, 4)
    assert corrected_ranks([row]) == {}
