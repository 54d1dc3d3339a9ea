"""What goes with a judge's scores at equal labels, and what variants of the suite show."""

from pathlib import Path

import numpy as np
import pytest

from metrics.analysis.labels.judge_bias import bias_hints
from metrics.analysis.labels.manipulations import has_manipulations, manipulation_checks
from metrics.core.suite import Outputs, Suite
from metrics.store import Workspace
from tests.analysis.labels.swayed import JUDGES, Judge, simulate
from tests.analysis.scored import scored_run
from tests.engine.engine_scenes import finished
from tests.labels import MODELS, add_labels, answer, answered, label, labelled_run
from tests.random_seeds import LONG, seeds

ROUGE = ("rouge", "rouge1")


def test_answers_that_are_missing_have_no_length(workspace: Path) -> None:
    suite, outputs = answered(12)
    rows = outputs.outputs.to_pylist()
    rows = [row | {"answer": None if row["case_id"] in ("c0", "c1") else row["answer"]} for row in rows]
    run = finished(Workspace(), suite, Outputs.from_rows(rows), "rouge")
    label(run, "ann", range(12))
    found = {(one.kind, one.about): one.n for one in bias_hints(run, "good", ROUGE)}
    assert found == {("length", ""): 20, ("model", "long"): 12, ("model", "short"): 12}


def test_a_judge_that_likes_long_answers_or_one_author_is_found(workspace: Path) -> None:
    run = labelled_run(Workspace(), 60)
    rng = np.random.default_rng(1)
    coins = [(f"c{index}", model, "ann", float(rng.random() < 0.5)) for index in range(60) for model in MODELS]
    add_labels(run, coins)
    found = bias_hints(run, "good", ROUGE)
    by_kind = {(one.kind, one.about): one for one in found}
    assert set(by_kind) == {("length", ""), ("model", "long"), ("model", "short")}
    assert by_kind["length", ""].low > 0
    assert by_kind["model", "long"].low > 0
    assert by_kind["model", "short"].effect == pytest.approx(-by_kind["model", "long"].effect)
    assert all(one.is_biased for one in found)


def test_all_scores_equal_hint_at_nothing(workspace: Path) -> None:
    values = [0.3, 0.1 + 0.2] * 20
    run = scored_run({"rubric": {"long": values, "short": values[::-1]}})
    add_labels(run, [(f"c{place}", model, "ann", float(place % 3 == 0)) for place in range(40) for model in MODELS])
    assert bias_hints(run, "good", ("rubric", "rubric")) == []


@pytest.mark.parametrize(("cases", "verdict", "more"), [(20, "swayed", 0), (12, "few", 8)])
def test_the_same_things_in_another_order(workspace: Path, cases: int, verdict: str, more: int) -> None:
    """A suite's own variants; words that were swapped are not only in another order."""
    suite, outputs = answered(cases)
    rows, given = suite.cases.to_pylist(), outputs.outputs.to_pylist()
    for index in range(cases):
        variant = rows[index] | {"case_id": f"v{index}", "perturbs": f"c{index}", "perturbation": "position_swap"}
        other = rows[index] | {"case_id": f"w{index}", "perturbs": f"c{index}", "perturbation": "word_swap"}
        rows += [variant, other]
        for model in MODELS:
            shorter = " ".join(answer(index, model).split()[:-1])
            given += [{"case_id": name, "model": model, "answer": shorter} for name in (f"v{index}", f"w{index}")]
    run = finished(Workspace(), Suite.from_rows("s", "text", rows), Outputs.from_rows(given), "rouge")
    assert has_manipulations(run)
    (found,) = manipulation_checks(run, ROUGE)
    assert (found.kind, found.n, found.cases) == ("position_swap", 2 * cases, cases)
    assert (found.verdict, found.more) == (verdict, more)
    assert found.effect is None or found.effect < 0


@pytest.mark.parametrize("judge", JUDGES if LONG else JUDGES[1::2], ids=lambda judge: judge.name)
def test_variants_accuse_the_judges_that_are_swayed_alone(judge: Judge) -> None:
    """5 % of data sets and three times its noise may be called wrongly; the hints accuse in half of them."""
    draws = len(seeds(100, 200))
    found = simulate(judge, 60, draws)
    if judge.sway:
        assert found.varied > 0.9
    else:
        assert found.varied <= 0.05 + 3 * (0.05 * 0.95 / draws) ** 0.5
        assert found.observed > 0.2
